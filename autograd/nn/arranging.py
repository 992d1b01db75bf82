"""Channels and places put in another order: windows as columns, channels as finer places."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ..ops.creation.create import arange, zeros
from ..ops.layout.arrange import pad
from ..ops.layout.gather import index_add
from ..ops.layout.join import stack
from ..tensor import Tensor


def _pair(value: Any) -> tuple[int, int]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


def _counts(
    name: str, size: Sequence[int], kernel: tuple, dilation: tuple, padding: tuple, stride: tuple
) -> list[int]:
    """Return how many windows there are each way; RuntimeError where there is none."""
    counts = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, kernel, dilation, padding, stride, strict=True)
    ]
    if min(counts) < 1:
        raise RuntimeError(
            f"{name}: no window of kernel_size={kernel} fits: with places {list(size)}, dilation="
            f"{dilation}, padding={padding}, stride={stride} there are {counts}; it must be at "
            "least one each way"
        )
    return counts


def unfold(
    input: Tensor,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Return the windows of `input` as columns: (n, c, h, w) to (n, c kernel places, windows).

    Without the n, too.  Numbers are for both ways or a pair.  Raises RuntimeError for other
    dimensions and where no window fits.
    """
    if input.ndim not in (3, 4):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor for unfold, (c, h, w) or (n, c, h, w), but got "
            f"shape {list(input.shape)}"
        )
    if input.ndim == 3:
        return unfold(input.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    kernel, dilation, padding, stride = map(_pair, (kernel_size, dilation, padding, stride))
    counts = _counts("unfold", input.shape[2:], kernel, dilation, padding, stride)
    wide = input
    if any(padding):
        wide = pad(input, (padding[1], padding[1], padding[0], padding[0]))
    windows = []
    for at in itertools.product(*map(range, kernel)):
        rows, columns = (
            slice(a * d, a * d + (n - 1) * s + 1, s)
            for a, d, n, s in zip(at, dilation, counts, stride, strict=True)
        )
        windows.append(wide[:, :, rows, columns])
    samples, channels = input.shape[:2]
    whole = stack(windows, 2)  # (n, c, kernel places, windows each way)
    return whole.reshape(samples, channels * math.prod(kernel), math.prod(counts))


def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Return the sums of windows at their places: what `unfold` is the transpose of.

    input        (n, c kernel places, windows), or without the n.
    output_size  (h, w); the result is (n, c, h, w).
    Raises RuntimeError for other shapes.
    """
    if input.ndim not in (2, 3):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for fold, (c kernel places, windows) or with n "
            f"before, but got shape {list(input.shape)}"
        )
    if input.ndim == 2:
        folded = fold(input.unsqueeze(0), output_size, kernel_size, dilation, padding, stride)
        return folded.squeeze(0)
    kernel, dilation, padding, stride = map(_pair, (kernel_size, dilation, padding, stride))
    size = _pair(output_size)
    counts = _counts("fold", size, kernel, dilation, padding, stride)
    places, windows = math.prod(kernel), math.prod(counts)
    if input.shape[1] % places or input.shape[2] != windows:
        raise RuntimeError(
            f"fold: expected input of shape [n, c * {places}, {windows}] for output_size={size}, "
            f"kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, got "
            f"{list(input.shape)}"
        )
    samples, channels = input.shape[0], input.shape[1] // places
    high, wide = (n + 2 * p for n, p in zip(size, padding, strict=True))
    numbers = _numbers(kernel, dilation, counts, stride, wide, input)
    total = zeros(samples, channels, high * wide, dtype=input.dtype, device=input.device)
    total = index_add(total, 2, numbers, input.reshape(samples, channels, places * windows))
    inside = total.reshape(samples, channels, high, wide)
    return inside[:, :, padding[0] : high - padding[0], padding[1] : wide - padding[1]]


def _numbers(
    kernel: tuple, dilation: tuple, counts: list[int], stride: tuple, wide: int, like: Tensor
) -> Tensor:
    """Return which place each number of each window belongs to, row by row."""
    ways = [
        arange(k, device=like.device).reshape(-1, 1) * d
        + arange(n, device=like.device).reshape(1, -1) * s
        for k, d, n, s in zip(kernel, dilation, counts, stride, strict=True)
    ]
    rows, columns = ways[0].reshape(kernel[0], 1, -1, 1), ways[1].reshape(1, kernel[1], 1, -1)
    return (rows * wide + columns).reshape(-1)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Return (..., c r^2, h, w) as (..., c, h r, w r), r = `upscale_factor` (Shi et al. 2016).

    Raises RuntimeError for fewer than 3 dimensions and channels that r^2 does not divide.
    """
    r = upscale_factor
    if input.ndim < 3 or r < 1 or input.shape[-3] % r**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension, -3, to be divisible by the "
            f"square of upscale_factor={r}, but got shape {list(input.shape)}"
        )
    *before, channels, high, wide = input.shape
    samples = math.prod(before)
    parts = input.reshape(samples, channels // r**2, r, r, high, wide).permute(0, 1, 4, 2, 5, 3)
    return parts.reshape(*before, channels // r**2, high * r, wide * r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Return (..., c, h r, w r) as (..., c r^2, h, w): what `pixel_shuffle` undoes.

    Raises RuntimeError for fewer than 3 dimensions and places that r does not divide.
    """
    r = downscale_factor
    if input.ndim < 3 or r < 1 or input.shape[-2] % r or input.shape[-1] % r:
        raise RuntimeError(
            "pixel_unshuffle expects height and width, the last two dimensions, to be divisible by "
            f"downscale_factor={r}, but got shape {list(input.shape)}"
        )
    *before, channels, high, wide = input.shape
    samples = math.prod(before)
    parts = input.reshape(samples, channels, high // r, r, wide // r, r).permute(0, 1, 3, 5, 2, 4)
    return parts.reshape(*before, channels * r**2, high // r, wide // r)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Return (n, c, ...) with the channels of each group spread over all (Zhang et al. 2018).

    Raises RuntimeError for fewer than 3 dimensions and channels that `groups` does not divide.
    """
    if input.ndim < 3 or groups < 1 or input.shape[1] % groups:
        raise RuntimeError(
            "channel_shuffle expects (n, c, ...) with c divisible by groups, but got shape "
            f"{list(input.shape)} and groups={groups}"
        )
    samples, channels, *rest = input.shape
    parts = input.reshape(samples, groups, channels // groups, *rest)
    return parts.transpose(1, 2).reshape(input.shape)
