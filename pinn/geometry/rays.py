"""Which points lie inside of a closed surface of triangles, by the parity of rays' crossings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pinn.geometry.facets import Facets

# Rays run along a direction that no edge of a drawing does: along a coordinate they would hit them.
_DIRECTION = np.array([0.5346, 0.3127, 0.7851])
_EDGE = 1e-9
_PAIRS = 1 << 21


class Rays:
    """The triangles of a surface, sorted into the cells of a plane across the rays.

    A ray meets the triangles of its cell only, some ten of them.
    """

    def __init__(self, facets: Facets) -> None:
        along = _DIRECTION / np.linalg.norm(_DIRECTION)
        across = np.linalg.svd(along[None])[2][1:]
        self._turn = np.concatenate([across, along[None]]).T
        self._corners = facets.corners @ self._turn
        self._steepness = np.abs(facets.normals @ self._turn[:, 2])
        flat = self._corners[..., :2]
        self._low = flat.min(axis=(0, 1))
        self._high = flat.max(axis=(0, 1))
        self._count = max(math.isqrt(len(flat)), 1)
        first, last = self._cells(flat.min(axis=1)), self._cells(flat.max(axis=1))
        width = last - first + 1
        triangle, inner = _expanded(width.prod(axis=1))
        row, column = np.divmod(inner, width[triangle, 1])
        cell = (first[triangle, 0] + row) * self._count + first[triangle, 1] + column
        order = np.argsort(cell, kind="stable")
        self._triangles = triangle[order]
        self._starts = np.searchsorted(cell[order], np.arange(self._count**2 + 1))

    def _cells(self, flat: np.ndarray) -> np.ndarray:
        share = (flat - self._low) / (self._high - self._low)
        return np.clip((share * self._count).astype(int), 0, self._count - 1)

    def around(self, points: np.ndarray, slack: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return whether the surface lies around points, and whether it is as near as slack."""
        turned = points @ self._turn
        inside, near = np.zeros(len(points), bool), np.zeros(len(points), bool)
        with np.errstate(invalid="ignore"):
            flat = turned[:, :2]
            there = np.flatnonzero(((flat >= self._low) & (flat <= self._high)).all(axis=1))
        rows, columns = self._cells(turned[there, :2]).T
        cells = rows * self._count + columns
        counts = self._starts[cells + 1] - self._starts[cells]
        totals = np.concatenate([[0], np.cumsum(counts)])
        begin = 0
        while begin < len(there):
            limit = np.searchsorted(totals, totals[begin] + _PAIRS, side="right") - 1
            end = max(int(limit), begin + 1)
            some = slice(begin, end)
            which, inner = _expanded(counts[some])
            triangles = self._triangles[self._starts[cells[some]][which] + inner]
            found = self._met(turned[there[some]][which], triangles, slack)
            above, close = (np.bincount(which, one, end - begin) for one in found)
            inside[there[some]] = above % 2 == 1
            near[there[some]] = close > 0
            begin = end
        return inside, near

    def _met(
        self, points: np.ndarray, triangles: np.ndarray, slack: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return of pairs whether the ray from the point meets the triangle, and how near it is."""
        a, b, c = np.moveaxis(self._corners[triangles], 1, 0)
        whole = _cross(b - a, c - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.stack(
                [_cross(v - u, points - u) / whole for u, v in ((b, c), (c, a), (a, b))]
            )
            height = (shares * np.stack([a[:, 2], b[:, 2], c[:, 2]])).sum(axis=0) - points[:, 2]
            least = shares.min(axis=0)
            distance = np.abs(height) * self._steepness[triangles]
            return (least >= 0) & (height > 0), (least >= -_EDGE) & (distance <= slack)


def _expanded(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, for so many items of each row, the row of each item and its number in the row."""
    rows = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    return rows, np.arange(len(rows)) - starts[rows]


def _cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
