"""Softmax and the logarithm of sums of exponentials, without overflow."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...tensor import Tensor, method
from ..elementwise.arithmetic import conj_of, mul, sub
from ..elementwise.smooth import exp_op
from ..elementwise.vector import function_of
from ..layout.shape import normal_axes, normal_axis
from ..registry import Op
from .products import dots
from .reduce import converted, count, keep

__all__ = ["log_softmax", "logsumexp", "softmax"]


def _top(xp: Any, x: Any, axes: tuple) -> Any:
    """Return the largest (real parts of) elements, 0 where infinite (inf - inf is no number)."""
    top = x.real.max(axis=axes, keepdims=True)
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))


def _softmax(xp: Any, x: Any, out: Any = None, *, dim: int) -> Any:
    if x.size == 0:
        return x.copy() if out is None else out
    if out is None:
        out = xp.empty(x.shape, x.dtype)
    result = xp.subtract(x, x.max(axis=dim, keepdims=True), out=out)
    function_of(xp, "exp")(result, out=result)
    return xp.true_divide(result, result.sum(axis=dim, keepdims=True), out=result)


def _softmax_gradient(g: Tensor, out: Tensor, dim: int) -> Tensor:
    return mul(sub(g, dots(g, out, (dim,))), out)


softmax_op = Op("softmax", _softmax, {"x": _softmax_gradient}, dtype="float", taylor="nested")


def _log_softmax(xp: Any, x: Any, out: Any = None, *, dim: int) -> Any:
    if x.size == 0:
        return x.copy() if out is None else out
    if out is None:
        out = xp.empty(x.shape, x.dtype)
    result = xp.subtract(x, x.max(axis=dim, keepdims=True), out=out)
    total = xp.log(function_of(xp, "exp")(result).sum(axis=dim, keepdims=True))
    return xp.subtract(result, total, out=result)


log_softmax_op = Op(
    "log_softmax",
    _log_softmax,
    {"x": lambda g, out, dim: sub(g, mul(exp_op(out), g.sum(dim, True)))},
    dtype="float",
    taylor="nested",
)


def _logsumexp(xp: Any, x: Any, out: Any = None, *, axes: tuple, keepdims: bool) -> Any:
    if count(x.shape, axes) == 0:
        result = xp.log(xp.exp(x).sum(axis=axes, keepdims=keepdims))
    else:
        top = _top(xp, x, axes)
        shifted = xp.asarray(x - top)
        function_of(xp, "exp")(shifted, out=shifted)
        result = xp.log(shifted.sum(axis=axes, keepdims=keepdims))
        result = result + top.reshape(result.shape)
    if out is None:
        return result
    out[...] = result
    return out


def _logsumexp_gradient(g: Tensor, x: Tensor, out: Tensor, axes: tuple) -> Tensor:
    shape = x._data.shape
    weights = exp_op(sub(x, keep(out, shape, axes)))
    return mul(keep(g, shape, axes), conj_of(weights))


logsumexp_op = Op(
    "logsumexp", _logsumexp, {"x": _logsumexp_gradient}, dtype="float", taylor="nested"
)


def _real(name: str, x: Tensor) -> Tensor:
    if x._data.dtype.kind == "c":
        raise RuntimeError(
            f"{name}(): not implemented for complex numbers, got {x._data.dtype}; they have no "
            "largest element to shift by"
        )
    return x


def _along(op: Op, x: Tensor, dim: int, dtype: Any) -> Tensor:
    x = _real(op.name, converted(x, dtype, dtypes.get_default_dtype()))
    axis = normal_axis(dim, x.ndim)
    if x.ndim == 0:
        return op(x.reshape(1), dim=0).reshape(())
    return op(x, dim=axis)


@method
def softmax(x: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return exp(x) / sum exp(x) along `dim`, of the shape of `x`."""
    return _along(softmax_op, x, dim, dtype)


@method
def log_softmax(x: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return x - log sum exp(x) along `dim`, of the shape of `x`."""
    return _along(log_softmax_op, x, dim, dtype)


@method
def logsumexp(x: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Return log sum exp(x) over `dim`; -inf over nothing."""
    return logsumexp_op(x, axes=normal_axes(dim, x.ndim), keepdims=keepdim)
