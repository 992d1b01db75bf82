"""How far two solutions of a problem are apart, over its domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from pinn.problem import Problem
from pinn.problem.belonging import region_of

# A field this small beside what it should be has collapsed.
_COLLAPSED = 0.05
# A maximum so many times as large as all of a solution.
_FAR = 10.0
# Below this share of its natural size an unknown vanishes: an error is no share of it.
_NOTHING = 1e-3


class Differences(NamedTuple):
    """By name: ||e|| / ||better||, max |e| and where that is; and what is to be said of some.

    collapsed, vanishing: a sentence for each that is next to nothing and should not be, and that
    should.
    """

    relative: dict[str, float]
    maximum: dict[str, float]
    where: dict[str, dict[str, float]]
    collapsed: list[str]
    vanishing: list[str]

    def without_far(self, present: Mapping[str, np.ndarray]) -> Differences:
        """Return these with nan for a maximum far beyond the size of a solution.

        present: values of that all over the domain. Of a correction that does not explain the
        residual such a maximum says nothing of the solution, not even how large the error is.
        """
        far = [
            name for name, u in present.items()
            if self.maximum.get(name, 0.0) > _FAR * float(np.abs(u).max(initial=0.0))
        ]  # fmt: skip
        return self._replace(
            maximum={**self.maximum, **dict.fromkeys(far, np.nan)},
            where={name: place for name, place in self.where.items() if name not in far},
        )

    def no_less(
        self, names: Iterable[str], share: float, present: Mapping[str, np.ndarray]
    ) -> Differences:
        """Return these with errors of some names that are no less than a share of their values.

        present: values all over the domain, with which maxima are compared.
        """
        largest = {name: share * float(np.abs(present[name]).max(initial=0.0)) for name in names}
        maximum = {name: max(self.maximum[name], least) for name, least in largest.items()}
        relative = {name: max(self.relative[name], share) for name in largest}
        return self._replace(
            relative={**self.relative, **relative}, maximum={**self.maximum, **maximum}
        )


def differences(
    problem: Problem,
    places: np.ndarray,
    present: Mapping[str, np.ndarray],
    better: Mapping[str, np.ndarray],
    sizes: Mapping[str, float],
) -> Differences:
    """Return by how much a better solution differs from the present one, e = better - present.

    places: (n, d). present, better: the values there of unknowns, fields and quantities, (n,).
    sizes: natural ones of unknowns (pinn.diagnosis.natural_sizes), as far as these are known.
    """
    found = Differences({}, {}, {}, [], [])
    names = problem.domain.coordinates
    for name, u in present.items():
        region = region_of(problem, name, names)
        here = np.flatnonzero(np.ones(len(places), bool) if region is None else region(places))
        if not len(here):
            continue
        u, other = u[here], better[name][here]
        size = rms(other)
        usual = size_of(other, sizes.get(name, 0.0))
        found.relative[name] = rms(other - u) / usual if usual else np.nan
        worst = int(np.abs(other - u).argmax())
        found.maximum[name] = float(np.abs(other - u)[worst])
        found.where[name] = dict(zip(names, places[here[worst]].tolist(), strict=True))
        if name in problem.outputs and rms(u) < _COLLAPSED * size:
            found.collapsed.append(
                f"{name} is next to nothing, {rms(u):.2g}, where the equations and conditions "
                f"ask for about {size:.2g}: a trivial solution"
            )
        elif usual > size:
            found.vanishing.append(
                f"{name} is next to nothing, {size:.2g}: its error is told as a share of "
                f"{usual:.2g}, with which it would count as much as all else in its equations"
            )
    return found


def size_of(values: np.ndarray, natural: float) -> float:
    """Return what an error of an unknown is a share of: its rms, or of one that vanishes `natural`.

    natural: the size with which it counts in its equations as much as all else; 0: not known.
    """
    size = rms(values)
    return natural if size < _NOTHING * natural else size


def rms(values: np.ndarray) -> float:
    """Return the root of the mean of squares."""
    return float(np.sqrt(np.mean(np.square(values))))
