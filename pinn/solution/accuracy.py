"""How far a solution is from the problem's reference, on points that training never saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from pinn.evaluation.test_grid import test_points
from pinn.problem.problem import Problem
from pinn.tables import Table
from pinn.training.resources import one_blas_thread


class Errors(NamedTuple):
    """||u - u*|| / ||u*|| (nan where u* vanishes) and max |u - u*|, each by unknown."""

    rel_l2: dict[str, float]
    max_error: dict[str, float]


class TestSet:
    """Where a problem is compared with its reference, and the values there.

    A table is compared with at its own points. For all else, up to four coordinates the points are
    those of an even grid, with the bounds in it, that lie in the domain; beyond that, and where a
    domain fills next to nothing of its bounding box, they are uniform random points. A problem with
    families has them at a few values of these, from bound to bound; in layers they lie closer.
    Those that coincide with a training point are left out. Raises ValueError where the reference is
    not finite.
    """

    __test__ = False  # the name is no reason for pytest to collect it

    def __init__(self, problem: Problem, training_points: Iterable[np.ndarray]) -> None:
        self._names = problem.domain.coordinates
        points = test_points(problem.domain, problem.walls)
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
        self._compared = [(self.coordinates, self.reference)] if self.reference else []
        self._compared += _at_their_points(problem.reference_tables)
        self._unknowns = problem.solved

    @property
    def coordinates(self) -> dict[str, np.ndarray]:
        """The points by coordinate, each (n,)."""
        return dict(zip(self._names, self.points.T, strict=True))

    def errors(self, evaluate: Callable[..., Mapping[str, np.ndarray]]) -> Errors:
        """Compare `evaluate(**coordinates)`, unknown -> (n,), with the reference."""
        found = _errors(self._compared, evaluate)
        return Errors(*({n: by[n] for n in self._unknowns if n in by} for by in found))


def errors_at_own_points(
    tables: Mapping[str, Table], evaluate: Callable[..., Mapping[str, np.ndarray]]
) -> Errors:
    """Compare `evaluate(**coordinates)`, unknown -> (n,), with tables at all of their points."""
    return _errors(_at_their_points(tables), evaluate)


_Compared = tuple[dict[str, np.ndarray], dict[str, np.ndarray]]


def _at_their_points(tables: Mapping[str, Table]) -> list[_Compared]:
    """Return the points of tables with the values there; tables of equal points share them."""
    found: dict[tuple[tuple[str, ...], bytes], _Compared] = {}
    for unknown, table in tables.items():
        points, values = table.rows()
        coordinates = dict(zip(table.over, points.T, strict=True))
        found.setdefault((table.over, points.tobytes()), (coordinates, {}))[1][unknown] = values
    return list(found.values())


def _errors(
    compared: Iterable[_Compared], evaluate: Callable[..., Mapping[str, np.ndarray]]
) -> Errors:
    relative, largest = {}, {}
    for coordinates, reference in compared:
        values = evaluate(**coordinates)
        for unknown, exact in reference.items():
            difference = np.asarray(values[unknown], dtype=np.float64) - exact
            with one_blas_thread():
                norm = float(np.linalg.norm(exact))
                distance = float(np.linalg.norm(difference))
            relative[unknown] = distance / norm if norm else math.nan
            largest[unknown] = float(np.max(np.abs(difference)))
    return Errors(relative, largest)
