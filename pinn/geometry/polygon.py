"""Polygons and triangles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from pinn.expressions import Expression
from pinn.expressions.algebra import divide, negate, number, subtract
from pinn.geometry.facets import Facets
from pinn.geometry.implicit import (
    balanced,
    conjunction,
    disjunction,
    joined,
    linear,
    square_distance,
    trimmed,
)
from pinn.geometry.parts import Face, Part
from pinn.geometry.shape import TOLERANCE, Shape, check_names, moved_point
from pinn.schema import Name, declared
from pinn.schema.errors import refuse

# Two edges that turn by less than this are of one side: a curve given by many points is one part.
_CORNER = np.pi / 6
_STRAIGHT = 1e-9


class _Polygonal(Shape):
    """points: the corners, in either order around, each given once."""

    points: Sequence[tuple[float, float]]
    names: tuple[str, str]
    name: str | None

    @property
    def _label(self) -> str:
        return self.name or type(self).__name__.lower()

    @cached_property
    def vertices(self) -> np.ndarray:
        """The corners counterclockwise, (n, 2)."""
        found = np.array(self.points)
        return found if _area(found) > 0 else found[::-1].copy()

    @cached_property
    def _facets(self) -> Facets:
        return Facets(np.stack([self.vertices, np.roll(self.vertices, -1, axis=0)], axis=1))

    @cached_property
    def _sides(self) -> tuple[tuple[Part, np.ndarray], ...]:
        """Each side and its edges, by number."""
        turns = np.abs(_turns(self.vertices))  # at the first corner of each edge
        starts = np.flatnonzero(turns > _CORNER)
        n = len(self.vertices)
        if not len(starts):
            starts = np.array([0])
        lengths = np.diff(starts, append=starts[0] + n)
        sides = []
        for i, (start, length) in enumerate(zip(starts, lengths, strict=True), 1):
            edges = np.arange(start, start + length) % n
            label = f"{self._label}_{i}" if len(starts) > 1 else self._label
            sides.append((self._side(label, edges), edges))
        return tuple(sides)

    def _side(self, label: str, edges: np.ndarray) -> Part:
        """Return the part of some edges: a face where it lies along a coordinate."""
        facets = self._facets.subset(edges)
        for j, name in enumerate(self.names):
            values = facets.corners[:, :, j]
            if np.ptp(values) <= _STRAIGHT * 1e-3 * self.size:
                side = "high" if facets.normals[0, j] > 0 else "low"
                value = float(values.flat[0])
                return Face(
                    name, side, value, label=label, measure=facets.measure, owner=self._label
                )
        return Part(label, measure=facets.measure, owner=self._label)

    @property
    def corners(self) -> np.ndarray:
        return self.vertices

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        low, high = self.vertices.min(axis=0).tolist(), self.vertices.max(axis=0).tolist()
        return dict(zip(self.names, zip(low, high, strict=True), strict=True))

    @property
    def measure(self) -> float:
        return self._facets.enclosed

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(part for part, _ in self._sides)

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        return self.distance(points) >= -tolerance * self.size

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._facets.subset(self._edges(part)).place(unit)

    def distance(self, points: np.ndarray) -> np.ndarray:
        return self._facets.signed_distance(points)

    def reach(self, direction: np.ndarray) -> float:
        return float((self.vertices @ direction).max())

    def _edges(self, part: Part) -> np.ndarray:
        return next(edges for own, edges in self._sides if own == part)

    def inside_function(self) -> Expression:
        turns = np.abs(_turns(self.vertices))
        corners = self.vertices[turns > _STRAIGHT]
        start = np.lexsort(corners.T[::-1])[0]  # a corner of the hull
        corners = np.roll(corners, -start, axis=0)
        corners = np.concatenate([corners, corners[:1]])
        return _formula(corners, True, self.names, self.size)

    def part_function(self, part: Part, side: int) -> Expression:
        return joined([self._edge_function(i, side) for i in self._edges(part)], self.size)

    def _edge_function(self, edge: int, side: int) -> Expression:
        first, second = self._facets.corners[edge]
        line = _line(first, second, self.names)
        length = float(self._facets.sizes[edge])
        squares = square_distance((first + second) / 2, self.names)
        between = divide(subtract(number(length**2 / 4), squares), number(length))
        return trimmed(line if side > 0 else negate(line), between, self.size)

    def vanishing(self, parts: tuple[Part, ...]) -> Expression:
        if set(parts) == set(self.parts):
            return self.inside_function()
        return joined([self._from_inside(part) for part in parts], self.size)

    def _from_inside(self, part: Part) -> Expression:
        """Return the function of a part, its line alone where no point inside lies on that."""
        edges = self._edges(part) if part in self.parts else []
        if len(edges) == 1:
            corners, normal = self._facets.corners[edges[0]], self._facets.normals[edges[0]]
            if ((self.vertices - corners[0]) @ normal <= 1e-12 * self.size).all():
                return _line(*corners, self.names)
        return self.function_of(part)


@declared
class Polygon(_Polygonal):
    """The points inside of a closed chain of edges, and on it.

    points: the corners, three or more, in either order around. names: of the coordinates. name: of
    the boundary in `on`, "polygon" where left out. Its sides are parts, called polygon_1,
    polygon_2 ... from the first corner on counterclockwise; edges that turn by less than 30 degrees
    are of one side, so that a curve of many points is one, and `on="x=0"` finds a side that lies
    there. Raises ValueError for fewer corners, one that repeats, or edges that meet elsewhere than
    in corners.
    """

    points: Sequence[tuple[float, float]]
    names: tuple[Name, Name] = ("x", "y")
    name: Name | None = None

    def __post_init__(self) -> None:
        check_names(self.names, 2)
        if len(self.points) > 1 and self.points[0] == self.points[-1]:
            object.__setattr__(self, "points", self.points[:-1])
        _check(np.array(self.points), "points")

    def shifted(self, by: tuple[float, ...]) -> Polygon:
        return replace(self, points=tuple(moved_point(point, by) for point in self.points))


@declared
class Triangle(_Polygonal):
    """The points of a triangle.

    a, b, c: the corners, in either order around. names: of the coordinates. name: of the boundary
    in `on`, "triangle" where left out; its sides are triangle_1, triangle_2, triangle_3 from the
    first corner on counterclockwise. Raises ValueError for corners on one line.
    """

    a: tuple[float, float]
    b: tuple[float, float]
    c: tuple[float, float]
    names: tuple[Name, Name] = ("x", "y")
    name: Name | None = None

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        return (self.a, self.b, self.c)

    def __post_init__(self) -> None:
        check_names(self.names, 2)
        _check(np.array(self.points))

    def shifted(self, by: tuple[float, ...]) -> Triangle:
        a, b, c = (moved_point(point, by) for point in self.points)
        return replace(self, a=a, b=b, c=c)


def _area(points: np.ndarray) -> float:
    x, y = (points - points[0]).T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def _cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]


def _turns(points: np.ndarray) -> np.ndarray:
    """Return the angle by which the chain turns in each corner, positive to the left."""
    before, after = points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points
    return np.arctan2(_cross(before, after), (before * after).sum(axis=1))


def _check(points: np.ndarray, *path: str) -> None:
    """Refuse corners that make no polygon."""
    n = len(points)
    if n < 3:
        refuse(f"expected three corners or more, got {n}", *path)
    size = np.ptp(points, axis=0).max()
    edges = np.roll(points, -1, axis=0) - points
    short = np.flatnonzero(np.linalg.norm(edges, axis=1) <= 1e-12 * size)
    if len(short):
        refuse(f"expected different corners, got {_shown(points[short[0]])} twice", *path)
    if n > 3:
        _check_simple(points, edges, *path)
    if abs(_area(points)) <= 1e-12 * size**2:
        refuse("expected corners that do not lie on one line", *path)
    if (np.abs(np.abs(_turns(points)) - np.pi) < _STRAIGHT).any():
        refuse("expected a boundary that does not turn back on itself", *path)


def _check_simple(points: np.ndarray, edges: np.ndarray, *path: str) -> None:
    n = len(points)
    ends = points + edges
    low, high = np.minimum(points, ends), np.maximum(points, ends)
    # From left to right, so that those which begin before an edge ends are a slice.
    order = np.argsort(low[:, 0], kind="stable")
    begun = np.searchsorted(low[order, 0], high[order, 0], side="right")
    for place, i in enumerate(order):
        others = order[place + 1 : begun[place]]
        near = (low[others, 1] <= high[i, 1]) & (high[others, 1] >= low[i, 1])
        between = np.abs(others - i)  # 1 and n - 1 of neighbours
        others = others[near & (between > 1) & (between < n - 1)]
        start = _cross(edges[i], points[others] - points[i])
        end = _cross(edges[i], ends[others] - points[i])
        own_start = _cross(edges[others], points[i] - points[others])
        own_end = _cross(edges[others], ends[i] - points[others])
        meet = (start * end <= 0) & (own_start * own_end <= 0)
        if meet.any():
            i, other = sorted((int(i), int(others[np.flatnonzero(meet)[0]])))
            refuse(
                f"expected edges that meet in corners only, got {_shown(points[i])} to "
                f"{_shown(ends[i])} and {_shown(points[other])} to {_shown(ends[other])}",
                *path,
            )


def _shown(point: np.ndarray) -> str:
    return f"({point[0]:.6g}, {point[1]:.6g})"


def _line(first: np.ndarray, second: np.ndarray, names: tuple[str, str]) -> Expression:
    """Return the distance from a line, positive on the left of it."""
    along = second - first
    normal = np.array([-along[1], along[0]]) / np.linalg.norm(along)
    return linear(normal.tolist(), -float(normal @ first), names)


def _formula(
    chain: np.ndarray, outside: bool, names: tuple[str, str], size: float
) -> Expression:
    """Return the function of what lies to the left of a chain, each edge's line in it once.

    The chain is split where it meets its own convex hull. A polygon lies to the left of all pieces
    of its hull; what lies to the left of a pocket's chain lies to the left of one of its pieces,
    and so on, in turns (Dobkin, Guibas, Hershberger and Snoeyink, Algorithmica 10 (1993) 1).

    outside: whether the hull lies to the right of the chain.
    """
    if len(chain) == 2:
        return _line(*chain, names)
    stops = _hull(chain, 1 if outside else -1)
    pieces = [
        _formula(chain[i : j + 1], not outside, names, size)
        for i, j in zip(stops[:-1], stops[1:], strict=True)
    ]
    return balanced(conjunction if outside else disjunction, pieces, size)


def _hull(chain: np.ndarray, sign: int) -> list[int]:
    """Return the places of a chain on its convex hull, from its first point to its last."""
    stops = [0]
    closed = bool((chain[0] == chain[-1]).all())
    while stops[-1] < len(chain) - 1:
        here = stops[-1]
        offsets = chain[here + 1 : len(chain) - (closed and here == 0)] - chain[here]
        best = 0
        while True:
            # What lies on the other side of the line to the best so far; the first of it is better.
            beyond = np.flatnonzero(sign * _cross(offsets[best], offsets[best + 1 :]) < 0)
            if not len(beyond):
                break
            best += 1 + int(beyond[0])
        stops.append(here + 1 + best)
    return stops
