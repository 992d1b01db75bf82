"""Operations that are an instruction or a few."""

from __future__ import annotations

import math

from .text import Real, choose, fma, root, size

_SCALE = {"float64": 600, "float32": 100}
"""The power of two that squares neither over- nor underflow with, nor what they lose."""


def add(x: Real, y: Real) -> Real:
    """Write x + y."""
    return x + y


def sub(x: Real, y: Real) -> Real:
    """Write x - y."""
    return x - y


def mul(x: Real, y: Real) -> Real:
    """Write x * y."""
    return x * y


def div(x: Real, y: Real) -> Real:
    """Write x / y."""
    return x / y


def quotient(x: Real, y: Real) -> Real:
    """Write x / y, and 0 where y is 0."""
    return choose(y.equals(0.0), 0.0, x / y)


def neg(x: Real) -> Real:
    """Write -x."""
    return -x


def conj(x: Real) -> Real:
    """Write nothing: a real number is its own conjugate."""
    return x


def square(x: Real) -> Real:
    """Write x * x."""
    return x * x


def reciprocal(x: Real) -> Real:
    """Write 1/x."""
    return 1.0 / x


def sqrt(x: Real) -> Real:
    """Write the square root: NaN below 0, and -0 at -0."""
    return root(x)


def absolute(x: Real) -> Real:
    """Write |x|."""
    return size(x)


def maximum(x: Real, y: Real) -> Real:
    """Write the larger one, the first of equals; NaN wins."""
    return choose((x >= y) | x.is_nan(), x, y)


def minimum(x: Real, y: Real) -> Real:
    """Write the smaller one, the first of equals; NaN wins."""
    return choose((x <= y) | x.is_nan(), x, y)


def hypot(x: Real, y: Real) -> Real:
    """Write sqrt(x*x + y*y), of scaled numbers, less what the root's square is too large by.

    (Borges, An improved algorithm for hypot(a, b), 2019.)
    """
    form = x.function.form
    a, b = size(x), size(y)
    larger, smaller = choose(a > b, a, b), choose(a > b, b, a)
    high, low = form.power(form.bias // 2 - 1), form.power(-(form.bias // 2) + form.fraction)
    down, up = form.power(-_SCALE[form.dtype]), form.power(_SCALE[form.dtype])
    one = x.function.number(1.0)
    scale = choose(larger > high, down, choose(larger < low, up, one))
    back = choose(larger > high, up, choose(larger < low, down, one))
    m, n = larger * scale, smaller * scale
    root_ = root(fma(m, m, n * n))
    square_, above = root_ * root_, m * m
    excess = (fma(-n, n, square_ - above) + fma(root_, root_, -square_)) - fma(m, m, -above)
    value = (root_ - excess / (root_ + root_)) * back
    value = choose(larger.equals(0.0), larger, value)
    infinite = a.equals(math.inf) | b.equals(math.inf)
    return choose(infinite, math.inf, choose(x.is_nan() | y.is_nan(), math.nan, value))
