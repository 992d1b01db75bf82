"""How far two solutions of a problem are apart, over its domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pinn.problem import Problem
from pinn.problem.belonging import region_of

# A field this small beside what it should be has collapsed.
_COLLAPSED = 0.05


class Differences(NamedTuple):
    """By name: ||e|| / ||better||, max |e| and where that is; and a sentence for each collapse."""

    relative: dict[str, float]
    maximum: dict[str, float]
    where: dict[str, dict[str, float]]
    collapsed: list[str]


def differences(
    problem: Problem,
    places: np.ndarray,
    present: Mapping[str, np.ndarray],
    better: Mapping[str, np.ndarray],
) -> Differences:
    """Return by how much a better solution differs from the present one, e = better - present.

    places: (n, d). present, better: the values there of unknowns, fields and quantities, (n,).
    """
    found = Differences({}, {}, {}, [])
    names = problem.domain.coordinates
    for name, u in present.items():
        region = region_of(problem, name, names)
        here = np.flatnonzero(np.ones(len(places), bool) if region is None else region(places))
        if not len(here):
            continue
        u, other = u[here], better[name][here]
        size = rms(other)
        found.relative[name] = rms(other - u) / size if size else np.nan
        worst = int(np.abs(other - u).argmax())
        found.maximum[name] = float(np.abs(other - u)[worst])
        found.where[name] = dict(zip(names, places[here[worst]].tolist(), strict=True))
        if name in problem.outputs and rms(u) < _COLLAPSED * size:
            found.collapsed.append(
                f"{name} is next to nothing, {rms(u):.2g}, where the equations and conditions "
                f"ask for about {size:.2g}: a trivial solution"
            )
    return found


def rms(values: np.ndarray) -> float:
    """Return the root of the mean of squares."""
    return float(np.sqrt(np.mean(np.square(values))))
