"""Comparisons and what is chosen by them; yes and no are the numbers 1 and 0."""

from __future__ import annotations

from .text import (
    Real,
    Truth,
    choose,
    size,
    to_integer,
    whole_above,
    whole_below,
    whole_inside,
    with_sign,
)


def _number(condition: Truth) -> Real:
    return choose(condition, condition.function.number(1.0), 0.0)


def eq(x: Real, y: Real) -> Real:
    """Write whether x == y."""
    return _number(x.equals(y))


def ne(x: Real, y: Real) -> Real:
    """Write whether x != y, which NaN is."""
    return 1.0 - eq(x, y)


def lt(x: Real, y: Real) -> Real:
    """Write whether x < y."""
    return _number(x < y)


def le(x: Real, y: Real) -> Real:
    """Write whether x <= y."""
    return _number(x <= y)


def gt(x: Real, y: Real) -> Real:
    """Write whether x > y."""
    return _number(x > y)


def ge(x: Real, y: Real) -> Real:
    """Write whether x >= y."""
    return _number(x >= y)


def logical_and(x: Real, y: Real) -> Real:
    """Write whether neither is no, which 0 is."""
    return choose(x.equals(0.0) | y.equals(0.0), x.function.number(0.0), 1.0)


def logical_or(x: Real, y: Real) -> Real:
    """Write whether one is not no."""
    return choose(x.equals(0.0) & y.equals(0.0), x.function.number(0.0), 1.0)


def logical_not(x: Real) -> Real:
    """Write whether it is no."""
    return _number(x.equals(0.0))


def where(x: Real, y: Real, z: Real) -> Real:
    """Write y where x is yes, and z elsewhere."""
    return choose(x.equals(0.0), z, y)


def winner(x: Real, y: Real, z: Real) -> Real:
    """Write x where y is the larger of y and z, or NaN; half of it where they are equal."""
    return choose(y.equals(z), 0.5 * x, choose(y < z, 0.0, x))


def sign(x: Real) -> Real:
    """Write the sign: 0 at zeros, NaN at NaN."""
    signed = choose(x < 0.0, x.function.number(-1.0), 0.0)
    return choose(x.is_nan(), x, choose(x > 0.0, 1.0, signed))


def sgn(x: Real) -> Real:
    """Write the sign: 0 at zeros and at NaN."""
    return choose(x.is_nan(), x.function.number(0.0), sign(x))


def signed(x: Real, y: Real) -> Real:
    """Write x times the sign of y."""
    return x * sign(y)


def floor(x: Real) -> Real:
    """Write the largest integer that is at most x."""
    return whole_below(x)


def ceil(x: Real) -> Real:
    """Write the smallest integer that is at least x."""
    return whole_above(x)


def round(x: Real) -> Real:
    """Write the nearest integer, the even one of two."""
    return to_integer(x)


def trunc(x: Real) -> Real:
    """Write the integer next to x on the side of 0."""
    return with_sign(whole_inside(size(x)), x)
