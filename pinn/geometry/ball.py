"""Disks, and balls in any number of dimensions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pinn.equations.fractional import Chord
from pinn.equations.leaves import Coordinate
from pinn.expressions import Expression
from pinn.expressions.algebra import ZERO, add, apply, divide, multiply, number, subtract
from pinn.geometry.implicit import square_distance
from pinn.geometry.parts import Part
from pinn.geometry.shape import (
    TOLERANCE,
    Shape,
    check_names,
    default_names,
    in_box,
    moved_point,
)
from pinn.schema import Name, Positive, declared
from pinn.schema.errors import refuse

# Above, a ball fills so little of its box that its points are placed without trying.
_MOST_TRIED = 3
# The square of a chord's half length, in radii: a tangent's is 0 but for rounding.
_LEAST_CHORD = 1e-14


class _Round(Shape):
    center: tuple[float, ...]
    radius: float
    names: tuple[str, ...] | None
    name: str | None

    def __post_init__(self) -> None:
        if len(self.center) < 2:
            refuse("expected a center of two numbers or more; use an interval for one", "center")
        check_names(self.names, len(self.center))

    @property
    def _names(self) -> tuple[str, ...]:
        return self.names or default_names(len(self.center))

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        pairs = zip(self._names, self.center, strict=True)
        return {name: (c - self.radius, c + self.radius) for name, c in pairs}

    @property
    def measure(self) -> float:
        d = len(self.center)
        return math.pi ** (d / 2) / math.gamma(d / 2 + 1) * self.radius**d

    @property
    def parts(self) -> tuple[Part, ...]:
        size = self.measure * len(self.center) / self.radius
        label = self.name or type(self).__name__.lower()
        return (Part(label, measure=size, owner=label),)

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        return self.distance(points) >= -2 * tolerance * self.radius

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        outward = _directions(unit)
        return self.center + self.radius * outward, outward

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        d = unit.shape[1]
        if d > _MOST_TRIED:
            outward = _directions(unit[:, 1:])
            return self.center + self.radius * unit[:, :1] ** (1 / d) * outward
        points = in_box(self, unit)
        points[~self.contains(points, 0.0)] = np.nan
        return points

    def distance(self, points: np.ndarray) -> np.ndarray:
        return self.radius - np.linalg.norm(points - self.center, axis=1)

    def shifted(self, by: tuple[float, ...]) -> Shape:
        return replace(self, center=moved_point(self.center, by))

    def reach(self, direction: np.ndarray) -> float:
        return float(direction @ np.array(self.center) + self.radius * np.linalg.norm(direction))

    def chord(self, direction: Mapping[str, Expression]) -> Chord | None:
        offset: Expression = ZERO
        for name, c in zip(self._names, self.center, strict=True):
            from_center = subtract(Coordinate(name), number(c))
            offset = add(offset, multiply(from_center, direction[name]))
        middle = {
            name: subtract(Coordinate(name), multiply(offset, direction[name]))
            for name in self._names
        }
        squares = square_distance(self.center, self._names)
        room = subtract(number(self.radius**2), subtract(squares, multiply(offset, offset)))
        least = number(_LEAST_CHORD * self.radius**2)
        half = apply("sqrt", apply("max", room, least))
        return Chord(middle, half, divide(offset, half))

    def inside_function(self) -> Expression:
        squares = square_distance(self.center, self._names)
        return divide(subtract(number(self.radius**2), squares), number(2 * self.radius))


@declared
class Disk(_Round):
    """The points of a circle and inside of it.

    center: two numbers. names: of the coordinates. name: of the circle in `on`, "disk" where left
    out. Raises ValueError for a radius that is not positive or names that repeat.
    """

    center: tuple[float, float] = (0.0, 0.0)
    radius: Positive = 1.0
    names: tuple[Name, Name] = ("x", "y")
    name: Name | None = None


@declared
class Ball(_Round):
    """The points within a distance of a center, in as many dimensions as the center has numbers.

    names: of the coordinates; x, y, z where left out, x1, x2 ... in more than three dimensions.
    name: of the sphere in `on`, "ball" where left out. Raises ValueError for a radius that is not
    positive, a center of fewer than two numbers, or names that are not as many or repeat.
    """

    center: Sequence[float] = (0.0, 0.0, 0.0)
    radius: Positive = 1.0
    names: Sequence[Name] | None = None
    name: Name | None = None


def _directions(unit: np.ndarray) -> np.ndarray:
    """Return unit vectors (n, d), spread over the sphere as `unit`, (n, d - 1), over the cube.

    In polar angles the density of each is a power of its sine, whose integral is a beta function.
    """
    from scipy.special import betaincinv

    n, angles = unit.shape
    found = np.empty((n, angles + 1))
    rest = np.ones(n)
    for j in range(angles - 1):
        half = (angles - j) / 2
        cosine = 1 - 2 * betaincinv(half, half, unit[:, j])
        found[:, j] = rest * cosine
        rest = rest * np.sqrt(np.maximum(1 - cosine**2, 0.0))
    angle = 2 * np.pi * unit[:, -1]
    found[:, -2], found[:, -1] = rest * np.cos(angle), rest * np.sin(angle)
    return found
