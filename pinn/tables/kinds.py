"""What a declaration holds of a table: its columns, given as arrays or as a file."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pinn.files import sentence_of
from pinn.schema.errors import Path as KeyPath
from pinn.schema.errors import refuse, refuse_kind
from pinn.schema.kinds import NAME, Kind, refuse_node
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar, Sequence
from pinn.tables.columns import Columns, columns_of, read_columns

# A longer array is written as its bytes.
_MOST_NUMBERS = 64
_BYTES, _SHAPE = "float64", "shape"


@dataclass(frozen=True)
class ColumnsKind(Kind):
    """Arrays by name, or the name of a file that has them.

    In a config the file is relative to it. What is written are the arrays, so that a solution or a
    resolved config needs no other file.
    """

    what = "a file (.csv, .npz) or a mapping from names to numbers such as {x: [0, 1], a: [2, 3]}"

    def check(self, value: Any) -> Columns:
        if isinstance(value, Columns):
            return value
        try:
            if isinstance(value, str | Path):
                return read_columns(value)
            if isinstance(value, Mapping):
                return columns_of({NAME.check(name): array for name, array in value.items()})
        except OSError as error:
            refuse(sentence_of(error))
        except ValueError as error:
            refuse(str(error))
        refuse_kind(self.what, value)

    def read(self, node: Node, path: KeyPath, reader: Reader) -> Any:
        if isinstance(node, Scalar) and not node.is_null and not reader.stored:
            source = Path(node.place.source).parent / node.text
        elif isinstance(node, MappingNode):
            source = {}
            for name, one in node.entries.items():
                reader.note((*path, name), node.key_places[name])
                source[name] = self._array(one, (*path, name), reader)
            if any(array is INVALID for array in source.values()):
                return INVALID
        else:
            return refuse_node(self, node, path, reader)
        try:
            return self.check(source)
        except ValueError as error:
            mistakes = getattr(error, "mistakes", None)
            text = mistakes[0].message if mistakes else str(error)
            return reader.complain(path, text, node.place)

    def _array(self, node: Node, path: KeyPath, reader: Reader) -> Any:
        if isinstance(node, MappingNode) and set(node.entries) == {_BYTES, _SHAPE}:
            found = _from_bytes(_plain(node))
            if found is not None:
                return found
        if isinstance(node, Sequence):
            try:
                return np.asarray(_plain(node), dtype=np.float64)
            except (TypeError, ValueError):
                pass
        return reader.complain(path, f"expected a list of numbers, got {node}", node.place)

    def dump(self, value: Columns) -> dict[str, Any]:
        return {name: _written(array) for name, array in value.arrays.items()}


def _plain(node: Node) -> Any:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [_plain(item) for item in node.items]
    return {name: _plain(item) for name, item in node.entries.items()}


def _written(array: np.ndarray) -> Any:
    if array.size <= _MOST_NUMBERS:
        return array.tolist()
    data = base64.b64encode(array.astype("<f8").tobytes()).decode("ascii")
    return {_BYTES: data, _SHAPE: list(array.shape)}


def _from_bytes(written: Mapping[str, Any]) -> np.ndarray | None:
    """Return the array of what `_written` wrote, None for something else."""
    try:
        data = base64.b64decode(written[_BYTES], validate=True)
        shape = tuple(int(size) for size in written[_SHAPE])
        return np.frombuffer(data, "<f8").astype(np.float64).reshape(shape)
    except (binascii.Error, TypeError, ValueError):
        return None
