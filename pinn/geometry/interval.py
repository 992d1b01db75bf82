"""Shapes of one coordinate: an interval of space, an interval of time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pinn.equations.fractional import Chord
from pinn.equations.leaves import Coordinate
from pinn.expressions import Expression
from pinn.expressions.algebra import divide, multiply, number, subtract
from pinn.geometry.implicit import difference_of, linear, unsigned
from pinn.geometry.parts import Face, Part
from pinn.geometry.shape import TOLERANCE, Shape, in_box
from pinn.schema import Name, declared
from pinn.schema.errors import refuse

# Numbers in between are this many times finer than the interval, and its square is a float64.
_RESOLVED = 1e-9
_NARROWEST, _WIDEST = 1e-150, 1e150


@declared(repr=False)
class OneCoordinate(Shape):
    """What shapes of one coordinate have in common."""

    name: Name
    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = self.low, self.high
        if not low < high:
            refuse(f"expected low < high, got low {low:g} and high {high:g}")
        width, size = high - low, max(abs(low), abs(high))
        if width < _RESOLVED * size:
            refuse(
                f"expected bounds that differ by {_RESOLVED:g} of their size or more, since the "
                f"numbers between them are few, got low = {low!r} and high = {high!r}; measure "
                f"{self.name} from low"
            )
        if not _NARROWEST <= width <= _WIDEST:
            refuse(
                f"expected a width from {_NARROWEST:g} to {_WIDEST:g}, got {width:g}; take another "
                f"unit for {self.name}"
            )

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        return {self.name: (self.low, self.high)}

    @property
    def measure(self) -> float:
        return self.high - self.low

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        slack = tolerance * (self.high - self.low)
        return (points[:, 0] >= self.low - slack) & (points[:, 0] <= self.high + slack)

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value = part.fixed[self.name]
        outward = -1.0 if value == self.low else 1.0
        return np.full((len(unit), 1), value), np.full((len(unit), len(self.space)), outward)

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        return in_box(self, unit)

    def shifted(self, by: tuple[float, ...]) -> Shape:
        return self  # what is no space stays where it is

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.low!r}, {self.high!r})"


@declared(repr=False)
class Interval(OneCoordinate):
    """An interval of space, low <= name <= high.

    Raises ValueError for low >= high, bounds that are not finite or too near to each other for
    float64 (their difference below 1e-9 of their size), a width beyond 1e-150 ... 1e150, or a name
    that is not an identifier; TypeError for a bound that is not a number.
    """

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Face(self.name, "low", self.low), Face(self.name, "high", self.high))

    def distance(self, points: np.ndarray) -> np.ndarray:
        return np.minimum(points[:, 0] - self.low, self.high - points[:, 0])

    def chord(self, direction: Mapping[str, Expression]) -> Chord | None:
        middle, half = number((self.low + self.high) / 2), (self.high - self.low) / 2
        place = divide(subtract(Coordinate(self.name), middle), number(half))
        # As seen along a direction of -1 the ends change places.
        place = multiply(place, direction[self.name])
        return Chord({self.name: middle}, number(half), place)

    def inside_function(self) -> Expression:
        return difference_of((self.low, self.high), self.name)

    def part_function(self, part: Part, side: int) -> Expression:
        return unsigned(self._from(part, side), self.size)

    def vanishing(self, parts: tuple[Part, ...]) -> Expression:
        return self._from(parts[0], 1) if len(parts) == 1 else self.inside_function()

    def _from(self, part: Part, side: int) -> Expression:
        """Return the distance from a face, positive on one side of it."""
        inwards = side * (1 if part.fixed[self.name] == self.low else -1)
        return linear([inwards], -inwards * part.fixed[self.name], [self.name])

    def shifted(self, by: tuple[float, ...]) -> Interval:
        return Interval(self.name, self.low + by[0], self.high + by[0])


@declared(repr=False)
class Time(OneCoordinate):
    """An interval of time, low <= name <= high; initial conditions hold at low.

    Raises as Interval does.
    """

    @property
    def time(self) -> str:
        return self.name

    @property
    def parts(self) -> tuple[Part, ...]:
        return ()

    def distance(self, points: np.ndarray) -> np.ndarray:
        # Time has no boundary in space, and its unit is no length.
        return np.full(len(points), np.inf)
