"""Running extrema and running sums of exponentials along a dimension."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...tensor import Tensor, method
from ..elementwise.arithmetic import conj_of, mul, sub
from ..elementwise.compare import isneginf
from ..elementwise.piecewise import where
from ..elementwise.smooth import exp
from ..layout.gather import gather_op
from ..layout.shape import clone, normal_axis, reshape_op
from ..registry import Op, cast
from .cumulative import recurrence_op, shifted_op

__all__ = ["cummax", "cummin", "logcumsumexp"]


class Running(NamedTuple):
    """The running extrema and where each is."""

    values: Tensor
    indices: Tensor


def scanned(xp: Any, x: Any, dim: int, combine: Any) -> Any:
    """Return the running results of an associative function, in log(n) passes over whole arrays."""
    result, reach = xp.moveaxis(x, dim, -1).copy(), 1
    while reach < result.shape[-1]:
        result[..., reach:] = combine(result[..., reach:], result[..., :-reach].copy())
        reach *= 2
    return xp.moveaxis(result, -1, dim)


def _running_place(xp: Any, x: Any, *, dim: int, largest: bool) -> Any:
    """Return the position of the last extreme element up to each; NaN counts as the most so."""
    extremes = scanned(xp, x, dim, xp.maximum if largest else xp.minimum)
    places = xp.arange(x.shape[dim]).reshape(-1, *(1,) * (x.ndim - 1 - dim))
    met = xp.where((x == extremes) | (x != x), places, 0)
    return scanned(xp, met, dim, xp.maximum).astype(np.int64)


running_place_op = Op("running_place", _running_place)


def _extrema(name: str, x: Tensor, dim: int, largest: bool) -> Running:
    if x.is_complex():
        raise RuntimeError(f"{name}: complex numbers have no order; take .abs()")
    axis = normal_axis(dim, x.ndim)
    wide = x if x.ndim else reshape_op(x, shape=(1,))
    indices = running_place_op(wide, dim=axis, largest=largest)
    values = gather_op(wide, indices, dim=axis)
    if x.ndim:
        return Running(values, indices)
    return Running(*(clone(reshape_op(found, shape=())) for found in (values, indices)))


@method
def cummax(x: Tensor, dim: int) -> Running:
    """Return the largest element so far along `dim`, and its index, the last of several.

    NaN from the first one on.
    """
    return _extrema("cummax", x, dim, True)


@method
def cummin(x: Tensor, dim: int) -> Running:
    """Return the smallest element so far along `dim`, and its index, the last of several.

    NaN from the first one on.
    """
    return _extrema("cummin", x, dim, False)


def _logcumsumexp(xp: Any, x: Any, *, dim: int) -> Any:
    if x.dtype.kind != "c":
        return scanned(xp, x, dim, xp.logaddexp)
    result = xp.moveaxis(x.copy(), dim, 0)
    for k in range(1, len(result)):  # one by one: another order can turn by 2 pi
        result[k] = _log_of_sum(xp, result[k - 1], result[k])
    return xp.ascontiguousarray(xp.moveaxis(result, 0, dim))


def _log_of_sum(xp: Any, a: Any, b: Any) -> Any:
    """Return log(e**a + e**b) of complex numbers: no exponent has a real part above 0."""
    less = a.real < b.real
    low, high = xp.where(less, a, b), xp.where(less, b, a)
    nothing = xp.isneginf(high.real)
    endless = xp.isposinf(low.real)
    found = high + xp.log(1.0 + xp.exp(xp.where(nothing | endless, 0, low - high)))
    found = xp.where(endless, xp.log(xp.exp(a) + xp.exp(b)), found)
    return xp.where(nothing, low, found)


def _logcumsumexp_gradient(g: Tensor, x: Tensor, out: Tensor, dim: int) -> Tensor:
    """s[i] = g[i] + s[i+1] e**(out[i] - out[i+1]), times e**(x - out): no exponent is above 0."""
    x, out = conj_of(x), conj_of(out)
    finite = where(isneginf(out.real), 0.0, out)
    following = shifted_op(finite, dim=dim, reverse=True, fill=np.inf)
    weights = exp(sub(out, following))
    return mul(recurrence_op(weights, g, dim=dim, reverse=True), exp(sub(x, finite)))


logcumsumexp_op = Op(
    "logcumsumexp", _logcumsumexp, {"x": _logcumsumexp_gradient}, taylor="nested"
)


@method
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """Return the logarithm of the running sum of e**x along `dim`, without overflow.

    Integers become the default float.
    """
    x = x if x.dtype.kind in "fc" else cast(x, dtypes.get_default_dtype())
    axis = normal_axis(dim, x.ndim)
    if x.ndim == 0:
        return clone(x)
    return logcumsumexp_op(x, dim=axis)
