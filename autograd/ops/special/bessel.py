"""Bessel functions of whole orders, with derivatives of every order.

The derivative of each is half the sum (or difference) of its neighbours in order: nothing is
divided by x, and every derivative at 0 is right.  Source: DLMF 10.6.1, 10.29.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import devices
from ...tensor import Tensor, as_tensor, method
from ..elementwise.arithmetic import add_op, mul_op, sub_op
from ..elementwise.piecewise import sign
from ..registry import Op, into

__all__ = [
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
]

_SERIES_TO = 12.0
"""Up to here I_n is its power series, whose terms have one sign; beyond, its recurrence."""


def _series(xp: Any, x: Any, order: int, sign_of_terms: int, count: int) -> Any:
    """Return sum of (+-1)^k (x/2)^(2k + n) / (k! (k + n)!): DLMF 10.2.2, 10.25.2."""
    half = x * 0.5
    square = half * half * sign_of_terms
    total = xp.zeros_like(x)
    for k in reversed(range(count)):  # Horner's scheme, from the smallest term
        total = total * square + 1.0 / (math.factorial(k) * math.factorial(k + order))
    return total * half**order


def _upward(xp: Any, x: Any, order: int, zero: Any, one: Any, signs: tuple[int, int]) -> Any:
    """Return the function of `order` by f[n+1] = signs[0] f[n-1] + signs[1] (2n/x) f[n]."""
    before, now = zero, one
    for n in range(1, order):
        before, now = now, signs[0] * before + signs[1] * (2.0 * n / x) * now
    return now if order else zero


def _safe(xp: Any, x: Any, small: Any) -> Any:
    return xp.where(small, xp.ones_like(x), x)


def _first_kind(xp: Any, x: Any, order: int) -> Any:
    special = devices.special_of(xp)
    if order < 2:
        return (special.j0, special.j1)[order](x)
    small = xp.abs(x) < order  # upward is stable from there on
    far = _safe(xp, x, small)
    found = _upward(xp, far, order, special.j0(far), special.j1(far), (-1, 1))
    near = _series(xp, xp.where(small, x, xp.zeros_like(x)), order, -1, 20 + 2 * order)
    return xp.where(small, near, found)


def _second_kind(xp: Any, x: Any, order: int) -> Any:
    special = devices.special_of(xp)
    return _upward(xp, x, order, special.y0(x), special.y1(x) if order else None, (-1, 1))


def _modified_first(xp: Any, x: Any, order: int, scaled: bool) -> Any:
    special = devices.special_of(xp)
    zero, one = (special.i0e, special.i1e) if scaled else (special.i0, special.i1)
    if order < 2:
        return (zero, one)[order](x)
    small = xp.abs(x) < _SERIES_TO + order
    far = _safe(xp, x, small)
    found = _upward(xp, far, order, zero(far), one(far), (1, -1))
    inside = xp.where(small, x, xp.zeros_like(x))
    near = _series(xp, inside, order, 1, 45 + order)
    if scaled:
        near = near * xp.exp(-xp.abs(inside))
    return xp.where(small, near, found)


def _modified_second(xp: Any, x: Any, order: int, scaled: bool) -> Any:
    special = devices.special_of(xp)
    zero, one = (special.k0e, special.k1e) if scaled else (special.k0, special.k1)
    return _upward(xp, x, order, zero(x), one(x) if order else None, (1, 1))


def _functions(name: str, values: Callable, rule: Callable) -> Op:
    """Register the functions of a kind, of every order.

    values  `(xp, x, order) -> array`.
    rule    `(op, x, order) -> Tensor`, the derivative.
    """

    def forward(xp: Any, x: Any, out: Any = None, *, order: int) -> Any:
        found = values(xp, x, order)
        return into(out, xp.asarray(found, dtype=x.dtype))

    rules = {"x": lambda g, x, order: mul_op(g, rule(op, x, order))}
    op = Op(name, forward, rules, dtype="float", elementwise=True, taylor="smooth")
    return op


def _circular(op: Op, x: Tensor, order: int) -> Tensor:
    if order == 0:
        return mul_op(op(x, order=1), -1.0)
    return mul_op(sub_op(op(x, order=order - 1), op(x, order=order + 1)), 0.5)


def _growing(op: Op, x: Tensor, order: int) -> Tensor:
    if order == 0:
        return op(x, order=1)
    return mul_op(add_op(op(x, order=order - 1), op(x, order=order + 1)), 0.5)


def _growing_scaled(op: Op, x: Tensor, order: int) -> Tensor:
    return sub_op(_growing(op, x, order), mul_op(sign(x), op(x, order=order)))


def _falling(op: Op, x: Tensor, order: int) -> Tensor:
    return mul_op(_growing(op, x, order), -1.0)


def _falling_scaled(op: Op, x: Tensor, order: int) -> Tensor:
    return sub_op(op(x, order=order), _growing(op, x, order))


bessel_j_op = _functions("bessel_j", _first_kind, _circular)
bessel_y_op = _functions("bessel_y", _second_kind, _circular)
bessel_i_op = _functions("bessel_i", lambda xp, x, n: _modified_first(xp, x, n, False), _growing)
bessel_ie_op = _functions(
    "bessel_ie", lambda xp, x, n: _modified_first(xp, x, n, True), _growing_scaled
)
bessel_k_op = _functions("bessel_k", lambda xp, x, n: _modified_second(xp, x, n, False), _falling)
bessel_ke_op = _functions(
    "bessel_ke", lambda xp, x, n: _modified_second(xp, x, n, True), _falling_scaled
)


def _of_order(op: Op, order: int, name: str, doc: str) -> Callable[[Tensor], Tensor]:
    def function(input: Tensor) -> Tensor:
        x = input if isinstance(input, Tensor) else as_tensor(input)
        return op(x, order=order)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


bessel_j0 = _of_order(bessel_j_op, 0, "bessel_j0", "Return the Bessel function J_0.")
bessel_j1 = _of_order(bessel_j_op, 1, "bessel_j1", "Return the Bessel function J_1.")
bessel_y0 = _of_order(bessel_y_op, 0, "bessel_y0", "Return the Bessel function Y_0, for x > 0.")
bessel_y1 = _of_order(bessel_y_op, 1, "bessel_y1", "Return the Bessel function Y_1, for x > 0.")
i0e = _of_order(bessel_ie_op, 0, "i0e", "Return e**-|x| I_0(x).")
i1 = _of_order(bessel_i_op, 1, "i1", "Return the modified Bessel function I_1.")
i1e = _of_order(bessel_ie_op, 1, "i1e", "Return e**-|x| I_1(x).")
modified_bessel_i0 = _of_order(
    bessel_i_op, 0, "modified_bessel_i0", "Return the modified Bessel function I_0."
)
modified_bessel_i1 = _of_order(
    bessel_i_op, 1, "modified_bessel_i1", "Return the modified Bessel function I_1."
)
modified_bessel_k0 = _of_order(
    bessel_k_op, 0, "modified_bessel_k0", "Return the modified Bessel function K_0, for x > 0."
)
modified_bessel_k1 = _of_order(
    bessel_k_op, 1, "modified_bessel_k1", "Return the modified Bessel function K_1, for x > 0."
)
scaled_modified_bessel_k0 = _of_order(
    bessel_ke_op, 0, "scaled_modified_bessel_k0", "Return e**x K_0(x), for x > 0."
)
scaled_modified_bessel_k1 = _of_order(
    bessel_ke_op, 1, "scaled_modified_bessel_k1", "Return e**x K_1(x), for x > 0."
)

i0 = method(_of_order(bessel_i_op, 0, "i0", "Return the modified Bessel function I_0."))
