"""Resampling of signals, images and volumes at evenly spaced points, one dimension at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import devices
from ...tensor import Tensor
from ..elementwise.arithmetic import add, mul
from ..layout.gather import index_select_op
from ..layout.index import positions
from ..layout.shape import clone

__all__ = ["interpolate"]

_LINEAR = {"linear": 3, "bilinear": 4, "trilinear": 5}
_MODES = ("nearest", "nearest-exact", *_LINEAR)


def _sizes(x: Tensor, size: Any, factor: Any, recompute: bool | None) -> tuple[list, list]:
    """Return the new sizes and, for each dimension, how far apart its points are in the input."""
    if (size is None) == (factor is None):
        raise ValueError(
            "interpolate: "
            + ("either" if size is None else "only one of")
            + " size or scale_factor should be defined; pass one of them"
        )
    if recompute and size is not None:
        raise ValueError(
            "interpolate: recompute_scale_factor is not meaningful with an explicit size; leave it"
        )
    what, given = ("output size", size) if factor is None else ("scale_factor", factor)
    old = list(x.shape[2:])
    each = list(given) if isinstance(given, (tuple, list)) else [given] * len(old)
    if len(each) != len(old):
        raise ValueError(
            "interpolate: Input and output must have the same number of spatial dimensions, but "
            f"got input with spatial dimensions of {old} and {what} of {given}"
        )
    new = each if factor is None else [int(n * f) for n, f in zip(old, each, strict=True)]
    if min(*old, *new) < 1:
        raise RuntimeError(
            "interpolate: Input and output sizes should be greater than 0, but got input "
            f"{old} and output {new}"
        )
    if factor is not None and not recompute:
        return new, [1 / f for f in each]
    return new, [n / m for n, m in zip(old, new, strict=True)]


def _nearest(x: Tensor, axis: int, size: int, step: float, exact: bool) -> Tensor:
    # rounded where PyTorch rounds, as half a rounding error decides between two elements
    kind: Any = np.float64 if x.dtype.itemsize == 8 else np.float32
    source = np.arange(size, dtype=kind) * kind(step)
    if exact:
        centres = (np.arange(size, dtype=kind) + kind(0.5)) * kind(step)
        source = np.maximum(centres - kind(0.5), kind(0)) + kind(0.5)
    places = np.floor(source.astype(np.float32)).astype(np.int64)
    return index_select_op(x, positions(np.minimum(places, x.shape[axis] - 1), x), dim=axis)


def _linear(x: Tensor, axis: int, size: int, step: float, corners: bool) -> Tensor:
    last = x.shape[axis] - 1
    if corners:
        source = np.arange(size) * (last / (size - 1) if size > 1 else 0.0)
    else:
        source = np.maximum((np.arange(size) + 0.5) * step - 0.5, 0.0)
    before = np.minimum(source.astype(np.int64), last)
    share = np.minimum(source - before, 1.0).reshape(-1, *(1,) * (x.ndim - 1 - axis))
    sides = []
    for places, weights in ((before, 1 - share), (np.minimum(before + 1, last), share)):
        weights = Tensor(devices.put(weights.astype(x.dtype), x.device))
        sides.append(mul(index_select_op(x, positions(places, x), dim=axis), weights))
    return add(*sides)


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Return (n, c, ...) with as many elements as `size` says, or `scale_factor` times as many.

    size, scale_factor      one number, or one a dimension; sizes are rounded down.
    mode                    "nearest", "nearest-exact" (measured between centres), or "linear",
                            "bilinear", "trilinear" for 1, 2 and 3 dimensions after the channels.
    align_corners           linear modes: the first and the last elements are kept in place, instead
                            of the outer edges of elements that have a width.
    recompute_scale_factor  let rounded sizes decide how far apart the points are.
    Raises ValueError for contradictory arguments, NotImplementedError for other modes and numbers
    of dimensions, RuntimeError for empty sizes.
    """
    if mode not in _MODES or not 3 <= input.ndim <= 5:
        raise NotImplementedError(
            "interpolate: Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{input.ndim}D) for the modes {_MODES} (got {mode!r})"
        )
    if mode not in _LINEAR and align_corners is not None:
        raise ValueError(
            "interpolate: align_corners option can only be set with the interpolating modes "
            f"{tuple(_LINEAR)}, got {mode!r}"
        )
    if _LINEAR.get(mode, input.ndim) != input.ndim:
        raise NotImplementedError(
            f"interpolate: Got {input.ndim}D input, but {mode} mode needs {_LINEAR[mode]}D input"
        )
    if not input.is_floating_point():
        raise NotImplementedError(
            f"interpolate is not implemented for {input.dtype}; convert with .float()"
        )
    sizes, steps = _sizes(input, size, scale_factor, recompute_scale_factor)
    result = input
    for k, (new, step) in enumerate(zip(sizes, steps, strict=True), 2):
        if mode in _LINEAR:
            if new != input.shape[k] or step != 1:
                result = _linear(result, k, new, step, bool(align_corners))
        else:
            result = _nearest(result, k, new, step, mode == "nearest-exact")
    return clone(result) if result is input else result
