"""Devices: numpy on the host, cupy on a GPU, and whatever a test registers, behind one interface.

A backend names its array type and its array namespace.  Operators receive the namespace as `xp`
and never ask which backend they run on.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Device:
    """A place for arrays: a type ("cpu", "cuda") and, for GPUs, an index."""

    type: str
    index: int | None = None

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type={self.type!r}" + (
            ")" if self.index is None else f", index={self.index})"
        )


CPU = Device("cpu")


class DeviceError(RuntimeError):
    """A device was asked for that is not there or not usable."""


@dataclass(frozen=True)
class Backend:
    """What the library needs to know of an array library.

    `xp` is the array namespace, `special` has erf and the like, `from_host(array, index)` and
    `to_host(array)` copy between a numpy array and the device, `index_of(array)` is the device
    number (None on the host), `owner_of(array)` is the object whose memory the array lies in,
    `scatter_add(array, index, values)` adds in place with repeats, `linalg_raises()` is a context
    in which factorisations raise numpy's LinAlgError, for which the host waits; outside of it a GPU
    goes on with numbers that mean nothing.  `load_linalg()` has `solve_triangular`, on the host
    `get_lapack_funcs` as well, and `free_memory(index)` is what new arrays may take, in bytes; None
    where that is unknown.
    `load_nccl()` is the module of the functions by which GPUs of several processes exchange arrays,
    None where there is none.  `current(index)` is a block, and `use(index)` a call, that makes a
    device the one on which kernels run and new arrays lie, in this thread.  `count()` is how many
    there are, None where the type has no numbers.
    """

    type: str
    array_type: type
    xp: Any
    load_special: Callable[[], Any]
    from_host: Callable[[np.ndarray, int | None], Any]
    to_host: Callable[[Any], np.ndarray]
    index_of: Callable[[Any], int | None]
    owner_of: Callable[[Any], Any]
    scatter_add: Callable[[Any, Any, Any], None]
    load_linalg: Callable[[], Any]
    linalg_raises: Callable[[], AbstractContextManager[None]] = nullcontext
    load_nccl: Callable[[], Any] = lambda: None
    current: Callable[[int | None], AbstractContextManager] = lambda index: nullcontext()
    use: Callable[[int | None], Any] = lambda index: None
    free_memory: Callable[[int | None], int | None] = lambda index: None
    count: Callable[[], int | None] = lambda: None


def _scipy_special() -> Any:
    import scipy.special

    return scipy.special


def _scipy_linalg() -> Any:
    import scipy.linalg

    return scipy.linalg


_NUMPY = Backend(
    type="cpu",
    array_type=np.ndarray,
    xp=np,
    load_special=_scipy_special,
    from_host=lambda array, index: array,
    to_host=lambda array: array,
    index_of=lambda array: None,
    owner_of=lambda array: array if array.base is None else array.base,
    scatter_add=np.add.at,
    load_linalg=_scipy_linalg,
)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _load_cupy() -> Backend:
    """Return the cupy backend; raises DeviceError when cupy or a working driver is missing.

    Importable is not usable: a kernel is run before the device counts as there.
    """
    try:
        import cupy
    except ModuleNotFoundError as error:
        raise DeviceError(
            "device 'cuda' needs cupy, which is not installed; for CUDA 12 pip install "
            "cupy-cuda12x[ctk] brings it, for CUDA 13 cupy-cuda13x[ctk]; or use device='cpu'"
        ) from error
    except ImportError as error:  # cupy's text is a page about the one that caused it
        raise DeviceError(
            f"device 'cuda' is not usable: {_first_line(error.__cause__ or error)}; "
            "install cupy anew, or use device='cpu'"
        ) from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
        probe = float((cupy.arange(3.0) + 1).sum()) if count else 0.0
    except Exception as error:  # cupy raises its own and the driver's errors here
        raise DeviceError(
            f"device 'cuda' is not usable: {_first_line(error)}; "
            "check the driver, or use device='cpu'"
        ) from error
    if probe != 6.0:
        raise DeviceError("device 'cuda' is not usable: no GPU found; use device='cpu'")

    def from_host(array: np.ndarray, index: int | None) -> Any:
        with cupy.cuda.Device(index or 0):
            return cupy.asarray(array)

    def special() -> Any:
        import cupyx.scipy.special

        return cupyx.scipy.special

    def scatter_add(array: Any, index: Any, values: Any) -> None:
        cupy.add.at(array, index, values)

    def linalg() -> Any:
        import cupyx.scipy.linalg

        return cupyx.scipy.linalg

    def linalg_raises() -> AbstractContextManager[None]:
        import cupyx

        # Without it what a failed factorisation leaves behind is returned as its result.
        return cupyx.errstate(linalg="raise")

    def nccl() -> Any:
        with warnings.catch_warnings():  # what is missing is said where it is asked for
            warnings.simplefilter("ignore")
            from cupy.cuda import nccl
        return nccl if nccl.available else None

    def free_memory(index: int | None) -> int:
        pool = cupy.get_default_memory_pool()
        with cupy.cuda.Device(index or 0) as device:
            free, limit = device.mem_info[0] + pool.free_bytes(), pool.get_limit()
            return min(free, limit - pool.used_bytes()) if limit else free

    return Backend(
        type="cuda",
        array_type=cupy.ndarray,
        xp=cupy,
        load_special=special,
        from_host=from_host,
        to_host=cupy.asnumpy,
        index_of=lambda array: array.device.id,
        owner_of=lambda array: array if array.base is None else array.base,
        scatter_add=scatter_add,
        load_linalg=linalg,
        linalg_raises=linalg_raises,
        load_nccl=nccl,
        current=lambda index: cupy.cuda.Device(index or 0),
        use=lambda index: cupy.cuda.Device(index or 0).use(),
        free_memory=free_memory,
        count=cupy.cuda.runtime.getDeviceCount,
    )


_loaders: dict[str, Callable[[], Backend]] = {"cuda": _load_cupy}
_by_type: dict[str, Backend] = {"cpu": _NUMPY}
_by_array_type: dict[type, Backend] = {np.ndarray: _NUMPY}


def backend(device_type: str) -> Backend:
    """Return the backend of a device type; raises DeviceError when it is not usable."""
    found = _by_type.get(device_type)
    if found is None:
        if device_type not in _loaders:
            known = sorted({*_by_type, *_loaders})
            hint = "; a GPU is 'cuda' or 'cuda:0'" if device_type.lower() == "gpu" else ""
            raise DeviceError(
                f"unknown device type {device_type!r}; the known ones are {known}{hint}"
            )
        found = _loaders[device_type]()
        _by_type[device_type] = found
        _by_array_type[found.array_type] = found
    return found


def backend_of(array: Any) -> Backend:
    """Return the backend that owns an array."""
    found = _by_array_type.get(type(array))
    if found is None:
        for array_type, candidate in _by_array_type.items():
            if isinstance(array, array_type):
                return candidate
        raise TypeError(f"not an array of a known device: {type(array).__name__}")
    return found


def namespace_of(array: Any) -> Any:
    """Return the array namespace (`numpy`, `cupy`, ...) of an array."""
    return np if type(array) is np.ndarray else backend_of(array).xp


class OwnSpecial(ABC):
    """An array namespace of no device, which has special functions of its own."""

    @property
    @abstractmethod
    def special(self) -> Any:
        """The special functions (erf, ...)."""


def special_of(xp: Any) -> Any:
    """Return the special functions (erf, ...) that belong to an array namespace."""
    for candidate in _by_type.values():
        if candidate.xp is xp:
            return candidate.load_special()
    if isinstance(xp, OwnSpecial):
        return xp.special
    raise TypeError(f"not the namespace of a known device: {xp!r}")


def linalg_raises(xp: Any) -> AbstractContextManager[None]:
    """Return a context in which failures of xp.linalg raise numpy's LinAlgError."""
    for candidate in _by_type.values():
        if candidate.xp is xp:
            return candidate.linalg_raises()
    return nullcontext()


def device_of(array: Any) -> Device:
    """Return the device an array lies on."""
    if type(array) is np.ndarray:
        return CPU
    owner = backend_of(array)
    index = owner.index_of(array)
    return CPU if index is None and owner is _NUMPY else Device(owner.type, index)


_default = CPU


def set_default_device(device: Any) -> None:
    """Set the device of new tensors and parameters for which none is named; None: the host.

    Raises DeviceError for unknown or unusable devices.
    """
    global _default
    _default = CPU if device is None else as_device(device)


def get_default_device() -> Device:
    """Return the device of new tensors for which none is named."""
    return _default


def as_device(device: Any) -> Device:
    """Return a Device from a Device, a text such as "cpu", "cuda", "cuda:0", or None.

    None is the host, or what `set_default_device` was given.

    Raises DeviceError for unknown or unusable devices.
    """
    if device is None:
        return _default
    if isinstance(device, Device):
        backend(device.type)
        return device
    if not isinstance(device, str):
        raise TypeError(f"a device is a text such as 'cpu' or 'cuda:0', got {device!r}")
    kind, _, number = device.partition(":")
    if kind == "cpu":
        return CPU
    found = backend(kind)
    if number and not number.isdigit():
        raise DeviceError(f"cannot read device {device!r}; write for example 'cuda:0'")
    index = int(number) if number else 0
    count = found.count() if index else None  # the first is there, or the type would not be usable
    if count is not None and index >= count:
        there = f"are {count}, numbers 0 to {count - 1}" if count > 1 else "is 1, number 0"
        raise DeviceError(
            f"device {device!r} is not there: of the GPUs that this process sees there {there}; "
            "CUDA_VISIBLE_DEVICES says which it sees"
        )
    return Device(kind, index)


def current(device: Device) -> AbstractContextManager:
    """Return a block in which kernels run on a device, and new arrays of its type lie there."""
    return backend(device.type).current(device.index)


def use(device: Device) -> None:
    """Let kernels run on a device from now on, and new arrays of its type lie there."""
    backend(device.type).use(device.index)


def on_its_device(function: Callable) -> Callable:
    """Return a function that runs while the device of its first argument, an array, is current."""

    @wraps(function)
    def run(array: Any, *args: Any, **kwargs: Any) -> Any:
        if type(array) is np.ndarray:
            return function(array, *args, **kwargs)
        with current(device_of(array)):
            return function(array, *args, **kwargs)

    return run


@on_its_device
def write(array: Any, numbers: Any) -> None:
    """Write numbers, or an array of the same device, into an array."""
    array[...] = numbers


@on_its_device
def copied(array: Any, dtype: Any = None) -> Any:
    """Return a copy of an array, in another dtype where one is given."""
    return array.copy() if dtype is None else array.astype(dtype)


@on_its_device
def cast(array: Any, dtype: Any) -> Any:
    """Return an array in a dtype: itself where it has it already."""
    return array.astype(dtype, copy=False)


def zeros(shape: tuple[int, ...], dtype: Any, device: Device) -> Any:
    """Return an array of zeros on a device."""
    with current(device):
        return backend(device.type).xp.zeros(shape, dtype)


def share_memory(a: Any, b: Any) -> bool:
    """Return whether two arrays of one device lie in memory of the same owner."""
    if type(a) is np.ndarray and type(b) is np.ndarray:
        return (a if a.base is None else a.base) is (b if b.base is None else b.base)
    owner_of = backend_of(a).owner_of
    return owner_of(a) is owner_of(b)


def overlaps_itself(array: Any) -> bool:
    """Return whether elements share a place in memory, as those of an expanded tensor do."""
    return array.size > 0 and any(
        stride == 0 and size > 1 for stride, size in zip(array.strides, array.shape, strict=True)
    )


def put(array: Any, device: Device) -> Any:
    """Return `array` on `device` (itself when it is there already)."""
    if device_of(array) == device:
        return array
    return backend(device.type).from_host(backend_of(array).to_host(array), device.index)


def put_together(arrays: Sequence[Any], device: Device) -> list[Any]:
    """Return arrays of one device and dtype on another, which takes a single copy.

    They are dense there; themselves where they are on it already.
    """
    if not arrays or device_of(arrays[0]) == device:
        return list(arrays)
    with current(device_of(arrays[0])):
        joined = namespace_of(arrays[0]).concatenate([a.reshape(-1) for a in arrays])
    joined = put(joined, device)
    ends = np.cumsum([a.size for a in arrays]).tolist()
    return [
        joined[end - a.size : end].reshape(a.shape) for a, end in zip(arrays, ends, strict=True)
    ]


def cuda_is_available() -> bool:
    """Return whether device "cuda" is usable on this machine."""
    try:
        backend("cuda")
    except DeviceError:
        return False
    return True


@contextmanager
def registered(replacement: Backend):  # noqa: ANN201 - a context manager
    """Let `replacement` stand for its device type inside the context (for test devices)."""
    tables = ((_by_type, replacement.type), (_by_array_type, replacement.array_type))
    before = [table.get(key) for table, key in tables]
    for table, key in tables:
        table[key] = replacement
    try:
        yield replacement
    finally:
        for (table, key), previous in zip(tables, before, strict=True):
            if previous is None:
                del table[key]
            else:
                table[key] = previous
