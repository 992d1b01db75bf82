"""Thin layers along walls: where points lie closer, and how long things are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pinn.sampling.points import Points

# The share of points that each layer of a coordinate has, and all of them at most; how many widths
# they reach.
_SHARE, _ALL, _REACH = 0.25, 0.6, 2.0
# Between so many places, as many widths of a layer as hold all of its points and the whole
# coordinate, the spreading is linear.
_PLACES, _WIDTHS = 800, 40.0


class Layer(NamedTuple):
    """A layer along the wall where a coordinate has its lowest or highest value.

    low, high: the bounds of the coordinate. at_low: at which of them. width: that of exp(-d/width).
    """

    coordinate: str
    low: float
    high: float
    at_low: bool
    width: float

    @property
    def side(self) -> str:
        """The side that it lies on, "low" or "high"."""
        return "low" if self.at_low else "high"

    @property
    def share(self) -> float:
        """Its width as a share of the domain."""
        return self.width / (self.high - self.low)

    @property
    def distance(self) -> str:
        """The text of the distance from its wall."""
        wall = self.low if self.at_low else self.high
        if self.at_low:
            return self.coordinate if wall == 0 else f"({self.coordinate} - {wall!r})"
        return f"({wall!r} - {self.coordinate})"

    @property
    def profile(self) -> str:
        """The text of exp(-d/width)."""
        return f"exp(-{self.distance}/{self.width!r})"


Widths = Mapping[str, Sequence[Sequence[float] | None]]
"""coordinate -> the widths of the layers at its low and at its high bound, None for none."""


@dataclass(frozen=True)
class Layers:
    """All layers of a problem."""

    layers: tuple[Layer, ...] = ()

    @classmethod
    def of(cls, given: Widths, bounds: Mapping[str, tuple[float, float]]) -> Layers:
        """Return those of a mapping: coordinate -> widths at its low and at its high bound."""
        return cls(tuple(
            Layer(name, *bounds[name], at_low, width)
            for name, sides in given.items()
            for at_low, widths in zip((True, False), sides, strict=True)
            for width in widths or ()
        ))  # fmt: skip

    def __bool__(self) -> bool:
        return bool(self.layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers)

    def factor(self, orders: Mapping[str, int]) -> str | None:
        """Return the text of what makes an equation as large in its layers as elsewhere, or None.

        orders: coordinate -> the order of the derivative in it that balances the highest one. What
        is of size one then is of size width^-order where the solution has a layer. The mean of the
        squares over points that `spread` has moved counts layers as the rest of the domain.
        """
        terms = [
            f"{(1 / (4 * _REACH * one.share)) ** orders[one.coordinate] - 1!r}"
            f"*exp(-{one.distance}/{_REACH * one.width!r})"
            for one in self.layers
            if orders.get(one.coordinate) and 4 * _REACH * one.share < 1
        ]
        return f"1/(1 + {' + '.join(terms)})" if terms else None

    def spread(self, points: Points, coordinates: Sequence[str], held: Sequence[str]) -> Points:
        """Return even points moved so that a quarter of them lies in each layer of a coordinate.

        With three and more layers it is less. Those on its bounds stay there. held: coordinates
        that stay as they are.
        """
        if not self:
            return points
        moved = points.coordinates.copy()
        for j, name in enumerate(coordinates):
            own = [one for one in self.layers if one.coordinate == name and name not in held]
            if own:
                low, high = own[0].low, own[0].high
                unit = (moved[:, j] - low) / (high - low)
                inside = (unit > 0) & (unit < 1)
                moved[inside, j] = low + (high - low) * np.interp(unit[inside], *_places(own))
        return Points(moved, points.columns)


NO_LAYERS = Layers()


def _places(layers: Sequence[Layer]) -> tuple[np.ndarray, np.ndarray]:
    """Return where even places of a coordinate, from 0 to 1, come to lie: both rising."""
    far = np.linspace(0, _WIDTHS, _PLACES + 1)
    parts = [np.linspace(0, 1, _PLACES + 1)]
    for one in layers:
        near = np.minimum(1, far * one.share)
        parts.append(near if one.at_low else 1 - near)
    to = np.unique(np.concatenate(parts))
    share = min(_SHARE, _ALL / len(layers))
    of = (1 - share * len(layers)) * to
    for one in layers:
        distance, scale = to if one.at_low else 1 - to, _REACH * one.share
        inside = np.expm1(-distance / scale) / np.expm1(-1 / scale)
        of += share * (inside if one.at_low else 1 - inside)
    of[0], of[-1] = 0.0, 1.0
    return of, to
