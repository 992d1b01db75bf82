"""How well the equations hold after training, whatever their scale."""

from __future__ import annotations

import numpy as np

from pinn.diagnosis.linear import Leaf, linear
from pinn.residuals import Residual
from pinn.sampling import Sampling, stream
from pinn.solution.solution import Solution

_POINTS = 2000


def scaled_residuals(solution: Solution) -> dict[str, float]:
    """Return how well each equation holds on fresh points: 0 is exactly, 1 is not at all.

    rms |r| / rms S over uniform points, where S is the sum of the sizes of the equation's terms:
    for each leaf the leaf times the slope of r in it, and what is left, such as a source. It does
    not change with the units of coordinates, unknowns or equation. An equation whose terms all
    vanish has 0; one that takes values from elsewhere is left out.
    """
    problem = solution.problem
    found = {}
    for residual in problem.residuals:
        if residual.name in problem.equations:
            share = _share(solution, residual)
            if share is not None:
                found[residual.name] = share
    return found


def _share(solution: Solution, residual: Residual) -> float | None:
    problem = solution.problem
    rng = stream(solution.experiment.seed, "scaled residual", residual.name)
    points = residual.source.draw(Sampling(interior=_POINTS, method="uniform"), rng)
    columns = dict(zip(problem.domain.coordinates, points.coordinates.T, strict=True))

    def trained(leaf: Leaf, n: int) -> np.ndarray:
        return solution.derivative(str(leaf), **columns)

    found = linear(residual, problem.scope, points, trained, solution.parameters)
    if found is None:
        return None
    terms = [slope * found.leaves[leaf] for leaf, slope in found.slopes.items()]
    sizes = sum(map(np.abs, terms)) + np.abs(found.value - sum(terms))
    with np.errstate(all="ignore"):
        size = float(np.sqrt(np.mean(sizes**2)))
        rms = float(np.sqrt(np.mean(found.value**2)))
    return rms / size if size else 0.0
