"""The logarithm of the Gamma function and its derivatives, the polygamma functions.

The n-th derivative of lgamma is the polygamma function of order n - 1, which is one call: the rule
of each is `g * (the next one)`.
"""

from __future__ import annotations

import math
from typing import Any

from ... import devices
from ...tensor import Tensor, as_tensor, method
from ..elementwise.arithmetic import mul_op
from ..elementwise.smooth import special, unary
from ..registry import Op

__all__ = ["digamma", "lgamma", "polygamma"]


def _polygamma(xp: Any, x: Any, out: Any = None, *, order: int) -> Any:
    """Return (-1)**(n + 1) n! zeta(n + 1, x), with Hurwitz' zeta function."""
    result = devices.special_of(xp).zeta(x.dtype.type(order + 1), x)
    result = xp.multiply(result, x.dtype.type((-1) ** (order + 1) * math.factorial(order)))
    if out is None:
        return xp.asarray(result, dtype=x.dtype)
    out[...] = result
    return out


_FACTS: dict[str, Any] = {"dtype": "float", "elementwise": True, "taylor": "smooth"}

polygamma_op = Op(
    "polygamma",
    _polygamma,
    {"x": lambda g, x, order: mul_op(g, polygamma_op(x, order=order + 1))},
    **_FACTS,
)
digamma_op = Op(
    "digamma",
    special("digamma"),
    {"x": lambda g, x: mul_op(g, polygamma_op(x, order=1))},
    **_FACTS,
)


def _lgamma(xp: Any, x: Any, out: Any = None) -> Any:
    result = special("gammaln")(xp, x, out=out)
    xp.copyto(result, math.inf, where=x == -math.inf)  # as at every pole, and in C
    return result


lgamma_op = Op("lgamma", _lgamma, {"x": lambda g, x: mul_op(g, digamma_op(x))}, **_FACTS)

lgamma = unary(lgamma_op, "Return log |Gamma(x)|; infinite at 0, -1, -2, ... and both infinities.")
digamma = unary(digamma_op, "Return the derivative of lgamma.")


def polygamma(n: int, input: Tensor) -> Tensor:
    """Return the derivative of order n >= 0 of digamma, at real numbers.

    Raises ValueError for n < 0. For n above 0 and negative x it is accurate away from the poles.
    """
    if n < 0:
        raise ValueError(f"polygamma: expected an order n >= 0, got {n}")
    x = input if isinstance(input, Tensor) else as_tensor(input)
    return digamma_op(x) if n == 0 else polygamma_op(x, order=n)


@method(name="polygamma")
def _polygamma_method(self: Tensor, n: int) -> Tensor:
    """Return `polygamma(n, self)`."""
    return polygamma(n, self)
