"""A device for tests: numpy arrays behind a tag that refuse to mix with host arrays.

It behaves as a GPU array library does where that matters: results of reductions are 0-d arrays,
`numpy.asarray` refuses, and an operation on a strict and a host array raises TypeError.  With it
the whole device code runs on a machine without a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .devices import Backend, registered


class StrictArray(np.lib.mixins.NDArrayOperatorsMixin):
    """A numpy array that only meets its own kind."""

    __slots__ = ("_host", "index")
    __array_priority__ = 100

    def __init__(self, host: np.ndarray, index: int = 0) -> None:
        self._host = host
        self.index = index

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError(
            "implicit conversion of a device array to a host array; copy it with to_host()"
        )

    def __array_ufunc__(self, ufunc: np.ufunc, how: str, *args: Any, **kwargs: Any) -> Any:
        return _wrap(getattr(ufunc, how)(*_unwrap(args), **_unwrap(kwargs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _wrap(function(*_unwrap(args), **_unwrap(kwargs)))

    def __getitem__(self, key: Any) -> Any:
        return _wrap(self._host[_unwrap(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._host[_unwrap(key)] = _unwrap(value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._host, name)
        if not callable(found):
            return _wrap(found)
        return lambda *args, **kwargs: _wrap(found(*_unwrap(args), **_unwrap(kwargs)))

    def item(self, *args: Any) -> Any:
        """Return an element as a Python number."""
        return self._host.item(*args)

    @property
    def shape(self) -> tuple:
        return self._host.shape

    @property
    def dtype(self) -> np.dtype:
        return self._host.dtype

    def __len__(self) -> int:
        return len(self._host)

    def __bool__(self) -> bool:
        return bool(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __repr__(self) -> str:
        return f"StrictArray({self._host!r})"


def _wrap(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return StrictArray(value)
    if isinstance(value, np.generic):
        return StrictArray(np.asarray(value))
    if isinstance(value, tuple) and any(isinstance(v, (np.ndarray, np.generic)) for v in value):
        wrapped = tuple(_wrap(v) for v in value)
        return type(value)(*wrapped) if hasattr(value, "_fields") else wrapped
    if isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value):
        return [_wrap(v) for v in value]
    return value


def _unwrap(value: Any) -> Any:
    if isinstance(value, StrictArray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(
            f"a host array of shape {value.shape} was mixed with arrays of the device; "
            "copy it to the device first"
        )
    if isinstance(value, tuple):
        return tuple(_unwrap(v) for v in value)
    if isinstance(value, list):
        return [_unwrap(v) for v in value]
    if isinstance(value, dict):
        return {key: _unwrap(v) for key, v in value.items()}
    return value


class _Namespace:
    """numpy's functions, taking and giving strict arrays."""

    ndarray = StrictArray

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, type(np)):
            return _Namespace(found)
        if isinstance(found, type) or not callable(found):
            return found

        def function(*args: Any, **kwargs: Any) -> Any:
            return _wrap(found(*_unwrap(args), **_unwrap(kwargs)))

        function.__name__ = name
        return function


def _special() -> Any:
    import scipy.special

    return _Namespace(scipy.special)


def _scatter_add(array: StrictArray, index: Any, values: Any) -> None:
    np.add.at(_unwrap(array), _unwrap(index), _unwrap(values))


def _owner(array: StrictArray) -> Any:
    return array._host if array._host.base is None else array._host.base


def strict_backend(device_type: str = "cuda") -> Backend:
    """Return the strict test device under the name of another device type."""
    return Backend(
        type=device_type,
        array_type=StrictArray,
        xp=_Namespace(np),
        load_special=_special,
        from_host=lambda host, index: StrictArray(np.array(host), index or 0),
        to_host=lambda array: np.array(array._host),
        index_of=lambda array: array.index,
        owner_of=_owner,
        scatter_add=_scatter_add,
    )


@contextmanager
def strict_cuda() -> Iterator[Backend]:
    """Let the strict test device stand for "cuda" inside the context."""
    with registered(strict_backend("cuda")) as backend:
        yield backend
