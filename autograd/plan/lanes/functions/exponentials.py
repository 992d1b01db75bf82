"""Exponentials and tanh: x = n log(2) + r, and a polynomial in r.

n log(2) is subtracted in two parts, of which the first leaves an exact difference: it has a whole
word of bits and the difference few (Cody and Waite 1980; Muller, Elementary Functions, section
11.2, with the fused operation).
"""

from __future__ import annotations

import math

from . import coefficients as known
from .pairs import Pair, product, sum_of
from .text import NOTHING, Integer, Real, choose, fma, larger, polynomial, size, smaller, with_sign

_LIMITS = {"float64": (-746.0, 710.0), "float32": (-104.5, 89.0)}
"""Below, exp is 0 and above infinite; both by rounding."""
_ONE = {"float64": 19.1, "float32": 9.1}
"""From here on tanh rounds to 1."""


def exp(x: Real) -> Real:
    """Write e**x: 2**n goes on in two factors, the second of which overflows or underflows."""
    form = x.function.form
    x = smaller(larger(x, _LIMITS[form.dtype][0]), _LIMITS[form.dtype][1])
    magic = form.magic + 2 * form.bias
    shifted = fma(x, 1 / math.log(2), magic)
    n = shifted - magic
    high, low = known.LN2[form.dtype]
    r = fma(n, -low, fma(n, -high, x))
    return _scaled(polynomial(r, (1.0, 1.0, *known.EXP[form.dtype])), shifted.bits())


def _scaled(value: Real, bits: Integer) -> Real:
    """Write 2**n times the value; the bits end with n + 2 bias."""
    form = value.function.form
    half = (bits << (form.fraction - 1)) & form.exponent  # of n, and rounded down
    rest = (bits << form.fraction) - half
    return value * half.number() * rest.number()


def exp2(x: Real) -> Real:
    """Write 2**x."""
    form = x.function.form
    lowest, highest = -form.bias - form.fraction - 2.0, form.bias + 2.0
    x = smaller(larger(x, lowest), highest)
    magic = form.magic + 2 * form.bias
    shifted = x + magic
    r = x - (shifted - magic)
    return _scaled(polynomial(r, (1.0, *known.EXP2[form.dtype])), shifted.bits())


def exp_of_pair(x: Pair, factor: Pair | None = None) -> Real:
    """Write e**(high + low), times a factor about 1 if there is one.

    high may be out of range but not infinite, and low is small beside 1.
    """
    form = x.high.function.form
    lowest, highest = _LIMITS["float64"]
    limited = smaller(larger(x.high, lowest), highest)
    magic = form.magic + 2 * form.bias
    shifted = fma(limited, 1 / math.log(2), magic)
    n = shifted - magic
    first, second = known.LN2["float64"]
    exact = fma(n, -first, limited)
    rest = fma(n, -second, x.low)
    r = exact + rest
    lost = NOTHING if r.function.spare else (exact - r) + rest
    main = sum_of(r.function.number(1.0), r)
    curve = r * r * polynomial(r, known.EXP_IN_DOUBLES[r.function.ends.dtype])
    found = sum_of(main.high, main.low + (lost + fma(lost, r, curve)))
    if factor is not None:
        found = product(found, factor)
    return _scaled(found.value(), shifted.bits())


def expm1(x: Real) -> Real:
    """Write e**x - 1 = 2**n p + (2**n - 1), where p = e**r - 1 is kept in two parts."""
    form = x.function.form
    small = size(x) < form.power(-form.fraction - 2)
    lowest = -0.75 * (form.fraction + 3)
    given, x = x, smaller(larger(x, lowest), _LIMITS[form.dtype][1])
    shifted = fma(x, 1 / math.log(2), form.magic)
    n = shifted - form.magic
    first, second = known.LN2[form.dtype]
    r = fma(n, -first, x)
    low = n * -second
    z = r * r
    curve = fma(z * r, polynomial(r, known.EXPM1[form.dtype]), 0.5 * z)
    tail = curve + fma(low, r + curve, low)
    # half of 2**n, which is finite where the result is
    scale = ((shifted.bits() << form.fraction) + (form.one - (1 << form.fraction))).number()
    above = scale - 0.5
    lost = (scale - above) - 0.5
    main = fma(scale, r, above)
    rest = fma(scale, r, above - main) + lost
    value = main + fma(scale, tail, rest)
    return choose(small, given, value + value)


def tanh(x: Real) -> Real:
    """Write tanh: with t = tanh(r), x = n log(2)/2 + r and s = 2**-n it is

        ((1 - s) + (1 + s) t) / ((1 + s) + (1 - s) t).

    The quotient is taken with fewer bits first, so that what it leaves is exact, and the remainder
    makes up for that and for the roundings of both sums.
    """
    form = x.function.form
    a = smaller(size(x), _ONE[form.dtype])
    shifted = fma(a, 2 / math.log(2), form.magic)
    n = shifted - form.magic
    first, second = known.HALF_LN2[form.dtype]
    r = fma(n, -first, a)
    z = r * r
    tail = fma(z * r, polynomial(z, known.TANH[form.dtype]), n * -second)
    t = r + tail
    s = (form.one - (shifted.bits() << form.fraction)).number()
    more = 1.0 + s
    less = fma(s, -2.0, more)  # right for ever larger n, also where `more` is rounded to 1
    inverse = 1.0 / fma(less, t, more)
    rough = fma(more, t, less) * inverse
    quotient = (rough.bits() & (-1 << (form.fraction // 5))).number()
    slope = fma(-quotient, less, more)
    rest = fma(slope, tail, fma(slope, r, fma(-quotient, more, less)))
    return with_sign(fma(rest, inverse, quotient), x)
