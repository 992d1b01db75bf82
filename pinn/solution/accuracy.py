"""How far a solution is from the problem's reference, on points that training never saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from pinn.geometry import Shape
from pinn.problem.problem import Problem
from pinn.sampling import stream, uniform
from pinn.training.resources import one_blas_thread

# Points of the test grid, about: 257 x 101 in space and time, 161 x 161 in space.
_TEST_POINTS = 26_000
_MOST_GRID_COORDINATES = 4
_LEAST_GRID_SHARE = 0.01


class Errors(NamedTuple):
    """||u - u*|| / ||u*|| (nan where u* vanishes) and max |u - u*|, each by unknown."""

    rel_l2: dict[str, float]
    max_error: dict[str, float]


class TestSet:
    """The test points of a problem and its reference there.

    Up to four coordinates the points are those of an even grid, with the bounds in it, that lie in
    the domain; beyond that, and where a domain fills next to nothing of its bounding box, they are
    uniform random points. Those that coincide with a training
    point are left out. Raises ValueError where the reference is not finite.
    """

    __test__ = False  # the name is no reason for pytest to collect it

    def __init__(self, problem: Problem, training_points: Iterable[np.ndarray]) -> None:
        self._names = problem.domain.coordinates
        points = test_points(problem.domain)
        seen = {row.tobytes() for array in training_points for row in np.ascontiguousarray(array)}
        fresh = [row.tobytes() not in seen for row in points]
        self.points = points[fresh]
        self.reference = problem.exact(self.coordinates) or {}
        for unknown, values in self.reference.items():
            bad = np.flatnonzero(~np.isfinite(values))
            if bad.size:
                place = zip(self._names, self.points[bad[0]], strict=True)
                raise ValueError(
                    f"reference of {unknown!r}: not finite at {bad.size} of {len(values)} test "
                    f"points, first at {', '.join(f'{n} = {v:.6g}' for n, v in place)}"
                )

    @property
    def coordinates(self) -> dict[str, np.ndarray]:
        """The points by coordinate, each (n,)."""
        return dict(zip(self._names, self.points.T, strict=True))

    def errors(self, evaluate: Callable[..., Mapping[str, np.ndarray]]) -> Errors:
        """Compare `evaluate(**coordinates)`, unknown -> (n,), with the reference."""
        if not self.reference:
            return Errors({}, {})
        values = evaluate(**self.coordinates)
        relative, largest = {}, {}
        for unknown, exact in self.reference.items():
            difference = np.asarray(values[unknown], dtype=np.float64) - exact
            with one_blas_thread():
                norm = float(np.linalg.norm(exact))
                distance = float(np.linalg.norm(difference))
            relative[unknown] = distance / norm if norm else math.nan
            largest[unknown] = float(np.max(np.abs(difference)))
        return Errors(relative, largest)


def test_points(domain: Shape) -> np.ndarray:
    """Return the test points of a domain, (n, d), before any are left out."""
    bounds = domain.bounds
    d = len(bounds)
    box = float(np.prod([high - low for low, high in bounds.values()]))
    share = min(domain.measure / box, 1.0)
    if d > _MOST_GRID_COORDINATES or share < _LEAST_GRID_SHARE:
        # A fixed seed of its own: every run of a problem is judged on the same points.
        return domain.sample_interior(_TEST_POINTS, uniform, stream(0, "test"))
    if d == 1:
        counts = {name: 1001 for name in bounds}
    elif d == 2 and domain.time is not None:
        counts = {name: 101 if name == domain.time else 257 for name in bounds}
    else:
        # Of a thin shape the box's grid is finer, so that about as many points lie inside.
        counts = {name: int((_TEST_POINTS / share) ** (1 / d)) for name in bounds}
    axes = [np.linspace(low, high, counts[name]) for name, (low, high) in bounds.items()]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
    return points[domain.contains(points)]
