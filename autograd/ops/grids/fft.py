"""Discrete Fourier transforms, whose gradients are transforms: every order follows.

There are three linear maps: complex to complex along any dimensions, real to the half of the
spectrum that is not the conjugate of the other half, and that half back to real, both along one
dimension.  The adjoint of a transform is its inverse with the other normalisation; that between
real numbers and a half counts each frequency once that stands for two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...tensor import Tensor
from ..creation.create import tensor
from ..elementwise.arithmetic import conj_of
from ..layout.arrange import roll
from ..layout.index import padded
from ..layout.shape import clone, normal_axis
from ..registry import Op, cast, into

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_OTHER = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


# ---- the three maps


def _flops(inputs: Sequence, outputs: Sequence, attributes: dict) -> int:
    larger = max(inputs[0].shape, outputs[0].shape, key=math.prod)
    points = math.prod(larger[d] for d in attributes.get("dims", (attributes.get("dim"),)))
    return int(5 * math.prod(larger) * math.log2(max(points, 2)))


def _spectrum(
    xp: Any, x: Any, out: Any = None, *, dims: tuple, norm: str, inverse: bool = False
) -> Any:
    transform = xp.fft.ifftn if inverse else xp.fft.fftn
    return into(out, transform(x, axes=dims, norm=norm))


spectrum_op = Op(
    "fft_spectrum",
    _spectrum,
    {
        "x": lambda g, dims, norm, inverse: spectrum_op(
            g, dims=dims, norm=_OTHER[norm], inverse=not inverse
        )
    },
    linear=True,
    flops=_flops,
)


def _paired(half: Any, dim: int, size: int) -> Any:
    """Return the part of a half spectrum of `size` numbers that stands for two frequencies each."""
    return half[(slice(None),) * dim + (slice(1, (size + 1) // 2),)]


def _half_spectrum(
    xp: Any, x: Any, out: Any = None, *, dim: int, norm: str, weight: float = 1.0
) -> Any:
    result = xp.fft.rfft(x, axis=dim, norm=norm)
    if weight != 1:
        pairs = _paired(result, dim, x.shape[dim])
        pairs *= weight
    return into(out, result)


def _from_half(
    xp: Any, x: Any, out: Any = None, *, dim: int, size: int, norm: str, weight: float = 1.0
) -> Any:
    if weight != 1:
        x = x.copy()
        pairs = _paired(x, dim, size)
        pairs *= weight
    return into(out, xp.fft.irfft(x, n=size, axis=dim, norm=norm))


half_spectrum_op = Op(
    "fft_half_spectrum",
    _half_spectrum,
    {
        "x": lambda g, x_shape, dim, norm, weight: from_half_op(
            g, dim=dim, size=x_shape[dim], norm=_OTHER[norm], weight=weight / 2
        )
    },
    linear=True,
    flops=_flops,
)
"""The frequencies 0 to n // 2 of real numbers; those that stand for two are times `weight`."""

from_half_op = Op(
    "fft_from_half",
    _from_half,
    {
        "x": lambda g, dim, norm, weight: half_spectrum_op(
            g, dim=dim, norm=_OTHER[norm], weight=weight * 2
        )
    },
    linear=True,
    flops=_flops,
)
"""The `size` real numbers of a half spectrum, in which those that stand for two are weighted."""


# ---- arguments


def _norm(norm: str | None) -> str:
    if norm is not None and norm not in _OTHER:
        raise RuntimeError(
            f"Invalid normalization mode: {norm!r}; use one of {tuple(_OTHER)}, or None"
        )
    return norm or "backward"


def _real(name: str, x: Tensor) -> Tensor:
    if x.is_complex():
        raise RuntimeError(
            f"{name} expects a real input tensor, but got {x.dtype}; take x.real, or the transform "
            "of complex numbers"
        )
    return _floating(name, x)


def _floating(name: str, x: Tensor) -> Tensor:
    if x.dtype == dtypes.float16:
        raise RuntimeError(f"{name}: Unsupported dtype float16; convert with .float()")
    return x if x.dtype.kind in "fc" else cast(x, dtypes.get_default_dtype())


def _complex(name: str, x: Tensor) -> Tensor:
    x = _floating(name, x)
    return cast(x, dtypes.complex_of(x.dtype))


def _along(name: str, x: Tensor, n: int | None, dim: int) -> tuple[tuple, tuple]:
    """Return a dimension and the number of its points as `_dims` does."""
    if not x.ndim:
        raise IndexError(
            f"{name}: Dimension specified as {dim} but tensor has no dimensions; reshape it first"
        )
    if n is not None and n < 1:
        raise _no_points(name, n)
    return (normal_axis(dim, x.ndim),), (n,)


def _dims(name: str, x: Tensor, s: Any, dim: Any) -> tuple[tuple, tuple]:
    """Return the dimensions of a transform, and how many points each is to have (None: it has)."""
    sizes = s if s is None or isinstance(s, (tuple, list)) else (s,)
    if dim is None:
        if sizes is not None and len(sizes) > x.ndim:
            raise RuntimeError(
                f"{name}: Got shape with {len(sizes)} values but input tensor only has {x.ndim} "
                "dimensions"
            )
        dim = range(x.ndim) if sizes is None else range(x.ndim - len(sizes), x.ndim)
    elif not isinstance(dim, (tuple, list)):
        dim = (dim,)
    axes = tuple(normal_axis(d, x.ndim) for d in dim)
    if len({*axes}) < len(axes):
        raise RuntimeError(f"{name}: FFT dims must be unique, got {tuple(dim)}")
    sizes = (-1,) * len(axes) if sizes is None else tuple(sizes)
    if len(sizes) != len(axes):
        raise RuntimeError(
            f"{name}: When given, dim and shape arguments must have the same length, got "
            f"{len(axes)} and {len(sizes)}"
        )
    for size in sizes:
        if size < 1 and size != -1:
            raise _no_points(name, size)
    return axes, tuple(None if size == -1 else size for size in sizes)


def _no_points(name: str, n: int) -> RuntimeError:
    return RuntimeError(
        f"{name}: Invalid number of data points ({n}) specified; a transform needs at least 1"
    )


def _sized(name: str, x: Tensor, axes: tuple, sizes: tuple) -> Tensor:
    """Return `x` cut, or filled up with zeros, to the sizes that are given."""
    widths = [(0, 0)] * x.ndim
    for axis, size in zip(axes, sizes, strict=True):
        if size is None and not x.shape[axis]:
            raise _no_points(name, 0)
        widths[axis] = (0, 0 if size is None else size - x.shape[axis])
    return padded(x, widths, 0) if any(after for _, after in widths) else x


def _all(name: str, x: Tensor, found: tuple, norm: str | None, inverse: bool) -> Tensor:
    """Transform complex numbers."""
    axes, sizes = found
    x, norm = _sized(name, _complex(name, x), axes, sizes), _norm(norm)
    return spectrum_op(x, dims=axes, norm=norm, inverse=inverse) if axes else clone(x)


def _half(name: str, x: Tensor, found: tuple, norm: str | None, inverse: bool = False) -> Tensor:
    """Transform real numbers: along the last dimension half of the spectrum."""
    axes, sizes = _some(name, found)
    x, norm = _sized(name, _real(name, x), axes, sizes), _norm(norm)
    half = half_spectrum_op(x, dim=axes[-1], norm=_OTHER[norm] if inverse else norm)
    half = conj_of(half) if inverse else half
    return spectrum_op(half, dims=axes[:-1], norm=norm, inverse=inverse) if axes[1:] else half


def _whole(name: str, x: Tensor, found: tuple, norm: str | None, inverse: bool = True) -> Tensor:
    """Transform half spectra along the last dimension to real numbers."""
    axes, sizes = _some(name, found)
    x, norm = _complex(name, x), _norm(norm)
    size = 2 * (x.shape[axes[-1]] - 1) if sizes[-1] is None else sizes[-1]
    if size < 1:
        raise _no_points(name, size)
    x = _sized(name, x, axes, (*sizes[:-1], size // 2 + 1))
    if axes[1:]:
        x = spectrum_op(x, dims=axes[:-1], norm=norm, inverse=inverse)
    if not inverse:
        x, norm = conj_of(x), _OTHER[norm]
    return from_half_op(x, dim=axes[-1], size=size, norm=norm)


def _some(name: str, found: tuple) -> tuple:
    if not found[0]:
        raise RuntimeError(f"{name} must transform at least one axis")
    return found


# ---- along one dimension


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the sums over j of input[j] exp(-2 pi i j k / n) along `dim`, k = 0, ..., n - 1.

    n     input is cut, or filled up with zeros, to so many numbers; None: as many as it has.
    norm  "forward" divides by n, "ortho" by sqrt(n), "backward" (None) leaves it to `ifft`.
    Complex, in the precision of the input.  Raises RuntimeError for n < 1, another norm, and
    float16.
    """
    return _all("fft", input, _along("fft", input, n, dim), norm, False)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the inverse of `fft`: exp(+2 pi i j k / n), divided by n where norm is "backward"."""
    return _all("ifft", input, _along("ifft", input, n, dim), norm, True)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the first n // 2 + 1 numbers of the `fft` of real numbers; the rest is conjugate.

    Raises RuntimeError for complex numbers too.
    """
    return _half("rfft", input, _along("rfft", input, n, dim), norm)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the n real numbers whose `rfft` is `input`; n = 2 (size - 1) by default.

    The imaginary part at frequency 0, and for even n that at n / 2, count as 0.
    """
    return _whole("irfft", input, _along("irfft", input, n, dim), norm)


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the n real numbers that are the `fft` of n numbers, the half of which is `input`.

    The others are their conjugates: input[-j] = conj(input[j]).  n = 2 (size - 1) by default.
    """
    return _whole("hfft", input, _along("hfft", input, n, dim), norm, False)


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the first n // 2 + 1 numbers of the `ifft` of real numbers."""
    return _half("ihfft", input, _along("ihfft", input, n, dim), norm, True)


# ---- along several dimensions


def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Return the `fft` along several dimensions, one after the other.

    s    how many numbers each has, -1: as many as it has; given alone it is of the last dimensions.
    dim  the dimensions, all by default.
    Raises RuntimeError where `s` does not fit `dim`, and for a dimension that comes up twice.
    """
    return _all("fftn", input, _dims("fftn", input, s, dim), norm, False)


def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Return the inverse of `fftn`."""
    return _all("ifftn", input, _dims("ifftn", input, s, dim), norm, True)


def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Return the `fftn` of real numbers: along the last of `dim` the first n // 2 + 1."""
    return _half("rfftn", input, _dims("rfftn", input, s, dim), norm)


def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Return the real numbers whose `rfftn` is `input`; the last of `s` is 2 (size - 1) if None."""
    return _whole("irfftn", input, _dims("irfftn", input, s, dim), norm)


def fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Return the `fftn` along two dimensions, the last two by default."""
    return _all("fft2", input, _dims("fft2", input, s, dim), norm, False)


def ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Return the `ifftn` along two dimensions, the last two by default."""
    return _all("ifft2", input, _dims("ifft2", input, s, dim), norm, True)


def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Return the `rfftn` along two dimensions, the last two by default."""
    return _half("rfft2", input, _dims("rfft2", input, s, dim), norm)


def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Return the `irfftn` along two dimensions, the last two by default."""
    return _whole("irfft2", input, _dims("irfft2", input, s, dim), norm)


# ---- frequencies and their order


def _frequencies(
    name: str, n: int, numbers: Any, d: float, dtype: Any, device: Any, requires_grad: bool
) -> Tensor:
    dtype = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    if dtype.kind not in "fc":
        raise RuntimeError(f"{name} requires a floating point or complex dtype, got {dtype}")
    return tensor(
        numbers / (max(n, 1) * d), dtype=dtype, device=device, requires_grad=requires_grad
    )


def fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return the frequencies of `fft` in its order: 0, 1, ..., then the negative ones, by n d.

    d  the distance of samples; frequencies are in cycles per its unit.
    Raises RuntimeError for dtypes of integers.
    """
    numbers = (np.arange(n) + n // 2) % max(n, 1) - n // 2
    return _frequencies("fftfreq", n, numbers, d, dtype, device, requires_grad)


def rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return the frequencies of `rfft`, 0, 1, ..., n // 2, by n d; see `fftfreq`."""
    return _frequencies("rfftfreq", n, np.arange(n // 2 + 1), d, dtype, device, requires_grad)


def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Return what `fft` gives with frequency 0 in the middle of `dim` (all dimensions)."""
    axes = _shifted_axes(input, dim)
    return roll(input, tuple(input.shape[k] // 2 for k in axes), axes)


def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Return the inverse of `fftshift`."""
    axes = _shifted_axes(input, dim)
    return roll(input, tuple(-(input.shape[k] // 2) for k in axes), axes)


def _shifted_axes(x: Tensor, dim: Any) -> tuple:
    given = range(x.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    return tuple(normal_axis(d, x.ndim) for d in given)
