"""Shapes of one coordinate: an interval of space, an interval of time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pinn.checks import check_number
from pinn.geometry.parts import Face, Part
from pinn.geometry.shape import TOLERANCE, Shape, in_box

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

# Numbers in between are this many times finer than the interval, and its square is a float64.
_RESOLVED = 1e-9
_NARROWEST, _WIDEST = 1e-150, 1e150


def check_name(kind: str, name: object) -> str:
    """Return a name made of letters, digits and underscores that starts with a letter.

    Raises TypeError for something that is not text, ValueError for another text; `kind` says in
    the message what the name is for.
    """
    if not isinstance(name, str):
        raise TypeError(f"{kind}: expected a name as text, got {name!r}")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{kind}: expected a name of letters, digits and underscores that starts with a "
            f"letter, got {name!r}"
        )
    return name


@dataclass(frozen=True, repr=False)
class _OneCoordinate(Shape):
    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        name = check_name("coordinate", self.name)
        check_number(f"{name}: low", self.low)
        check_number(f"{name}: high", self.high)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        if not self.low < self.high:
            raise ValueError(
                f"{name}: expected low < high, got low = {self.low:g} and high = {self.high:g}"
            )
        width, size = self.high - self.low, max(abs(self.low), abs(self.high))
        if width < _RESOLVED * size:
            raise ValueError(
                f"{name}: expected bounds that differ by {_RESOLVED:g} of their size or more, "
                f"since the numbers between them are few, got low = {self.low!r} and high = "
                f"{self.high!r}; measure {name} from low"
            )
        if not _NARROWEST <= width <= _WIDEST:
            raise ValueError(
                f"{name}: expected a width from {_NARROWEST:g} to {_WIDEST:g}, got {width:g}; "
                f"take another unit for {name}"
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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.low!r}, {self.high!r})"


@dataclass(frozen=True, repr=False)
class Interval(_OneCoordinate):
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


@dataclass(frozen=True, repr=False)
class Time(_OneCoordinate):
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
