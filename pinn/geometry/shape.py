"""What every shape can do: name its coordinates, tell inside from outside, give points.

A new shape is one class, best a frozen dataclass: it gives `bounds`, `contains`, `parts` and
`on_part`, and everything works with it: equations, conditions, test points, figures, adaptive
points, products with time. The rest below follows from these four, and is overridden where a shape
knows better: `from_unit` where points can be placed without trying (a mesh), `measure` where it is
known, `distance` where it can be computed, `reach` where it is less than that of the bounding box,
`inside_function` and `part_function` where formulas vanish on the boundary (for hard conditions).

Shapes are made of shapes, and parts keep their names on the way up. A factor of a product passes
its parts on, times the other factors (`pinn.geometry.product`). An operand of a union, an
intersection or a difference does as well: its points that are no longer on the boundary become nan
in `on_part`, its normals change their sign where it is taken away, and `contains` with a negative
tolerance tells its open inside from its boundary. A part of which nothing is left is not in
`parts`.
"""

from __future__ import annotations

import functools
import itertools
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pinn.checks import NAME, nearest
from pinn.equations.fractional import Chord
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.names import normal_name
from pinn.expressions import Expression, evaluate, parse_condition
from pinn.expressions.algebra import negate
from pinn.geometry.implicit import joined, trimmed, unsigned
from pinn.geometry.joined_parts import atoms_of, remainder
from pinn.geometry.parts import Face, Level, Part, Piece, is_comparison, slug
from pinn.geometry.unit_cube import UnitSampler, draw, kept_share, probes
from pinn.schema.errors import refuse

if TYPE_CHECKING:
    from pinn.geometry.corners import Corner
    from pinn.geometry.family import Family
    from pinn.geometry.holes import Hole
    from pinn.geometry.product import Product

AS_TIME = "declare one as time (pinn.Time('t', 0, 1) in Python, t: {time: [0, 1]} in YAML)"
"""What to do in a domain without a time coordinate."""
TOLERANCE = 1e-9
"""How far outside a point may lie and still be contained, as a share of the bounding box."""

# The measure of a shape that does not tell its own is counted on so many points.
_COUNTED = 1 << 18


class Shape(ABC):
    """A set of points; arrays of points are float64 (n, d), columns in the order of `coordinates`.

    Shapes are values: equal ones compare equal and can be hashed (a frozen dataclass is so).
    """

    @property
    @abstractmethod
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        """The (low, high) of each coordinate of a bounding box, in declared order."""

    @abstractmethod
    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        """Return which points lie inside or on the boundary, bool (n,).

        tolerance: how far outside they may be, as a share of the size of the bounding box; where it
        is negative, points have to lie inside by so much.
        """

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """The parts of the boundary in space, each with a label of its own; time is not in it."""

    @abstractmethod
    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return points of a part and the outward unit normals there: (n, d), (n, len(space)).

        part: one of `parts`. unit: points of the unit cube, (n, d - 1), that are to be spread
        evenly over the part; one that has no place on it becomes a row of nan.
        """

    # What follows from these.

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates, in declared order."""
        return tuple(self.bounds)

    @property
    def time(self) -> str | None:
        """The name of the time coordinate, or None."""
        return None

    @property
    def families(self) -> tuple[Family, ...]:
        """The constants that are inputs of the network, which are neither space nor time."""
        return ()

    @property
    def space(self) -> tuple[str, ...]:
        """The names of the coordinates other than time and families, in declared order."""
        others = {self.time, *(family.name for family in self.families)}
        return tuple(name for name in self.coordinates if name not in others)

    @property
    def factors(self) -> tuple[Shape, ...]:
        """The shapes that this one is the product of: itself, unless it is a product."""
        return (self,)

    @property
    def members(self) -> tuple[Shape, ...]:
        """The shapes that unions, intersections and differences put it together from."""
        return (self,)

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The places in space that it surrounds, as far as it knows of them."""
        return ()

    @property
    def inward_corners(self) -> tuple[Corner, ...]:
        """The corners that turn inward, of shapes in a plane."""
        in_plane = len(self.space) == len(self.coordinates) == 2
        return _inward_corners(self) if in_plane else ()

    @property
    def idle(self) -> tuple[Shape, ...]:
        """The shapes that are taken away and take nothing, as far as points tell; not moved."""
        return ()

    @property
    def corners(self) -> np.ndarray:
        """The corners of its members, (n, d), and those of boxes around round ones."""
        return np.array(list(itertools.product(*self.bounds.values())))

    @property
    def measure(self) -> float:
        """Its length, area, volume ...; counted to about 1e-4 where a shape does not tell it."""
        return _counted_measure(self)

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        """Return points spread over the shape as `unit`, (n, d), is over the unit cube.

        A point of the cube that has no place in the shape becomes a row of nan.
        """
        points = in_box(self, unit)
        points[~self.contains(points)] = np.nan
        return points

    def distance(self, points: np.ndarray) -> np.ndarray:
        """Return the distance to the boundary in space, (n,): positive inside, negative outside.

        Of shapes made by | & - and of products it is never more than the distance, and equal to it
        inside (of a union: outside). Raises TypeError for a shape that has none.
        """
        raise TypeError(f"a {type(self).__name__} gives no distance to its boundary")

    def reach(self, direction: np.ndarray) -> float:
        """Return the largest direction . point, or a number that it does not exceed.

        direction: one number for each coordinate.
        """
        low, high = np.array(list(self.bounds.values())).T
        return float(np.maximum(direction * low, direction * high).sum())

    def chord(self, direction: Mapping[str, Expression]) -> Chord | None:
        """Return where the line through the points in a direction ends, for fractional powers.

        direction: coordinate -> component of a unit vector, one for each coordinate of space. None
        for a shape without a formula for that, or whose chords are in pieces.
        """
        return None

    @property
    def size(self) -> float:
        """The longest side of the bounding box in space."""
        return max(high - low for low, high in map(self.bounds.get, self.space))

    # Formulas that vanish on the boundary.

    def distance_function(self, on: str | Iterable[str | Part] | None = None) -> Expression:
        """Return a formula that vanishes on parts of the boundary and is positive elsewhere.

        on: as in `select`. The result is a tree of coordinates; its text is of the language. Where
        the parts are smooth its slope along the inward normal is one, and it is smooth but for
        corners and the ends of the parts (pinn.geometry.implicit). Raises TypeError for a shape, or
        parts, without a formula.
        """
        parts = self.select(on)
        tree = self.vanishing(parts)
        self._check_vanishing(tree, parts)
        return tree

    def inside_function(self) -> Expression:
        """Return a formula that is positive inside, negative outside, of slope one in between.

        Raises TypeError for a shape without one.
        """
        raise TypeError(
            f"a {type(self).__name__} has no formula that vanishes on its boundary, which a hard "
            "condition needs; leave out hard"
        )

    def part_function(self, part: Part, side: int) -> Expression:
        """Return a formula that vanishes on one of `parts` and is positive elsewhere in space.

        side: 1 where its slope is to be one from the part to the inside, -1 to the outside. Raises
        TypeError for a shape without one.
        """
        if self.parts != (part,):
            return self.inside_function()  # for its error
        function = self.inside_function()
        return unsigned(function if side > 0 else negate(function), self.size)

    def vanishing(self, parts: tuple[Part, ...]) -> Expression:
        """Return what `distance_function` does; only points of the shape count."""
        if set(parts) == set(self.parts):
            return self.inside_function()
        return joined([self.function_of(part) for part in parts], self.size)

    def function_of(self, part: Part, side: int = 1) -> Expression:
        """Return the `part_function` of one of `parts` or of a piece of one."""
        if not isinstance(part, Piece):
            return self.part_function(part, side)
        return trimmed(self.function_of(part.part, side), part.excess(self), self.size)

    def _check_vanishing(self, tree: Expression, parts: tuple[Part, ...]) -> None:
        """Raise ValueError for a formula that is not what `distance_function` promises."""
        inside = self.from_unit(probes(1024, len(self.coordinates)))
        inside = inside[self.contains(inside, -1e-3)]
        at_parts = np.concatenate([self._probed(part, 256)[0] for part in parts])
        values, zeros = (
            np.broadcast_to(
                evaluate(tree, dict(zip(self.coordinates, points.T, strict=True)), NUMPY_FUNCTIONS),
                (len(points),),
            )
            for points in (inside, at_parts)
        )
        if not ((values > 0).all() and (np.abs(zeros) <= 1e-6 * self.size).all()):
            raise ValueError(
                f"found no formula that vanishes on {_listed(parts)} alone: the boundaries of the "
                "shapes that it is made of lie on each other; leave out hard"
            )

    # Shapes made of shapes.

    def __mul__(self, other: Shape) -> Product:
        from pinn.geometry.product import product

        return product(self, other) if isinstance(other, Shape) else NotImplemented

    def __or__(self, other: Shape) -> Shape:
        from pinn.geometry.combined import Union, combined

        return combined(Union, self, other)

    def __and__(self, other: Shape) -> Shape:
        from pinn.geometry.combined import Intersection, combined

        return combined(Intersection, self, other)

    def __sub__(self, other: Shape) -> Shape:
        from pinn.geometry.combined import Difference, combined

        return combined(Difference, self, other)

    def moved(self, *by: float, **along: float) -> Shape:
        """Return the shape moved in space: `moved(1, 0)` or `moved(x=1)`.

        by: a number for each coordinate of space. Raises TypeError for another count or a name that
        is no coordinate of space.
        """
        unknown = [name for name in along if name not in self.space]
        if (by and along) or unknown or (by and len(by) != len(self.space)):
            raise TypeError(
                f"moved: expected a number for each of {', '.join(self.space)}, as in "
                f"moved({', '.join('1' * len(self.space))}) or moved({self.space[0]}=1), got "
                f"{', '.join([*map(str, by), *along])}"
            )
        return self.shifted(by or tuple(along.get(name, 0.0) for name in self.space))

    def shifted(self, by: tuple[float, ...]) -> Shape:
        """Return what `moved` does; shapes override it that stay of their class."""
        from pinn.geometry.placed import Moved

        return Moved(self, by)

    def rotated(
        self,
        angle: float,
        about: Iterable[float] | None = None,
        axis: Iterable[float] | None = None,
    ) -> Shape:
        """Return the shape rotated in space, counterclockwise by an angle in radians.

        about: the point that stays where it is, the origin where left out. axis: the direction that
        it is rotated about in three dimensions, as a right-handed screw; the last coordinate where
        left out. Raises ValueError where there are not two or three coordinates.
        """
        from pinn.geometry.placed import Rotated
        from pinn.geometry.product import in_space

        return in_space(self, lambda space: Rotated(space, angle, about, axis))

    def named(self, name: str) -> Shape:
        """Return the shape with a name, which `on` takes for all parts of its boundary."""
        from pinn.geometry.placed import Named
        from pinn.geometry.product import in_space

        return in_space(self, lambda space: Named(space, name))

    # Parts by name.

    @property
    def start(self) -> Face:
        """The start of time; ValueError for a shape without a time coordinate."""
        return self._end_of_time("low")

    @property
    def end(self) -> Face:
        """The end of time; ValueError for a shape without a time coordinate."""
        return self._end_of_time("high")

    def _end_of_time(self, side: str) -> Face:
        if self.time is None:
            names = ", ".join(self.coordinates)
            raise ValueError(
                f"this domain has no time coordinate, only {names}; {AS_TIME}"
            )
        return Face(self.time, side, self.bounds[self.time][side == "high"])

    def part(self, text: str) -> Part:
        """Return the part that a text such as "x=-1" or "hole" names.

        The number may be an expression ("x=pi/2"). Raises ValueError, listing the parts there are,
        for another text.
        """
        found = self._named(text)
        if len(found) != 1:
            raise ValueError(f"expected one part of the boundary, {text!r} is {_listed(found)}")
        return found[0]

    def select(self, on: str | Iterable[str] | None = None) -> tuple[Part, ...]:
        """Return the parts of the boundary that `on` names, without repeats.

        on: None for all of them, a face such as "x=0", the name of a part or of the shape it
        belongs to, a comparison such as "x < 0.5" (of coordinates and components of the normal) or
        "0 < x < 1 or y > 2" that takes the points at which it holds, what and, or, not make of all
        of these, such as "x=0 and y < 0.5" or "not hole", or a list of these. Raises ValueError,
        listing the parts, where there are none.
        """
        if on is None:
            found = self.parts
        elif isinstance(on, Part):
            found = (on,)
        elif isinstance(on, str):
            found = self._pieces(on) if self._compares(on) else self._named(on)
        elif isinstance(on, Iterable):
            found = tuple(dict.fromkeys(part for one in on for part in self.select(one)))
        else:
            raise ValueError(
                'on: expected a part of the boundary such as "x=-1", a comparison such as '
                f'"x < 0.5", a list of these or None, got {on!r}; faces: {self._known()}'
            )
        if not found:
            raise ValueError(f"on: expected a part of the boundary or more; faces: {self._known()}")
        return found

    def label(self, on: str | Iterable[str]) -> str:
        """Return what a block on these parts is called by: "x_low", "hole", "x_lt_0_5"."""
        if not isinstance(on, str):
            return "_".join(self.label(one) for one in on)
        if self._compares(on):
            return slug(on)
        found = self._named(on)
        if "=" in on and (len(found) > 1 or isinstance(found[0], Level)):
            return slug(on)
        return found[0].label if len(found) == 1 else on.strip()

    def _named(self, text: str) -> tuple[Part, ...]:
        from pinn.expressions import constant

        if not isinstance(text, str) or not text.strip() or text.count("=") > 1:
            raise ValueError(
                f'expected a part of the boundary such as "x=-1", got {text!r}; '
                f"faces: {self._known()}"
            )
        name, _, number = (piece.strip() for piece in text.partition("="))
        if "=" not in text:
            found = [part for part in self.parts if name in (part.label, part.owner)]
        else:
            value = constant(number)
            # "x=0.3333333333" should find a bound of 1/3; two bounds are never this close.
            found = [
                part
                for part in self.parts
                if name in part.fixed
                and abs(part.fixed[name] - value) <= 1e-9 * -np.subtract(*self.bounds[name])
            ]
        if not found and "=" in text and name in self.space:
            slack = 1e-9 * -float(np.subtract(*self.bounds[name]))
            found = self._cut([Level(part, text, name, value, slack=slack) for part in self.parts])
        if not found:
            hint = ""
            if "=" in text and name == self.time:
                low, high = self.bounds[name]
                ends = {"an initial": low, "a terminal": high}
                near = (end for end, at in ends.items() if abs(at - value) <= 1e-9 * (high - low))
                hint = "".join(f"; use {end} condition at {text.strip()}" for end in near)
            elif "=" not in text:
                hint = self._naming_hint(name)
            raise ValueError(f"no face {text!r} in this domain; faces: {self._known()}{hint}")
        return tuple(found)

    def _naming_hint(self, name: str) -> str:
        """Return how a part gets a name that is not there."""
        from pinn.geometry.declaration import SHAPES

        if any(getattr(shape, "name", None) == name for shape in self.idle):
            return f"; {name} takes nothing away: it lies outside of what it is taken from"
        parts = self.parts
        near = nearest(name, {one for p in parts for one in (p.label, p.owner) if one})
        # A shape without a name is called by its class.
        called = {part.owner or part.label for part in parts if not isinstance(part, Face)}
        without = sorted(one for one in called if one.rstrip("_0123456789") in SHAPES)
        if near or not without or not NAME.fullmatch(name):
            return near
        return f"; to call {' or '.join(without)} so, give that shape the name: name: {name}"

    def _cut(self, pieces: Iterable[Piece]) -> list[Piece]:
        """Return the pieces that have points, with their measures."""
        found = []
        for piece in pieces:
            points, normals = self._probed(piece.part)
            if len(points):
                share = float(np.mean(piece.holds(self._columns(points, normals))))
                if share > 0:
                    found.append(replace(piece, measure=piece.part.measure * share))
        return found

    def _pieces(self, where: str) -> tuple[Piece, ...]:
        where = where.strip()
        tree = parse_condition(where, equality=True)
        atoms = atoms_of(tree, {*self.coordinates, *map(normal_name, self.space)}, self._named)
        found = []
        for part in self.parts:
            match remainder(tree, atoms, part):
                case True:
                    found.append(part)
                case Expression() as rest:
                    text = where if rest is tree else str(rest)
                    found += self._cut([Piece(part, text, slack=1e-9 * self.size)])
        if not found:
            raise ValueError(
                f"no point of the boundary has {where}; the boundary's parts: {self._known()}"
            )
        return tuple(found)

    def _compares(self, text: str) -> bool:
        """Return whether `on` is meant as a comparison rather than as the name of a part."""
        names = {name for part in self.parts for name in (part.label, part.owner)}
        return is_comparison(text) and text.strip() not in names

    def _known(self) -> str:
        if not self.space:
            return "none: this domain has no space coordinate"
        return _listed(self.parts) or f"none: nothing is known of the boundary of {self!r}"

    # Points.

    def sample_interior(
        self, n: int, sampler: UnitSampler, rng: np.random.Generator
    ) -> np.ndarray:
        """Return n points spread over the shape, (n, d); fewer from a sampler of grids."""
        share = _share(self, None)
        return draw(n, len(self.coordinates), self.from_unit, share, sampler, rng)

    def sample_initial(self, n: int, sampler: UnitSampler, rng: np.random.Generator) -> np.ndarray:
        """Return points at the start of time, (n, d); one point where time is all there is.

        Raises ValueError for a shape without a time coordinate.
        """
        return self.sample_part(self.start, n, sampler, rng)[0]

    def sample_final(self, n: int, sampler: UnitSampler, rng: np.random.Generator) -> np.ndarray:
        """Return points at the end of time, as `sample_initial` does at its start."""
        return self.sample_part(self.end, n, sampler, rng)[0]

    def sample_part(
        self, part: Part, n: int, sampler: UnitSampler, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return points of a part of the boundary and the outward unit normals there.

        The shapes are (n, d) and (n, len(space)); one row where the part is a single point, fewer
        than n from a sampler of grids.
        """
        d = len(self.coordinates)
        share = _share(self, part)
        rows = draw(n, d - 1, lambda unit: self.rows(part, unit), share, sampler, rng)
        return rows[:, :d], rows[:, d:]

    def sample_boundary(
        self, parts: Iterable[Part], n: int, sampler: UnitSampler, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return n points shared among parts by their measure, at least one each, and the normals.

        The shapes are (n, d) and (n, len(space)).
        """
        parts = tuple(parts)
        sizes = np.array([part.measure for part in parts])
        # Rounding the running total keeps the sum at n whatever the single shares round to.
        edges = np.rint(np.cumsum(sizes) / sizes.sum() * n).astype(int)
        counts = np.maximum(np.diff(edges, prepend=0), 1)
        drawn = [
            self.sample_part(part, int(count), sampler, rng)
            for part, count in zip(parts, counts, strict=True)
        ]
        return np.concatenate([p for p, _ in drawn]), np.concatenate([m for _, m in drawn])

    def rows(self, part: Part, unit: np.ndarray) -> np.ndarray:
        """Return the points of a part with their normals beside them, nan where there are none."""
        if not isinstance(part, Piece):
            return np.column_stack(self.on_part(part, unit))
        rows = self.rows(part.part, unit)
        d = len(self.coordinates)
        with np.errstate(invalid="ignore"):
            rows[~part.holds(self._columns(rows[:, :d], rows[:, d:]))] = np.nan
        return rows

    def _columns(self, points: np.ndarray, normals: np.ndarray) -> dict[str, np.ndarray]:
        return {
            **dict(zip(self.coordinates, points.T, strict=True)),
            **dict(zip(map(normal_name, self.space), normals.T, strict=True)),
        }

    def _probed(self, part: Part, count: int = 4096) -> tuple[np.ndarray, np.ndarray]:
        d = len(self.coordinates)
        unit = probes(count, d - 1) if d > 1 else np.empty((1, 0))
        rows = self.rows(part, unit)
        rows = rows[~np.isnan(rows).any(axis=1)]
        return rows[:, :d], rows[:, d:]


def projection(shape: Shape, names: Iterable[str]) -> Shape:
    """Return a shape of some of the coordinates only, in their order.

    It has the factors that have no others, and intervals where a factor has.
    """
    from pinn.geometry.interval import Interval

    kept = set(names)
    found: list[Shape] = []
    for factor in shape.factors:
        if kept.issuperset(factor.coordinates):
            found.append(factor)
        else:
            pairs = factor.bounds.items()
            found += [Interval(name, *pair) for name, pair in pairs if name in kept]
    return functools.reduce(operator.mul, found)


def check_value(shape: Shape) -> None:
    """Raise TypeError for a shape that cannot be hashed."""
    if type(shape).__hash__ is None:
        raise TypeError(
            f"a shape is a value that can be hashed, and {type(shape).__name__} cannot; make it a "
            "dataclass with frozen=True, or give it __hash__ beside __eq__"
        )


def default_names(dimensions: int) -> tuple[str, ...]:
    """Return x, y, z, or x1, x2 ... of more than three dimensions."""
    if dimensions <= 3:
        return ("x", "y", "z")[:dimensions]
    return tuple(f"x{i}" for i in range(1, dimensions + 1))


def check_names(names: tuple[str, ...] | None, dimensions: int) -> None:
    """Refuse names of coordinates that are not as many as expected, or that repeat."""
    if names is not None and len(names) != dimensions:
        refuse(f"expected {dimensions} names of coordinates, got {len(names)}", "names")
    if names is not None and len(set(names)) < dimensions:
        refuse(f"expected a name of its own for each coordinate, got {', '.join(names)}", "names")


def moved_point(point: Iterable[float], by: Iterable[float]) -> tuple[float, ...]:
    """Return a point moved by so much along each coordinate."""
    return tuple(a + b for a, b in zip(point, by, strict=True))


def in_box(shape: Shape, unit: np.ndarray) -> np.ndarray:
    """Return points of a shape's bounding box, (n, d), for points of the unit cube."""
    low, high = np.array(list(shape.bounds.values())).T
    # Rounding may carry low + (high - low) * u past high by one unit in the last place.
    return np.clip(low + (high - low) * unit, low, high)


@lru_cache(maxsize=256)
def _share(shape: Shape, part: Part | None) -> float:
    """Return which share of the unit cube's points have a place in the shape, or on a part."""
    d = len(shape.coordinates)
    if part is None:
        return kept_share(d, shape.from_unit)
    return kept_share(d - 1, lambda unit: shape.rows(part, unit))


@lru_cache(maxsize=256)
def _inward_corners(shape: Shape) -> tuple[Corner, ...]:
    from pinn.geometry.corners import corners_of

    return corners_of(shape)


@lru_cache(maxsize=256)
def _counted_measure(shape: Shape) -> float:
    low, high = np.array(list(shape.bounds.values())).T
    inside = shape.contains(in_box(shape, probes(_COUNTED, len(low))), 0.0)
    return float(np.prod(high - low) * np.mean(inside))


def _listed(parts: Iterable[Part]) -> str:
    return ", ".join(map(str, parts))
