"""Powers: e**(y log(x)), the logarithm with so many bits that a product with 745 leaves enough."""

from __future__ import annotations

import math

from .exponentials import exp_of_pair
from .logarithms import long_log, split_all
from .pairs import Pair, exact_product
from .text import NOTHING, Real, choose, fma, larger, size, smaller, whole_inside, with_sign

_BEYOND = 2000.0
"""What e is raised to is limited to this, far from where the power is finite."""


def pow(x: Real, y: Real) -> Real:
    """Write x to the power of y, with the special values of the C standard."""
    one = x.function.number(1.0)
    a, b = size(x), size(y)
    value = _inside(a, y)
    # one of them is 0 or infinite: so is the power
    ends = a.equals(0.0) | a.equals(math.inf) | b.equals(math.inf)
    towards = choose(y < 0.0, choose(a < 1.0, one, -1.0), choose(a < 1.0, -one, 1.0))
    value = choose(ends, choose(towards > 0.0, math.inf, 0.0), value)
    # below 0 it is a number for integers alone
    half = 0.5 * y
    whole = whole_inside(y).equals(y)
    odd = choose(whole_inside(half).equals(half), 0.0, choose(whole, one, 0.0))
    negative = with_sign(one, x) < 0.0
    below = choose(odd > 0.0, -value, choose(whole | ends, value, math.nan))
    value = choose(negative, below, value)
    value = choose(x.is_nan() | y.is_nan(), math.nan, value)
    to_one = x.equals(1.0) | y.equals(0.0) | (x.equals(-1.0) & b.equals(math.inf))
    return choose(to_one, 1.0, value)


def _inside(a: Real, y: Real) -> Real:
    """Write the power of positive finite numbers."""
    log = long_log(split_all(a))
    main = exact_product(y, log.high)
    inside = size(main.high) < _BEYOND
    low = choose(inside, fma(y, log.low, main.low), NOTHING)
    return exp_of_pair(Pair(smaller(larger(main.high, -_BEYOND), _BEYOND), low))
