"""One coordinate between two faces with slopes: what lifts their data, what keeps them homogeneous.

At a face, s is the distance to it, xi = s / L, and dn(u) + kappa*u = g is asked for (b divided in),
the value as well, or the value alone. With m the order to which everything has to vanish at the
other face (0 where nothing is asked for there, 1 for a value, 2 where a slope is asked for),

    m    V: V = 1, V_s = 0 at s = 0    S: S = 0, S_s = 1 at s = 0
    0    1                             s
    1    1 - xi^2                      s (1 - xi)
    2    1 - 3 xi^2 + 2 xi^3           s (1 - xi)^2

lift a missing value and a missing slope. The homogeneous conditions hold for

    E[w] = sum over faces f with a slope alone of (V + kappa S) w(f) + B (w - I[w]),

where I[w] interpolates these w(f) and B vanishes to first order at a face with a value or a slope,
to second at one with both: w - I[w] vanishes where w(f) is taken, so B (w - I[w]) changes neither
value nor slope there. E leaves nothing out: of any u with the homogeneous conditions, w = u(f) at
the faces and I[u] + (u - sum (V + kappa S) u(f)) / B is as smooth as u.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pinn.conditions.hard.data import Data
from pinn.conditions.hard.trees import slope
from pinn.equations.leaves import Coordinate
from pinn.expressions import Expression, Number
from pinn.expressions.algebra import add, divide, literal, multiply, negate, number, subtract

Held = Callable[[Expression, dict[str, float]], Expression]


@dataclass(frozen=True)
class _Side:
    """One face of the coordinate: the data there."""

    at: float
    outward: float
    value: Data | None
    slope: Data | None

    @property
    def is_traced(self) -> bool:
        """Whether the value there is free, and the slope is not."""
        return self.slope is not None and self.value is None

    @property
    def order(self) -> int:
        """To which order a lift from the other side has to vanish here."""
        return 2 if self.slope is not None else int(self.value is not None)


class Edge:
    """One coordinate of a box on which a slope is asked for at one face or both."""

    def __init__(
        self, coordinate: str, bounds: tuple[float, float], data: Sequence[Data]
    ) -> None:
        self.coordinate = coordinate
        self.low, self.high = bounds
        self.width = self.high - self.low
        sides = []
        for name, at, outward in (("low", self.low, -1.0), ("high", self.high, 1.0)):
            mine = [d for d in data if d.face.coordinate == coordinate and d.face.side == name]
            value = next((d for d in mine if d.kappa is None), None)
            slopes = next((d for d in mine if d.kappa is not None), None)
            sides.append(_Side(at, outward, value, slopes))
        self.sides = tuple(sides)

    def repaired(self, tree: Expression, held: Held) -> Expression:
        """Return a tree that has the data of both faces, and elsewhere what it had."""
        added: list[Expression] = []
        for side, other in (self.sides, self.sides[::-1]):
            place = {self.coordinate: side.at}
            missing: Expression = Number(0)
            if side.value is not None:
                missing = subtract(side.value.tree, held(tree, place))
                lift = self._value(side, other) if side.slope else self._short(side, other)
                added.append(multiply(lift, missing))
            if side.slope is not None:
                outward = multiply(number(side.outward), slope(tree, self.coordinate))
                now = add(held(outward, place), multiply(side.slope.kappa, held(tree, place)))
                there = multiply(side.slope.kappa, missing)
                lacking = subtract(subtract(side.slope.tree, now), there)
                added.append(multiply(negate(self._slope(side, other)), lacking))
        for part in added:
            tree = add(tree, part)
        return tree

    def homogeneous(self, network: Callable[[dict[str, float]], Expression]) -> Expression:
        """Return E[w]; network gives w, at a place where one is asked for."""
        low, high = self.sides
        inside = network({})
        traced = [side for side in self.sides if side.is_traced]
        traces = {side: network({self.coordinate: side.at}) for side in traced}
        between = self._between(traces)
        tree = multiply(self._vanishing(), subtract(inside, between) if traces else inside)
        for side, other in ((low, high), (high, low)):
            if side in traces:
                lift = add(
                    self._value(side, other),
                    multiply(side.slope.kappa, self._slope(side, other)),
                )
                tree = add(tree, multiply(lift, traces[side]))
        return tree

    def vanishing(self, constants: bool) -> Expression:
        """Return what has the homogeneous conditions of both faces, times any other coordinates.

        constants: whether a constant will do, which has no slope.
        """
        tree: Expression = Number(1)
        for side in self.sides:
            free = constants and side.is_traced and literal(side.slope.kappa) == 0
            for _ in range(0 if free else side.order):
                tree = multiply(tree, self._share(side))
        return tree

    def _share(self, side: _Side) -> Expression:
        """Return xi, the distance to a side as a share of the width."""
        x = Coordinate(self.coordinate)
        low = side.outward < 0
        distance = subtract(x, number(self.low)) if low else subtract(number(self.high), x)
        return divide(distance, number(self.width))

    def _value(self, side: _Side, other: _Side) -> Expression:
        """Return V."""
        xi = self._share(side)
        if other.order == 0:
            return Number(1)
        square = multiply(xi, xi)
        if other.order == 1:
            return subtract(Number(1), square)
        return subtract(Number(1), multiply(square, subtract(Number(3), multiply(Number(2), xi))))

    def _short(self, side: _Side, other: _Side) -> Expression:
        """Return a lift of a value where no slope is asked for."""
        rest: Expression = Number(1)
        for _ in range(other.order):
            rest = multiply(rest, self._share(other))
        return rest

    def _slope(self, side: _Side, other: _Side) -> Expression:
        """Return S."""
        length = multiply(number(self.width), self._share(side))
        return multiply(length, self._short(side, other))

    def _between(self, traces: dict[_Side, Expression]) -> Expression:
        """Return I[w]."""
        if len(traces) == 2:
            low, high = self.sides
            return add(
                multiply(self._share(high), traces[low]), multiply(self._share(low), traces[high])
            )
        return next(iter(traces.values()), Number(0))

    def _vanishing(self) -> Expression:
        """Return B, whose largest value is one."""
        orders = [
            2 if side.value is not None and side.slope is not None else int(side.order > 0)
            for side in self.sides
        ]
        total = sum(orders)
        scale = float(total**total)
        tree: Expression = Number(1)
        for side, order in zip(self.sides, orders, strict=True):
            scale /= order**order
            for _ in range(order):
                tree = multiply(tree, self._share(side))
        return multiply(number(scale), tree)
