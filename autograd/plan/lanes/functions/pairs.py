"""Numbers with twice the bits: a sum of two, the second about a rounding of the first.

(Dekker 1971; Muller et al., Handbook of Floating-Point Arithmetic, 2018, chapter 14.) What is lost
of the second parts is far below a unit in the last place of the first. A function that gives fewer
bits than it computes with has no second parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from .text import NOTHING, Nothing, Real, Term, choose, fma, root


@dataclass(frozen=True)
class Pair:
    """The number high + low."""

    high: Real
    low: Real | Nothing = NOTHING

    def times(self, other: Real) -> Pair:
        """Write the product with a number."""
        return product(self, Pair(other))

    def value(self) -> Real:
        """Write the nearest number."""
        return self.high + self.low


def sum_of(large: Real, small: Term) -> Pair:
    """Write the exact sum of two numbers, the first no smaller than the second, or 0."""
    if small is NOTHING:
        return Pair(large)
    total = large + small
    return Pair(total) if large.function.spare else Pair(total, small - (total - large))


def exact_product(x: Real, y: Real | float) -> Pair:
    """Write the exact product of two numbers."""
    found = x * y
    return Pair(found) if x.function.spare else Pair(found, fma(x, y, -found))


def product(x: Pair, y: Pair) -> Pair:
    """Write the product of two pairs."""
    main = exact_product(x.high, y.high)
    return Pair(main.high, main.low + fma(x.high, y.low, x.low * y.high))


def quotient(x: Pair, y: Pair) -> Pair:
    """Write the quotient: the remainder of that of the first parts makes up for the rest."""
    main = x.high / y.high
    if main.function.spare:
        return Pair(main)
    rest = fma(-main, y.high, x.high)
    return Pair(main, (rest + fma(-main, y.low, x.low)) / y.high)


def square_root(x: Pair) -> Pair:
    """Write the square root; 0 at 0."""
    main = root(x.high)
    if main.function.spare:
        return Pair(main)
    rest = (fma(-main, main, x.high) + x.low) / (main + main)
    return Pair(main, choose(main.equals(0.0), 0.0, rest))
