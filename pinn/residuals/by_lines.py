"""Gauss's nodes inside any shape: along lines through it, from where each goes in to where out.

Along the last coordinate these are Gauss-Legendre's. Along the others there are lines between
places where the stretches inside become more or fewer, and where what the shape is made of begins
and ends. A stretch may be as long as a root of the distance from there, as in a disk: places are
sines of angles whose nodes are Gauss-Legendre's, for which that is smooth.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from pinn.geometry import Shape

# Places along a coordinate at which it is looked what is inside, the same in a plane of lines, and
# halvings of where that changes.
_LOOKS, _LOOKS_IN_A_PLANE, _HALVINGS = 257, 65, 52
# Nodes of a stretch, and of what is between two places, at least, by the number of coordinates.
_LEAST, _LEAST_BETWEEN = {2: 6, 3: 4}, {2: 12, 3: 6}
BY_LINES = tuple(_LEAST)
"""For so many coordinates."""
# Stretches that are shorter than this share of the bounds are rounding.
_NOTHING = 1e-12
# Where a plane of lines begins is seen to this share of the bounds.
_NEXT_TO = 1e-4
_PRIME = np.uint64(0x9E3779B97F4A7C15)


@lru_cache(maxsize=64)
def by_lines(shape: Shape, each: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes inside a shape of 2 or 3 coordinates, (q, d), and weights, their share of it.

    each: nodes along a coordinate, where a line is inside in one stretch; more pieces share them.
    The weights sum up to the measure. Smooth functions are integrated to about rounding over disks,
    balls, ellipses and boxes with such holes, and to some 1e-5 where boundaries cross, and over
    what has corners that lie in no line along a coordinate.
    """
    found, _ = _nodes(shape, (), each, np.empty(0))
    points, weights = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    points.flags.writeable = weights.flags.writeable = False
    return points, weights


_Found = list[tuple[np.ndarray, np.ndarray]]


def _nodes(
    shape: Shape, at: tuple[float, ...], each: int, beside: np.ndarray
) -> tuple[_Found, np.ndarray]:
    """Return nodes with weights where the first coordinates are as given, and middles of pieces.

    beside: the middles next to it, as a piece may be too short to be met by chance.
    """
    k, d = len(at), len(shape.coordinates)
    low, high = shape.bounds[shape.coordinates[k]]
    edges = shape.corners[:, k] if k < d - 1 else np.empty(0)
    edges = edges[(edges > low) & (edges < high)]
    next_to = _NEXT_TO * (high - low) if k < d - 1 else 0.0
    pieces = _pieces(_kinds(shape, at), np.array([low, *edges, high]), beside, next_to)
    middles = np.array([(a + b) / 2 for a, b in pieces])
    found: _Found = []
    for a, b in pieces:
        if k == d - 1:
            count = max(_LEAST[d], -(-each // len(pieces)))
            nodes, weights = np.polynomial.legendre.leggauss(count)
            points = np.empty((len(nodes), d))
            points[:, :k], points[:, k] = at, a + (b - a) * (nodes + 1) / 2
            found.append((points, weights * (b - a) / 2))
            continue
        count = max(_LEAST_BETWEEN[d], -(-each // len(pieces)))
        angles, weights = np.polynomial.legendre.leggauss(count)
        quarter = np.pi / 2
        places = (a + b) / 2 + (b - a) / 2 * np.sin(quarter * angles)
        weights = weights * quarter * np.cos(quarter * angles) * (b - a) / 2
        half = len(places) // 2
        for side in (range(half, len(places)), range(half - 1, -1, -1)):  # from the middle on
            near = np.empty(0)
            for i in side:
                own, near = _nodes(shape, (*at, float(places[i])), each, near)
                found += [(points, share * weights[i]) for points, share in own]
    return found, middles


def _kinds(shape: Shape, at: tuple[float, ...]) -> Callable[[np.ndarray], np.ndarray]:
    """Return what tells of places along the next coordinate what is inside there; 0 for nothing.

    Of a line it is a number for the shapes that it goes through, in their order.
    """
    k, names = len(at), shape.coordinates
    behind = names[k + 1 :]
    looks = _LOOKS if len(behind) < 2 else _LOOKS_IN_A_PLANE
    axes = [np.linspace(*shape.bounds[name], looks) for name in behind]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1) if axes else np.empty((0,))
    members = shape.members if len(behind) == 1 else ()

    def kinds(places: np.ndarray) -> np.ndarray:
        points = np.empty((len(places), *grid.shape[:-1], len(names)))
        points[..., :k] = at
        points[..., k] = places.reshape(-1, *[1] * len(behind))
        points[..., k + 1 :] = grid

        def has(one: Shape) -> np.ndarray:
            return one.contains(points.reshape(-1, len(names)), 0.0).reshape(points.shape[:-1])

        inside = has(shape)
        if not behind:
            return inside.astype(np.uint64)
        if len(members) < 2:
            begun = inside[..., 1:] & ~inside[..., :-1]
            stretches = begun.sum(axis=-1) + inside[..., 0]
            return stretches.reshape(len(places), -1).max(axis=1).astype(np.uint64)
        codes = sum(has(one).astype(np.uint64) << np.uint64(n) for n, one in enumerate(members))
        changes = codes[:, 1:] != codes[:, :-1]
        order = np.cumsum(changes, axis=1).astype(np.uint64)
        # one number for the codes that follow each other, wrapped around at 2**64
        numbers = np.where(changes, (codes[:, 1:] + np.uint64(1)) * _PRIME**order, np.uint64(0))
        return np.where(inside.any(axis=1), numbers.sum(axis=1) | np.uint64(1), np.uint64(0))

    return kinds


def _pieces(
    kind: Callable[[np.ndarray], np.ndarray], edges: np.ndarray, beside: np.ndarray, next_to: float
) -> list[tuple[float, float]]:
    """Return what is inside between the first and the last edge, cut where its kind changes.

    And at edges, which are taken for where it does if they are as near to that as `next_to`: at the
    end of a disk lines are too short to be seen.
    """
    low, high = edges.min(), edges.max()
    places = np.unique(np.concatenate([np.linspace(low, high, _LOOKS), edges]))
    # between places, as on an edge inside one may be either
    middles = (places[:-1] + places[1:]) / 2
    between = np.unique(np.concatenate([[low], middles, beside, [high]]))
    kinds = kind(between)
    changes = np.flatnonzero(kinds[1:] != kinds[:-1])
    before, after, was = between[changes], between[changes + 1], kinds[changes]
    for _ in range(_HALVINGS if len(changes) else 0):
        middle = before + (after - before) / 2
        same = kind(middle) == was
        before, after = np.where(same, middle, before), np.where(same, after, middle)
    apart = np.abs(after[:, None] - edges).min(axis=1) > next_to
    cuts = np.unique(np.concatenate([edges, after[apart]]))
    # by all that was seen there: the middle may be in a gap that was not
    seen = between[kinds > 0]
    within = np.searchsorted(seen, cuts[1:], "left") > np.searchsorted(seen, cuts[:-1], "right")
    return [
        (float(a), float(b)) for (a, b), one in zip(pairwise(cuts), within, strict=True)
        if one and b - a > _NOTHING * (high - low)
    ]  # fmt: skip
