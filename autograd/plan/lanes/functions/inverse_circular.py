"""asin, acos, atan and atan2: polynomials near 0, and multiples of pi/4 that are added to them."""

from __future__ import annotations

import math

from . import coefficients as known
from .pairs import Pair, quotient, square_root, sum_of
from .text import NOTHING, Real, Truth, choose, fma, polynomial, size, with_sign

_TAN = math.tan(math.pi / 8)
_SCALE = 200
"""The power of two that brings what is too large or too small for sums and remainders back."""


def atan(x: Real) -> Real:
    """Write the inverse tangent."""
    ends, one = x.function.ends, x.function.number(1.0)
    a = size(x)
    above = a > 1.0
    infinite = a.equals(math.inf)
    small = choose(above, 1.0, a)
    large = choose(above, choose(infinite, 1.0, a), one)
    value = _angle(choose(infinite, 0.0, small), large, above, None)
    value = choose(a < ends.power(-ends.fraction // 2 - 1), a, value)
    return with_sign(choose(x.is_nan(), x, value), x)


def atan2(y: Real, x: Real) -> Real:
    """Write the angle of the point (x, y)."""
    form, one = x.function.form, x.function.number(1.0)
    a, b = size(y), size(x)
    above = a > b
    small, large = choose(above, b, a), choose(above, a, b)
    infinite = large.equals(math.inf)
    small = choose(infinite, choose(small.equals(math.inf), one, 0.0), small)
    large = choose(infinite | large.equals(0.0), one, large)
    up, down = form.power(_SCALE), form.power(-_SCALE)
    scale = choose(large > form.power(form.bias - _SCALE), down, one)
    scale = choose((small < form.power(-form.bias + _SCALE)) & (scale.equals(1.0)), up, scale)
    value = _angle(small * scale, large * scale, above, with_sign(one, x) < 0.0)
    return choose(x.is_nan() | y.is_nan(), math.nan, with_sign(value, y))


def _angle(small: Real, large: Real, above: Truth, behind: Truth | None) -> Real:
    """Write the angle between 0 and pi whose tangent is small/large, the first no larger.

    above: that of large/small instead. behind: the angle is mirrored at the vertical.
    """
    function = small.function
    one = function.number(1.0)
    # (t - 1)/(1 + t) is the tangent of what is less than pi/4
    far = small > large * _TAN
    less = sum_of(large, -small)
    more = sum_of(large, small)
    over = Pair(choose(far, -less.high, small), choose(far, -less.low, NOTHING))
    under = Pair(choose(far, more.high, large), choose(far, more.low, NOTHING))
    t = quotient(over, under)
    z = t.high * t.high
    series = z * t.high * polynomial(z, known.ATAN[function.ends.dtype])
    quarters, sign = choose(far, one, 0.0), one
    quarters, sign = choose(above, 2.0 - quarters, quarters), choose(above, -sign, sign)
    if behind is not None:
        quarters, sign = choose(behind, 4.0 - quarters, quarters), choose(behind, -sign, sign)
    first, second = known.QUARTER_PI["float64"]
    base = quarters * first
    lost = fma(quarters, first, -base)
    main = sum_of(base, t.high * sign)
    return main.high + (main.low + fma(sign, t.low + series, fma(quarters, second, lost)))


def _near(x: Real, z: Real) -> Real:
    """Write asin(x) - x for |x| up to 1/2 from z = x*x."""
    return z * x * polynomial(z, known.ASIN[x.function.ends.dtype])


def _arc(a: Real) -> tuple[Truth, Pair]:
    """Write where a is beyond 1/2; asin(a), and there asin(sqrt((1 - a)/2))."""
    beyond = a > 0.5
    half = fma(a, -0.5, 0.5)
    square = choose(beyond, half, a * a)
    half_root = square_root(Pair(half))
    side = choose(beyond, half_root.high, a)
    rest = choose(beyond, half_root.low, NOTHING)
    return beyond, Pair(side, rest + _near(side, square))


def asin(x: Real) -> Real:
    """Write the inverse sine, pi/2 - 2 asin(sqrt((1 - x)/2)) beyond 1/2; NaN outside of [-1, 1]."""
    ends = x.function.ends
    a = size(x)
    beyond, arc = _arc(a)
    first, second = (2 * part for part in known.QUARTER_PI["float64"])
    far = sum_of(x.function.number(first), -2.0 * arc.high)
    value = choose(beyond, far.high + (far.low + fma(arc.low, -2.0, second)), arc.value())
    value = choose(a < ends.power(-ends.fraction // 2 - 1), a, value)
    return with_sign(choose(a > 1.0, math.nan, value), x)


def acos(x: Real) -> Real:
    """Write the inverse cosine: pi/2 - asin(x), and 2 asin(sqrt((1 - x)/2)) beyond 1/2."""
    a = size(x)
    beyond, arc = _arc(a)
    one = x.function.number(1.0)
    below = x < 0.0
    # quarters of pi: 2 - asin inside, 0 + 2 arc on the right, 4 - 2 arc on the left
    quarters = choose(beyond, choose(below, one + 3.0, 0.0), 2.0)
    factor = choose(beyond, choose(below, -2.0 * one, 2.0), choose(below, one, -1.0))
    first, second = known.QUARTER_PI["float64"]
    main = sum_of(quarters * first, factor * arc.high)
    value = main.high + (main.low + fma(factor, arc.low, quarters * second))
    return choose(a > 1.0, math.nan, value)
