"""What a declaration holds of a table: its columns, given as arrays or as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pinn import expressions
from pinn.files import Columns, numbers_of
from pinn.schema.arrays import Array, is_array
from pinn.schema.errors import Path as Keys
from pinn.schema.errors import at, refuse, refuse_kind
from pinn.schema.kinds import Kind, Number, Text, refuse_node
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar, Sequence


@dataclass(frozen=True)
class ColumnsKind(Kind):
    """Columns of numbers: a mapping from names to arrays, or the path of a CSV or npz file.

    A path in a config is relative to the config's folder, one in Python to the working directory.
    rows: whether a list of rows will do, whose columns have no names. kept: whether the numbers are
    written with a declaration, so that a solution or a resolved config needs no other file; else
    the file's absolute path is.
    """

    rows: bool = False
    kept: bool = False

    @property
    def what(self) -> str:
        last = "a mapping from names to numbers such as {x: [0, 1], u: [2, 3]}"
        if self.rows:
            return f"the path of a CSV or npz file, {last}, or a list of rows"
        return f"the path of a CSV or npz file, or {last}"

    def check(self, value: Any) -> Columns:
        if isinstance(value, Columns):
            return value
        if isinstance(value, str | Path):
            return Columns(path=Path(Text(self.what).check(str(value))).absolute())
        if isinstance(value, Mapping):
            return self._of_arrays(value)
        if self.rows and isinstance(value, list | tuple | np.ndarray):
            return self._of_rows(value)
        refuse_kind(self.what, value)

    def _of_arrays(self, value: Mapping[str, Any]) -> Columns:
        if not value:
            refuse(f"expected {self.what}, got an empty mapping")
        arrays = {}
        for name, column in value.items():
            with at(name):
                arrays[Text("a name").check(name)] = numbers_of(column)
        return Columns(arrays)

    def _of_rows(self, value: Any) -> Columns:
        try:
            array = numbers_of(value)
        except ValueError as error:
            refuse(f"expected {self.what}: {error}")
        if array.ndim != 2:
            refuse(f"expected rows of numbers, shape (n, d), got shape {array.shape}")
        return Columns.of_rows(array)

    def read(self, node: Node, path: Keys, reader: Reader) -> Any:
        if isinstance(node, Scalar) and not node.is_null and not (self.kept and reader.stored):
            return Columns(path=(reader.folder / node.text).absolute(), is_stored=reader.stored)
        if self.rows and (isinstance(node, Sequence) or is_array(node)):
            given: Any = Array("a list of rows of numbers").read(node, path, reader)
            valid = given is not INVALID
        elif isinstance(node, MappingNode) and node.entries:
            given = {}
            for name, entry in node.entries.items():
                reader.note((*path, name), node.key_places[name])
                given[name] = Array().read(entry, (*path, name), reader)
            valid = not any(column is INVALID for column in given.values())
        else:
            return refuse_node(self, node, path, reader)
        if not valid:
            return INVALID
        try:
            return self.check(given)
        except ValueError as error:
            return reader.refuse(error, path)

    def dump(self, value: Columns) -> Any:
        if value.path is not None and not self.kept:
            return str(value.path)
        if value.by_position:
            return np.stack([value.column(name) for name in value.names], axis=1)
        return {name: value.column(name) for name in value.names}


@dataclass(frozen=True)
class NumberOrColumn(Kind):
    """A number above zero, or the name of a table's column."""

    what = "a number above zero or the name of a column"

    def check(self, value: Any) -> float | str:
        return Text(self.what).check(value) if isinstance(value, str) else _POSITIVE.check(value)

    def read(self, node: Node, path: Keys, reader: Reader) -> Any:
        if not isinstance(node, Scalar) or node.is_null:
            return refuse_node(self, node, path, reader)
        try:
            expressions.constant(node.text)
        except expressions.ExpressionError:
            return Text(self.what).read(node, path, reader)
        return _POSITIVE.read(node, path, reader)


_POSITIVE = Number(above=0.0)
