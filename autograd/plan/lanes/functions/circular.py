"""sin, cos and tan: x = q pi/2 + r, and polynomials in r on [-pi/4, pi/4].

pi/2 is a sum of parts, and q times each is subtracted with the fused operation (Cody and Waite
1980). The first difference is exact, and what the second loses is known exactly too. Larger
arguments are left to `huge_arguments`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import coefficients as known
from .huge_arguments import reduce_huge
from .pairs import Pair, quotient, sum_of
from .text import Integer, Real, choose, fma, polynomial, size

_REACH = {"float64": 2.0**21, "float32": 2.0**15}
"""Up to here a multiple of the parts of pi/2 between the first and the last is exact."""


@dataclass
class _Reduced:
    """|x| = q pi/2 + high + low; of the integer q the last two bits count."""

    high: Real
    low: Real
    q: Integer


def _reduce(a: Real) -> _Reduced:
    """Write the reduction of a number that is not negative."""
    form = a.function.form
    first, second, *between, last = known.HALF_PI[form.dtype]
    shifted = fma(a, 2 / math.pi, form.magic)
    q = shifted - form.magic
    exact = fma(q, -first, a)
    high = fma(q, -second, exact)
    low = fma(q, -second, exact - high)
    for part in between:  # of which a multiple may be many units of the last place of `high`
        low = fma(q, -part, low)
        total = high + low
        high, low = total, (high - total) + low
    low = fma(q, -last, low)
    return _Reduced(*reduce_huge(a, _REACH[form.dtype], high, low, shifted.bits()))


def _both(r: _Reduced, fine: bool = False) -> tuple[Pair, Pair]:
    """Write sin and cos of the reduced argument, each a number and what is added to it.

    fine: the rounding of the argument's square counts, and the low part's own cosine.
    """
    dtype = r.high.function.ends.dtype
    z = r.high * r.high
    low = fma(z * -0.5, r.low, r.low) if fine else r.low
    sine = Pair(r.high, fma(z * r.high, polynomial(z, known.SIN[dtype]), low))
    main = fma(z, -0.5, 1.0)
    rest = fma(-r.high, r.low, fma(z, -0.5, 1.0 - main))
    if fine:
        rest = fma(fma(r.high, r.high, -z), -0.5, rest)
    cosine = Pair(main, fma(z * z, polynomial(z, known.COS[dtype]), rest))
    return sine, cosine


def _turned(value: Real, q: Integer, sign: Integer | None = None) -> Real:
    """Write the value with the sign of the half turns in q, and the sign's bit of another."""
    form = value.function.form
    half_turn = q << (form.bits - 2)
    if sign is not None:
        half_turn = half_turn ^ sign
    return (value.bits() ^ (half_turn & -form.sign)).number()


def sin(x: Real) -> Real:
    """Write the sine; NaN at infinities."""
    reduced = _reduce(size(x))
    sine, cosine = _both(reduced)
    odd = (reduced.q & 1).differs(0)
    return _turned(choose(odd, cosine.value(), sine.value()), reduced.q, x.bits())


def cos(x: Real) -> Real:
    """Write the cosine; NaN at infinities."""
    reduced = _reduce(size(x))
    sine, cosine = _both(reduced)
    odd = (reduced.q & 1).differs(0)
    return _turned(choose(odd, sine.value(), cosine.value()), reduced.q + 1)


def tan(x: Real) -> Real:
    """Write the tangent, the quotient of both with twice the bits; NaN at infinities."""
    form, ends = x.function.form, x.function.ends
    reduced = _reduce(size(x))
    sine, cosine = (sum_of(one.high, one.low) for one in _both(reduced, not x.function.spare))
    odd = (reduced.q & 1).differs(0)
    over = Pair(choose(odd, cosine.high, sine.high), choose(odd, cosine.low, sine.low))
    under = Pair(choose(odd, sine.high, cosine.high), choose(odd, sine.low, cosine.low))
    value = quotient(over, under).value()
    sign = (x.bits() ^ (reduced.q << (form.bits - 1))) & -form.sign  # odd quarters turn it over
    value = (value.bits() ^ sign).number()
    return choose(size(x) < ends.power(-ends.fraction // 2 - 1), x, value)
