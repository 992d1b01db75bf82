"""The start of time in the formula u = A + B*N: what stays of the data, and how N sets in.

With e = t - t0 and k = 1 + the highest order that is given,

    k = 1:  A = u0,                    B = e / (T - t0)
    k = 2:  A = u0 + v0 e (1 - B),     B = e^2 / (tau^2 + e^2),    tau = SHARE (T - t0).

v0 e alone would grow where u does not, and with B = e^2 / (T - t0)^2 the network would have to grow
with the square of the time to take that back. Here

    N = u - u0 + (tau / e)^2 (u - u0 - v0 e),

as smooth as u, for the bracket has a factor e^2, and soon as small. Functions that level off
without being rational, such as tanh, put a layer of width tau into N. The numbers are in
docs/decisions/0012-hard-conditions-in-time.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from pinn.equations.leaves import Coordinate
from pinn.expressions import Expression, Number
from pinn.expressions.algebra import add, divide, multiply, number, subtract

SHARE = 0.2


@dataclass(frozen=True)
class Start:
    """The data at one end of time: the trees of u0 and, where it is given, of v0; none at all.

    at_end: whether they hold at `high`, the end of time, instead of `low`.
    """

    trees: tuple[Expression, ...] = ()
    time: str = "t"
    low: float = 0.0
    high: float = 1.0
    at_end: bool = False

    @property
    def place(self) -> dict[str, float]:
        """The time of the data."""
        return {self.time: self.high if self.at_end else self.low}

    def interpolant(self) -> Expression:
        """Return A."""
        if not self.trees:
            return Number(0)
        first, *rates = self.trees
        for rate in rates:
            elapsed = subtract(Coordinate(self.time), number(self.place[self.time]))
            first = add(first, multiply(multiply(elapsed, self._faded()), rate))
        return first

    def vanishing(self) -> Expression:
        """Return B."""
        if not self.trees:
            return Number(1)
        if len(self.trees) == 1:
            return multiply(number(1 / (self.high - self.low)), self._elapsed())
        return multiply(self._squared(), self._faded())

    def _elapsed(self) -> Expression:
        t = Coordinate(self.time)
        return subtract(number(self.high), t) if self.at_end else subtract(t, number(self.low))

    def _squared(self) -> Expression:
        scaled = divide(self._elapsed(), number(SHARE * (self.high - self.low)))
        return multiply(scaled, scaled)

    def _faded(self) -> Expression:
        """Return 1 - B; it is written once, and computed once for A and B."""
        return divide(Number(1), add(Number(1), self._squared()))
