"""sinh and cosh: |x| = n log(2) + r, and the addition theorem.

With a = cosh(n log(2)) and b = sinh(n log(2)), sums of two powers of two, s = sinh(r) and
c = cosh(r) the functions are b c + a s and a c + b s. A fourth of each is found first: the powers
overflow before the result does.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import coefficients as known
from .pairs import Pair, exact_product, sum_of
from .text import Real, choose, fma, polynomial, size, smaller, with_sign

_LARGEST = 711.0
"""Beyond it both are infinite; for single precision too, by rounding."""
_FAR = 60
"""From this n on, 2**-n does not count beside 2**n."""


@dataclass(frozen=True)
class _Parts:
    """a, b: a fourth of cosh(n log(2)) and sinh(n log(2)); r; sinh(r) - r and cosh(r) - 1."""

    a: Pair
    b: Pair
    r: Pair
    sine: Real
    cosine: Real


def _parts(size_: Real) -> _Parts:
    function = size_.function
    form, digits = function.form, function.ends.dtype
    x = smaller(size_, _LARGEST)
    shifted = fma(x, 1 / known.LN2["float64"][0], form.magic)
    n = shifted - form.magic
    first, second = known.LN2["float64"]
    exact = fma(n, -first, x)
    low = n * -second
    r = sum_of(exact, low)
    z = r.high * r.high
    sine = z * r.high * polynomial(z, known.SINH[digits])
    cosine = fma(z * z, polynomial(z, known.COSH[digits]), 0.5 * z)
    power = (shifted.bits() << form.fraction) + (form.one - (3 << form.fraction))
    up = power.number()
    few = smaller(n, float(_FAR)) + form.magic
    down = ((form.one - (3 << form.fraction)) - (few.bits() << form.fraction)).number()
    return _Parts(sum_of(up, down), sum_of(up, -down), r, sine, cosine)


def _sum(first: Pair, second: Pair, parts: _Parts) -> Real:
    """Write four times first cosh(r) + second sinh(r)."""
    main = exact_product(second.high, parts.r.high)
    total = sum_of(first.high, main.high)
    # sinh has little beside r, and cosh beside 1
    low = fma(second.high, parts.sine, fma(first.high, parts.cosine, main.low))
    low = low + fma(second.low, parts.r.high, fma(second.high, parts.r.low, first.low))
    return (total.high + (total.low + low)) * 4.0


def cosh(x: Real) -> Real:
    """Write the hyperbolic cosine."""
    parts = _parts(size(x))
    return _sum(parts.a, parts.b, parts)


def sinh(x: Real) -> Real:
    """Write the hyperbolic sine."""
    a = size(x)
    parts = _parts(a)
    value = _sum(parts.b, parts.a, parts)
    ends = x.function.ends
    tiny = a < ends.power(-ends.fraction // 2 - 1)
    return with_sign(choose(tiny, a, value), x)
