"""Ellipses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pinn.equations.leaves import Coordinate
from pinn.expressions import Expression
from pinn.expressions.algebra import add, apply, divide, multiply, number, subtract
from pinn.geometry.parts import Part
from pinn.geometry.shape import TOLERANCE, Shape, check_names, moved_point
from pinn.schema import Name, Positive, declared

# Halvings of an interval of angles or parameters, until it is a float64 wide.
_HALVINGS = 60
_MORE_HALVINGS = 110


@declared
class Ellipse(Shape):
    """The points of an ellipse along the coordinates; `rotated` turns it.

    center: two numbers. radii: half its width along each coordinate. names: of the coordinates.
    name: of its boundary in `on`, "ellipse" where left out. Raises ValueError for a radius that is
    not positive or names that repeat.
    """

    center: tuple[float, float] = (0.0, 0.0)
    radii: tuple[Positive, Positive] = (1.0, 0.5)
    names: tuple[Name, Name] = ("x", "y")
    name: Name | None = None

    def __post_init__(self) -> None:
        check_names(self.names, 2)

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        rows = zip(self.names, self.center, self.radii, strict=True)
        return {name: (center - radius, center + radius) for name, center, radius in rows}

    @property
    def measure(self) -> float:
        return math.pi * math.prod(self.radii)

    @property
    def parts(self) -> tuple[Part, ...]:
        from scipy.special import ellipe

        label = self.name or "ellipse"
        length = 4 * max(self.radii) * float(ellipe(self._flatness))
        return (Part(label, measure=length, owner=label),)

    @property
    def _flatness(self) -> float:
        return 1 - (min(self.radii) / max(self.radii)) ** 2

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        return np.hypot(*((points - self.center) / self.radii).T) <= 1 + 2 * tolerance

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Place points evenly along the arc, whose length is an elliptic integral of the angle."""
        from scipy.special import ellipe, ellipeinc

        flatness = self._flatness
        arc = 4 * unit[:, 0] * ellipe(flatness)
        low, high = np.zeros(len(arc)), np.full(len(arc), 2 * np.pi)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = ellipeinc(middle, flatness) < arc
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        # The angle is measured from the end of the short radius.
        long, short = np.sin(high), np.cos(high)
        circle = np.stack([long, short] if self.radii[0] >= self.radii[1] else [short, long], 1)
        normals = circle / self.radii
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return self.center + circle * self.radii, normals

    def distance(self, points: np.ndarray) -> np.ndarray:
        """The nearest point of the ellipse is the root of a falling function, by bisection.

        Eberly, Distance from a point to an ellipse, Geometric Tools, 2013, section 2.9.
        """
        order = [0, 1] if self.radii[0] >= self.radii[1] else [1, 0]
        long, short = (self.radii[j] for j in order)
        x, y = np.abs(points - self.center).T[order]
        y = np.maximum(y, 1e-15 * short)
        ratio = (long / short) ** 2
        u, v = x / long, y / short
        inside = u**2 + v**2 < 1
        low, high = v, np.where(inside, 1.0, np.hypot(ratio * u, v))
        for _ in range(_MORE_HALVINGS):
            middle = (low + high) / 2
            above = (ratio * u / (middle + (ratio - 1))) ** 2 + (v / middle) ** 2 > 1
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        nearest = ratio * x / (high + (ratio - 1)), y / high
        distance = np.hypot(x - nearest[0], y - nearest[1])
        return np.where(inside, distance, -distance)

    def shifted(self, by: tuple[float, ...]) -> Ellipse:
        return replace(self, center=moved_point(self.center, by))

    def reach(self, direction: np.ndarray) -> float:
        return float(direction @ np.array(self.center) + np.hypot(*(direction * self.radii)))

    def inside_function(self) -> Expression:
        """Return g / sqrt(|grad g|^2 + (g / r)^2), g = 1 - (x / a)^2 - (y / b)^2, of slope one."""
        scaled = [
            divide(subtract(Coordinate(name), number(center)), number(radius))
            for name, center, radius in zip(self.names, self.center, self.radii, strict=True)
        ]
        x, y = (multiply(one, one) for one in scaled)
        g = subtract(number(1.0), add(x, y))
        steep, flat = (number(4 / radius**2) for radius in self.radii)
        slope = add(multiply(steep, x), multiply(flat, y))
        size = multiply(number(1 / min(self.radii) ** 2), multiply(g, g))
        return divide(g, apply("sqrt", add(slope, size)))
