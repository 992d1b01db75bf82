"""Maxima and means of windows, in one, two or three dimensions.

A maximum is found once and read where it is, so that all derivatives are those of reading; a mean
is a sum along one dimension after the other, whose adjoint spreads a number over its window.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import devices
from ...tensor import Tensor
from ..elementwise.arithmetic import div
from ..layout.gather import gather_op
from ..layout.index import padded
from ..layout.shape import reshape_op
from ..registry import Op, into
from .convolution import batched, offsets, per_dimension, places, unbatched

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]


# ---- arguments


class Windows(NamedTuple):
    """The windows of a pool: how large, how far apart, and what lies beyond both ends.

    counts  of windows, one a dimension.
    beyond  (before, after): the elements of the padding, and at the far end those that `ceil_mode`
            lets the last window reach; negative where no window reaches the last elements.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[int, ...]
    counts: tuple[int, ...]
    beyond: tuple[tuple[int, int], ...]


def _pool_windows(
    name: str, sizes: Sequence[int], kernel: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool,
) -> Windows:  # fmt: skip
    dims = len(sizes)
    kernel = per_dimension(name, "kernel_size", kernel, dims, 1)
    unset = stride is None or (isinstance(stride, (tuple, list)) and not stride)
    stride = kernel if unset else per_dimension(name, "stride", stride, dims, 1)
    padding = per_dimension(name, "padding", padding, dims, 0)
    dilation = per_dimension(name, "dilation", dilation, dims, 1)
    whole = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    if any(2 * p > size for p, size in zip(padding, whole, strict=True)):
        raise RuntimeError(
            f"{name}: pad should be at most half of effective kernel size, but got pad="
            f"{list(padding)}, kernel_size={list(kernel)} and dilation={list(dilation)}"
        )
    counts, beyond = [], []
    for size, extent, s, p in zip(sizes, whole, stride, padding, strict=True):
        room = size + 2 * p - extent
        n = (-(-room // s) if ceil_mode else room // s) + 1
        if ceil_mode and (n - 1) * s >= size + p:  # the last window would start beyond the input
            n -= 1
        counts.append(n)
        beyond.append((p, (n - 1) * s + extent - size - p))
    if min(counts) < 1:
        raise RuntimeError(
            f"{name}: Given input sizes {list(sizes)}: Invalid computed output size {counts}. "
            f"Output size is too small; pass a kernel_size less than {list(kernel)}, or padding"
        )
    return Windows(kernel, stride, dilation, padding, tuple(counts), tuple(beyond))


def _pooled(name: str, x: Tensor, dims: int) -> Tensor:
    """Return `x` with a batch, which alone may be empty; RuntimeError for other dtypes."""
    if x.dtype.kind not in "fiu":
        raise RuntimeError(f"{name} is not implemented for {x.dtype}; convert with .float()")
    whole = batched(name, x, dims)
    if not all(whole.shape[1:]):
        raise RuntimeError(
            f"{name}: Expected input's non-batch dimensions to have positive length, but input has "
            f"a shape of {list(x.shape)}; only a batch in front of {dims + 1} dimensions may be "
            "empty"
        )
    return whole


# ---- maxima


def _largest(xp: Any, x: Any, *, windows: Windows) -> Any:
    """Return the row-major number of the (first) largest element of each window, NaN the largest.

    x  (n, c, ...), with the least number there is beyond its ends.
    """
    sizes = [n - sum(ends) for n, ends in zip(x.shape[2:], windows.beyond, strict=True)]
    found = numbers = None
    for offset, key in offsets(windows.kernel, windows.counts, windows.stride, windows.dilation):
        values, here = x[key], _numbers(xp, sizes, windows, offset)
        if found is None:
            found = values.copy()
            numbers = xp.zeros(found.shape, np.int64) + here
            continue
        better = (values > found) | (values != values)
        xp.copyto(found, values, where=better)
        xp.copyto(numbers, here, where=better)
    return numbers


def _numbers(xp: Any, sizes: Sequence[int], windows: Windows, offset: tuple) -> Any:
    """Return the number in the input of the element at an offset in each window.

    Beyond the ends it is that of the nearest: there it is read only where all have one value.
    """
    total, step = None, 1
    for k in reversed(range(len(sizes))):
        line = xp.arange(windows.counts[k]) * windows.stride[k]
        line += offset[k] * windows.dilation[k] - windows.padding[k]
        line = xp.clip(line, 0, sizes[k] - 1) * step
        line = line.reshape(-1, *(1,) * (len(sizes) - 1 - k))
        total = line if total is None else total + line
        step *= sizes[k]
    return total


largest_op = Op("largest_in_windows", _largest)


def _max_pool(
    name: str, input: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, return_indices: bool, dims: int,
) -> Any:  # fmt: skip
    x = _pooled(name, input, dims)
    windows = _pool_windows(name, x.shape[2:], kernel, stride, padding, dilation, ceil_mode)
    least = -math.inf if x.dtype.kind == "f" else int(np.iinfo(x.dtype).min)
    framed = x.detach()
    if any(map(any, windows.beyond)):
        framed = padded(framed, [(0, 0), (0, 0), *windows.beyond], least)
    numbers = largest_op(framed, windows=windows)
    flat = (*x.shape[:2], math.prod(x.shape[2:]))
    places_ = reshape_op(numbers, shape=(*flat[:2], math.prod(windows.counts)))
    found = gather_op(reshape_op(x, shape=flat), places_, dim=2)
    result = unbatched(reshape_op(found, shape=tuple(numbers.shape)), input)
    return (result, unbatched(numbers, input)) if return_indices else result


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest elements of windows along the last dimension of (n, c, l) or (c, l).

    stride          from one window to the next; None: the kernel's size, so that they do not
                    overlap.
    padding         elements at both ends that are never the largest, at most half a window.
    dilation        from one element of a window to the next.
    ceil_mode       a last window that reaches beyond the far end counts too.
    return_indices  return a pair with the positions (int64), too.
    The gradient goes to the first of the largest; NaN is larger than all.  Raises RuntimeError for
    shapes and sizes that do not fit.
    """
    return _max_pool(
        "max_pool1d", input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 1
    )


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest elements of windows of images (n, c, h, w); see `max_pool1d`.

    With return_indices the positions are row-major numbers in the h w elements of an image.
    """
    return _max_pool(
        "max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 2
    )


def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest elements of windows of volumes (n, c, d, h, w); see `max_pool2d`."""
    return _max_pool(
        "max_pool3d", input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 3
    )


# ---- means


def _along(dim: int, key: slice) -> tuple:
    return (slice(None),) * dim + (key,)


def _window_sums(
    xp: Any, x: Any, out: Any = None, *, dim: int, kernel: int, stride: int
) -> Any:
    (count,) = places(x.shape[dim : dim + 1], (kernel,), (stride,), (1,))
    parts = [x[_along(dim, slice(k, k + (count - 1) * stride + 1, stride))] for k in range(kernel)]
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return into(out, total)


def _spread(
    xp: Any, y: Any, out: Any = None, *, dim: int, kernel: int, stride: int, size: int
) -> Any:
    result = xp.zeros((*y.shape[:dim], size, *y.shape[dim + 1 :]), y.dtype)
    for k in range(kernel):
        result[_along(dim, slice(k, k + (y.shape[dim] - 1) * stride + 1, stride))] += y
    return into(out, result)


window_sums_op = Op(
    "window_sums",
    _window_sums,
    {
        "x": lambda g, x_shape, dim, kernel, stride: spread_op(
            g, dim=dim, kernel=kernel, stride=stride, size=x_shape[dim]
        )
    },
    linear=True,
)
"""The sums of `kernel` neighbours along `dim`, from one to the next `stride` further."""

spread_op = Op(
    "spread_over_windows",
    _spread,
    {
        "y": lambda g, dim, kernel, stride: window_sums_op(
            g, dim=dim, kernel=kernel, stride=stride
        )
    },
    linear=True,
)


def _numbers_meant(sizes: Sequence[int], windows: Windows, with_padding: bool) -> np.ndarray:
    """Return how many elements the mean of each window is of."""
    counts = np.ones(())
    for size, k, s, p, n in zip(
        sizes, windows.kernel, windows.stride, windows.padding, windows.counts, strict=True
    ):
        starts = np.arange(n) * s - p
        ends = np.minimum(starts + k, size + p)
        if not with_padding:
            starts, ends = np.maximum(starts, 0), np.minimum(ends, size)
        counts = counts[..., None] * (ends - starts)
    return counts


def _avg_pool(
    name: str, input: Tensor, kernel: Any, stride: Any, padding: Any, ceil_mode: bool,
    with_padding: bool, divisor: int | None, dims: int,
) -> Tensor:  # fmt: skip
    x = _pooled(name, input, dims)
    windows = _pool_windows(name, x.shape[2:], kernel, stride, padding, 1, ceil_mode)
    if divisor == 0:
        raise RuntimeError(f"{name}: divisor must be not zero; leave it out for the mean")
    counts = _numbers_meant(x.shape[2:], windows, with_padding)
    if any(map(any, windows.beyond)):
        x = padded(x, [(0, 0), (0, 0), *windows.beyond], 0)
    for k in range(dims):
        x = window_sums_op(x, dim=2 + k, kernel=windows.kernel[k], stride=windows.stride[k])
    if divisor is None and (counts == counts.flat[0]).all():
        divisor = int(counts.flat[0])
    by = Tensor(devices.put(counts.astype(x.dtype), x.device)) if divisor is None else divisor
    result = div(x, by, rounding_mode=None if x.dtype.kind == "f" else "trunc")
    return unbatched(result, input)


def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the means of windows along the last dimension of (n, c, l) or (c, l).

    stride             from one window to the next; None: the kernel's size.
    padding            zeros at both ends, at most half a window.
    ceil_mode          a last window that reaches beyond the far end counts too.
    count_include_pad  whether the zeros of the padding count as elements of the mean.
    Raises RuntimeError for shapes and sizes that do not fit.
    """
    return _avg_pool(
        "avg_pool1d", input, kernel_size, stride, padding, ceil_mode, count_include_pad, None, 1
    )


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the means of windows of images (n, c, h, w); see `avg_pool1d`.

    divisor_override: what the sums are divided by in place of the number of elements.
    """
    return _avg_pool(
        "avg_pool2d",
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2,
    )  # fmt: skip


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the means of windows of volumes (n, c, d, h, w); see `avg_pool2d`."""
    return _avg_pool(
        "avg_pool3d",
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 3,
    )  # fmt: skip
