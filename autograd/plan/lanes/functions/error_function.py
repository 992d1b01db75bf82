"""erf and 1 - erf: a polynomial near 0.

Beyond, erf is 1 - e**-q with a polynomial q, and erfc e**(-x*x) times a polynomial in what
(1 + 2 x) e**(x*x) erfc(x) is smooth in from 1/2 to infinity (Shepherd and Laframboise 1981).
"""

from __future__ import annotations

from . import coefficients as known
from .exponentials import exp_of_pair
from .pairs import Pair, exact_product, quotient, sum_of
from .text import Real, choose, fma, polynomial, size, smaller, with_sign

_BORDER = 0.875
_ONE = 6.0
"""From here on it rounds to 1."""
_NONE = 28.0
"""From here on 1 - erf is 0, by rounding."""
_MIDDLE = 3.5


def erf(x: Real) -> Real:
    """Write the error function."""
    function = x.function
    digits = function.ends.dtype
    a = size(x)
    near = fma(x, polynomial(x * x, known.ERF[digits]), x)
    t = smaller(a, _ONE) - _BORDER
    first, second = known.ERF_FAR_FIRST["float64"]
    slope = exact_product(t, polynomial(t, known.ERF_FAR[digits]))
    q = sum_of(function.number(first), slope.high)
    far = 1.0 - exp_of_pair(Pair(-q.high, -(q.low + (slope.low + second))))
    return with_sign(choose(a > _BORDER, far, near), x)


def erfc(x: Real) -> Real:
    """Write 1 - erf(x)."""
    function = x.function
    one, digits = function.number(1.0), function.ends.dtype
    a = size(x)
    within = sum_of(x, x * polynomial(x * x, known.ERF[digits]))
    rest = sum_of(one, -within.high)
    near = rest.high + (rest.low - within.low)
    t = smaller(a, _NONE)
    square = exact_product(t, t)
    q = (t - _MIDDLE) / (t + _MIDDLE)
    first, *others = known.ERFC[digits]
    slope = exact_product(q, polynomial(q, others))
    main = sum_of(function.number(first), slope.high)
    under = sum_of(choose(t > 0.5, t + t, one), one)
    factor = quotient(Pair(main.high, main.low + slope.low), under)
    far = exp_of_pair(Pair(-square.high, -square.low), factor)
    far = choose(x < 0.0, 2.0 - far, far)
    value = choose((x > 0.5) | (x < -_BORDER), far, near)
    return choose(x.is_nan(), x, value)
