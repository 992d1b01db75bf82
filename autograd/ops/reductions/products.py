"""Sums of products, without the products as an array where a product of lines sums them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import modes
from ...tensor import Tensor
from ..elementwise.arithmetic import mul
from ..layout.shape import sum_of
from ..registry import Op, are_plain
from .reduce import sum_op

# Fewer numbers are summed as on a device, to the same bits.
_MANY = 1024
# So many products are summed one after another; the sums of these are summed in pairs.
_LINE = 1024
# Lines up to this length cost more as products of lines than element by element.
_SHORT = 8
# Rows from this width on, so many of which are summed one after another.
_WIDE, _ROWS = 32, 64


def sum_of_squares(xp: Any, x: Any, axes: tuple, keepdims: bool = False) -> Any:
    """Return the sum of |x|^2 over `axes`, real, in single precision at least."""
    if x.dtype.itemsize == 2:
        x = x.astype(np.float32)
    if x.dtype.kind != "c":
        return sum_of_products(xp, x, x, axes, keepdims)
    both = sum_of_products(xp, x.real, x.real, axes, keepdims)
    both += sum_of_products(xp, x.imag, x.imag, axes, keepdims)
    return both


def sum_of_products(xp: Any, x: Any, y: Any, axes: tuple, keepdims: bool = False) -> Any:
    """Return the sum of x*y over `axes`, for real x and y of one shape and dtype."""
    last = 0  # how many dimensions at the end are summed over
    while last < len(axes) and x.ndim - 1 - last in axes:
        last += 1
    length = math.prod(x.shape[x.ndim - last :])
    if xp is not np or x.size < _MANY or not (x.flags.c_contiguous and y.flags.c_contiguous):
        return xp.asarray(sum_of(xp, x * y, axes, keepdims))
    if length > _SHORT:
        kept = x.shape[: x.ndim - last]
        total = _of_lines(x.reshape(-1, length), y.reshape(-1, length))
        total = total.reshape(kept + (1,) * last)
        rest = tuple(k for k in axes if k < x.ndim - last)
        total = total.sum(axis=rest, keepdims=True) if rest else total
    elif axes == (0,) and x.ndim == 2 and x.shape[1] >= _WIDE:
        whole = len(x) - len(x) % _ROWS
        parts = [m[:whole].reshape(-1, _ROWS, m.shape[1]) for m in (x, y)]
        total = np.einsum("bij,bij->bj", *parts).sum(axis=0, keepdims=True)
        if whole < len(x):
            total += np.einsum("ij,ij->j", x[whole:], y[whole:])
    else:
        return np.asarray(sum_of(np, x * y, axes, keepdims))
    return total if keepdims else total.reshape([n for k, n in enumerate(x.shape) if k not in axes])


def _of_lines(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the product of each line of one matrix with that of the other."""
    length = x.shape[1]
    if length <= _LINE:
        return np.vecdot(x, y)
    whole = length - length % _LINE
    parts = [m[:, :whole].reshape(len(m), -1, _LINE) for m in (x, y)]
    total = np.vecdot(*parts).sum(axis=1)
    if whole < length:
        total += np.vecdot(x[:, whole:], y[:, whole:])
    return total


dots_op = Op(
    "dots", lambda xp, x, y, *, axes: sum_of_products(xp, x, y, axes, keepdims=True)
)
"""The sum of products over `axes`, for backward passes that are not recorded."""


def dots(x: Tensor, y: Tensor, axes: tuple) -> Tensor:
    """Return the sum of x*y over `axes`, which keep size 1."""
    if not modes.state.grad_enabled and are_plain(x, y):
        return dots_op(x, y, axes=axes)
    return sum_op(mul(x, y), axes=axes, keepdims=True)
