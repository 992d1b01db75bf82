"""Arrays that only meet their own kind, and numpy's functions of them, counted."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import counts, cuda, graphs, missing


class StrictArray(np.lib.mixins.NDArrayOperatorsMixin):
    """A numpy array that only meets its own kind.

    index: of the device that it lies on, the current one where left out.
    """

    __slots__ = ("_host", "index")
    __array_priority__ = 100

    def __init__(self, host: np.ndarray, index: int | None = None) -> None:
        self._host = host
        self.index = cuda.current() if index is None else index

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError(
            "implicit conversion of a device array to a host array; copy it with to_host()"
        )

    def __array_ufunc__(self, ufunc: np.ufunc, how: str, *args: Any, **kwargs: Any) -> Any:
        missing.check_call(ufunc, kwargs, how)
        return _called(ufunc if how == "__call__" else getattr(ufunc, how), args, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _called(function, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        arguments, key = [self, key], _unwrap(key)
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(one, (np.ndarray, list)) for one in parts):
            graphs.refuse("chosen elements")
            launched(arguments)
            counts.allocation()
        if any(isinstance(one, np.ndarray) and one.dtype == bool for one in parts):
            counts.wait()  # the host has to know how many there are
        found = self._host[key]
        if isinstance(found, np.generic):  # on a device a single element is a view, too
            found = self._host[(*parts, ...)]
        return StrictArray(found, self.index)

    def __setitem__(self, key: Any, value: Any) -> None:
        _called(self._host.__setitem__, (key, value), {}, self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in missing.OF_ARRAYS:
            raise AttributeError(f"an array of the device has no {name!r}")
        found = getattr(self._host, name)
        if not callable(found):
            return _wrap(found, self.index)
        return lambda *args, **kwargs: _called(found, args, kwargs, self)

    @property
    def data(self) -> SimpleNamespace:
        """Where its memory is."""
        return SimpleNamespace(ptr=self._host.ctypes.data, device_id=self.index)

    @property
    def flags(self) -> SimpleNamespace:
        """What is known of its memory, under cupy's names."""
        return SimpleNamespace(**{name: getattr(self._host.flags, name) for name in missing.FLAGS})

    def item(self) -> Any:
        """Return the only element as a Python number."""
        graphs.refuse("a copy to the host")
        counts.download(self._host.itemsize)
        return self._host.item()

    @property
    def shape(self) -> tuple:
        return self._host.shape

    @property
    def dtype(self) -> np.dtype:
        return self._host.dtype

    def __len__(self) -> int:
        return len(self._host)

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def _number(self) -> Any:
        if self._host.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self.item()

    def __repr__(self) -> str:
        return f"StrictArray({self._host!r})"


def _wrap(value: Any, index: int) -> Any:
    """Return numpy's results as arrays of a device."""
    if isinstance(value, np.ndarray):
        return StrictArray(value, index)
    if isinstance(value, np.generic):
        return StrictArray(np.asarray(value), index)
    if isinstance(value, tuple) and any(isinstance(v, (np.ndarray, np.generic)) for v in value):
        wrapped = tuple(_wrap(v, index) for v in value)
        return type(value)(*wrapped) if hasattr(value, "_fields") else wrapped
    if isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value):
        return [_wrap(v, index) for v in value]
    return value


def _indices(values: Any) -> set[int]:
    """Return the numbers of the devices of all arrays in some arguments."""
    if isinstance(values, StrictArray):
        return {values.index}
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, (tuple, list)):
        return set()
    return set().union(*map(_indices, values))


def launched(arguments: Any) -> None:
    """Count a launch on the current device, on which all arrays must lie."""
    counts.launch()
    for index in _indices(arguments):
        cuda.check(index)


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


class OutOfMemory(MemoryError):
    """What cupy.cuda.memory.OutOfMemoryError is: its text has the bytes that were asked for."""


class Namespace:
    """numpy's functions, taking and giving strict arrays; new memory is full of NaN.

    free: bytes that a new array may take; OutOfMemory is raised for more.
    """

    ndarray = StrictArray

    def __init__(self, module: Any = np) -> None:
        self._module = module
        self.free = 8 << 30

    def __getattr__(self, name: str) -> Any:
        if name in missing.OF_MODULES.get(self._module.__name__, ()):
            raise AttributeError(f"cupy has no {name!r} of {self._module.__name__}")
        found = getattr(self._module, name)
        if isinstance(found, type(np)):
            return Namespace(found)
        if isinstance(found, type) or not callable(found):
            return found

        def function(*args: Any, **kwargs: Any) -> Any:
            missing.check_call(found, kwargs)
            return _called(found, args, kwargs)

        function.__name__ = name
        return function

    def empty(self, shape: Any, dtype: Any = np.float64) -> StrictArray:
        """Return memory that nothing was written to: it is full of bits that are a NaN."""
        made = np.empty(shape, dtype)
        if made.nbytes > self.free:
            raise OutOfMemory(f"Out of memory allocating {made.nbytes:,} bytes")
        graphs.allocate(made.nbytes)
        made.reshape(-1).view(np.uint8)[...] = 0xFF
        return StrictArray(made)


_FREE = frozenset({
    "shape", "ndim", "size", "result_type", "may_share_memory", "shares_memory",
})  # fmt: skip
"""Functions that only look at what an array is, or say what may be done with it."""

_VIEWS = frozenset({
    "reshape", "transpose", "swapaxes", "moveaxis", "broadcast_to", "squeeze", "expand_dims",
    "ravel", "ascontiguousarray",
})  # fmt: skip
"""Functions that a capture may meet: what they give must be a view."""

_READ_ONLY = frozenset({"broadcast_to", "diagonal"})
"""Views of numpy's that may not be written to; cupy's may."""


def _called(function: Callable, args: Any, kwargs: Any, owner: StrictArray | None = None) -> Any:
    """Call a function with host arrays, and count a launch unless it only gives a view.

    owner: the array that the function is a method of.
    """
    given = [owner, args, kwargs]
    args, kwargs = _unwrap(args), _unwrap(kwargs)
    name = getattr(function, "__name__", "")
    if name not in _FREE and name not in _VIEWS:
        graphs.refuse(f"operation {name}")
    found = function(*args, **kwargs)
    if name in _READ_ONLY:
        found.setflags(write=True)
    indices = _indices(given)
    whole = None if owner is None else owner._host
    if name not in _FREE:
        if "out" not in kwargs and _is_view(found, [*args, whole]):
            return _wrap(found, min(indices))
        graphs.refuse(f"operation {name}")
        launched(given)
        if "out" not in kwargs and found is not None:
            counts.allocation()
    return _wrap(found, cuda.current())


def _is_view(found: Any, sources: list[Any]) -> bool:
    results = found if isinstance(found, (tuple, list)) else [found]
    arrays = [a for one in sources for a in (one if isinstance(one, (tuple, list)) else [one])]
    arrays = [a for a in arrays if isinstance(a, np.ndarray)]
    return bool(results) and all(
        isinstance(one, np.ndarray) and any(np.may_share_memory(one, a) for a in arrays)
        for one in results
    )
