"""Sums and their relatives: mean, variance, and the logical reductions."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...tensor import Tensor, method
from ..elementwise.arithmetic import div, mul
from ..elementwise.quotient import quotient_op
from ..layout.shape import expand_op, normal_axes, reshape_op, sum_of
from ..registry import REGISTRY, Op, cast

__all__ = [
    "all",
    "any",
    "count_nonzero",
    "mean",
    "nanmean",
    "nansum",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]


def kept_shape(shape: tuple, axes: tuple) -> tuple:
    """Return the shape after a reduction over `axes` that keeps the dimensions."""
    return tuple([1 if k in axes else size for k, size in enumerate(shape)])


def keep(reduced: Tensor, shape: tuple, axes: tuple) -> Tensor:
    """Return a result of a reduction over `axes` of a tensor of `shape`, ready to broadcast."""
    kept = kept_shape(shape, axes)
    return reduced if reduced._data.shape == kept else reshape_op(reduced, shape=kept)


def spread(g: Tensor, shape: tuple, axes: tuple) -> Tensor:
    """Return the gradient of a sum over `axes` of a tensor of `shape`: a view of its shape."""
    return expand_op(g if g._data.ndim == 0 else keep(g, shape, axes), shape=shape)


def count(shape: tuple, axes: tuple) -> int:
    """Return how many elements a reduction over `axes` joins."""
    return math.prod([shape[k] for k in axes])


def converted(x: Tensor, dtype: Any, integers_to: Any = None) -> Tensor:
    """Return `x` as `dtype`; without one, integers become `integers_to` where that is given."""
    if dtype is not None:
        return cast(x, dtypes.as_dtype(dtype))
    if integers_to is not None and x._data.dtype.kind in "bui":
        return cast(x, integers_to)
    return x


def floating(name: str, x: Tensor, dtype: Any) -> Tensor:
    """Return `x` as `dtype`; refuse integers, as PyTorch does."""
    x = converted(x, dtype)
    if x._data.dtype.kind not in "fc":
        raise RuntimeError(
            f"{name}(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {x._data.dtype}; convert with .float() or pass dtype"
        )
    return x


def _total(xp: Any, x: Any, out: Any, axes: tuple, keepdims: bool) -> Any:
    """Return the sum; half precision is accumulated in single precision."""
    if x.dtype != dtypes.float16:
        return sum_of(xp, x, axes, keepdims, out)
    summed = xp.asarray(x.sum(axis=axes, keepdims=keepdims, dtype=dtypes.float32))
    if out is None:
        return summed.astype(dtypes.float16)
    out[...] = summed
    return out


sum_op = Op(
    "sum",
    lambda xp, x, out=None, *, axes, keepdims: _total(xp, x, out, axes, keepdims),
    {"x": lambda g, x_shape, axes: spread(g, x_shape, axes)},
    linear=True,
)


def _mean(xp: Any, x: Any, out: Any = None, *, axes: tuple, keepdims: bool) -> Any:
    number = count(x.shape, axes)
    if x.dtype == dtypes.float16:  # the sum may be out of range where the mean is not
        mean = x.sum(axis=axes, keepdims=keepdims, dtype=dtypes.float32) / number
        mean = xp.asarray(mean).astype(x.dtype)
        if out is None:
            return mean
        out[...] = mean
        return out
    total = x.sum(axis=axes, keepdims=keepdims, out=out)
    return xp.true_divide(total, number, out=total if total.ndim else out)


mean_op = Op(
    "mean",
    _mean,
    {
        # divided last: a dense gradient, which may be written into
        "x": lambda g, x_shape, axes: div(spread(g, x_shape, axes), float(count(x_shape, axes)))
    },
    linear=True,
)


def _variance(xp: Any, x: Any, out: Any, axes: tuple, correction: float, keepdims: bool) -> Any:
    """Return the mean square distance from the mean: two passes, no cancellation."""
    number = count(x.shape, axes)
    centred = x - _mean(xp, x, axes=axes, keepdims=True)
    if x.dtype.kind == "c":
        squares = xp.square(centred.real) + xp.square(centred.imag)
    else:
        centred *= centred
        squares = centred
    total = xp.asarray(_total(xp, squares, out, axes, keepdims))
    return xp.true_divide(total, max(number - correction, 0.0), out=total)


def _var(
    xp: Any, x: Any, out: Any = None, *, axes: tuple, correction: float, keepdims: bool
) -> Any:
    return _variance(xp, x, out, axes, correction, keepdims)


def _std(
    xp: Any, x: Any, out: Any = None, *, axes: tuple, correction: float, keepdims: bool
) -> Any:
    variance = _variance(xp, x, out, axes, correction, keepdims)
    return xp.sqrt(variance, out=variance)


def _degrees(shape: tuple, axes: tuple, correction: float) -> float:
    return max(count(shape, axes) - correction, 0.0)


def _centred(x: Tensor, axes: tuple) -> Tensor:
    return x - mean_op(x, axes=axes, keepdims=True)


def _var_gradient(g: Tensor, x: Tensor, axes: tuple, correction: float) -> Tensor:
    shape = x._data.shape
    scale = div(keep(g, shape, axes), 0.5 * _degrees(shape, axes, correction))
    return mul(_centred(x, axes), scale)


def _std_gradient(g: Tensor, x: Tensor, out: Tensor, axes: tuple, correction: float) -> Tensor:
    """0 where the deviation is 0, as for the norm."""
    shape = x._data.shape
    ratio = quotient_op(keep(g, shape, axes), keep(out, shape, axes))
    return mul(_centred(x, axes), div(ratio, _degrees(shape, axes, correction)))


var_op = Op("var", _var, {"x": _var_gradient}, taylor="nested")
std_op = Op("std", _std, {"x": _std_gradient}, taylor="nested")


@method
def sum(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum over `dim` (all dimensions by default); integers sum to int64."""
    x = converted(x, dtype, dtypes.int64)
    return sum_op(x, axes=normal_axes(dim, x.ndim), keepdims=keepdim)


@method
def mean(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the mean over `dim` (all dimensions by default); NaN over nothing.

    Raises RuntimeError for integers without `dtype`.
    """
    x = floating("mean", x, dtype)
    return mean_op(x, axes=normal_axes(dim, x.ndim), keepdims=keepdim)


def _without_nan(x: Tensor) -> Tensor:
    """Return `x` with 0 in place of NaN, where no gradient flows."""
    return REGISTRY["where"](REGISTRY["isnan"](x), 0, x)


@method
def nansum(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum over `dim` (all dimensions by default) of what is not NaN."""
    x = converted(x, dtype)
    return sum(_without_nan(x) if x._data.dtype.kind in "fc" else x, dim, keepdim)


@method
def nanmean(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the mean over `dim` (all dimensions by default) of what is not NaN; NaN of nothing.

    Raises RuntimeError for integers without `dtype`.
    """
    x = floating("nanmean", x, dtype)
    axes = normal_axes(dim, x.ndim)
    number = sum_op(cast(REGISTRY["eq"](x, x), x.dtype), axes=axes, keepdims=keepdim)
    return div(sum_op(_without_nan(x), axes=axes, keepdims=keepdim), number)


def _spread(op: Op, x: Tensor, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Tensor:
    if isinstance(dim, bool):  # PyTorch's var(x, unbiased)
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = 1 if unbiased else 0
    correction = 1 if correction is None else correction
    if x._data.dtype.kind not in "fc":
        raise RuntimeError(
            f"{op.name}(): only support floating point and complex dtypes, got {x._data.dtype}; "
            "convert with .float()"
        )
    axes = normal_axes(dim, x.ndim)
    return op(x, axes=axes, correction=float(correction), keepdims=keepdim)


@method
def var(
    x: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = 1,
) -> Tensor:
    """Return the variance over `dim` (all dimensions by default).

    The sum of squares is divided by `count - correction`; `unbiased=False` means correction 0,
    None means 1.
    """
    return _spread(var_op, x, dim, unbiased, keepdim, correction)


@method
def std(
    x: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = 1,
) -> Tensor:
    """Return the standard deviation: the root of `var`, with gradient 0 where it is 0."""
    return _spread(std_op, x, dim, unbiased, keepdim, correction)


def var_mean(
    x: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = 1,
) -> tuple[Tensor, Tensor]:
    """Return (`var`, `mean`) over `dim`."""
    over = None if isinstance(dim, bool) else dim
    return var(x, dim, unbiased, keepdim, correction=correction), mean(x, over, keepdim)


def std_mean(
    x: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = 1,
) -> tuple[Tensor, Tensor]:
    """Return (`std`, `mean`) over `dim`."""
    over = None if isinstance(dim, bool) else dim
    return std(x, dim, unbiased, keepdim, correction=correction), mean(x, over, keepdim)


all_op = Op(
    "all",
    lambda xp, x, out=None, *, axes, keepdims: xp.all(x, axis=axes, keepdims=keepdims, out=out),
)
any_op = Op(
    "any",
    lambda xp, x, out=None, *, axes, keepdims: xp.any(x, axis=axes, keepdims=keepdims, out=out),
)
count_nonzero_op = Op(
    "count_nonzero",
    lambda xp, x, out=None, *, axes: (x != 0).sum(axis=axes, dtype=dtypes.int64, out=out),
)


@method
def all(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return whether every element over `dim` (all dimensions by default) is true."""
    return all_op(x, axes=normal_axes(dim, x.ndim), keepdims=keepdim)


@method
def any(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return whether an element over `dim` (all dimensions by default) is true."""
    return any_op(x, axes=normal_axes(dim, x.ndim), keepdims=keepdim)


@method
def count_nonzero(x: Tensor, dim: Any = None) -> Tensor:
    """Return how many elements over `dim` (all dimensions by default) are not zero."""
    return count_nonzero_op(x, axes=normal_axes(dim, x.ndim))
