"""asinh, acosh and atanh: logarithms whose arguments are pairs, so that nothing is lost near 0."""

from __future__ import annotations

import math

from .logarithms import log_of_pair, log_of_ratio, split
from .pairs import Pair, exact_product, square_root, sum_of
from .text import NOTHING, Real, Truth, choose, size, with_sign

_FAR = 2.0**30
"""Beyond it x*x + 1 and x*x - 1 are x*x: the functions are log(2 x)."""


def _log_of_sum(x: Real, root: Pair, far: Truth) -> Real:
    """Write log(x + root), or log(x/2) + 2 log(2) where x is far away."""
    above = x > root.high
    total = sum_of(choose(above, x, root.high), choose(above, root.high, x))
    high = choose(far, 0.5 * x, total.high)
    low = choose(far, NOTHING, total.low + root.low)
    return log_of_pair(Pair(high, low), choose(far, 2.0, 0.0)).value()


def asinh(x: Real) -> Real:
    """Write the inverse hyperbolic sine: log(|x| + sqrt(x*x + 1))."""
    form = x.function.form
    a = size(x)
    far = a > _FAR
    near = choose(far, 1.0, a)
    square = exact_product(near, near)
    above = square.high > 1.0
    total = sum_of(choose(above, square.high, 1.0), choose(above, 1.0, square.high))
    root = square_root(sum_of(total.high, total.low + square.low))
    value = _log_of_sum(choose(far, a, near), root, far)
    value = choose(a < math.inf, value, a)
    return with_sign(choose(a < form.power(-x.function.ends.fraction // 2 - 1), a, value), x)


def acosh(x: Real) -> Real:
    """Write the inverse hyperbolic cosine: log(x + sqrt(x*x - 1)), NaN below 1."""
    far = x > _FAR
    near = choose(far, 1.0, x)
    square = exact_product(near, near)
    less = sum_of(square.high, -1.0)
    root = square_root(sum_of(less.high, less.low + square.low))
    value = _log_of_sum(choose(far, x, near), root, far)
    value = choose(x < math.inf, value, x)
    return choose(x < 1.0, math.nan, value)


def atanh(x: Real) -> Real:
    """Write the inverse hyperbolic tangent: log((1 + |x|)/(1 - |x|))/2, NaN beyond 1.

    With 2**k near that ratio it is k log(2) + log of (1 + |x|)/(2**k (1 - |x|)).
    """
    form, one = x.function.form, x.function.number(1.0)
    a = size(x)
    more, less = sum_of(one, a), sum_of(one, -a)
    parts = split(more.high / less.high)
    power = parts.power(1)
    high, low = less.high * power, less.low * power
    above = more.high > high
    top, bottom = choose(above, more.high, high), choose(above, high, more.high)
    total = sum_of(top, bottom)
    value = (
        0.5
        * log_of_ratio(
            sum_of(more.high - high, more.low - low),
            Pair(total.high, total.low + (more.low + low)),
            parts.k,
        ).value()
    )
    value = choose(a < 1.0, value, choose(a.equals(1.0), math.inf, math.nan))
    return with_sign(choose(a < form.power(-x.function.ends.fraction // 2 - 2), a, value), x)
