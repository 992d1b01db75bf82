"""Complex tensors from parts, and their parts: real, imag, angle.

Gradients follow PyTorch's convention.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes
from ...tensor import Tensor, method
from ..registry import REGISTRY, LoopCode, Op, refuse_mixed
from .arithmetic import mul, mul_op, operands, zeros_rule
from .piecewise import hypot_op
from .quotient import quotient_op
from .smooth import cos, sin

__all__ = [
    "angle",
    "arctan2",
    "atan2",
    "complex",
    "imag",
    "polar",
    "real",
    "view_as_complex",
    "view_as_real",
]


def _part(name: str) -> Any:
    def forward(xp: Any, x: Any, out: Any = None) -> Any:
        part = getattr(x, name)
        if out is None:
            return part
        out[...] = part
        return out

    return forward


# a real gradient reaches a complex input as one with imaginary part 0: the registry converts it
real_op = Op("real", _part("real"), {"x": lambda g: g}, linear=True, view=True, elementwise=True)
imag_op = Op(
    "imag",
    _part("imag"),
    {"x": lambda g: mul_op(g, 1j)},
    linear=True,
    view=True,
    elementwise=True,
)


def real(x: Tensor) -> Tensor:
    """Return the real part, a view; a real tensor itself."""
    return real_op(x) if x.is_complex() else x


def imag(x: Tensor) -> Tensor:
    """Return the imaginary part, a view; RuntimeError for real tensors."""
    if not x.is_complex():
        raise RuntimeError(
            f"imag is not implemented for tensors with non-complex dtypes, got {x.dtype}; "
            "it is zero: use zeros_like(x)"
        )
    return imag_op(x)


Tensor.real = property(real, doc="The real part, a view; a real tensor itself.")
Tensor.imag = property(imag, doc="The imaginary part, a view.")

# ---- from parts


def _complex(xp: Any, real: Any, imag: Any, out: Any = None) -> Any:
    if out is None:
        shape = np.broadcast_shapes(real.shape, imag.shape)
        out = xp.empty(shape, dtypes.complex_of(real.dtype))
    out.real[...] = real  # 1j * inf would have NaN as its real part
    out.imag[...] = imag
    return out


complex_op = Op(
    "complex",
    _complex,
    {"real": lambda g: real_op(g), "imag": lambda g: imag_op(g)},
    broadcasts=True,
    linear=True,
    elementwise=True,
)


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Return `real + imag * 1j`, broadcast; RuntimeError unless both have one real dtype."""
    refuse_mixed("complex", real, imag)
    if not real.is_floating_point():
        raise RuntimeError(
            "Expected both inputs to be floating point tensors but got "
            f"{real.dtype} and {imag.dtype}; convert with .float()"
        )
    return complex_op(real, imag)


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Return the numbers of absolute value `abs` at `angle`, broadcast; dtypes as in `complex`."""
    return complex(mul(abs, cos(angle)), mul(abs, sin(angle)))


# ---- views of the other kind

view_as_real_op = Op(
    "view_as_real",
    lambda xp, x: x[..., None].view(dtypes.real_of(x.dtype)),
    {"x": lambda g: complex_op(*REGISTRY["unbind"](g, dim=g.ndim - 1))},
    linear=True,
    view=True,
)


def _as_complex(xp: Any, x: Any) -> Any:
    """Return a view; a copy where the pairs are apart in memory, as those of a gradient may be."""
    pairs = x if x.strides[-1] == x.dtype.itemsize else xp.ascontiguousarray(x)
    return pairs.view(dtypes.complex_of(x.dtype))[..., 0]


view_as_complex_op = Op(
    "view_as_complex",
    _as_complex,
    {"x": lambda g: REGISTRY["stack"](real_op(g), imag_op(g), dim=g.ndim)},
    linear=True,
    view=True,
)


def view_as_real(input: Tensor) -> Tensor:
    """Return complex numbers (...) as the view (..., 2) of their real and imaginary parts.

    Raises RuntimeError for real tensors.
    """
    if not input.is_complex():
        raise RuntimeError(
            f"view_as_real is only supported for complex tensors, got {input.dtype}; "
            "use stack([x, zeros_like(x)], -1)"
        )
    return view_as_real_op(input)


def view_as_complex(input: Tensor) -> Tensor:
    """Return pairs (..., 2) of real and imaginary parts as the view (...) of complex numbers.

    Raises RuntimeError for another last dimension, for one whose elements are not side by side in
    memory, and for dtypes other than float32 and float64.
    """
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            "view_as_complex is only supported for float and double tensors, but got a tensor of "
            f"{input.dtype}; convert with .float()"
        )
    if input.ndim == 0 or input.shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2, got shape {list(input.shape)}"
        )
    if input.numel() and input._data.strides[-1] != input.itemsize:
        raise RuntimeError(
            "view_as_complex: Tensor must have a last dimension with stride 1; take contiguous() "
            "of it, or complex(x[..., 0], x[..., 1])"
        )
    return view_as_complex_op(input)


# ---- angles


def _atan2(xp: Any, y: Any, x: Any, out: Any = None) -> Any:
    return xp.arctan2(y, x) if out is None else xp.arctan2(y, x, out=out)


def _turned(g: Tensor, x: Any, y: Any, by: Any) -> Tensor:
    """Return `g * by / (x*x + y*y)` without overflow, 0 at the origin."""
    size = hypot_op(x, y)
    return mul_op(g, quotient_op(quotient_op(by, size), size))


atan2_op = Op(
    "atan2",
    _atan2,
    {
        "y": lambda g, y, x: _turned(g, x, y, x),
        "x": lambda g, y, x: _turned(g, x, y, -y),
    },
    dtype="float",
    broadcasts=True,
    ufunc="arctan2",
    taylor="nested",
    code=LoopCode(None, "atan2({0}, {1})"),
)


@method
def atan2(y: Tensor, x: Tensor) -> Tensor:
    """Return the angle of the point (x, y) in (-pi, pi], broadcast; the gradient at 0 is 0."""
    return atan2_op(*operands(y, x))


def _angle(xp: Any, x: Any, out: Any = None) -> Any:
    result = xp.where(x < 0, math.pi, 0.0).astype(x.dtype)
    result = xp.where(xp.isnan(x), x, result)
    if out is None:
        return result
    out[...] = result
    return out


angle_op = Op(
    "angle", _angle, {"x": zeros_rule}, dtype="float", elementwise=True, taylor="constant"
)


@method
def angle(x: Tensor) -> Tensor:
    """Return the angle of complex numbers in (-pi, pi]; 0 or pi for real ones."""
    if x.is_complex():
        return atan2_op(imag_op(x), real_op(x))
    return angle_op(x)


arctan2 = atan2
method(atan2, name="arctan2")
