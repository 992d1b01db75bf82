"""Dtypes and the promotion rules of the tensor library.

A dtype is a `numpy.dtype`.  Promotion follows PyTorch, not NumPy 2: categories are ordered
bool < int < float < complex; a Python number or a 0-d tensor promotes only when its category is
higher than that of the tensors with dimensions, and int with float gives the float's dtype.
"""

from __future__ import annotations

from functools import cache, lru_cache
from numbers import Complex, Integral, Real
from typing import Any

import numpy as np

__all__ = [
    "bool_",
    "complex128",
    "complex64",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "int16",
    "int32",
    "int64",
    "int8",
    "promote_types",
    "result_type",
    "set_default_dtype",
    "uint8",
]

bool_ = np.dtype(np.bool_)
uint8 = np.dtype(np.uint8)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
float16 = np.dtype(np.float16)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)
complex64 = np.dtype(np.complex64)
complex128 = np.dtype(np.complex128)

BOOL, INT, FLOAT, COMPLEX = range(4)
_CATEGORY_OF_KIND = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}
_COMPLEX_OF = {float16: complex64, float32: complex64, float64: complex128}
_REAL_OF = {complex64: float32, complex128: float64}
_default = float32


def set_default_dtype(dtype: Any) -> None:
    """Set the dtype that Python floats and creation functions take.

    Raises TypeError for anything but float16, float32 and float64.
    """
    global _default
    dtype = as_dtype(dtype)
    if dtype.kind != "f":
        raise TypeError(
            f"the default dtype must be a floating point dtype, got {dtype}; "
            "pass float32 or float64"
        )
    _default = dtype


def get_default_dtype() -> np.dtype:
    """Return the dtype that Python floats and creation functions take."""
    return _default


def default_complex() -> np.dtype:
    """Return the complex dtype that belongs to the default dtype."""
    return _COMPLEX_OF[_default]


def as_dtype(dtype: Any) -> np.dtype:
    """Return `dtype` (a numpy dtype, scalar type, Python type or name) as a numpy dtype.

    Its bytes are in this machine's order.  Raises TypeError for dtypes the library has no
    arithmetic for.
    """
    if dtype is float:
        return _default
    if dtype is complex:
        return default_complex()
    try:
        resolved = np.dtype(dtype)
    except TypeError as error:
        raise TypeError(f"not a dtype: {dtype!r}; use for example autograd.float64") from error
    if resolved.kind not in _CATEGORY_OF_KIND:
        raise TypeError(
            f"dtype {resolved} is not supported; use bool, int, float or complex dtypes"
        )
    return resolved if resolved.isnative else resolved.newbyteorder("=")


def category(dtype: np.dtype) -> int:
    """Return BOOL, INT, FLOAT or COMPLEX."""
    return _CATEGORY_OF_KIND[dtype.kind]


def is_differentiable(dtype: np.dtype) -> bool:
    """Return whether tensors of this dtype may require gradients."""
    return dtype.kind in "fc"


def real_of(dtype: np.dtype) -> np.dtype:
    """Return the dtype of the absolute value of `dtype`."""
    return _REAL_OF.get(dtype, dtype)


def complex_of(dtype: np.dtype) -> np.dtype:
    """Return the complex dtype that holds `dtype`."""
    return dtype if dtype.kind == "c" else _COMPLEX_OF.get(dtype, default_complex())


def of_number(value: Any) -> np.dtype:
    """Return the dtype that a Python number stands for."""
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, Integral):
        return int64
    if isinstance(value, Real):
        return _default
    if isinstance(value, Complex):
        return default_complex()
    raise TypeError(f"expected a number, got {type(value).__name__}")


@cache
def promote_types(a: np.dtype, b: np.dtype) -> np.dtype:
    """Return the dtype that two tensors with dimensions promote to."""
    if a == b:
        return a
    low, high = sorted((a, b), key=category)
    if category(low) == category(high):
        return np.promote_types(a, b)
    if high.kind == "c" and low.kind == "f":
        return np.promote_types(high, _COMPLEX_OF[low])
    return high


@lru_cache(maxsize=4096)
def _combine(with_dims: np.dtype | None, without: np.dtype | None) -> np.dtype | None:
    """Let `without` raise the category of `with_dims`, never the size inside a category."""
    if with_dims is None or without is None:
        return without if with_dims is None else with_dims
    if category(without) <= category(with_dims):
        return with_dims
    if without.kind == "c" and with_dims.kind == "f":
        return _COMPLEX_OF[with_dims]
    return promote_types(with_dims, without)


def result_type(*operands: Any) -> np.dtype:
    """Return the dtype an operation on tensors and Python numbers computes in.

    Three ranks are combined in order: tensors with dimensions, 0-d tensors, Python numbers.
    """
    ranks: list[np.dtype | None] = [None, None, None]
    for operand in operands:
        dtype = getattr(operand, "dtype", None)
        if dtype is None or isinstance(operand, np.generic):
            rank, dtype = 2, of_number(operand)
        else:
            rank = 0 if operand.ndim else 1
        known = ranks[rank]
        ranks[rank] = dtype if known is None else promote_types(known, dtype)
    result = _combine(_combine(ranks[0], ranks[1]), ranks[2])
    if result is None:
        raise TypeError("result_type() needs at least one tensor or number")
    return result
