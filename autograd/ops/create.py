"""Tensors made from nothing but values, shapes and seeds: all of them leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices, dtypes
from ..tensor import Tensor
from .registry import Op

Op("ones_like", lambda xp, x, out=None: xp.ones(x.shape, x.dtype))
Op("zeros_like", lambda xp, x, out=None: xp.zeros(x.shape, x.dtype))


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return a leaf with a copy of `data`: a number, nested sequences, an array or a tensor.

    Python floats take the default dtype, arrays keep theirs.
    """
    if isinstance(data, Tensor):
        array = devices.backend_of(data._data).to_host(data._data)
        device = data.device if device is None else device
    else:
        array = _host_array(data)
    array = np.array(array, dtype=None if dtype is None else dtypes.as_dtype(dtype))
    dtypes.as_dtype(array.dtype)
    return Tensor(devices.put(array, devices.as_device(device)), requires_grad)


def _host_array(data: Any) -> np.ndarray:
    """Return `data` as a numpy array; Python floats and complex numbers take the default dtype."""
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, np.generic):
        return np.asarray(data)
    if isinstance(data, (list, tuple)):
        data = _plain(data)
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(
            f"cannot make a tensor of a ragged sequence: {error}; every row needs the same length"
        ) from error
    if array.dtype.kind == "f" and not _holds_arrays(data):
        return array.astype(dtypes.get_default_dtype())
    if array.dtype.kind == "c" and not _holds_arrays(data):
        return array.astype(dtypes.default_complex())
    return array


def _plain(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        return [_plain(value) for value in values]
    return values.item() if isinstance(values, Tensor) and values.numel() == 1 else values


def _holds_arrays(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


def _filled(name: str, value: float) -> Any:
    def create(
        *shape: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        from .shape import shape_arguments

        place = devices.as_device(device)
        kind = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
        array = np.full(shape_arguments(shape), value, kind)
        return Tensor(devices.put(array, place), requires_grad)

    create.__name__ = name
    create.__doc__ = f"Return a leaf of the given shape filled with {value}."
    return create


zeros = _filled("zeros", 0)
ones = _filled("ones", 1)
