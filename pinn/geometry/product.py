"""Products: a disk times an interval is a cylinder, anything times time a problem's domain."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from pinn.equations.fractional import Chord
from pinn.expressions import Expression
from pinn.geometry.implicit import balanced, conjunction, joined, trimmed
from pinn.geometry.parts import Face, Part, Piece
from pinn.geometry.shape import TOLERANCE, Shape, check_value

if TYPE_CHECKING:
    from pinn.geometry.corners import Corner
    from pinn.geometry.family import Family
    from pinn.geometry.holes import Hole


class Product(Shape):
    """All points whose coordinates lie in each of the factors, with at most one of them time.

    Its boundary has the parts of every factor, under their names, each times the other factors.
    Points come from one call of the sampler for all coordinates together, so a latin hypercube of
    a product is one.

    Raises TypeError for a factor that is no shape or has no hash, ValueError for no factor, two
    times, a coordinate or a part's label that is repeated.
    """

    def __init__(self, *factors: Shape) -> None:
        if not factors:
            raise ValueError("a product needs at least one factor, got none")
        for factor in factors:
            if not isinstance(factor, Shape):
                raise TypeError(f"expected a shape such as pinn.Interval, got {factor!r}")
            check_value(factor)
        flat = tuple(one for factor in factors for one in factor.factors)
        _need_different("coordinate", [name for one in flat for name in one.coordinates])
        times = [one.time for one in flat if one.time is not None]
        if len(times) > 1:
            raise ValueError(f"a domain has at most one time, got {' and '.join(times)}")
        _need_different("part of the boundary", [part.label for one in flat for part in one.parts])
        self._factors = flat
        self._bounds = {name: pair for one in flat for name, pair in one.bounds.items()}
        owners = []
        for i, one in enumerate(flat):
            others = float(np.prod([other.measure for j, other in enumerate(flat) if j != i]))
            for part in one.parts:
                lifted = dataclasses.replace(part, measure=part.measure * others)
                owners.append((lifted, i, part))
        self._owners = tuple(owners)

    @property
    def factors(self) -> tuple[Shape, ...]:
        return self._factors

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        return dict(self._bounds)

    @property
    def time(self) -> str | None:
        return next((one.time for one in self._factors if one.time is not None), None)

    @property
    def families(self) -> tuple[Family, ...]:
        return tuple(family for one in self._factors for family in one.families)

    @property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(hole for one in self._factors for hole in one.holes)

    @property
    def inward_corners(self) -> tuple[Corner, ...]:
        return tuple(corner for one in self._factors for corner in one.inward_corners)

    @property
    def idle(self) -> tuple[Shape, ...]:
        return tuple(shape for one in self._factors for shape in one.idle)

    @property
    def measure(self) -> float:
        return float(np.prod([one.measure for one in self._factors]))

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        columns = self._split(points, [len(one.coordinates) for one in self._factors])
        inside = (o.contains(c, tolerance) for o, c in zip(self._factors, columns, strict=True))
        return np.logical_and.reduce(list(inside))

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(lifted for lifted, _, _ in self._owners)

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        place, own = self._owner(part)
        widths = [len(one.coordinates) - (i == place) for i, one in enumerate(self._factors)]
        points, normals = [], []
        columns = self._split(unit, widths)
        for i, (one, given) in enumerate(zip(self._factors, columns, strict=True)):
            if i == place:
                found, normal = one.on_part(own, given)
            else:
                found, normal = one.from_unit(given), np.zeros((len(unit), len(one.space)))
            points.append(found)
            normals.append(normal)
        return np.column_stack(points), np.column_stack(normals)

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        columns = self._split(unit, [len(one.coordinates) for one in self._factors])
        placed = (one.from_unit(c) for one, c in zip(self._factors, columns, strict=True))
        return np.column_stack(list(placed))

    def distance(self, points: np.ndarray) -> np.ndarray:
        columns = self._split(points, [len(one.coordinates) for one in self._factors])
        each = np.stack([o.distance(c) for o, c in zip(self._factors, columns, strict=True)])
        outside = np.linalg.norm(np.minimum(each, 0.0), axis=0)
        return np.where(outside > 0, -outside, each.min(axis=0))

    def reach(self, direction: np.ndarray) -> float:
        each = self._split(direction[None], [len(one.coordinates) for one in self._factors])
        return sum(o.reach(c[0]) for o, c in zip(self._factors, each, strict=True))

    def chord(self, direction: Mapping[str, Expression]) -> Chord | None:
        factors = [one for one in self._factors if one.space]
        return factors[0].chord(direction) if len(factors) == 1 else None

    def inside_function(self) -> Expression:
        functions = [one.inside_function() for one in self._factors if one.space]
        return balanced(conjunction, functions, self.size)

    def part_function(self, part: Part, side: int) -> Expression:
        place, own = self._owner(part)
        function = self._factors[place].part_function(own, side)
        for i, other in enumerate(self._factors):
            if i != place and other.space:
                function = trimmed(function, other.inside_function(), self.size)
        return function

    def vanishing(self, parts: tuple[Part, ...]) -> Expression:
        if any(isinstance(part, Piece) for part in parts):
            return joined([self.function_of(part) for part in parts], self.size)
        owners = [self._owner(part) for part in parts]
        functions = [
            one.vanishing(tuple(own for place, own in owners if place == i))
            for i, one in enumerate(self._factors)
            if any(place == i for place, _ in owners)
        ]
        return joined(functions, self.size)

    def shifted(self, by: tuple[float, ...]) -> Shape:
        left = iter(by)
        moved = [one.shifted(tuple(next(left) for _ in one.space)) for one in self._factors]
        return product(*moved)

    def _owner(self, part: Part) -> tuple[int, Part]:
        """Return the factor that a part comes from, by its place, and its part there."""
        for lifted, place, own in self._owners:
            if lifted == part:
                return place, own
        if isinstance(part, Face) and part.coordinate == self.time:
            return next(i for i, one in enumerate(self._factors) if one.time is not None), part
        raise ValueError(f"{part} is no part of the boundary of {self!r}")

    def _split(self, array: np.ndarray, widths: list[int]) -> list[np.ndarray]:
        return np.split(array, np.cumsum(widths)[:-1], axis=1)

    def __eq__(self, other: object) -> bool:
        return self._factors == other._factors if isinstance(other, Product) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._factors)

    def __repr__(self) -> str:
        return " * ".join(map(repr, self._factors))


def product(*factors: Shape) -> Product:
    """Return the product of shapes, a Box where all are intervals."""
    from pinn.geometry.box import Box
    from pinn.geometry.interval import OneCoordinate

    flat = [one for factor in factors for one in factor.factors]
    return (Box if all(isinstance(one, OneCoordinate) for one in flat) else Product)(*flat)


def split_space(shape: Shape) -> tuple[Shape, tuple[Shape, ...]]:
    """Return a shape in space, and the time and families that it is multiplied with.

    Raises ValueError for a shape that has nothing in space.
    """
    rest = tuple(one for one in shape.factors if not one.space)
    space = [one for one in shape.factors if one.space]
    if not space:
        raise ValueError(f"expected a shape in space, got {shape!r}")
    return shape if not rest else space[0] if len(space) == 1 else product(*space), rest


def in_space(shape: Shape, change: Callable[[Shape], Shape]) -> Shape:
    """Return what `change` makes of a shape in space, times the time and families that it has."""
    space, rest = split_space(shape)
    changed = change(space)
    if not rest:
        return changed
    return product(*rest, changed) if shape.factors[0] in rest else product(changed, *rest)


def during(shape: Shape, low: float, high: float) -> Shape:
    """Return a shape with other bounds of its time; ValueError for one that has no time."""
    if shape.time is None:
        raise ValueError(f"expected a shape with a time, got {shape!r}")
    changed = [
        dataclasses.replace(one, low=low, high=high) if one.time is not None else one
        for one in shape.factors
    ]
    return changed[0] if len(changed) == 1 else product(*changed)


def _need_different(what: str, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"each {what} of a domain needs its own name; repeated: {', '.join(repeated)}"
        )
