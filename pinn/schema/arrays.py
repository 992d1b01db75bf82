"""Arrays in declarations: how they are written in texts, kept beside them, and read."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinn.files import numbers_of
from pinn.schema.errors import Path, refuse_kind
from pinn.schema.kinds import Kind, Number
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar, Sequence

# A longer array is written as its bytes, or kept beside the text.
_MOST_NUMBERS = 64
_BYTES, _SHAPE, _BESIDE = "float64", "shape", "array"


@dataclass(frozen=True)
class Array(Kind):
    """Numbers as an array of float64, of any shape.

    In a file they are lists; those that pinn writes may be {float64: their bytes in base64, shape},
    or {array: digest} for one that a solution file has beside its declaration.
    """

    what: str = "a list of numbers"

    def check(self, value: Any) -> np.ndarray:
        try:
            return numbers_of(value)
        except ValueError as error:
            refuse_kind(self.what, value, f" ({error})")

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Sequence | Scalar):
            return _numbers(self, node, path, reader)
        found = None
        if is_array(node):
            written = _texts(node)
            beside = reader.arrays.get(written.get(_BESIDE))
            found = _from_bytes(written) if _BYTES in written else beside
        if found is None:
            return reader.complain(path, f"expected {self.what}, got {node}", node.place)
        return found


def is_array(node: Node) -> bool:
    """Return whether a mapping is a longer array as pinn writes it, and not columns by name."""
    if not isinstance(node, MappingNode):
        return False
    names = set(node.entries)
    key = _BYTES if names == {_BYTES, _SHAPE} else _BESIDE if names == {_BESIDE} else None
    return key is not None and isinstance(node.entries[key], Scalar)


def with_texts(data: Any) -> Any:
    """Return what `dump` gave without arrays: short ones as lists, others as their bytes."""
    return _replaced(data, _as_bytes)


def with_arrays_beside(data: Any, beside: dict[str, np.ndarray]) -> Any:
    """Return the same with the digests of longer arrays, which are put into `beside`."""

    def put(array: np.ndarray) -> dict[str, str]:
        found = digest(array)
        beside[found] = array
        return {_BESIDE: found}

    return _replaced(data, put)


def digest(array: np.ndarray) -> str:
    """Return SHA-256 of an array's dtype, shape and numbers, as hexadecimal text."""
    found = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _replaced(data: Any, put: Callable[[np.ndarray], Any]) -> Any:
    if isinstance(data, np.ndarray):
        return data.tolist() if 0 < data.size <= _MOST_NUMBERS else put(data)
    if isinstance(data, Mapping):
        return {key: _replaced(value, put) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_replaced(item, put) for item in data]
    return data


def _as_bytes(array: np.ndarray) -> dict[str, Any]:
    text = base64.b64encode(array.astype("<f8").tobytes()).decode("ascii")
    return {_BYTES: text, _SHAPE: list(array.shape)}


def _from_bytes(written: Mapping[str, Any]) -> np.ndarray | None:
    """Return the array of what `_as_bytes` wrote, None for something else."""
    try:
        data = base64.b64decode(written[_BYTES], validate=True)
        shape = tuple(int(size) for size in written[_SHAPE])
        return np.frombuffer(data, "<f8").astype(np.float64).reshape(shape)
    except (binascii.Error, TypeError, ValueError):
        return None


def _numbers(kind: Kind, node: Node, path: Path, reader: Reader) -> Any:
    """Return lists of numbers, or of expressions of numbers, as an array."""
    try:
        return np.asarray(_texts(node), dtype=np.float64)
    except (TypeError, ValueError):
        pass
    if isinstance(node, Scalar):
        return Number().read(node, path, reader)
    items = [
        _numbers(kind, item, (*path, str(k)), reader)
        if isinstance(item, Sequence | Scalar)
        else reader.complain((*path, str(k)), f"expected a number, got {item}", item.place)
        for k, item in enumerate(node.items)
    ]
    if any(item is INVALID for item in items):
        return INVALID
    try:
        return np.asarray(items, dtype=np.float64)
    except ValueError:
        message = f"expected {kind.what}, got lists of different lengths"
        return reader.complain(path, message, node.place)


def _texts(node: Node) -> Any:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [_texts(item) for item in node.items]
    return {name: _texts(item) for name, item in node.entries.items()}
