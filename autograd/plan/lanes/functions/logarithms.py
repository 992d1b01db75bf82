"""Logarithms: x = 2**k m with m between sqrt(1/2) and sqrt(2), and an odd polynomial.

log(1 + f) = f - f*f/2 + s (f*f/2 + s*s p(s*s)) with s = f/(2 + f): f is exact, and what is added to
it small (the arrangement of fdlibm, Ng 1993). k log(2) + f is kept in two parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import coefficients as known
from .text import Integer, Real, choose, fma, polynomial, size

_ROOT_HALF = {"float64": 0x3FE6A09E667F3BCD, "float32": 0x3F3504F3}
"""The bits of sqrt(1/2)."""


@dataclass
class _Split:
    """m and k of a positive normal number; `steps` is k + `offset`, an integer above 0."""

    m: Real
    k: Real
    steps: Integer
    offset: int


def _split(x: Real, extra: Real | float = 0.0) -> _Split:
    """Write m and k of x; `extra` is subtracted from k."""
    form = x.function.form
    offset = 2 * form.bias
    start = _ROOT_HALF[form.dtype]
    above = x.bits() - start
    m = ((above & ((1 << form.fraction) - 1)) + start).number()
    steps = (above + (offset << form.fraction)) >> form.fraction
    shift = 2.0**form.fraction  # whose last bits count ones
    k = (steps | (form.bias + form.fraction) << form.fraction).number() - (extra + shift + offset)
    return _Split(m, k, steps, offset)


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


def log(x: Real) -> Real:
    """Write the natural logarithm: -inf at 0, NaN below."""
    form = x.function.form
    few = form.fraction + 2
    subnormal = x < form.power(1 - form.bias)
    normal = choose(subnormal, x * form.power(few), x)
    parts = _split(normal, choose(subnormal, float(few), 0.0))
    return _with_ends(x, _sum(parts.k, parts.m - 1.0), 0.0)


def log1p(x: Real) -> Real:
    """Write log(1 + x): u = 1 + x, and what its rounding lost divided by it."""
    form = x.function.form
    u = x + 1.0
    back = u - 1.0
    lost = (1.0 - (u - back)) + (x - back)
    parts = _split(u)
    near = parts.k.equals(0.0)
    power = ((parts.offset + form.bias - parts.steps) << form.fraction).number()
    f = choose(near, x, parts.m - 1.0)
    inverse = fma(f - 1.0, f, 1.0)  # of 1 + f, to a few bits
    beyond = x > form.power(form.fraction + 8)
    value = _sum(parts.k, f, choose(near | beyond, 0.0, lost * power * inverse))
    value = choose(size(x) < form.power(-form.fraction - 2), x, value)
    return _with_ends(x, value, -1.0)


def _with_ends(x: Real, value: Real, pole: float) -> Real:
    """Write the value between the pole and infinity, and what is right at and beyond them."""
    value = choose(x < math.inf, value, x)
    return choose(x > pole, value, choose(x.equals(pole), -math.inf, math.nan))
