"""Reductions: sums, means, extrema and their relatives along dimensions."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..tensor import Tensor, method
from .registry import Op, cast
from .shape import expand_op, normal_axes, reshape_op


def _kept(shape: tuple, axes: tuple) -> tuple:
    """Return the shape after a reduction over `axes` that keeps the dimensions."""
    return tuple(1 if k in axes else size for k, size in enumerate(shape))


sum_op = Op(
    "sum",
    lambda xp, x, out=None, *, axes, keepdims: x.sum(axis=axes, keepdims=keepdims, out=out),
    {
        "x": lambda g, x_shape, axes: expand_op(
            reshape_op(g, shape=_kept(x_shape, axes)), shape=x_shape
        )
    },
    linear=True,
)


@method(name="sum")
def sum(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum over `dim` (all dimensions by default); integers sum to int64."""
    if dtype is not None:
        x = cast(x, dtypes.as_dtype(dtype))
    elif x.dtype.kind in "bui":
        x = cast(x, dtypes.int64)
    return sum_op(x, axes=normal_axes(dim, x.ndim), keepdims=keepdim)
