"""Parts of complex tensors: real, imag, angle.  Gradients follow PyTorch's convention."""

from __future__ import annotations

import math
from typing import Any

from ..tensor import Tensor, method
from .arithmetic import mul_op, operands, zeros_rule
from .piecewise import hypot_op
from .quotient import quotient_op
from .registry import LoopCode, Op

__all__ = ["angle", "arctan2", "atan2", "imag", "real"]


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
