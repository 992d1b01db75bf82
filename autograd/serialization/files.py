"""`save` and `load`: archives of arrays and one tree of JSON, which numpy can open as well."""

from __future__ import annotations

import io
import json
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np

from .. import devices, modes
from ..tensor import Tensor
from .atomic import atomic_file
from .objects import ARRAY_KINDS, Reader, Writer

FORMAT, VERSION, TREE = "autograd", 1, "tree.json"
_PICKLE = b"\x80"  # how the files of PyTorch before 1.6 begin
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, TypeError, LookupError,
    EOFError, NotImplementedError, OverflowError, RuntimeError, SyntaxError,
)  # fmt: skip


def save(obj: Any, f: Any) -> None:
    """Write an object to a file, without code: what is read back is numbers and texts alone.

    obj  tensors and parameters of any dtype, arrays, numbers, texts, bytes, None, dtypes and
         devices, in dicts, lists, tuples and sets, nested: the `state_dict()` of a module, an
         optimizer or a schedule.  Tensors that are one object, or have one memory and shape, are
         so again; other views are saved apart.  Graphs, gradients and hooks are not kept.
    f    a path, whose file is replaced as a whole or not at all, or a file opened to write bytes.
    Raises TypeError, with its place, for what cannot be saved, ValueError for what holds itself,
    RuntimeError where the folder is not there.
    """
    modes.refuse_write("autograd.save", "Return the tensors, and save them after the call")
    writer = Writer()
    try:
        tree = writer.tree(obj)
        about = {"format": FORMAT, "version": VERSION, "tensors": writer.tensors, "value": tree}
        text = json.dumps(about, allow_nan=False)
    except RecursionError:
        raise ValueError(
            "autograd.save: the object is nested too deeply; keep lists in place of chains"
        ) from None
    if hasattr(f, "write"):
        _write(_bytes_file(f, "save", "wb"), text, writer.arrays)
        return
    path = os.fsdecode(f)
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise RuntimeError(f"autograd.save: Parent directory {folder} does not exist; make it")
    with atomic_file(path) as file:
        _write(file, text, writer.arrays)


def load(f: Any, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Return the object that `save` wrote to a file.

    f             a path, or a file opened to read bytes.
    map_location  where tensors are put: a device; a dict from devices to devices; a function of a
                  tensor on the host and of the device as text, which returns it where it is to be,
                  or None; by default they go to the device that they were saved from.
    weights_only  changes nothing: no file has anything that could be run.
    Raises FileNotFoundError, RuntimeError for a damaged file or one of another program, and for
    tensors of a device that is not there; what `map_location` raises is passed on.
    """
    if not hasattr(f, "read"):
        with open(f, "rb") as file:
            return _loaded(file, os.fsdecode(f), map_location)
    return _loaded(io.BytesIO(_bytes_file(f, "load", "rb").read()), "the file", map_location)


def _bytes_file(f: Any, name: str, mode: str) -> Any:
    if isinstance(f, io.TextIOBase):
        raise TypeError(f"autograd.{name}: the file is opened for text; open it with mode {mode!r}")
    return f


def _write(file: BinaryIO, text: str, arrays: list[np.ndarray]) -> None:
    with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        # entries of their own carry no date: equal objects give equal bytes
        archive.writestr(zipfile.ZipInfo(TREE), text)
        for number, array in enumerate(arrays):
            entry = zipfile.ZipInfo(f"arrays/{number}.npy")
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def _loaded(file: BinaryIO, name: str, map_location: Any) -> Any:
    """Return the object of a file that can be sought in; every size is compared with its bytes."""
    try:
        about, arrays = _contents(file)
        reader = Reader(arrays, about["tensors"], _located(map_location))
        return reader.value(about["value"])
    except (_NotOurs, devices.DeviceError, _Elsewhere) as error:
        raise RuntimeError(f"{name}: {error}") from None
    except _Raised as error:
        raise error.reason from None
    except (*_DAMAGE, RecursionError) as error:
        raise RuntimeError(
            f"{name}: expected a whole file of autograd.save, but it is damaged or truncated "
            f"({str(error) or type(error).__name__}); restore it from a copy"
        ) from error


class _NotOurs(Exception):
    """A file of another program."""


class _Elsewhere(Exception):
    """A tensor whose device is not there, or a `map_location` that gives none."""


class _Raised(Exception):
    """An error in the caller's `map_location`, which says nothing of the file."""

    def __init__(self, reason: Exception) -> None:
        super().__init__()
        self.reason = reason


def _contents(file: BinaryIO) -> tuple[dict[str, Any], list[np.ndarray]]:
    begins = file.read(4)
    size = file.seek(0, os.SEEK_END)
    if begins[:1] == _PICKLE:
        raise _NotOurs(_of_pytorch())
    if begins[:2] != b"PK":
        raise _NotOurs(
            "expected a file of autograd.save, which is a zip archive, but it begins with "
            f"{begins!r}; " + ("read it with numpy.load" if begins == b"\x93NUM" else "check it")
        )
    with zipfile.ZipFile(file) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        if TREE not in entries:
            if any(entry.endswith("data.pkl") for entry in entries):
                raise _NotOurs(_of_pytorch())
            arrays = bool(entries) and all(entry.endswith(".npy") for entry in entries)
            raise _NotOurs(
                f"expected a file of autograd.save, but the archive has no {TREE}; "
                + ("read it with numpy.load" if arrays else "check it")
            )
        for entry in entries.values():
            if entry.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{entry.filename} is compressed")
        told = sum(entry.file_size for entry in entries.values())
        if told > size:
            raise ValueError(f"{told} bytes are announced and the file has {size}")
        about = json.loads(archive.read(TREE))
        if about["format"] != FORMAT or not isinstance(about["version"], int):
            raise ValueError(f"{TREE} is not of autograd.save")
        if about["version"] > VERSION:
            raise _NotOurs(
                f"it has version {about['version']} of the format, and this autograd knows "
                f"{VERSION}; install a newer one"
            )
        names = [f"arrays/{number}.npy" for number in range(len(entries) - 1)]
        return about, [_array(name, archive.read(name)) for name in names]


def _array(name: str, data: bytes) -> np.ndarray:
    """Return the array of an npy file's bytes; ValueError unless it has just these bytes."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError(f"{name} is of another version of numpy's format")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in ARRAY_KINDS:
        raise ValueError(f"{name} has the dtype {dtype}")
    count = len(data) - stream.tell()
    if math.prod(shape) * dtype.itemsize != count:
        raise ValueError(f"{name} declares shape {shape} of {dtype} and has {count} bytes")
    flat = np.frombuffer(data, dtype, offset=stream.tell()) if count else np.empty(0, dtype)
    return flat.reshape(shape, order="F" if by_columns else "C").copy(order="K")


def _of_pytorch() -> str:
    return (
        "expected a file of autograd.save, but torch.save wrote it; it is a pickle, which is not "
        "read here. Where PyTorch is installed, convert it: "
        "numpy.savez('weights.npz', **{name: value.numpy() for name, value in "
        "torch.load(path, map_location='cpu').items()}); and here: "
        "module.load_state_dict(numpy.load('weights.npz'))"
    )


def _located(map_location: Any) -> Callable[[np.ndarray, str], Any]:
    """Return the function that puts an array where a tensor of that device is to be."""

    def located(array: np.ndarray, device: str) -> Any:
        if callable(map_location):
            try:
                found = map_location(Tensor(array), device)
            except Exception as error:
                raise _Raised(error) from None
            if isinstance(found, Tensor):
                return found._data
            if found is not None:
                raise _Elsewhere(
                    f"map_location must return a Tensor or None, got {type(found).__name__}"
                )
            chosen: Any = device
        elif isinstance(map_location, Mapping):
            by_text = {str(key): value for key, value in map_location.items()}
            chosen = by_text.get(device, device)
        else:
            chosen = device if map_location is None else map_location
        try:
            return devices.put(array, devices.as_device(chosen))
        except (devices.DeviceError, TypeError) as error:
            raise _Elsewhere(
                f"a tensor is to go to device {str(chosen)!r}, which cannot be had ({error}); "
                "load with map_location='cpu'"
            ) from None

    return located
