"""Where on parts of a boundary points lie, and the normals there, for any shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pinn.geometry.parts import Part
from pinn.geometry.shape import Shape
from pinn.geometry.unit_cube import probes

# Of a part, among which the nearest are where the search begins; more of them for small facets.
_PROBES = (1 << 9, 1 << 12, 1 << 14)
_STARTS, _STEPS = 6, 8
_DIFFERENCE = 1e-6


def located(
    shape: Shape, parts: Sequence[Part], points: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far points (n, d) are from the nearest of some parts, and its outward normals.

    The distances, (n,), are shares of the shape's bounds in each coordinate; those above
    `tolerance` are not the least that there are, and their normals are of no use. The normals are
    (n, len(space)). Of a shape only `rows` is asked for, which places points of the unit cube: the
    ones that are placed nearest are found by Gauss and Newton's method.
    """
    width = np.array([high - low for low, high in shape.bounds.values()])
    distances, normals = np.full(len(points), np.inf), np.full((len(points), len(shape.space)), 0.0)
    for count in _PROBES:
        for part in parts:
            rest = np.flatnonzero(distances > tolerance)
            found, normal = _nearest(shape, part, points[rest], width, count)
            nearer = found < distances[rest]
            distances[rest[nearer]], normals[rest[nearer]] = found[nearer], normal[nearer]
    return distances, normals


def _nearest(
    shape: Shape, part: Part, points: np.ndarray, width: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    from scipy.spatial import cKDTree

    n, d = points.shape
    unit = probes(count, d - 1) if d > 1 else np.empty((1, 0))
    rows = shape.rows(part, unit)
    there = ~np.isnan(rows).any(axis=1)
    unit, rows = unit[there], rows[there]
    if not len(rows) or not n:
        return np.full(n, np.inf), np.zeros((n, len(shape.space)))
    starts = min(_STARTS, len(rows))
    _, first = cKDTree(rows[:, :d] / width).query(points / width, k=starts)
    wanted = np.repeat(points, starts, axis=0)
    unit = unit[np.reshape(first, -1)]
    for _ in range(_STEPS if d > 1 else 0):
        unit = _stepped(shape, part, wanted, width, unit)
    rows = shape.rows(part, unit)
    gaps = np.linalg.norm((rows[:, :d] - wanted) / width, axis=1).reshape(n, starts)
    gaps = np.where(np.isnan(gaps), np.inf, gaps)
    best = gaps.argmin(axis=1)
    return gaps.min(axis=1), rows.reshape(n, starts, -1)[np.arange(n), best, d:]


def _stepped(
    shape: Shape, part: Part, points: np.ndarray, width: np.ndarray, unit: np.ndarray
) -> np.ndarray:
    """Return parameters that are nearer, (n, d - 1), by one step."""
    d = points.shape[1]
    here = shape.rows(part, unit)[:, :d]
    slopes = []
    for k in range(d - 1):
        step = np.where(unit[:, k] > 0.5, -_DIFFERENCE, _DIFFERENCE)  # inwards
        moved = unit.copy()
        moved[:, k] += step
        slopes.append((shape.rows(part, moved)[:, :d] - here) / (width * step[:, None]))
    jacobian = np.nan_to_num(np.stack(slopes, axis=2), posinf=0.0, neginf=0.0)
    gap = np.nan_to_num((points - here) / width)
    change = np.einsum("nkd,nd->nk", np.linalg.pinv(jacobian), gap)
    return np.clip(unit + change, 0, 1)
