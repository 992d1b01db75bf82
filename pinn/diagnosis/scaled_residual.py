"""How well the equations and conditions hold after training, whatever their scale."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pinn.diagnosis.linear import Leaf, Linear, is_local, linear
from pinn.residuals import Interior, Residual, Source
from pinn.sampling import Points, Sampling, stream
from pinn.solution.solution import Solution

LARGE = 0.04

_SAMPLING = Sampling(interior=1000, initial=400, boundary=400)


def scaled_residuals(solution: Solution) -> dict[str, float]:
    """Return how far each equation and soft condition is from holding: 0 is exactly, 1 not at all.

    Taken at fresh points, one set for all residuals of a source, and the same in any units of
    coordinates, unknowns and equation. With S the sum of the sizes of the terms at a point (for
    each leaf the leaf times the slope of r in it, and what is left, such as a source), an equation
    has the geometric mean of

        rms |r| / rms S, which tells of a layer that was not found, and
        rms (|r| / S), which tells of a field that died out, where everything is small.

    A condition has rms |r| over the size of its terms, with the rms of the unknown inside for the
    unknown: where u = 0 is asked for, u itself would be no measure. Of data whose noise is known
    only what is beyond the noise counts. What cannot be told is left out: residuals with values
    from elsewhere.
    """
    fields = _Fields(solution)
    with np.errstate(all="ignore"):
        found = {
            residual.name: (_of_equation if fields.is_equation(residual) else _of_condition)(
                fields, residual
            )
            for residual in solution.problem.residuals
        }
    return {name: share for name, share in found.items() if share is not None}


def unsolved(residuals: Mapping[str, float]) -> str | None:
    """Return a sentence where some of the scaled residuals are large, else None.

    Large is 0.04 and more. Of 56 runs on 14 problems, two seeds each, cut short or not
    (Lotka-Volterra and van der Pol to T = 10 and 20, advection with c = 5, 30 and 50, Burgers,
    heat, wave, Poisson, Helmholtz, convection-diffusion, oscillator), 37 ended with a relative
    error of 0.09 or more, and all but one of them (0.25) had it; none of the others, up to 0.051,
    did. It is a hint: a small error in phase, or in where a layer stands, leaves a small residual.
    """
    large = {name: value for name, value in residuals.items() if not value < LARGE}
    if not large:
        return None
    shown = ", ".join(f"{name} ({value:.2g})" for name, value in large.items())
    return (
        "the problem does not seem to be solved: relative to the size of its terms, the residual "
        f"of {shown} is large, {LARGE:g} or more; more training, more points, a shorter time or "
        "other weights may help"
    )


class _Fields:
    """The unknowns and derivatives of a solution at the points of each source.

    All that the residuals ask for at a source comes from one run of the network; what a function
    asks for is only known when it does.
    """

    def __init__(self, solution: Solution) -> None:
        self._solution = solution
        self._inside = Interior(solution.problem.domain)
        self._asked: dict[Source, dict[Leaf, None]] = {self._inside: {}}
        self._points: dict[Source, Points] = {}
        self._values: dict[Source, dict[Leaf, np.ndarray]] = {}
        for residual in solution.problem.residuals:
            elsewhere = not self.is_equation(residual)
            leaves = [leaf for leaf in residual.leaves or () if is_local(leaf, elsewhere)]
            self._asked.setdefault(residual.source, {}).update(dict.fromkeys(leaves))
            if not self.is_equation(residual):
                self._asked[self._inside].update(dict.fromkeys(leaves))
        for number, source in enumerate(self._asked):
            rng = stream(solution.experiment.seed, "scaled residual", str(number))
            self._points[source] = source.draw(_SAMPLING, rng)
            self._values[source] = {}

    def is_equation(self, residual: Residual) -> bool:
        return residual.name in self._solution.problem.equations

    def linear(self, residual: Residual) -> Linear | None:
        """Return the residual of the solution at the points of its source."""
        problem, source = self._solution.problem, residual.source
        found = linear(
            residual, problem.scope, self._points[source],
            lambda leaf, n: self._value(source, leaf), self._solution.parameters,
            elsewhere=not self.is_equation(residual),
        )  # fmt: skip
        return found if found is not None and found.is_finite else None

    def inside(self, leaf: Leaf) -> np.ndarray:
        """Return an unknown or a derivative at points inside the domain."""
        return self._value(self._inside, leaf)

    def _value(self, source: Source, leaf: Leaf) -> np.ndarray:
        known = self._values[source]
        if leaf not in known:
            leaves = dict.fromkeys([leaf, *self._asked[source]])
            names = self._solution.problem.domain.coordinates
            columns = zip(names, self._points[source].coordinates.T, strict=True)
            values = self._solution.derivatives(map(str, leaves), **dict(columns))
            known.update(zip(leaves, values, strict=True))
        return known[leaf]


def _of_equation(fields: _Fields, residual: Residual) -> float | None:
    found = fields.linear(residual)
    if found is None:
        return None
    terms = _terms(found)
    sizes = np.abs(found.value - sum(terms.values())) + sum(map(np.abs, terms.values()))
    places = np.divide(np.abs(found.value), sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return float(np.sqrt(_share(_rms(found.value), _rms(sizes)) * _rms(places)))


def _of_condition(fields: _Fields, residual: Residual) -> float | None:
    found = fields.linear(residual)
    if found is None:
        return None
    terms = _terms(found)
    rest = found.value - _rows(residual, sum(terms.values()))
    usual = sum(
        _rms(_rows(residual, np.abs(found.slopes[leaf]))) * _rms(fields.inside(leaf))
        for leaf in terms
    )
    noise = residual.source.noise or 0.0
    beyond = math.sqrt(max(_rms(found.value) ** 2 - noise**2, 0.0))
    return _share(beyond, usual + _rms(rest))


def _rows(residual: Residual, array: np.ndarray) -> np.ndarray:
    """Return the sums of what belongs to points over the points of each row."""
    return array if residual.nodes is None else array.reshape(-1, residual.nodes).sum(axis=1)


def _terms(found: Linear) -> dict[Leaf, np.ndarray]:
    return {leaf: slope * found.leaves[leaf] for leaf, slope in found.slopes.items()}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
