"""Corners of a domain in a plane: where it turns inward or outward, and how wide it is there."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pinn.geometry.facets import Facets
    from pinn.geometry.parts import Part
    from pinn.geometry.shape import Shape

# A boundary that turns by less than this is one smooth curve, given by many points.
_TURN = math.pi / 6
# The domain around a corner is looked at on a circle of this radius, as a share of its size, or of
# the distance to the next corner; in so many directions first, and in so many to be sure.
_NEAR, _SHARE, _FEW, _MANY = 1e-4, 0.1, 24, 360
# Of a crack in so many times as many.
_CRACK = 32
# On a smaller one places that are known to a tolerance are found to more digits, unless sides are
# nearly straight.
_NEARER, _STRAIGHT = 1e-5, 1e-2
# Points along a part between which its ends are looked for, and steps in which they are found.
_ALONG, _HALVINGS = 1025, 45
# Places behind a corner that are looked at, at any scale and evenly, and how far away its pole is
# where nothing lies there, in sizes of the domain.
_BEHIND, _BETWEEN, _FAR = 512, 1 << 13, 1e3
# Ways that are looked at, as shares of what the domain leaves, the middle one first; others are
# taken where they are so many times as long.
_WAYS, _LONGER = (0.5, 0.25, 0.75, 0.1, 0.9, 0.02, 0.98), 2.0
# Points that are nearer to each other, in sizes of the domain, are one; digits that are kept.
_SAME, _DIGITS = 1e-5, 11


@dataclass(frozen=True)
class Corner:
    """A point of the boundary of a domain in a plane, and how much of the domain lies around it.

    names: of the coordinates. at: where it is. angle: of the domain there, in radians. pole: a
    point behind it, such that the way from the one to the other lies outside of the domain: the
    middle of a hole, a point far away.
    """

    names: tuple[str, str]
    at: tuple[float, float]
    angle: float
    pole: tuple[float, float]

    @property
    def room(self) -> float:
        """How far away its pole is."""
        return math.dist(self.at, self.pole)

    def moved(self, there: Callable[[np.ndarray], np.ndarray]) -> Corner:
        """Return it where a map of points, (n, 2), brings it that keeps angles."""
        at, pole = map(tuple, there(np.array([self.at, self.pole])).tolist())
        return Corner(self.names, at, self.angle, pole)

    def __str__(self) -> str:
        return ", ".join(f"{n} = {x:g}" for n, x in zip(self.names, self.at, strict=True))


class _LookedAt(NamedTuple):
    """Points, (n, 2), the radii of circles about them, and how much of each lies in a shape."""

    points: np.ndarray
    radii: np.ndarray
    share: np.ndarray


def corners_of(shape: Shape) -> tuple[Corner, ...]:
    """Return the corners that turn inward of a shape in a plane, made of others or not.

    They are among the corners of what it is made of, and the ends of what is left of their sides.
    """
    return _inward(shape, *_candidates(shape))


def outward_corners(shape: Shape, most: int) -> tuple[tuple[Corner, float], ...]:
    """Return those that turn outward, with the distance to the next corner of any kind.

    None of a shape that has more than so many.
    """
    from scipy.spatial import cKDTree

    points, radii, share = _candidates(shape)
    found = []
    for k in np.flatnonzero((share > 0) & (share < (math.pi - _TURN) / (2 * math.pi) + 0.5 / _FEW)):
        sector = _angles(shape, points[k], radii[k])
        if sector is not None and sector[1] - sector[0] < math.pi - _TURN:
            found.append((points[k], sector))
        if len(found) > most:
            return ()
    tree = cKDTree(points) if len(points) > 1 else None
    return tuple(
        (_corner(shape, point, *sector),
         float(tree.query(point, 2)[0][1]) if tree is not None else math.inf)
        for point, sector in found
    )  # fmt: skip


@functools.lru_cache(maxsize=8)
def _candidates(shape: Shape) -> _LookedAt:
    from scipy.spatial import cKDTree

    found = _different(shape.corners, _SAME * shape.size)
    if len(shape.members) > 1:
        # known but for the tolerance of a point on a boundary
        ends = ends_of(shape, shape.parts)
        ends = ends[cKDTree(found).query(ends)[0] > _SAME * shape.size]
        ends = [_met(shape, one) for one in _different(ends, _SAME * shape.size)]
        found = np.vstack([found, *ends])
    return _looked_at(shape, found)


def corners_of_facets(shape: Shape, boundary: Facets) -> tuple[Corner, ...]:
    """Return the corners that turn inward of a shape in a plane whose boundary is known."""
    return _inward(shape, *_looked_at(shape, turning_points(boundary)))


def turning_points(boundary: Facets) -> np.ndarray:
    """Return the points of a closed boundary in a plane at which it is no smooth curve, (n, 2)."""
    (first, second), normals = np.moveaxis(boundary.corners, 1, 0), boundary.normals
    points, place = np.unique(np.vstack([first, second]), axis=0, return_inverse=True)
    before, after = np.full((2, len(points)), -1)
    after[place[: len(first)]] = before[place[len(first) :]] = np.arange(len(first))
    straight = (normals[before] * normals[after]).sum(axis=1) > math.cos(_TURN)
    return points[~straight]


def _inward(
    shape: Shape, points: np.ndarray, radii: np.ndarray, share: np.ndarray
) -> tuple[Corner, ...]:
    """Return those of some points at which the boundary of a shape turns inward."""
    wide = share > (math.pi + _TURN) / (2 * math.pi) - 1 / _FEW
    found = (
        corner_at(shape, point, radius)
        for point, radius in zip(points[wide], radii[wide], strict=True)
    )
    return tuple(one for one in found if one is not None and one.angle > math.pi + _TURN)


def _looked_at(shape: Shape, points: np.ndarray) -> _LookedAt:
    from scipy.spatial import cKDTree

    near = np.full(len(points), _NEAR * shape.size)
    if len(points) > 1:
        near = np.minimum(near, _SHARE * cKDTree(points).query(points, 2)[0][:, 1])
    return _LookedAt(points, near, _around(shape, points, near, _FEW).mean(axis=1))


def corner_at(shape: Shape, point: np.ndarray, radius: float | None = None) -> Corner | None:
    """Return what a shape in a plane is like at a point of its boundary, (2,).

    radius: of the circle on which it is looked at. None where it does not lie there in one piece.
    """
    found = _angles(shape, point, _NEAR * shape.size if radius is None else radius)
    return None if found is None else _corner(shape, point, *found)


def _angles(shape: Shape, point: np.ndarray, radius: float) -> tuple[float, float] | None:
    """Return between which angles a shape lies at a point; None where it is not in one piece."""
    near, nearer = (_sector(shape, point, r) for r in (radius, radius / 2))
    if near is None or nearer is None:
        return None
    turns = round((near[0] - nearer[0]) / (2 * math.pi))
    # sides that are bent turn by so much more on a circle as it is wide
    low, high = (2 * (b + 2 * math.pi * turns) - a for a, b in zip(near, nearer, strict=True))
    return low, high


def _corner(shape: Shape, point: np.ndarray, low: float, high: float) -> Corner:
    pole = _pole(shape, point, low, high)
    digits = _DIGITS - math.ceil(math.log10(shape.size))
    at, pole = (tuple((one.round(digits) + 0.0).tolist()) for one in (point, pole))
    return Corner(shape.coordinates, at, high - low, pole)


def _different(points: np.ndarray, apart: float) -> np.ndarray:
    """Return points, and for those that are nearer to each other than that their mean."""
    if not len(points):
        return points
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    near = cKDTree(points).sparse_distance_matrix(cKDTree(points), apart)
    count, group = connected_components(near, directed=False)
    sums = np.stack([np.bincount(group, column, count) for column in points.T], axis=1)
    return sums / np.bincount(group)[:, None]


def ends_of(shape: Shape, parts: Iterable[Part]) -> np.ndarray:
    """Return where parts of the boundary of a shape in a plane begin and end, (n, 2)."""
    found = [np.empty((0, 2))]
    unit = np.linspace(0.0, 1.0, _ALONG)
    for part in parts:

        def points(at: np.ndarray, part: Part = part) -> np.ndarray:
            return shape.rows(part, at[:, None])[:, :2]

        # before the first of them and after the last one there is nothing
        there = np.pad(~np.isnan(points(unit)).any(axis=1), 1)
        change = np.flatnonzero(there[1:] != there[:-1])
        between = change[(change > 0) & (change < _ALONG)]
        ends = unit[between - 1], unit[between]
        on, off = np.where(there[between], ends, ends[::-1])
        on, _ = _edge(lambda at: ~np.isnan(points(at)).any(axis=1), on, off)
        outer = np.array([0.0, 1.0])[[0 in change, _ALONG in change]]
        found.append(points(np.concatenate([on, outer])))
    return np.vstack(found)


def _met(shape: Shape, point: np.ndarray) -> np.ndarray:
    """Return where two sides meet, from a point that is near."""
    radius = _NEARER * shape.size
    far, near = _sector(shape, point, radius), _sector(shape, point, radius / 2)
    if far is None or near is None:
        return point
    # from points of both sides along them
    there = point + radius * _directions(np.array(far))
    along = there - point - radius / 2 * _directions(np.array(near))
    matrix = np.stack([along[0], -along[1]], axis=1)
    if abs(np.linalg.det(matrix)) < _STRAIGHT * radius**2:
        return point
    return there[0] + np.linalg.solve(matrix, there[1] - there[0])[0] * along[0]


def _directions(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _around(shape: Shape, points: np.ndarray, radii: np.ndarray, count: int) -> np.ndarray:
    """Return which points of circles lie in a shape, (n, count)."""
    circle = _directions(2 * math.pi * (np.arange(count) + 0.5) / count)
    places = points[:, None] + radii[:, None, None] * circle
    return shape.contains(places.reshape(-1, 2), 0.0).reshape(len(points), count)


def _sector(
    shape: Shape, point: np.ndarray, radius: float, count: int = _MANY
) -> tuple[float, float] | None:
    """Return between which angles a shape lies at a point; None unless that is one sector."""
    inside = _around(shape, point[None], np.array([radius]), count)[0]
    if inside.all() and count == _MANY:  # a crack is narrower
        return _sector(shape, point, radius, _CRACK * count)
    begins = np.flatnonzero(inside & ~np.roll(inside, 1))
    if len(begins) != 1:
        return None
    step = 2 * math.pi / count
    begin, held = (begins[0] + 0.5) * step, int(inside.sum())
    within = np.array([begin, begin + (held - 1) * step])
    outside = within + [-step, step]
    within, _ = _edge(
        lambda angles: shape.contains(point + radius * _directions(angles), 0.0), within, outside
    )
    return float(within[0]), float(within[1])


def _edge(
    is_there: Callable[[np.ndarray], np.ndarray], on: np.ndarray, off: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return where something is and where not, halved until both are next to each other."""
    for _ in range(_HALVINGS):
        middle = (on + off) / 2
        there = is_there(middle)
        on, off = np.where(there, middle, on), np.where(there, off, middle)
    return on, off


def _pole(shape: Shape, point: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return a point behind a corner: half way to what lies there of the domain, or far away.

    low, high: the angles between which the domain lies. It lies in the middle of what is left
    unless another way is much longer, as along a slot.
    """
    found = []
    for share in _WAYS:
        angle = high + share * (low + 2 * math.pi - high)
        way = _directions(np.array(angle))
        found.append((_free(shape, point, way), way))
    room, way = found[0]
    longest = max(found, key=lambda one: one[0])
    if longest[0] > _LONGER * room:
        room, way = longest
    return point + (_FAR * shape.size if math.isinf(room) else room / 2) * way


def _free(shape: Shape, point: np.ndarray, way: np.ndarray) -> float:
    """Return how far from a point the shape lies along a way; infinity where it does not."""
    size = shape.size
    away = np.unique(np.concatenate([
        np.geomspace(_NEAR * size, 2 * size, _BEHIND), np.linspace(0, 2 * size, _BETWEEN + 1)[1:]
    ]))  # fmt: skip
    met = shape.contains(point + away[:, None] * way, 0.0)
    if not met.any():
        return math.inf
    first = int(met.argmax())
    before = away[first - 1] if first else 0.0
    _, outside = _edge(
        lambda at: shape.contains(point + at[:, None] * way, 0.0),
        away[first : first + 1], np.array([before]),
    )  # fmt: skip
    return float(outside[0])
