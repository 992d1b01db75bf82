"""Boundaries of straight pieces: segments in two dimensions, triangles in three."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from pinn.geometry.rays import Rays

# Numbers of an intermediate array, of which there are a few at a time.
_CHUNK = 1 << 20


class Facets:
    """Segments (m, 2, 2) or triangles (m, 3, 3): facet, corner, coordinate; normals point out.

    Seen from outside, the corners of a triangle run counterclockwise; a segment has the inside on
    its left.
    """

    def __init__(self, corners: np.ndarray) -> None:
        self.corners = corners
        first, *others = np.moveaxis(corners, 1, 0)
        if corners.shape[1] == 2:
            (along,) = (other - first for other in others)
            across = np.stack([along[:, 1], -along[:, 0]], axis=1)
        else:
            across = np.cross(others[0] - first, others[1] - first) / 2
        self.sizes = np.linalg.norm(across, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.normals = across / self.sizes[:, None]

    @property
    def measure(self) -> float:
        """The sum of the lengths or areas."""
        return math.fsum(self.sizes)

    @property
    def enclosed(self) -> float:
        """The area or volume inside of closed facets, by the divergence theorem."""
        heights = np.einsum("md,md->m", self.corners.mean(axis=1), self.normals)
        return math.fsum(heights * self.sizes) / self.corners.shape[1]

    def subset(self, chosen: np.ndarray) -> Facets:
        """Return some of the facets."""
        return Facets(self.corners[chosen])

    def place(self, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return points spread over the facets as `unit`, (n, d - 1), is, and the normals there."""
        which, unit = chosen(self._ends, unit)
        corners = self.corners[which]
        if unit.shape[1] == 1:
            shares = np.stack([1 - unit[:, 0], unit[:, 0]], axis=1)
        else:
            root = np.sqrt(unit[:, 0])
            shares = np.stack([1 - root, root * (1 - unit[:, 1]), root * unit[:, 1]], axis=1)
        return np.einsum("nk,nkd->nd", shares, corners), self.normals[which]

    @cached_property
    def _ends(self) -> np.ndarray:
        return np.cumsum(self.sizes)

    def contains(self, points: np.ndarray, slack: float) -> np.ndarray:
        """Return which points lie inside of closed facets, or on them up to a distance of slack.

        A negative slack asks for points inside that are not so near to the facets.
        """
        if points.shape[1] == 2:
            return self.signed_distance(points) >= -slack
        inside, near = self._rays.around(points, abs(slack))
        return inside | near if slack >= 0 else inside & ~near

    @cached_property
    def _rays(self) -> Rays:
        return Rays(self)

    def signed_distance(self, points: np.ndarray) -> np.ndarray:
        """Return the distance to the nearest facet, (n,), positive inside of closed facets."""
        found = np.empty(len(points))
        rows = max(_CHUNK // len(self.corners), 1)
        for start in range(0, len(points), rows):
            block = points[start : start + rows]
            inside = self._around(block)
            distance = np.sqrt(self._squares(block).min(axis=1))
            found[start : start + rows] = np.where(inside, distance, -distance)
        return found

    def _around(self, points: np.ndarray) -> np.ndarray:
        """Return whether closed facets lie around points, by the parity of the rays' crossings."""
        if points.shape[1] == 2:
            x, y = points.T[:, :, None]
            (x0, y0), (x1, y1) = (self.corners[:, k].T for k in range(2))
            between = (y0 <= y) != (y1 <= y)
            with np.errstate(divide="ignore", invalid="ignore"):
                crossing = x0 + (y - y0) / (y1 - y0) * (x1 - x0)
            return (between & (x < crossing)).sum(axis=1) % 2 == 1
        return self._rays.around(points)[0]

    def _squares(self, points: np.ndarray) -> np.ndarray:
        """Return the squares of the distances, (n, m)."""
        if points.shape[1] == 2:
            return _to_segments(points[:, None], self.corners[:, 0], self.corners[:, 1])
        a, b, c = (self.corners[:, k] for k in range(3))
        points = points[:, None]
        found = np.minimum(_to_segments(points, a, b), _to_segments(points, b, c))
        found = np.minimum(found, _to_segments(points, c, a))
        height = np.einsum("nmd,md->nm", points - a, self.normals)
        foot = points - height[..., None] * self.normals
        over = np.ones(height.shape, bool)
        for one, other in ((a, b), (b, c), (c, a)):
            edge = np.cross(self.normals, other - one)
            over &= np.einsum("nmd,md->nm", foot - one, edge) >= 0
        return np.where(over, height**2, found)


def chosen(ends: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Choose among pieces by their size with the first column of `unit`, (n, k).

    ends: the running total of the sizes. Returns the piece of each row, (n,), and `unit` with the
    first column spread over [0, 1] anew.
    """
    place = unit[:, 0] * ends[-1]
    which = np.minimum(np.searchsorted(ends, place, side="right"), len(ends) - 1)
    low = np.concatenate([[0.0], ends[:-1]])[which]
    again = np.clip((place - low) / (ends[which] - low), 0.0, 1.0)
    return which, np.column_stack([again, unit[:, 1:]])


def _to_segments(points: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    along = second - first
    offset = points - first
    length = np.einsum("md,md->m", along, along)
    share = np.clip(np.einsum("nmd,md->nm", offset, along) / length, 0.0, 1.0)
    offset = offset - share[..., None] * along
    return np.einsum("nmd,nmd->nm", offset, offset)
