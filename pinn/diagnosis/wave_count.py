"""How many waves a residual and the solution have across the domain, by their slopes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pinn.residuals import Residual
from pinn.sampling import Points

if TYPE_CHECKING:
    from pinn.diagnosis.examination import Examination

_STEP = 1e-3


@dataclass(frozen=True)
class Waves:
    """How many waves run across the domain along a coordinate, by the size of slopes."""

    coordinate: str
    residual: float
    solution: float


def waves_along(seen: Examination, residual: Residual) -> Iterator[Waves]:
    """Count them along every coordinate: where the residual has most, and the unknowns.

    The waves of a function along x: the rms of its slope over that of itself is 2 pi times those in
    a unit of length.
    """
    points = seen.fresh_points[residual.name]
    names = seen.problem.domain.coordinates
    unknowns = seen.problem.scope.inputs_of
    for j, (name, (low, high)) in enumerate(seen.problem.domain.bounds.items()):
        width = high - low
        moved = points.coordinates.copy()
        moved[:, j] += np.where(moved[:, j] < (low + high) / 2, 1, -1) * _STEP * width
        inside = seen.problem.domain.contains(moved)
        there = Points(moved[inside], {n: c[inside] for n, c in points.columns.items()})
        shifted = seen.objective.residuals(seen.theta, {residual.name: there})[residual.name]
        here = seen.residuals[residual.name][inside]
        a = seen.solution.evaluate_anywhere(**dict(zip(names, points.coordinates[inside].T,
                                                       strict=True)))  # fmt: skip
        b = seen.solution.evaluate_anywhere(**dict(zip(names, moved[inside].T, strict=True)))
        counts = [
            _waves(b[u] - a[u], a[u] - a[u].mean())
            for u in seen.problem.unknowns if name in unknowns(u)
        ]  # fmt: skip
        yield Waves(name, _waves(shifted - here, here), max(counts, default=0.0))


def _waves(change: np.ndarray, values: np.ndarray) -> float:
    size = float(np.sqrt(np.mean(values**2)))
    return float(np.sqrt(np.mean(change**2))) / (_STEP * 2 * math.pi * size) if size else 0.0
