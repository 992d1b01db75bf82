"""A residual that oscillates faster than the network has learned to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pinn.diagnosis.causes.front import half
from pinn.diagnosis.changes import of_model
from pinn.diagnosis.examination import Examination, unsolved_orders
from pinn.diagnosis.finding import Finding
from pinn.diagnosis.scaled_residual import LARGE
from pinn.models import Network, RandomFeatures
from pinn.residuals import Residual
from pinn.sampling import Points

# Waves across the domain below which a network needs no help, and by how much the residual's
# outnumber those of the solution where it does not follow.
_FEW, _MORE = 3.0, 1.5
_STEP = 1e-3
_SPREAD = 0.03
_COUNT = 16


@dataclass(frozen=True)
class Waves:
    """How many waves run across the domain along a coordinate, by the size of slopes."""

    coordinate: str
    residual: float
    solution: float


def waves(seen: Examination) -> Iterator[Finding]:
    """Tell of an equation that does not hold, and whose residual has more waves than the solution.

    The waves of a function along x: the rms of its slope over that of itself is 2 pi times those in
    a unit of length.
    """
    model = seen.experiment.model
    if seen.overfit or not isinstance(model, Network):
        return
    for residual in seen.equations:
        share = seen.shares.get(residual.name, 0.0)
        if share < LARGE or residual.whole:
            continue
        if half(np.sort(seen.residuals[residual.name] ** 2)[::-1]) < _SPREAD:
            continue  # sharp rather than wavy
        found = max(_along(seen, residual), key=lambda one: one.residual)
        if found.residual < max(_FEW, _MORE * found.solution):
            continue
        if not seen.is_stuck:
            continue
        if isinstance(model, RandomFeatures):
            most = math.ceil(1.5 * math.pi * found.residual)
            change = of_model(model, steepness=[model.steepness[0], most])
        else:
            scales = [1, max(2, round(found.residual))]
            fourier = {"fourier": {"count": _COUNT, "scale": scales}}
            change = of_model(model, embedding=fourier)
        yield Finding(
            "waves", "waves that the network does not follow",
            f"{residual.name} is off by {share:.2g} of its terms; along {found.coordinate} its "
            f"residual has {found.residual:.2g} waves across the domain, the solution "
            f"{found.solution:.2g}", (change,), unsolved_orders(share),
        )  # fmt: skip


def _along(seen: Examination, residual: Residual) -> Iterator[Waves]:
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
