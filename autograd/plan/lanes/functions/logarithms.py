"""Logarithms: x = 2**k m with m between sqrt(1/2) and sqrt(2), and an odd polynomial.

log(1 + f) = f - f*f/2 + s (f*f/2 + s*s p(s*s)) with s = f/(2 + f): f is exact, and what is added to
it small (the arrangement of fdlibm, Ng 1993). k log(2) + f is kept in two parts.

Where a logarithm is a step on the way, it is a pair: 2 s, with s = (m - 1)/(m + 1) to twice the
bits, and what the series adds to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import coefficients as known
from .pairs import Pair, exact_product, product, quotient, sum_of
from .text import NOTHING, Integer, Real, choose, fma, polynomial, size

_ROOT_HALF = {"float64": 0x3FE6A09E667F3BCD, "float32": 0x3F3504F3}
"""The bits of sqrt(1/2)."""


@dataclass
class Split:
    """m and k of a positive normal number; `steps` is k + `offset`, an integer above 0."""

    m: Real
    k: Real
    steps: Integer
    offset: int

    def power(self, sign: int) -> Real:
        """Write 2**k, or 2**-k for the sign -1; it has to be a normal number."""
        form = self.m.function.form
        if sign < 0:
            return ((self.offset + form.bias - self.steps) << form.fraction).number()
        return ((self.steps + (form.bias - self.offset)) << form.fraction).number()


def split(x: Real, extra: Real | float = 0.0) -> Split:
    """Write m and k of x; `extra` is subtracted from k."""
    form = x.function.form
    offset = 2 * form.bias
    start = _ROOT_HALF[form.dtype]
    above = x.bits() - start
    m = ((above & ((1 << form.fraction) - 1)) + start).number()
    steps = (above + (offset << form.fraction)) >> form.fraction
    shift = 2.0**form.fraction  # whose last bits count ones
    k = (steps | (form.bias + form.fraction) << form.fraction).number() - (extra + shift + offset)
    return Split(m, k, steps, offset)


def _sum(k: Real, f: Real, more: Real | None = None) -> Real:
    """Write k log(2) + log(1 + f) + more."""
    dtype = f.function.form.dtype
    first, second = known.LN2_SHORT[dtype]
    s = f / (f + 2.0)
    z = s * s
    half = 0.5 * f * f
    series = fma(s, fma(z, polynomial(z, known.LOG[dtype]), half), -half)
    tail = fma(k, second, series if more is None else series + more)
    whole = k * first
    high = whole + f
    return high + ((f - (high - whole)) + tail)


def split_all(x: Real) -> Split:
    """Write m and k of a positive number, which need not be normal."""
    form = x.function.form
    few = form.fraction + 2
    subnormal = x < form.power(1 - form.bias)
    normal = choose(subnormal, x * form.power(few), x)
    return split(normal, choose(subnormal, float(few), 0.0))


def log(x: Real) -> Real:
    """Write the natural logarithm: -inf at 0, NaN below."""
    parts = split_all(x)
    return _with_ends(x, _sum(parts.k, parts.m - 1.0), 0.0)


def log1p(x: Real) -> Real:
    """Write log(1 + x): u = 1 + x, and what its rounding lost divided by it."""
    form = x.function.form
    u = x + 1.0
    back = u - 1.0
    lost = (1.0 - (u - back)) + (x - back)
    parts = split(u)
    near = parts.k.equals(0.0)
    power = parts.power(-1)
    f = choose(near, x, parts.m - 1.0)
    inverse = fma(f - 1.0, f, 1.0)  # of 1 + f, to a few bits
    beyond = x > form.power(form.fraction + 8)
    value = _sum(parts.k, f, choose(near | beyond, 0.0, lost * power * inverse))
    value = choose(size(x) < form.power(-form.fraction - 2), x, value)
    return _with_ends(x, value, -1.0)


def log2(x: Real) -> Real:
    """Write the logarithm to base 2."""
    return _to_base(x, known.LOG2_E["float64"])


def log10(x: Real) -> Real:
    """Write the logarithm to base 10."""
    return _to_base(x, known.LOG10_E["float64"])


def _to_base(x: Real, factor: tuple[float, float]) -> Real:
    parts = split_all(x)
    found = log_of_ratio(Pair(parts.m - 1.0), sum_of_one(parts.m), parts.k)
    main = exact_product(found.high, factor[0])
    value = main.high + (main.low + fma(found.high, factor[1], found.low * factor[0]))
    return _with_ends(x, value, 0.0)


def sum_of_one(m: Real) -> Pair:
    """Write m + 1, exactly, for m of a split."""
    total = m + 1.0
    return Pair(total, NOTHING if m.function.spare else m - (total - 1.0))


def log_of_pair(x: Pair, extra: Real) -> Pair:
    """Write log(x) + extra log(2) for x from 1 to 2**1023, as precise near 1 as x - 1."""
    parts = split(x.high, -extra)
    low = x.low * parts.power(-1)
    more = sum_of_one(parts.m)
    return log_of_ratio(sum_of(parts.m - 1.0, low), Pair(more.high, more.low + low), parts.k)


def log_of_ratio(less: Pair, more: Pair, k: Real) -> Pair:
    """Write k log(2) + log((1 + s)/(1 - s)) for s = less/more, |s| as in LOG."""
    dtype = less.high.function.ends.dtype
    s = quotient(less, more)
    z = s.high * s.high
    series = z * s.high * polynomial(z, known.LOG[dtype])
    return _with_twos(k, s.high + s.high, fma(s.low, 2.0, series))


def long_log(parts: Split) -> Pair:
    """Write the logarithm of a split number to 66 bits, or 38 for single precision."""
    dtype = parts.m.function.ends.dtype
    s = quotient(Pair(parts.m - 1.0), sum_of_one(parts.m))
    z = product(s, s)
    rest = z.times(polynomial(z.high, known.LOG_LONG[dtype]))
    first, second = known.TWO_THIRDS["float64"]
    factor = sum_of(rest.high.function.number(first), rest.high)
    cubic = product(product(z, s), Pair(factor.high, factor.low + (rest.low + second)))
    main = sum_of(s.high + s.high, cubic.high)
    return _with_twos(parts.k, main.high, main.low + fma(s.low, 2.0, cubic.low))


def _with_twos(k: Real, high: Real, low: Real) -> Pair:
    """Write k log(2) + high + low."""
    first, second = known.LN2_SHORT["float64"]
    main = sum_of(k * first, high)
    low = fma(k, second, low)
    if k.function.spare:
        return Pair(main.high + low)
    return sum_of(main.high, main.low + low)


def _with_ends(x: Real, value: Real, pole: float) -> Real:
    """Write the value between the pole and infinity, and what is right at and beyond them."""
    value = choose(x < math.inf, value, x)
    return choose(x > pole, value, choose(x.equals(pole), -math.inf, math.nan))
