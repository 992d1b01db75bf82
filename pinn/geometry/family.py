"""A constant of the problem that is an input of the network: neither space nor time."""

from __future__ import annotations

import functools
import math
import operator
from typing import Literal

import numpy as np

from pinn.geometry.interval import OneCoordinate
from pinn.geometry.parts import Part
from pinn.geometry.shape import Shape
from pinn.schema import declared
from pinn.schema.errors import refuse


@declared(repr=False)
class Family(OneCoordinate):
    """A constant with a range, low <= name <= high, for all values of which a problem is solved.

    The network gets it as a further input, points are drawn over it too, and
    `solution.evaluate(x=xs, name=0.02)` gives the solution at one value. It is neither space nor
    time: it has no faces, no conditions on its ends, and no part in laplacian, grad and div; but
    equations, values of conditions and references may use it, and diff(u, name) is how the solution
    changes with it.

    spacing: "linear", or "log", which draws as many points in each decade and shows the network the
    logarithm; for a range of an order of magnitude and more. Or "normal": points are drawn as
    normal numbers are, with the mean in the middle and bounds four deviations away.

    Raises ValueError for low >= high, bounds that are not finite or too near to each other, and for
    a logarithmic range that is not above zero.
    """

    spacing: Literal["linear", "log", "normal"] = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spacing == "log" and not self.low > 0:
            refuse(f"expected low > 0 for a logarithmic range, got {self.low:g}", "low")

    @property
    def families(self) -> tuple[Family, ...]:
        return (self,)

    @property
    def parts(self) -> tuple[Part, ...]:
        return ()

    @property
    def middle(self) -> float:
        """The value in the middle of the range, of its logarithm where that is even."""
        return float(self.from_unit(np.array(0.5)))

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        if self.spacing == "log":
            points = self.low * np.exp(unit * math.log(self.high / self.low))
        elif self.spacing == "normal":
            points = (self.low + self.high) / 2 + (self.high - self.low) / 8 * _normal(unit)
        else:
            points = self.low + (self.high - self.low) * unit
        return np.clip(points, self.low, self.high)

    def __repr__(self) -> str:
        spacing = "" if self.spacing == "linear" else f", spacing={self.spacing!r}"
        return f"Family({self.name!r}, {self.low!r}, {self.high!r}{spacing})"

    def distance(self, points: np.ndarray) -> np.ndarray:
        return np.full(len(points), np.inf)


def _normal(unit: np.ndarray) -> np.ndarray:
    """Return normal numbers within four deviations from even ones in [0, 1]."""
    from scipy.special import ndtr, ndtri  # slow to import, and seldom needed

    return ndtri(ndtr(-4.0) + unit * (ndtr(4.0) - ndtr(-4.0)))


def apart(domain: Shape) -> tuple[Shape, tuple[Family, ...]]:
    """Return a domain without its families, and these.

    Raises ValueError for one that has nothing else.
    """
    if not domain.families:
        return domain, ()
    rest = [one for one in domain.factors if not one.families]
    if not rest:
        refuse("expected a coordinate besides the families, such as an interval of x")
    return functools.reduce(operator.mul, rest), domain.families
