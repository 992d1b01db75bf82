"""Resampling of signals, images and volumes at evenly spaced points, one dimension at a time.

A new element is one of the old ones, a mixture of the two beside it, or a weighted sum of several
neighbours: for these a row of places and one of weights say which.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import devices
from ...tensor import Tensor
from ..elementwise.arithmetic import add, mul
from ..layout.gather import index_select_op
from ..layout.index import positions
from ..layout.shape import clone, movedim, reshape_op
from ..positions.weighted import weighted_read_op
from .cubic import EXACT, OFFSETS, SHARP, cubic

__all__ = ["interpolate"]

_LINEAR = {"linear": 3, "bilinear": 4, "trilinear": 5}
_BETWEEN = {**_LINEAR, "bicubic": 4, "lanczos": 4}
_MODES = ("nearest", "nearest-exact", "area", *_BETWEEN)


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


def _sources(last: int, size: int, step: float, corners: bool) -> np.ndarray:
    """Return where the new elements are among the old, 0 to `last`; the outermost lie beyond."""
    if corners:
        return np.arange(size) * _corner_step(last, size)
    return (np.arange(size) + 0.5) * step - 0.5


def _corner_step(last: int, size: int) -> float:
    return last / (size - 1) if size > 1 else 0.0


def _linear(x: Tensor, axis: int, size: int, step: float, corners: bool) -> Tensor:
    last = x.shape[axis] - 1
    source = np.maximum(_sources(last, size, step, corners), 0.0)
    before = np.minimum(source.astype(np.int64), last)
    share = np.minimum(source - before, 1.0).reshape(-1, *(1,) * (x.ndim - 1 - axis))
    sides = []
    for places, weights in ((before, 1 - share), (np.minimum(before + 1, last), share)):
        weights = Tensor(devices.put(weights.astype(x.dtype), x.device))
        sides.append(mul(index_select_op(x, positions(places, x), dim=axis), weights))
    return add(*sides)


# ---- weighted sums of neighbours


def _read(x: Tensor, axis: int, places: np.ndarray, weights: np.ndarray) -> Tensor:
    """Return sums of weights times elements at places along `axis`, both (size, neighbours)."""
    last = movedim(x, axis, -1)
    flat = reshape_op(last, shape=(1, x.numel() // x.shape[axis], x.shape[axis]))
    shares = Tensor(devices.put(weights.astype(x.dtype)[None], x.device))
    read = weighted_read_op(flat, positions(places[None], x), shares)
    return movedim(reshape_op(read, shape=(*last.shape[:-1], len(places))), -1, axis)


def _cubic(x: Tensor, axis: int, size: int, step: float, corners: bool) -> Tensor:
    last = x.shape[axis] - 1
    source = _sources(last, size, step, corners)
    places = np.floor(source).astype(np.int64)[:, None] + np.array(OFFSETS)
    weights = cubic(source[:, None] - places, SHARP)
    return _read(x, axis, np.clip(places, 0, last), weights)


def _in_windows(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of windows in rows, and the factors with which each place counts once.

    A row is as long as the longest window: a shorter one repeats its last place, which is then
    shared, as a weight of 0 would make NaN of an infinite element.
    """
    longest = int((ends - starts).max())
    last = ends[:, None] - 1
    places = np.minimum(starts[:, None] + np.arange(longest), last)
    repeated = (places == last).sum(1, keepdims=True)
    return places, np.where(places == last, 1 / repeated, 1.0)


def _area(x: Tensor, axis: int, size: int) -> Tensor:
    """Mean over windows of whole elements, which overlap where they do not fit."""
    old, new = x.shape[axis], np.arange(size)
    starts, ends = new * old // size, -(-(new + 1) * old // size)
    places, once = _in_windows(starts, ends)
    return _read(x, axis, places, once / (ends - starts)[:, None])


def _triangle(distance: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(distance), 0.0)


def _lanczos(distance: np.ndarray) -> np.ndarray:
    return np.where(np.abs(distance) < 3, np.sinc(distance) * np.sinc(distance / 3), 0.0)


_FILTERS: dict[str, tuple[int, Any]] = {
    "bilinear": (1, _triangle),
    "bicubic": (2, lambda distance: cubic(distance, EXACT)),
    "lanczos": (3, _lanczos),
}
"""How far a filter reaches, and its weights."""


def _filtered(
    x: Tensor, axis: int, size: int, step: float, corners: bool, mode: str
) -> Tensor:
    """Weights of a filter that is as wide as a new element, where that is wider than an old one."""
    old, (reach, weigh) = x.shape[axis], _FILTERS[mode]
    step = _corner_step(old - 1, size) if corners else step
    width = max(step, 1.0)
    centres = (np.arange(size) + 0.5) * step  # from the outer edge of the first old element
    starts = np.maximum((centres - reach * width + 0.5).astype(np.int64), 0)
    ends = np.minimum((centres + reach * width + 0.5).astype(np.int64), old)
    places, once = _in_windows(starts, ends)
    weights = weigh((places + 0.5 - centres[:, None]) / width) * once
    return _read(x, axis, places, weights / weights.sum(1, keepdims=True))


def _resampled(
    x: Tensor, axis: int, size: int, step: float, mode: str, corners: bool, antialias: bool
) -> Tensor:
    """Return `x` with another size along `axis`; see `interpolate`."""
    if mode == "area":
        return _area(x, axis, size)
    if mode not in _BETWEEN:
        return _nearest(x, axis, size, step, mode == "nearest-exact")
    if antialias:
        return _filtered(x, axis, size, step, corners, mode)
    if mode == "bicubic":
        return _cubic(x, axis, size, step, corners)
    unchanged = size == x.shape[axis] and step == 1
    return x if unchanged else _linear(x, axis, size, step, corners)


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Return (n, c, ...) with as many elements as `size` says, or `scale_factor` times as many.

    size, scale_factor      one number, or one a dimension; sizes are rounded down.
    mode                    "nearest", "nearest-exact" (measured between centres), "area" (the mean
                            of the elements that a new one covers), or "linear", "bilinear" and
                            "trilinear" for 1, 2 and 3 dimensions after the channels; for 2 also
                            "bicubic" (Keys 1981, slope -3/4) and, with antialias, "lanczos".
    align_corners           modes between elements: the first and the last are kept in place,
                            instead of the outer edges of elements that have a width.
    recompute_scale_factor  let rounded sizes decide how far apart the points are.
    antialias               bilinear, bicubic (its slope -1/2) and lanczos: where there are fewer
                            elements than before, their weights reach as far as a new one is wide.
    Raises ValueError for contradictory arguments, NotImplementedError for other modes and numbers
    of dimensions, RuntimeError for empty sizes.
    """
    if mode not in _MODES or not 3 <= input.ndim <= 5:
        raise NotImplementedError(
            "interpolate: Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{input.ndim}D) for the modes {_MODES} (got {mode!r})"
        )
    if mode not in _BETWEEN and align_corners is not None:
        raise ValueError(
            "interpolate: align_corners option can only be set with the interpolating modes "
            f"{tuple(_BETWEEN)}, got {mode!r}"
        )
    if _BETWEEN.get(mode, input.ndim) != input.ndim:
        raise NotImplementedError(
            f"interpolate: Got {input.ndim}D input, but {mode} mode needs {_BETWEEN[mode]}D input"
        )
    if antialias and mode not in _FILTERS:
        raise ValueError(
            "interpolate: Anti-alias option is restricted to the modes "
            f"{tuple(_FILTERS)}, got {mode!r}; leave it out"
        )
    if mode == "lanczos" and (align_corners or not antialias):
        raise ValueError(
            "interpolate: Lanczos mode requires antialias=True and does not support "
            f"align_corners=True, got antialias={antialias} and align_corners={align_corners}"
        )
    if not input.is_floating_point():
        raise NotImplementedError(
            f"interpolate is not implemented for {input.dtype}; convert with .float()"
        )
    sizes, steps = _sizes(input, size, scale_factor, recompute_scale_factor)
    result = input
    for k, (new, step) in enumerate(zip(sizes, steps, strict=True), 2):
        result = _resampled(result, k, new, step, mode, bool(align_corners), antialias)
    return clone(result) if result is input else result
