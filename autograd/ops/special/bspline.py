"""Cardinal B-splines, with derivatives of every order in closed form."""

from __future__ import annotations

import math
from typing import Any

from ...tensor import Tensor, as_tensor
from ..elementwise.arithmetic import mul_op
from ..registry import Op

__all__ = ["bspline"]


def _bspline(xp: Any, x: Any, out: Any = None, *, degree: int = 3, order: int = 0) -> Any:
    """Evaluate derivative `order` of the spline, from the nearer end of its support.

    With y = (degree + 1)/2 - |x| the spline is sum_j (-1)^j C(degree + 1, j) (y - j)_+^degree /
    degree!; j up to (degree + 1)/2 is enough there, so that little cancels.
    """
    power = degree - order
    if power < 0:
        result = x * 0.0
    else:
        y = (degree + 1) / 2 - xp.absolute(x)
        result = _truncated(xp, y, power) * (1 / math.factorial(power))
        for j in range(1, (degree + 1) // 2 + 1):
            weight = (-1) ** j * math.comb(degree + 1, j) / math.factorial(power)
            result = result + _truncated(xp, y - float(j), power) * weight
        if order % 2:
            result = result * -xp.sign(x)
    if out is None:
        return result
    out[...] = result
    return out


def _truncated(xp: Any, y: Any, power: int) -> Any:
    """Compute y_+^power."""
    positive = xp.maximum(y, 0.0)
    if power == 0:
        return xp.sign(positive)
    raised = positive
    for _ in range(power - 1):
        raised = raised * positive
    return raised


bspline_op = Op(
    "bspline",
    _bspline,
    {"x": lambda g, x, degree, order: mul_op(g, bspline_op(x, degree=degree, order=order + 1))},
    dtype="float",
    elementwise=True,
    taylor="smooth",
)


def bspline(x: Tensor, degree: int = 3) -> Tensor:
    """Return the B-spline of a degree with knots at distance 1, centred at 0.

    It is a polynomial between its knots, zero beyond (degree + 1)/2, has degree - 1 continuous
    derivatives, and its shifts by whole numbers add up to 1. At a knot, derivative number `degree`
    is that of the piece nearer to the middle or zero, and higher ones are zero everywhere.
    ValueError for a degree that is no whole number of 0 or more.
    """
    if isinstance(degree, bool) or not isinstance(degree, int) or degree < 0:
        raise ValueError(f"bspline: expected a degree of 0 or more, a whole number, got {degree!r}")
    x = x if isinstance(x, Tensor) else as_tensor(x)
    if x.is_complex():
        raise RuntimeError("bspline is not implemented for complex tensors")
    return bspline_op(x, degree=degree, order=0)
