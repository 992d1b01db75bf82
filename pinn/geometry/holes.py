"""Holes in a domain: where they are, and how large a circle or ball fits into each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pinn.geometry.densities import at_any_scale
from pinn.geometry.facets import Facets
from pinn.geometry.unit_cube import probes

if TYPE_CHECKING:
    from pinn.geometry.shape import Shape

# Points of a hole's boundary, about, and places inside of it among which its middle is looked for.
_AROUND, _WITHIN = 512, 1024
# The middle of the bounding box is the middle unless elsewhere there is so much more room.
_MORE_ROOM = 1.2
_DIGITS = ".12g"


@dataclass(frozen=True)
class Hole:
    """A place that a domain surrounds: points of a circle, or of a ball, that are not in it.

    names: of the coordinates, two or more. center: one number each. radius: of the largest circle
    about it that lies in the hole, or nearly.
    """

    names: tuple[str, ...]
    center: tuple[float, ...]
    radius: float

    def at(self, center: np.ndarray) -> Hole:
        """Return the same at another place."""
        return Hole(self.names, _rounded(center), self.radius)

    @property
    def squared(self) -> str:
        """The text of the distance from its middle, squared."""
        pairs = zip(self.names, self.center, strict=True)
        terms = (
            name if not at else f"({name} {'-' if at > 0 else '+'} {abs(at):{_DIGITS}})"
            for name, at in pairs
        )
        return " + ".join(f"{term}**2" for term in terms)

    def farthest(self, bounds: Mapping[str, tuple[float, float]]) -> float:
        """Return the distance from its middle to the farthest corner of a bounding box."""
        pairs = zip(self.names, self.center, strict=True)
        return math.hypot(*(max(at - bounds[n][0], bounds[n][1] - at) for n, at in pairs))

    def density(self, amount: float, bounds: Mapping[str, tuple[float, float]]) -> str:
        """Return the text of a density that has as many points at any scale of the distance.

        amount: its mean over the bounding box, about.
        """
        scales = math.log(self.farthest(bounds) / self.radius)
        return at_any_scale(amount / scales, self.names, self.squared, bounds)

    def __str__(self) -> str:
        pairs = zip(self.names, self.center, strict=True)
        return "at " + ", ".join(f"{name} = {at:g}" for name, at in pairs)


def boundary_points(shape: Shape) -> np.ndarray:
    """Return points all over the boundary of a shape in space, (n, d), about 512."""
    d, parts = len(shape.coordinates), shape.parts
    unit = probes(-(-_AROUND // len(parts)), d - 1)
    points = np.vstack([shape.on_part(part, unit)[0] for part in parts])
    return points[~np.isnan(points).any(axis=1)]


def hole_of(
    bounds: Mapping[str, tuple[float, float]],
    around: np.ndarray,
    inside: Callable[[np.ndarray], np.ndarray],
) -> Hole | None:
    """Return the hole with these points of its boundary, (n, d); None for one without an inside.

    bounds: of its bounding box. inside: tells which points are in it. Its middle is that of the
    box, or where there is much more room around.
    """
    from scipy.spatial import cKDTree

    names, (low, high) = tuple(bounds), np.array(list(bounds.values())).T
    places = np.vstack([(low + high) / 2, low + probes(_WITHIN, len(names)) * (high - low)])
    room = np.where(inside(places), cKDTree(around).query(places)[0], 0.0)
    best = int(room.argmax())
    if not room[best] > 0:
        return None
    chosen = 0 if room[best] <= _MORE_ROOM * room[0] else best
    return Hole(names, _rounded(places[chosen]), _rounded(room[[chosen]])[0])


def holes_of(names: tuple[str, ...], boundary: Facets) -> Iterator[Hole]:
    """Yield the holes that a boundary of straight pieces has: its closed parts that turn inward."""
    for part in _closed(boundary):
        if part.enclosed < 0:
            around, turned = _spread(part), Facets(part.corners[:, ::-1])
            box = np.stack([around.min(axis=0), around.max(axis=0)], axis=1).tolist()
            bounds = dict(zip(names, map(tuple, box), strict=True))
            hole = hole_of(bounds, around, lambda p, hole=turned: hole.contains(p, 0.0))
            if hole is not None:
                yield hole


def _closed(boundary: Facets) -> Iterator[Facets]:
    """Yield the parts of a boundary that do not touch each other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count, corners, d = boundary.corners.shape
    _, which = np.unique(boundary.corners.reshape(-1, d), axis=0, return_inverse=True)
    which = which.reshape(count, corners)
    first = np.repeat(which[:, :1], corners - 1, axis=1).ravel()
    other = which[:, 1:].ravel()
    joined = coo_array((np.ones(len(first)), (first, other)), shape=(which.max() + 1,) * 2)
    _, part = connected_components(joined, directed=False)
    for one in range(part.max() + 1):
        yield boundary.subset(part[which[:, 0]] == one)


def _spread(boundary: Facets) -> np.ndarray:
    """Return points all over a boundary: its corners, and some between them."""
    d = boundary.corners.shape[2]
    placed, _ = boundary.place(probes(_AROUND, d - 1))
    return np.vstack([boundary.corners.reshape(-1, d), placed])


def _rounded(numbers: Iterable[float]) -> tuple[float, ...]:
    """Return numbers without the last digits, which rounding of boundaries has made."""
    return tuple(float(f"{number:{_DIGITS}}") + 0.0 for number in numbers)
