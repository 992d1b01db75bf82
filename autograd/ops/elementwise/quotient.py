"""A quotient that is 0 where its denominator is 0, and a power that is 0 where its base is 0."""

from __future__ import annotations

from typing import Any

from ..registry import Op
from .arithmetic import conj_of, mul, neg, power


def _quotient(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    if not hasattr(y, "dtype"):  # a number: it leaves the dtype of x as it is
        return xp.multiply(x, 0, out=out) if y == 0 else xp.true_divide(x, y, out=out)
    zero = y == 0
    result = xp.true_divide(x, xp.where(zero, xp.ones_like(y), y))
    result = xp.where(zero, xp.zeros_like(result), result)
    if out is None:
        return result
    out[...] = result
    return out


quotient_op = Op(
    "quotient",
    _quotient,
    {
        "x": lambda g, y: quotient_op(g, conj_of(y)),
        "y": lambda g, out, y: neg(quotient_op(mul(g, conj_of(out)), conj_of(y))),
    },
    dtype="float",
    broadcasts=True,
    elementwise=True,
    taylor="nested",
)
"""`x / y`, and 0 wherever y is 0, in every derivative too: the sub-gradient of norms at 0."""


def _gated_power(xp: Any, x: Any, out: Any = None, *, exponent: float, scale: float = 1) -> Any:
    zero = x == 0
    result = xp.where(zero, 0, power(xp, xp.where(zero, xp.ones_like(x), x), exponent, scale))
    if out is None:
        return result
    out[...] = result
    return out


gated_power_op = Op(
    "gated_power",
    _gated_power,
    {
        "x": lambda g, x, exponent, scale: mul(
            g, gated_power_op(x, exponent=exponent - 1, scale=scale * exponent)
        )
    },
    dtype="float",
    elementwise=True,
    taylor="smooth",
)
"""`scale * x**exponent` for x >= 0, and 0 wherever x is 0, in every derivative too."""
