"""Shapes that are moved, rotated, or given a name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from pinn.equations.leaves import Coordinate
from pinn.expressions import Expression
from pinn.expressions.algebra import number, subtract
from pinn.geometry.corners import Corner
from pinn.geometry.declaration import AnyDomain
from pinn.geometry.holes import Hole
from pinn.geometry.implicit import linear, replaced
from pinn.geometry.parts import Face, Part, Piece
from pinn.geometry.shape import TOLERANCE, Shape, check_value
from pinn.schema import Name, declared
from pinn.schema.errors import refuse


class _Image(Shape):
    """A shape under x -> matrix x + offset, with lengths as they were."""

    shape: Shape

    @cached_property
    def _matrix(self) -> np.ndarray:
        return np.eye(len(self.shape.coordinates))

    @cached_property
    def _offset(self) -> np.ndarray:
        return np.zeros(len(self.shape.coordinates))

    def _lift(self, part: Part) -> Part:
        """Return a part of the shape as one of its image."""
        return part

    @cached_property
    def _owners(self) -> tuple[tuple[Part, Part], ...]:
        return tuple((self._lift(part), part) for part in self.shape.parts)

    def _own(self, part: Part) -> Part:
        return next(own for lifted, own in self._owners if lifted == part)

    def _there(self, points: np.ndarray) -> np.ndarray:
        return points @ self._matrix.T + self._offset

    def _back(self, points: np.ndarray) -> np.ndarray:
        return (points - self._offset) @ self._matrix

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        axes = np.eye(len(self.shape.coordinates))
        return {
            name: (-self.reach(-axis), self.reach(axis))
            for name, axis in zip(self.shape.coordinates, axes, strict=True)
        }

    @property
    def measure(self) -> float:
        return self.shape.measure

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(lifted for lifted, _ in self._owners)

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        return self.shape.contains(self._back(points), tolerance)

    @property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(
            hole.at(self._there(np.array([hole.center]))[0]) for hole in self.shape.holes
        )

    @property
    def inward_corners(self) -> tuple[Corner, ...]:
        return tuple(corner.moved(self._there) for corner in self.shape.inward_corners)

    @property
    def idle(self) -> tuple[Shape, ...]:
        return self.shape.idle

    @property
    def corners(self) -> np.ndarray:
        return np.concatenate([super().corners, self._there(self.shape.corners)])

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        return self._there(self.shape.from_unit(unit))

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        points, normals = self.shape.on_part(self._own(part), unit)
        return self._there(points), normals @ self._matrix.T

    def distance(self, points: np.ndarray) -> np.ndarray:
        return self.shape.distance(self._back(points))

    def reach(self, direction: np.ndarray) -> float:
        return self.shape.reach(self._matrix.T @ direction) + float(direction @ self._offset)

    def inside_function(self) -> Expression:
        return self._carried(self.shape.inside_function())

    def part_function(self, part: Part, side: int) -> Expression:
        return self._carried(self.shape.part_function(self._own(part), side))

    def vanishing(self, parts: tuple[Part, ...]) -> Expression:
        if any(isinstance(part, Piece) for part in parts):
            return super().vanishing(parts)
        return self._carried(self.shape.vanishing(tuple(map(self._own, parts))))

    def _carried(self, function: Expression) -> Expression:
        names = self.shape.coordinates
        back = -self._offset @ self._matrix
        places = {
            name: linear(row.tolist(), float(start), names)
            for name, row, start in zip(names, self._matrix.T, back, strict=True)
        }
        return replaced(function, places)


@declared
class Moved(_Image):
    """A shape that is moved in space: `shape.moved(1, 0)`.

    by: a number for each coordinate.
    """

    shape: AnyDomain
    by: tuple[float, ...]

    def __post_init__(self) -> None:
        check_value(self.shape)
        _need_space(self.shape)
        if len(self.by) != len(self.shape.coordinates):
            refuse(f"expected {len(self.shape.coordinates)} numbers, got {len(self.by)}", "by")

    @cached_property
    def _offset(self) -> np.ndarray:
        return np.array(self.by)

    def _lift(self, part: Part) -> Part:
        if not isinstance(part, Face):
            return part
        place = self.shape.coordinates.index(part.coordinate)
        return replace(part, value=part.value + self.by[place])

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        pairs = zip(self.shape.bounds.items(), self.by, strict=True)
        return {name: (low + by, high + by) for (name, (low, high)), by in pairs}

    def _carried(self, function: Expression) -> Expression:
        names = self.shape.coordinates
        places = {
            name: subtract(Coordinate(name), number(by))
            for name, by in zip(names, self.by, strict=True)
        }
        return replaced(function, places)

    def shifted(self, by: tuple[float, ...]) -> Moved:
        return Moved(self.shape, tuple(a + b for a, b in zip(self.by, by, strict=True)))


@declared
class Rotated(_Image):
    """A shape of two or three coordinates, rotated: `shape.rotated(pi/4)`.

    angle: in radians, counterclockwise. about: the point that stays where it is, the origin where
    left out. axis: the direction that it is rotated about in three dimensions, as a right-handed
    screw; the last coordinate where left out.
    """

    shape: AnyDomain
    angle: float
    about: tuple[float, ...] | None = None
    axis: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        check_value(self.shape)
        _need_space(self.shape)
        d = len(self.shape.coordinates)
        if d not in (2, 3):
            refuse(f"expected a shape of two or three coordinates to rotate, got {d}", "shape")
        if self.about is not None and len(self.about) != d:
            refuse(f"expected a point of {d} numbers, got {len(self.about)}", "about")
        if self.axis is not None and (d == 2 or not any(self.axis)):
            what = "an axis in three dimensions only" if d == 2 else "a direction other than zero"
            refuse(f"expected {what}, got {self.axis}", "axis")

    @cached_property
    def _matrix(self) -> np.ndarray:
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        if len(self.shape.coordinates) == 2:
            return np.array([[cosine, -sine], [sine, cosine]])
        x, y, z = np.array(self.axis or (0.0, 0.0, 1.0)) / np.linalg.norm(self.axis or 1.0)
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return np.eye(3) + sine * cross + (1 - cosine) * cross @ cross  # Rodrigues' formula

    @cached_property
    def _offset(self) -> np.ndarray:
        about = np.array(self.about or [0.0] * len(self.shape.coordinates))
        return about - self._matrix @ about

    def _lift(self, part: Part) -> Part:
        if not part.fixed:
            return part
        return Part(part.label, measure=part.measure, owner=part.owner)


@declared
class Named(_Image):
    """A shape with a name, which `on` takes for all parts of its boundary: `shape.named("hole")`.

    Where it has several parts, each is called by both names, as in hole_x_low.
    """

    shape: AnyDomain
    name: Name

    def __post_init__(self) -> None:
        check_value(self.shape)
        _need_space(self.shape)

    def _lift(self, part: Part) -> Part:
        alone = len(self.shape.parts) == 1
        label = self.name if alone else f"{self.name}_{part.label}"
        return replace(part, label=label, owner=self.name)

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        return self.shape.bounds

    def _there(self, points: np.ndarray) -> np.ndarray:
        return points

    def _back(self, points: np.ndarray) -> np.ndarray:
        return points

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.shape.on_part(self._own(part), unit)

    def _carried(self, function: Expression) -> Expression:
        return function

    def reach(self, direction: np.ndarray) -> float:
        return self.shape.reach(direction)


def _need_space(shape: Shape) -> None:
    if shape.space != shape.coordinates:
        refuse(f"expected a shape in space, got {shape!r}; multiply the result instead", "shape")
