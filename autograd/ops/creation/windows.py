"""Windows for spectra and filters: weights that fall towards both ends of a stretch of samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import devices, dtypes
from ...tensor import Tensor
from .create import made

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window"]


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return 1/2 - 1/2 cos(2 pi n/N) for n = 0, 1, ..., window_length - 1: a leaf.

    periodic  N is the length, as of a period of which the window is to be repeated; False: one
              less, and the window is symmetric.  One sample is 1.
    Raises RuntimeError for a negative length and for dtypes that are not floating point.
    """
    return _window(
        "hann_window", lambda t: 0.5 - 0.5 * np.cos(t), window_length, periodic, dtype, device,
        requires_grad,
    )  # fmt: skip


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return alpha - beta cos(2 pi n/N); the arguments are those of `hann_window`."""
    return _window(
        "hamming_window", lambda t: alpha - beta * np.cos(t), window_length, periodic, dtype,
        device, requires_grad,
    )  # fmt: skip


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return 0.42 - 0.5 cos(2 pi n/N) + 0.08 cos(4 pi n/N); see `hann_window`."""
    return _window(
        "blackman_window", lambda t: 0.42 - 0.5 * np.cos(t) + 0.08 * np.cos(2 * t), window_length,
        periodic, dtype, device, requires_grad,
    )  # fmt: skip


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return 1 - |2n/N - 1|, a triangle; the arguments are those of `hann_window`."""
    return _window(
        "bartlett_window", lambda t: 1 - np.abs(t / np.pi - 1), window_length, periodic, dtype,
        device, requires_grad,
    )  # fmt: skip


def _window(
    name: str,
    weights: Callable[[np.ndarray], np.ndarray],
    length: int,
    periodic: bool,
    dtype: Any,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    """Return the weights at the angles 2 pi n/N, rounded once to the dtype."""
    kind = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    if kind.kind != "f":
        raise RuntimeError(f"{name} expects floating point dtypes, got: {kind}")
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    angles = 2 * np.pi * np.arange(length) / max(length if periodic else length - 1, 1)
    host = weights(angles) if length > 1 else np.ones(length)
    place = devices.as_device(device)
    return made(lambda xp, kind: host.astype(kind), kind, place, requires_grad)
