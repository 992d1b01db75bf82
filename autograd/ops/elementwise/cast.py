"""Operations that change dtype or device and nothing else, and questions about both."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import devices, dtypes, modes
from ...tensor import Tensor, method
from ..registry import Op, cast, move

__all__ = [
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "numel",
    "to",
]

Op(
    "to",
    lambda xp, x, out=None, *, dtype: x.astype(dtype),
    {"x": lambda g: g},
    linear=True,
    elementwise=True,
)
Op(
    "to_device",
    lambda xp, x, out=None, *, device, source: devices.put(x, device),
    {"x": lambda g, source: move(g, source)},
    linear=True,
    elementwise=True,
)


@method
def to(
    x: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    other: Tensor | None = None,
    non_blocking: bool = False,
    copy: bool = False,
) -> Tensor:
    """Return `x` in another dtype or on another device; `x` itself when nothing changes.

    Arguments may be a dtype, a device, another tensor (both are taken from it), or keywords; after
    them come `non_blocking`, which changes nothing (a copy is complete on return), and `copy`.
    """
    flags = []
    for arg in (*args, *(() if other is None else (other,))):
        if isinstance(arg, Tensor):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, devices.Device) or (isinstance(arg, str) and not _names_dtype(arg)):
            device = arg
        elif isinstance(arg, bool):
            flags.append(arg)
        else:
            dtype = arg
    copy = flags[1] if len(flags) > 1 else copy
    result = x
    if dtype is not None:
        result = cast(result, dtypes.as_dtype(dtype))
    if device is not None:
        result = move(result, devices.as_device(device))
    return result.clone() if copy and result is x else result


def _names_dtype(text: str) -> bool:
    try:
        np.dtype(text)
    except TypeError:
        return False
    return True


@method
def type_as(x: Tensor, other: Tensor) -> Tensor:
    """Return `x` in the dtype and on the device of `other`."""
    return to(x, other)


@method
def cpu(x: Tensor) -> Tensor:
    """Return `x` in host memory."""
    return to(x, device="cpu")


@method
def cuda(x: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """Return `x` on the GPU; DeviceError where there is none."""
    if isinstance(device, int):
        device = f"cuda:{device}"
    return to(x, device=device or "cuda")


def is_tensor(obj: Any) -> bool:
    """Return whether `obj` is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Return whether the dtype is a real floating point dtype."""
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Return whether the dtype is complex."""
    return input.is_complex()


@method
def stride(input: Tensor, dim: int | None = None) -> Any:
    """Return how many elements lie between neighbours along each dimension, or along `dim`."""
    tracer = modes.state.tracer
    found = input._data.strides if tracer is None else tracer.answer(input, ".stride()")
    steps = tuple(step // input._data.dtype.itemsize for step in found)
    return steps if dim is None else steps[dim]


@method
def is_signed(input: Tensor) -> bool:
    """Return whether the dtype has negative numbers."""
    return input.dtype.kind in "ifc"


@method
def is_nonzero(input: Tensor) -> bool:
    """Return whether the one element is not zero; RuntimeError for another number of elements."""
    if input.numel() != 1:
        raise RuntimeError(
            f"Boolean value of Tensor with {input.numel()} values is ambiguous; use .any()"
        )
    return bool(input)


@method
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether the shapes are equal."""
    return input.shape == other.shape


def numel(input: Tensor) -> int:
    """Return the number of elements."""
    return input.numel()


def _caster(name: str, dtype: np.dtype) -> None:
    def convert(x: Tensor) -> Tensor:
        return cast(x, dtype)

    convert.__name__ = name
    convert.__doc__ = f"Return `x` as {dtype}."
    method(convert)


for _name, _dtype in {
    "bool": dtypes.bool_,
    "byte": dtypes.uint8,
    "char": dtypes.int8,
    "short": dtypes.int16,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "half": dtypes.float16,
    "float": dtypes.float32,
    "double": dtypes.float64,
    "cfloat": dtypes.complex64,
    "cdouble": dtypes.complex128,
}.items():
    _caster(_name, _dtype)
