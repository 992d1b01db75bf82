"""What a picture of an unknown shows besides its values: where it was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pinn.equations.leaves import Derivative
from pinn.problem import Problem
from pinn.residuals import Measured

# More points of data than these hide the map that they are drawn on.
_MOST_MEASURED = 500


def measured_at(
    problem: Problem, unknown: str, drawn: Sequence[str], fixed: Mapping[str, float]
) -> np.ndarray | None:
    """Return the places (n, len(drawn)) of the data of an unknown or field; None for too many.

    fixed: the coordinates that are held, and where; data elsewhere do not belong to the picture.
    """
    bounds, names = problem.domain.bounds, problem.domain.coordinates
    found = []
    for residual in problem.residuals:
        if not isinstance(residual.source, Measured) or residual.left.tree != Derivative(unknown):
            continue
        try:
            points = residual.source.points
        except FileNotFoundError:
            continue  # of a solution that was loaded where its data are not
        columns = dict(zip(names, points.T, strict=True))
        kept = np.ones(len(points), dtype=bool)
        for name, value in fixed.items():
            low, high = bounds[name]
            kept &= np.abs(columns[name] - value) <= 1e-6 * (high - low)
        found.append(np.stack([columns[name][kept] for name in drawn], axis=1))
    count = sum(map(len, found))
    return np.concatenate(found) if 0 < count <= _MOST_MEASURED else None
