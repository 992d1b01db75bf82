"""How well the equations and conditions hold after training, whatever their scale."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pinn.diagnosis.linear import Leaf, State, linear
from pinn.residuals import Interior, Residual
from pinn.sampling import Points, Sampling, stream
from pinn.solution.solution import Solution

LARGE = 0.04

_SAMPLING = Sampling(interior=1000, initial=400, boundary=400)


def scaled_residuals(solution: Solution) -> dict[str, float]:
    """Return how far each equation and soft condition is from holding: 0 is exactly, 1 not at all.

    Taken at fresh points, and the same in any units of coordinates, unknowns and equation.
    With S the sum of the sizes of the terms at a point (for each leaf the leaf times the slope of r
    in it, and what is left, such as a source), an equation has the geometric mean of

        rms |r| / rms S, which tells of a layer that was not found, and
        rms (|r| / S), which tells of a field that died out, where everything is small.

    A condition has rms |r| over the size of its terms, with the rms of the unknown inside for the
    unknown: where u = 0 is asked for, u itself would be no measure. Of data whose noise is known
    only what is beyond the noise counts. What cannot be told is left out: residuals with values
    from elsewhere.
    """
    problem = solution.problem
    found = {}
    with np.errstate(all="ignore"):
        for residual in problem.residuals:
            is_equation = residual.name in problem.equations
            measure = _of_equation if is_equation else _of_condition
            found[residual.name] = measure(solution, residual)
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


def _of_equation(solution: Solution, residual: Residual) -> float | None:
    found = _evaluated(solution, residual, _points(solution, residual))
    if found is None:
        return None
    value, terms, _ = found
    sizes = np.abs(value - sum(terms.values())) + sum(map(np.abs, terms.values()))
    places = np.divide(np.abs(value), sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return float(np.sqrt(_share(_rms(value), _rms(sizes)) * _rms(places)))


def _of_condition(solution: Solution, residual: Residual) -> float | None:
    found = _evaluated(solution, residual, _points(solution, residual))
    if found is None:
        return None
    value, terms, slopes = found
    inner = stream(solution.experiment.seed, "scaled residual", "inside")
    inside = Interior(solution.problem.domain).draw(_SAMPLING, inner)
    usual = sum(
        _rms(_rows(residual, np.abs(slopes[leaf]))) * _rms(_trained(solution, inside)(leaf, 0))
        for leaf in terms
    )
    rest = value - _rows(residual, sum(terms.values()))
    beyond = math.sqrt(max(_rms(value) ** 2 - (residual.source.noise or 0.0) ** 2, 0.0))
    return _share(beyond, usual + _rms(rest))


def _rows(residual: Residual, array: np.ndarray) -> np.ndarray:
    """Return the sums of what belongs to points over the points of each row."""
    return array if residual.nodes is None else array.reshape(-1, residual.nodes).sum(axis=1)


def _points(solution: Solution, residual: Residual) -> Points:
    rng = stream(solution.experiment.seed, "scaled residual", residual.name)
    return residual.source.draw(_SAMPLING, rng)


def _trained(solution: Solution, points: Points) -> State:
    names = solution.problem.domain.coordinates
    columns = dict(zip(names, points.coordinates.T, strict=True))
    return lambda leaf, n: solution.derivative(str(leaf), **columns)


def _evaluated(
    solution: Solution, residual: Residual, points: Points
) -> tuple[np.ndarray, dict[Leaf, np.ndarray], dict[Leaf, np.ndarray]] | None:
    """Return r, its terms leaf by leaf, and its slopes in the leaves, each (n,)."""
    state = _trained(solution, points)
    found = linear(
        residual, solution.problem.scope, points, state, solution.parameters,
        elsewhere=residual.name not in solution.problem.equations,
    )  # fmt: skip
    if found is None or not found.is_finite:
        return None
    terms = {leaf: slope * found.leaves[leaf] for leaf, slope in found.slopes.items()}
    return found.value, terms, found.slopes


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
