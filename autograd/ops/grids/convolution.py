"""Convolutions (cross-correlations, as networks have them) in any number of dimensions.

`conv_op` gives y[o, p] = sum of x[c, p s + k d] w[o, c, k], s the stride and d the dilation.  It is
linear in the input and in the kernel.  The adjoints in the one and the other, `conv_input_op` and
`conv_kernel_op`, are linear in two of x, w and y too, and the adjoints of each are the other two:
every order follows.  Each is one matrix product with the windows of x, copied side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from ... import threads
from ...tensor import Tensor
from ..elementwise.arithmetic import add, conj_of
from ..layout.index import padded
from ..layout.shape import reshape_op
from ..registry import Op, into, refuse_mixed

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
]


# ---- windows


def places(sizes: Sequence[int], kernel: Sequence[int], stride: tuple, dilation: tuple) -> tuple:
    """Return how many places a kernel has in each dimension."""
    found = zip(sizes, kernel, stride, dilation, strict=True)
    return tuple((size - d * (k - 1) - 1) // s + 1 for size, k, s, d in found)


def offsets(kernel: Sequence[int], count: Sequence[int], stride: tuple, dilation: tuple) -> Any:
    """Give each offset in the kernel, and the key of the elements that it meets in all windows."""
    for offset in product(*map(range, kernel)):
        found = zip(offset, count, stride, dilation, strict=True)
        key = tuple(slice(k * d, k * d + (n - 1) * s + 1, s) for k, n, s, d in found)
        yield offset, (..., *key)


def _windows(
    xp: Any, x: Any, kernel: tuple, stride: tuple, dilation: tuple, groups: int
) -> Any:
    """Return the windows of x (n, c, ...) as (n, groups, c / groups * kernel, places)."""
    count, steps = places(x.shape[2:], kernel, stride, dilation), x.strides[2:]
    view = xp.lib.stride_tricks.as_strided(
        x,
        (*x.shape[:2], *kernel, *count),
        (
            *x.strides[:2],
            *(d * step for d, step in zip(dilation, steps, strict=True)),
            *(s * step for s, step in zip(stride, steps, strict=True)),
        ),
    )
    rows = x.shape[1] // groups * math.prod(kernel)
    return view.reshape(x.shape[0], groups, rows, math.prod(count))


def _matrices(w: Any, groups: int) -> Any:
    """Return a kernel (o, c / groups, ...) as (groups, o / groups, c / groups * kernel)."""
    return w.reshape(groups, w.shape[0] // groups, math.prod(w.shape[1:]))


def _in_groups(y: Any, groups: int) -> Any:
    """Return results (n, o, ...) as (n, groups, o / groups, places)."""
    return y.reshape(y.shape[0], groups, y.shape[1] // groups, math.prod(y.shape[2:]))


# ---- a channel a group: sums over the offsets in the kernel, where windows would only be copied


def _is_depthwise(shape: tuple, groups: int) -> bool:
    return shape[0] == groups > 1 and shape[1] == 1


def _weights(w: Any, offset: tuple) -> Any:
    """Return the elements of a kernel (c, 1, ...) at an offset, one a channel (c, 1, ...)."""
    return w[(slice(None), slice(None), *offset)].reshape(-1, *(1,) * len(offset))


def _depthwise(x: Any, w: Any, stride: tuple, dilation: tuple) -> Any:
    kernel, total = w.shape[2:], None
    count = places(x.shape[2:], kernel, stride, dilation)
    for offset, key in offsets(kernel, count, stride, dilation):
        term = x[key] * _weights(w, offset)
        if total is None:
            total = term
        else:
            total += term
    return total


def _depthwise_input(
    xp: Any, y: Any, w: Any, sizes: tuple, stride: tuple, dilation: tuple
) -> Any:
    result = xp.zeros((*y.shape[:2], *sizes), y.dtype)
    for offset, key in offsets(w.shape[2:], y.shape[2:], stride, dilation):
        result[key] += y * _weights(w, offset)
    return result


def _depthwise_kernel(
    xp: Any, x: Any, y: Any, kernel: tuple, stride: tuple, dilation: tuple
) -> Any:
    result = xp.empty((x.shape[1], 1, *kernel), x.dtype)
    axes = (0, *range(2, x.ndim))
    for offset, key in offsets(kernel, y.shape[2:], stride, dilation):
        result[(slice(None), 0, *offset)] = (x[key] * y).sum(axis=axes)
    return result


# ---- the three maps


def _conv(
    xp: Any, x: Any, w: Any, out: Any = None, *, stride: tuple, dilation: tuple, groups: int
) -> Any:
    if _is_depthwise(w.shape, groups):
        return into(out, _depthwise(x, w, stride, dilation))
    kernel = w.shape[2:]
    windows = _windows(xp, x, kernel, stride, dilation, groups)
    result = threads.matmul(xp, _matrices(w, groups), windows, None)
    count = places(x.shape[2:], kernel, stride, dilation)
    return into(out, result.reshape(x.shape[0], w.shape[0], *count))


def _conv_input(
    xp: Any,
    y: Any,
    w: Any,
    out: Any = None,
    *,
    sizes: tuple,
    stride: tuple,
    dilation: tuple,
    groups: int,
) -> Any:
    if _is_depthwise(w.shape, groups):
        return into(out, _depthwise_input(xp, y, w, sizes, stride, dilation))
    kernel, count = w.shape[2:], y.shape[2:]
    turned = _matrices(w, groups).swapaxes(-1, -2)
    windows = threads.matmul(xp, turned, _in_groups(y, groups), None)
    channels = w.shape[1] * groups
    windows = windows.reshape(y.shape[0], channels, *kernel, *count)
    result = xp.zeros((y.shape[0], channels, *sizes), windows.dtype)
    for offset, key in offsets(kernel, count, stride, dilation):
        result[key] += windows[(slice(None), slice(None), *offset)]
    return into(out, result)


def _conv_kernel(
    xp: Any,
    x: Any,
    y: Any,
    out: Any = None,
    *,
    kernel: tuple,
    stride: tuple,
    dilation: tuple,
    groups: int,
) -> Any:
    if _is_depthwise((y.shape[1], x.shape[1] // groups), groups):
        return into(out, _depthwise_kernel(xp, x, y, kernel, stride, dilation))
    windows = _windows(xp, x, kernel, stride, dilation, groups)
    products = threads.matmul(xp, _in_groups(y, groups), windows.swapaxes(-1, -2), None)
    shape = (y.shape[1], x.shape[1] // groups, *kernel)
    return into(out, products.sum(axis=0).reshape(shape))


def _flops(position: int) -> Any:
    """Return the rule that counts products: input `position` is y, -1 where it is the output."""

    def flops(inputs: Sequence, outputs: Sequence, attributes: dict) -> int:
        of_results = (outputs[0] if position < 0 else inputs[position]).shape
        kernel = outputs[0].shape if "kernel" in attributes else inputs[1].shape
        return 2 * math.prod(of_results) * math.prod(kernel[1:])

    return flops


conv_op = Op(
    "conv",
    _conv,
    {
        "x": lambda g, w, x_shape, stride, dilation, groups: conv_input_op(
            g, conj_of(w), sizes=x_shape[2:], stride=stride, dilation=dilation, groups=groups
        ),
        "w": lambda g, x, w_shape, stride, dilation, groups: conv_kernel_op(
            conj_of(x), g, kernel=w_shape[2:], stride=stride, dilation=dilation, groups=groups
        ),
    },
    dtype="same",
    taylor="bilinear",
    flops=_flops(-1),
)

conv_input_op = Op(
    "conv_input",
    _conv_input,
    {
        "y": lambda g, w, stride, dilation, groups: conv_op(
            g, conj_of(w), stride=stride, dilation=dilation, groups=groups
        ),
        "w": lambda g, y, w_shape, stride, dilation, groups: conv_kernel_op(
            g, conj_of(y), kernel=w_shape[2:], stride=stride, dilation=dilation, groups=groups
        ),
    },
    dtype="same",
    taylor="bilinear",
    flops=_flops(0),
)
"""x[c, p s + k d] += y[o, p] w[o, c, k], of the sizes (n, groups * w.shape[1], *sizes)."""

conv_kernel_op = Op(
    "conv_kernel",
    _conv_kernel,
    {
        "x": lambda g, y, x_shape, stride, dilation, groups: conv_input_op(
            conj_of(y), g, sizes=x_shape[2:], stride=stride, dilation=dilation, groups=groups
        ),
        "y": lambda g, x, stride, dilation, groups: conv_op(
            conj_of(x), g, stride=stride, dilation=dilation, groups=groups
        ),
    },
    dtype="same",
    taylor="bilinear",
    flops=_flops(1),
)
"""w[o, c, k] += x[c, p s + k d] y[o, p], summed over the batch, of the size `kernel`."""


# ---- arguments


def per_dimension(name: str, what: str, value: Any, count: int, least: int) -> tuple[int, ...]:
    """Return one int a dimension; RuntimeError for another number of them, or one below `least`."""
    found = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    found = found * count if len(found) == 1 else found
    if len(found) != count:
        raise RuntimeError(
            f"{name}: expected {what} to be a single integer value or a list of {count} values to "
            f"match the convolution dimensions, but got {what}={list(found)}"
        )
    if any(one < least for one in found):
        kind = "negative" if least == 0 else "non-positive"
        raise RuntimeError(f"{name}: {kind} {what} is not supported, got {list(found)}")
    return tuple(one.__index__() for one in found)


def batched(name: str, x: Tensor, count: int) -> Tensor:
    """Return `x` with a batch dimension, and `count` dimensions after the channels."""
    if x.ndim == count + 1:
        return reshape_op(x, shape=(1, *x.shape))
    if x.ndim != count + 2:
        raise RuntimeError(
            f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to {name}, but got "
            f"input of size: {list(x.shape)}"
        )
    return x


def unbatched(result: Tensor, x: Tensor) -> Tensor:
    """Return a result of `batched(x)` without a batch dimension where `x` has none."""
    return result if result.ndim == x.ndim else reshape_op(result, shape=result.shape[1:])


def _check_weight(
    name: str, x: Tensor, weight: Tensor, bias: Tensor | None, groups: int, transposed: bool
) -> None:
    refuse_mixed(name, x, weight, bias)
    if groups < 1:
        raise RuntimeError(f"{name}: non-positive groups is not supported, got {groups}")
    if weight.ndim != x.ndim:
        raise RuntimeError(
            f"{name}: expected a weight of {x.ndim} dimensions, got shape {list(weight.shape)}"
        )
    shape = list(weight.shape)
    if not shape[0] or shape[0] % groups:
        raise RuntimeError(
            f"{name}: Given groups={groups}, expected weight to be divisible by {groups} at "
            f"dimension 0, but got weight of size {shape}"
        )
    given = f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {shape}"
    channels = shape[0] if transposed else shape[1] * groups
    if x.shape[1] != channels:
        raise RuntimeError(
            f"{name}: {given}, expected input{list(x.shape)} to have {channels} channels, but got "
            f"{x.shape[1]} channels instead"
        )
    results = shape[1] * groups if transposed else shape[0]
    if bias is not None and tuple(bias.shape) != (results,):
        raise RuntimeError(
            f"{name}: {given}, expected bias to be 1-dimensional with {results} elements, but got "
            f"bias of size {list(bias.shape)} instead"
        )


def same_padding(kernel: Sequence[int], dilation: Sequence[int]) -> list[tuple[int, int]]:
    """Return the widths (before, after) with which a result has the size of its input."""
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return [(total // 2, total - total // 2) for total in totals]


def _widths(name: str, padding: Any, kernel: tuple, stride: tuple, dilation: tuple) -> list:
    if not isinstance(padding, str):
        return [(p, p) for p in per_dimension(name, "padding", padding, len(kernel), 0)]
    if padding not in ("same", "valid"):
        raise RuntimeError(f"{name}: Invalid padding string: {padding!r}; use 'same' or 'valid'")
    if padding == "valid":
        return [(0, 0)] * len(kernel)
    if any(s != 1 for s in stride):
        raise RuntimeError(
            f"{name}: padding='same' is not supported for strided convolutions, got stride "
            f"{list(stride)}"
        )
    return same_padding(kernel, dilation)


def _with_bias(result: Tensor, bias: Tensor | None) -> Tensor:
    if bias is None:
        return result
    return add(result, reshape_op(bias, shape=(-1, *(1,) * (result.ndim - 2))))


def _convolved(
    name: str,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    count: int,
) -> Tensor:
    x = batched(name, input, count)
    _check_weight(name, x, weight, bias, groups, False)
    kernel = tuple(weight.shape[2:])
    stride = per_dimension(name, "stride", stride, count, 1)
    dilation = per_dimension(name, "dilation", dilation, count, 1)
    widths = _widths(name, padding, kernel, stride, dilation)
    if any(map(any, widths)):
        x = padded(x, [(0, 0), (0, 0), *widths], 0)
    if min(places(x.shape[2:], kernel, stride, dilation)) < 1:
        whole = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True))
        raise RuntimeError(
            f"{name}: Calculated padded input size per channel: {_by(x.shape[2:])}. Kernel size: "
            f"{_by(whole)}. Kernel size can't be greater than actual input size; pad the input"
        )
    result = conv_op(x, weight, stride=stride, dilation=dilation, groups=groups)
    return unbatched(_with_bias(result, bias), input)


def _by(sizes: Sequence[int]) -> str:
    return f"({' x '.join(map(str, sizes))})"


def _transposed(
    name: str,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
    count: int,
) -> Tensor:
    x = batched(name, input, count)
    _check_weight(name, x, weight, bias, groups, True)
    stride = per_dimension(name, "stride", stride, count, 1)
    dilation = per_dimension(name, "dilation", dilation, count, 1)
    pads = per_dimension(name, "padding", padding, count, 0)
    more = per_dimension(name, "output_padding", output_padding, count, 0)
    if any(m >= max(s, d) for m, s, d in zip(more, stride, dilation, strict=True)):
        raise RuntimeError(
            f"{name}: output padding must be smaller than either stride or dilation, but got "
            f"output_padding: {list(more)} stride: {list(stride)} dilation: {list(dilation)}"
        )
    of_input = zip(x.shape[2:], weight.shape[2:], stride, dilation, strict=True)
    sizes = tuple((n - 1) * s + d * (k - 1) + 1 for n, k, s, d in of_input)
    left = [n - 2 * p + m for n, p, m in zip(sizes, pads, more, strict=True)]
    if min(left) < 1:
        raise RuntimeError(
            f"{name}: the result would have sizes {left}, but they must be at least 1; pass less "
            f"padding than {list(pads)}"
        )
    result = conv_input_op(
        x, weight, sizes=sizes, stride=stride, dilation=dilation, groups=groups
    )
    if any(pads) or any(more):
        ends = [(-p, m - p) for p, m in zip(pads, more, strict=True)]
        result = padded(result, [(0, 0), (0, 0), *ends], 0)
    return unbatched(_with_bias(result, bias), input)


# ---- the functions


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the cross-correlation of a signal with a kernel, plus a bias a channel.

    input     (n, c, l), or (c, l) without a batch.
    weight    (o, c / groups, k); the result is (n, o, (l + 2 padding - dilation (k - 1) - 1)
              // stride + 1).
    bias      (o,), or None.
    stride    from one window to the next; dilation: from one element of a window to the next.
    padding   zeros at both ends, "valid" (none) or "same" (as many as keep the size; the odd one at
              the far end; stride 1 only).
    groups    of channels that do not mix; both c and o are divisible by it.
    Raises RuntimeError for shapes that do not fit and for different dtypes.
    """
    return _convolved("conv1d", input, weight, bias, stride, padding, dilation, groups, 1)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the cross-correlation of images (n, c, h, w) with a kernel (o, c / groups, kh, kw).

    See `conv1d`; stride, padding and dilation are one number, or one a dimension.
    """
    return _convolved("conv2d", input, weight, bias, stride, padding, dilation, groups, 2)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the cross-correlation of volumes (n, c, d, h, w) with a kernel of three dimensions.

    See `conv1d`; stride, padding and dilation are one number, or one a dimension.
    """
    return _convolved("conv3d", input, weight, bias, stride, padding, dilation, groups, 3)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Return the transpose of `conv1d` applied to a signal, plus a bias a channel.

    input           (n, c, l), or (c, l) without a batch.
    weight          (c, o / groups, k); the result has (l - 1) stride - 2 padding
                    + dilation (k - 1) + output_padding + 1 elements a channel.
    bias            (o,), or None.
    padding         taken away from both ends.
    output_padding  elements more at the far end, less than the stride or the dilation.
    Raises RuntimeError for shapes that do not fit and for different dtypes.
    """
    return _transposed(
        "conv_transpose1d",
        input, weight, bias, stride, padding, output_padding, groups, dilation, 1,
    )  # fmt: skip


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Return the transpose of `conv2d` applied to images (n, c, h, w); see `conv_transpose1d`."""
    return _transposed(
        "conv_transpose2d",
        input, weight, bias, stride, padding, output_padding, groups, dilation, 2,
    )  # fmt: skip


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Return the transpose of `conv3d` applied to volumes; see `conv_transpose1d`."""
    return _transposed(
        "conv_transpose3d",
        input, weight, bias, stride, padding, output_padding, groups, dilation, 3,
    )  # fmt: skip
