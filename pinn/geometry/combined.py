"""Unions, intersections and differences of shapes of the same coordinates."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn

import numpy as np

from pinn.expressions import Expression
from pinn.expressions.algebra import negate
from pinn.geometry.declaration import AnyDomain
from pinn.geometry.holes import Hole, boundary_points, hole_of
from pinn.geometry.implicit import balanced, conjunction, disjunction, joined, trimmed
from pinn.geometry.parts import Face, Part, Piece, slug
from pinn.geometry.product import in_space, split_space
from pinn.geometry.shape import TOLERANCE, Shape, check_value, in_box
from pinn.geometry.unit_cube import probes
from pinn.schema import Name, declared
from pinn.schema.errors import refuse

# Whether something lies at a point's one side is tried so far from it, as a share of the size.
_STEP = 1e-7
# Of each operand: of which shares are told, and an inside is looked for.
_TRIED, _MOST_TRIED = 1 << 13, 1 << 17
# A hole is so much of its width away from what surrounds it.
_CLEAR = 1e-3


@dataclass(frozen=True)
class _Kept:
    """What is left of an operand's part: `own` of the place-th operand, as `part`."""

    part: Part
    place: int
    own: Part
    whole: bool


class _Combined(Shape):
    """Shapes of the same coordinates, all of them space.

    Parts of their boundaries are parts of its own where it lies at one side of them: what is left
    of them. Where boundaries lie on each other, the first of the shapes has the part.
    """

    shapes: tuple[Shape, ...]
    name: str | None

    def __post_init__(self) -> None:
        if len(self.shapes) < 2:
            refuse(f"expected two shapes or more, got {len(self.shapes)}", "shapes")
        first = self.shapes[0]
        for i, shape in enumerate(self.shapes):
            check_value(shape)
            if shape.space != shape.coordinates:
                refuse(
                    f"expected shapes in space, got {shape!r}; multiply the result with time "
                    "instead",
                    "shapes", i,
                )  # fmt: skip
            if shape.coordinates != first.coordinates:
                refuse(
                    f"expected shapes of the same coordinates, got {', '.join(first.coordinates)} "
                    f"and {', '.join(shape.coordinates)}",
                    "shapes", i,
                )  # fmt: skip
        self._check_bounds()
        for count in (_TRIED, _MOST_TRIED):
            if self._has_inside(count):
                return
        self._refuse_empty()

    # What the three differ in.

    def _inside(self, which: list[np.ndarray]) -> np.ndarray:
        """Return where points lie, from where those lie that each shape contains."""
        raise NotImplementedError

    def _sign(self, place: int) -> int:
        """Return -1 for a shape that is taken away, 1 for others."""
        return 1

    def _check_bounds(self) -> None:
        """Refuse bounding boxes that do not meet, where they have to."""

    def _refuse_empty(self) -> NoReturn:
        raise NotImplementedError

    def _within(self) -> Shape:
        """Return the shape of the operands that all points lie in."""
        return self.shapes[0]

    def _has_inside(self, count: int) -> bool:
        points = _points_of(self._within(), probes(count, len(self.coordinates)))
        return bool(self._open(points).any())

    # Points.

    @property
    def members(self) -> tuple[Shape, ...]:
        return tuple(member for shape in self.shapes for member in shape.members)

    @property
    def corners(self) -> np.ndarray:
        return np.concatenate([shape.corners for shape in self.shapes])

    @cached_property
    def idle(self) -> tuple[Shape, ...]:
        return tuple(one for shape in self.shapes for one in shape.idle)

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        found = [
            hole for i, shape in enumerate(self.shapes)
            for hole in (shape.holes if self._sign(i) > 0 else self._taken_out(shape))
        ]  # fmt: skip
        within = self.contains(np.array([hole.center for hole in found])) if found else []
        return tuple(hole for hole, filled in zip(found, within, strict=True) if not filled)

    def _taken_out(self, shape: Shape) -> Iterator[Hole]:
        """Yield the holes that a shape makes: where it lies all inside of the first.

        One that touches the boundary makes none: between the points of its own that are looked at
        it may come nearer by a thousandth of its width.
        """
        if isinstance(shape, Union):
            for one in shape.shapes:
                yield from self._taken_out(one)
        elif len(self.coordinates) > 1:
            around = boundary_points(shape)
            width = float(np.ptp(around, axis=0).max())
            if self.shapes[0].contains(around, -max(TOLERANCE, _CLEAR * width)).all():
                hole = hole_of(shape.bounds, around, shape.contains)
                yield from [hole] if hole is not None else []

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        points = self._within().from_unit(unit)
        points[~self.contains(points)] = np.nan
        return points

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        inside = self._inside(
            [
                one.contains(points, tolerance * self._sign(i))
                for i, one in enumerate(self.shapes)
            ]
        )
        if tolerance == 0:
            return inside
        # On two boundaries at once lie corners, but also seams inside and walls of no thickness.
        outer = np.sum([one.contains(points, TOLERANCE) for one in self.shapes], axis=0)
        several = np.flatnonzero(outer > 1)
        within = [one.contains(points[several], -TOLERANCE) for one in self.shapes]
        doubtful = several[outer[several] - np.sum(within, axis=0) > 1]
        if len(doubtful):
            around = self._around(points[doubtful])
            inside[doubtful] = around.all(axis=1) if tolerance < 0 else around.any(axis=1)
        return inside

    def _open(self, points: np.ndarray) -> np.ndarray:
        tolerances = [-TOLERANCE * self._sign(i) for i in range(len(self.shapes))]
        return self._inside(
            [one.contains(points, t) for one, t in zip(self.shapes, tolerances, strict=True)]
        )

    def _around(self, points: np.ndarray) -> np.ndarray:
        """Return whether points beside given ones lie inside, (n, directions)."""
        d = points.shape[1]
        if d <= 3:
            sides = np.array([s for s in itertools.product((-1, 0, 1), repeat=d) if any(s)])
            # No direction along a coordinate or a diagonal, where boundaries like to lie.
            sides = sides + 0.3 * np.roll(sides, 1, axis=1) * (-1) ** np.arange(d)
        else:
            sides = np.concatenate([np.eye(d), -np.eye(d), 2 * probes(4 * d, d) - 1])
        steps = _STEP * self.size * sides
        beside = (points[:, None] + steps).reshape(-1, d)
        return self._open(beside).reshape(len(points), len(steps))

    @cached_property
    def _kept(self) -> tuple[_Kept, ...]:
        d = len(self.coordinates)
        unit = probes(_TRIED, d - 1) if d > 1 else np.empty((1, 0))
        found = []
        for place, shape in enumerate(self.shapes):
            for own in shape.parts:
                points, normals = shape.on_part(own, unit)
                # An operand may have parts of which something is missing already.
                asked = int((~np.isnan(points).any(axis=1)).sum())
                left = int((~np.isnan(self._left(place, points, normals)[0]).any(axis=1)).sum())
                if left:
                    part = replace(own, measure=own.measure * left / asked)
                    if isinstance(part, Face) and self._sign(place) < 0:
                        part = replace(part, side="low" if part.side == "high" else "high")
                    found.append(_Kept(part, place, own, left == asked))
        named = self._labelled([kept.part for kept in found])
        return tuple(replace(k, part=part) for k, part in zip(found, named, strict=True))

    def _labelled(self, parts: Sequence[Part]) -> list[Part]:
        """Return parts with labels of their own: x_low, x_low are x_low, x_0_5 by their places."""
        named = []
        repeated = Counter(part.label for part in parts)
        for part in parts:
            if repeated[part.label] > 1 and isinstance(part, Face):
                standard = part.label in (f"{part.coordinate}_low", f"{part.coordinate}_high")
                if standard and part.value not in self.bounds[part.coordinate]:
                    part = replace(part, label=slug(part.text))
            named.append(part)
        repeated = Counter(part.label for part in named)
        numbers = {label: itertools.count(1) for label in repeated}
        for i, part in enumerate(named):
            if repeated[part.label] > 1:
                # Without another, the label that several had stands for all of them.
                label = f"{part.label}_{next(numbers[part.label])}"
                named[i] = replace(part, label=label, owner=part.owner or part.label)
            if self.name:
                named[i] = replace(named[i], owner=self.name)
        return named

    def _left(
        self, place: int, points: np.ndarray, normals: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return points of an operand's boundary and the normals, nan where it is no longer one."""
        normals = self._sign(place) * normals
        step = _STEP * self.size * normals
        given = np.flatnonzero(~np.isnan(points).any(axis=1))
        points, there, step = points.copy(), points[given], step[given]
        left = self._open(there - step) & ~self._open(there + step) & self.contains(there)
        for shape in self.shapes[:place]:
            left &= ~shape.contains(there) | shape.contains(there, -TOLERANCE)
        points[given[~left]] = np.nan
        return points, normals

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(kept.part for kept in self._kept)

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kept = self._find(part)
        return self._left(kept.place, *self.shapes[kept.place].on_part(kept.own, unit))

    def _find(self, part: Part) -> _Kept:
        return next(kept for kept in self._kept if kept.part == part)

    # Formulas.

    def _functions(self) -> list[Expression]:
        """Return the functions of the operands, negative in those that are taken away."""
        found = [shape.inside_function() for shape in self.shapes]
        return [
            negate(function) if self._sign(i) < 0 else function for i, function in enumerate(found)
        ]

    def inside_function(self) -> Expression:
        return balanced(conjunction, self._functions(), self.size)

    def part_function(self, part: Part, side: int) -> Expression:
        kept = self._find(part)
        shape = self.shapes[kept.place]
        function = shape.part_function(kept.own, side * self._sign(kept.place))
        return function if kept.whole else trimmed(function, self._rest(kept.place), self.size)

    def _rest(self, place: int) -> Expression:
        """Return what is positive where an operand's boundary is left."""
        others = [function for i, function in enumerate(self._functions()) if i != place]
        return balanced(conjunction, others, self.size)

    def vanishing(self, parts: tuple[Part, ...]) -> Expression:
        if any(isinstance(part, Piece) for part in parts):
            return joined([self.function_of(part) for part in parts], self.size)
        chosen = [self._find(part) for part in parts]
        functions = []
        for place in dict.fromkeys(kept.place for kept in chosen):
            own = tuple(kept.own for kept in chosen if kept.place == place)
            mine = [kept.part for kept in chosen if kept.place == place]
            functions.append(self._of_operand(place, own, mine))
        return joined(functions, self.size)

    def _of_operand(self, place: int, own: tuple[Part, ...], parts: list[Part]) -> Expression:
        """Return the function of some of an operand's parts, of which points inside count."""
        shape = self.shapes[place]
        # What is no longer a part lies outside, and may vanish as well.
        whole = set(own) == {kept.own for kept in self._kept if kept.place == place}
        if self._sign(place) > 0:
            return shape.vanishing(shape.parts if whole else own)
        if whole:
            return negate(shape.inside_function())
        return joined([self.function_of(part) for part in parts], self.size)


@declared
class Union(_Combined):
    """The points of one shape or another: `a | b`.

    name: of the boundary in `on`, for all parts together; each part keeps the name that it has.
    Raises ValueError for fewer than two shapes, coordinates that differ, or a time.
    """

    shapes: Sequence[AnyDomain]
    name: Name | None = None

    def _inside(self, which: list[np.ndarray]) -> np.ndarray:
        return np.logical_or.reduce(which)

    def _has_inside(self, count: int) -> bool:
        return True

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        points = in_box(self, unit)
        points[~self.contains(points)] = np.nan
        return points

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        return _bounds(self.shapes, min, max)

    def distance(self, points: np.ndarray) -> np.ndarray:
        return np.max([shape.distance(points) for shape in self.shapes], axis=0)

    def reach(self, direction: np.ndarray) -> float:
        return max(shape.reach(direction) for shape in self.shapes)

    def inside_function(self) -> Expression:
        if self._touching[1]:
            _refuse_touching()
        return balanced(disjunction, self._functions(), self.size)

    def part_function(self, part: Part, side: int) -> Expression:
        if any(self._touching) and not self._find(part).whole:
            _refuse_touching()
        return super().part_function(part, side)

    def _rest(self, place: int) -> Expression:
        others = [negate(function) for i, function in enumerate(self._functions()) if i != place]
        return balanced(conjunction, others, self.size)

    def vanishing(self, parts: tuple[Part, ...]) -> Expression:
        if set(parts) == set(self.parts) and not self._touching[1]:
            return self.inside_function()
        return joined([self.function_of(part) for part in parts], self.size)

    @cached_property
    def _touching(self) -> tuple[bool, bool]:
        """Whether boundaries lie on each other: on the boundary of the union, and inside of it."""
        d = len(self.coordinates)
        unit = probes(1024, d - 1) if d > 1 else np.empty((1, 0))
        outside = inside = False
        for i, shape in enumerate(self.shapes):
            for part in shape.parts:
                points = shape.on_part(part, unit)[0]
                points = points[~np.isnan(points).any(axis=1)]
                for other in self.shapes[:i]:
                    touching = other.contains(points) & ~other.contains(points, -TOLERANCE)
                    within = self._around(points[touching]).all(axis=1)
                    inside |= bool(within.any())
                    outside |= not within.all()
        return outside, inside


@declared
class Intersection(_Combined):
    """The points that all of some shapes have: `a & b`.

    name: as of a union. Raises ValueError for fewer than two shapes, coordinates that differ, a
    time, or shapes that have no inside in common.
    """

    shapes: Sequence[AnyDomain]
    name: Name | None = None

    def _inside(self, which: list[np.ndarray]) -> np.ndarray:
        return np.logical_and.reduce(which)

    def _within(self) -> Shape:
        return min(self.shapes, key=lambda shape: shape.measure)

    def _check_bounds(self) -> None:
        for low, high in self.bounds.values():
            if not low < high:
                self._refuse_empty()

    def _refuse_empty(self) -> NoReturn:
        refuse("the intersection is empty: the shapes have no inside in common", "shapes")

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        return _bounds(self.shapes, max, min)

    def distance(self, points: np.ndarray) -> np.ndarray:
        return np.min([shape.distance(points) for shape in self.shapes], axis=0)

    def reach(self, direction: np.ndarray) -> float:
        return min(shape.reach(direction) for shape in self.shapes)


@declared
class Difference(_Combined):
    """The points of the first shape that no other has: `a - b`.

    name: as of a union. Raises ValueError for fewer than two shapes, coordinates that differ, a
    time, or where nothing is left.
    """

    shapes: Sequence[AnyDomain]
    name: Name | None = None

    def _inside(self, which: list[np.ndarray]) -> np.ndarray:
        return which[0] & ~np.logical_or.reduce(which[1:])

    def _sign(self, place: int) -> int:
        return -1 if place else 1

    @cached_property
    def idle(self) -> tuple[Shape, ...]:
        first, *taken = self.shapes
        found = []
        unit = probes(_TRIED, len(self.coordinates))
        for shape in taken:  # one of the two may be tiny beside the other
            pairs = (shape, first), (first, shape)
            if not any(b.contains(_points_of(a, unit)).any() for a, b in pairs):
                found.append(shape)
        return (*super().idle, *found)

    def _refuse_empty(self) -> NoReturn:
        refuse(
            "the difference is empty: what is taken away covers all of the first shape", "shapes"
        )

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        return self.shapes[0].bounds

    def distance(self, points: np.ndarray) -> np.ndarray:
        whole, *taken = (shape.distance(points) for shape in self.shapes)
        return np.min([whole, *(-distance for distance in taken)], axis=0)

    def reach(self, direction: np.ndarray) -> float:
        return self.shapes[0].reach(direction)


def _points_of(shape: Shape, unit: np.ndarray) -> np.ndarray:
    points = shape.from_unit(unit)
    return points[~np.isnan(points).any(axis=1)]


def combined(kind: type[_Combined], first: Shape, second: object) -> Shape:
    """Return a union, intersection or difference; a time that both have is multiplied afterwards.

    Operands that are of the same kind, without a name, are taken apart: a - b - c is one
    difference. Raises TypeError for something that is no shape, ValueError for shapes that do not
    go together.
    """
    if not isinstance(second, Shape):
        raise TypeError(
            f"expected a shape of the coordinates {', '.join(first.coordinates)} such as "
            f"pinn.Disk, got {second!r}; a point or a curve has no inside to combine"
        )
    (_, rest), (taken, other) = split_space(first), split_space(second)
    if rest != other:
        shown = " and ".join(" * ".join(map(repr, one)) or "no time" for one in (rest, other))
        raise ValueError(
            f"expected shapes in space, or of the same time, got {shown}; combine them in space, "
            "then multiply with the time"
        )

    def combine(space: Shape) -> Shape:
        operands: list[Shape] = []
        for i, one in enumerate((space, taken)):
            same = type(one) is kind and one.name is None and (i == 0 or kind is not Difference)
            operands += one.shapes if same else [one]
        return kind(tuple(operands))

    return in_space(first, combine)


def _refuse_touching() -> NoReturn:
    raise ValueError(
        "there is no formula that vanishes there alone, for boundaries of the shapes of this union "
        "lie on each other: let them overlap, give the outline as a polygon, or leave out hard"
    )


def _bounds(shapes: Sequence[Shape], low: type, high: type) -> dict[str, tuple[float, float]]:
    every = [shape.bounds for shape in shapes]
    return {
        name: (low(b[name][0] for b in every), high(b[name][1] for b in every))
        for name in every[0]
    }
