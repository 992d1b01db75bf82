"""How numbers are written: their sign, fraction, mantissa and exponent, and the next one."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...tensor import Tensor, method
from ..registry import REGISTRY, Op, cast, into
from .arithmetic import mul, operands, pow, sub
from .piecewise import abs, trunc, where

__all__ = [
    "copysign",
    "deg2rad",
    "float_power",
    "frac",
    "frexp",
    "isreal",
    "ldexp",
    "nextafter",
    "rad2deg",
    "signbit",
]


def _real(name: str, x: Tensor) -> Tensor:
    if x.is_complex():
        raise RuntimeError(f"{name} is not implemented for complex tensors; take .real and .imag")
    return x


def _signbit(xp: Any, x: Any, out: Any = None) -> Any:
    return into(out, xp.signbit(x) if x.dtype.kind == "f" else x < 0)


signbit_op = Op("signbit", _signbit, None, elementwise=True)


@method
def signbit(x: Tensor) -> Tensor:
    """Return where `x` has a minus sign, which -0.0 has too; RuntimeError for complex numbers."""
    return signbit_op(_real("signbit", x))


@method
def copysign(x: Tensor, other: Any) -> Tensor:
    """Return |x| with the sign of `other`, broadcast; the derivative is 0 where x is 0.

    Integers become the default float.  RuntimeError for complex numbers.
    """
    if isinstance(other, Tensor):
        minus = signbit(other)
        kind = dtypes.result_type(x, other)
    else:
        minus, kind = math.copysign(1.0, other) < 0, dtypes.result_type(x, other)
    size = abs(cast(_real("copysign", x), kind if kind.kind == "f" else dtypes.get_default_dtype()))
    if isinstance(minus, bool):
        return mul(size, -1.0 if minus else 1.0)
    return mul(size, where(minus, -1.0, cast(REGISTRY["ones_like"](minus), size.dtype)))


@method
def frac(x: Tensor) -> Tensor:
    """Return `x - trunc(x)`, with the sign of x; RuntimeError for all but real floating point."""
    if x.dtype.kind != "f":
        raise RuntimeError(f"frac is not implemented for {x.dtype}; convert with .float()")
    return sub(x, trunc(x))


def _exponent(xp: Any, x: Any, out: Any = None) -> Any:
    return into(out, xp.frexp(x)[1].astype(np.int32))


exponent_op = Op("exponent", _exponent, None, elementwise=True)


class Frexp(NamedTuple):
    """What `frexp` returns: `mantissa * 2**exponent` is the number."""

    mantissa: Tensor
    exponent: Tensor


@method
def frexp(x: Tensor) -> Frexp:
    """Return the mantissa, with modulus in [0.5, 1) or 0, and the exponent (int32) to base 2.

    Raises RuntimeError for dtypes that are not floating point.
    """
    if x.dtype.kind != "f":
        raise RuntimeError(
            f"torch.frexp() only supports floating-point dtypes, got {x.dtype}; use .float()"
        )
    exponent = exponent_op(x)
    first = REGISTRY["floor_divide"](exponent, 2)  # 2**-exponent alone may be out of range
    second = sub(exponent, first)
    powers = [pow(2.0, cast(-part, x.dtype)) for part in (first, second)]
    return Frexp(mul(mul(x, powers[0]), powers[1]), exponent)


@method
def ldexp(x: Tensor, other: Tensor) -> Tensor:
    """Return `x * 2**other`, broadcast; integers become the default float."""
    kind = dtypes.result_type(x, other)
    kind = kind if kind.kind in "fc" else dtypes.get_default_dtype()
    return mul(x, pow(2.0, cast(other, kind)))


def _nextafter(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    return into(out, xp.nextafter(x, y))


nextafter_op = Op(
    "nextafter", _nextafter, None, dtype="promote", broadcasts=True, elementwise=True
)


@method
def nextafter(x: Tensor, other: Tensor) -> Tensor:
    """Return the number of the dtype that comes after `x` on the way to `other`, broadcast.

    It carries no gradient.  Raises RuntimeError for dtypes that are not floating point.
    """
    for tensor in (x, other):
        if tensor.dtype.kind != "f":
            raise RuntimeError(
                f"nextafter not implemented for {tensor.dtype}; convert with .float()"
            )
    return nextafter_op(x, other)


@method
def isreal(x: Tensor) -> Tensor:
    """Return where the imaginary part is 0: everywhere for real numbers."""
    return REGISTRY["eq"](x.imag if x.is_complex() else mul(x.detach(), 0).nan_to_num(), 0)


def _in_unit(name: str, factor: float, doc: str) -> Any:
    def function(x: Tensor) -> Tensor:
        return mul(_real(name, x), factor)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return method(function)


deg2rad = _in_unit("deg2rad", math.pi / 180, "Return degrees as radians.")
rad2deg = _in_unit("rad2deg", 180 / math.pi, "Return radians as degrees.")


@method
def float_power(x: Any, exponent: Any) -> Tensor:
    """Return `x**exponent` in float64, or complex128 where one is complex, broadcast."""
    x, exponent = operands(x, exponent, needs_tensor="float_power")
    is_complex = dtypes.result_type(x, exponent).kind == "c"
    kind = dtypes.complex128 if is_complex else dtypes.float64
    return pow(*(cast(v, kind) if isinstance(v, Tensor) else v for v in (x, exponent)))
