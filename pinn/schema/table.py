"""Columns of numbers by name, given as arrays or as a file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pinn import expressions
from pinn.files.columns import ColumnFile
from pinn.schema.errors import Path as Keys
from pinn.schema.errors import refuse, refuse_kind
from pinn.schema.kinds import NUMBERS, Kind, Number, Text, refuse_node
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar


class Table:
    """Columns of numbers: arrays by name, or the file at an absolute path.

    A file is read when its columns are first asked for, and once. is_stored: the path comes from a
    file that pinn wrote, so nobody may look for it before its numbers are needed.
    """

    def __init__(
        self,
        arrays: Mapping[str, np.ndarray] | None = None,
        path: Path | None = None,
        is_stored: bool = False,
    ) -> None:
        self.arrays = arrays
        self.path = path
        self.is_stored = is_stored and arrays is None

    @cached_property
    def _file(self) -> ColumnFile:
        return ColumnFile(self.path)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._file.names if self.arrays is None else tuple(self.arrays)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file, or of the arrays with their names; hexadecimal text."""
        if self.arrays is None:
            return self._file.digest
        found = hashlib.sha256()
        for name, array in self.arrays.items():
            found.update(name.encode())
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def column(self, name: str) -> np.ndarray:
        """Return a column, float64 (n,); a number that was given as one is of shape (1,).

        Raises ValueError, with the place, where there is none of that name, for a cell that is no
        number and for a number that is not finite.
        """
        if self.arrays is None:
            found = self._file.column(name)
        elif name not in self.arrays:
            raise ValueError(f"no column {name!r}; the columns are {', '.join(self.arrays)}")
        else:
            found = self.arrays[name]
        bad = np.flatnonzero(~np.isfinite(found))
        if bad.size:
            message = f"{self.place(bad[0])}: column {name!r}: expected a finite number, got "
            raise ValueError(message + str(found[bad[0]]))
        return found

    def place(self, row: int) -> str:
        """Return where a row stands: "measured.csv:12", "row 10"."""
        return f"row {row}" if self.arrays is not None else self._file.place(int(row))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        if self.arrays is None or other.arrays is None:
            return self.path == other.path and self.arrays is other.arrays
        return self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.path if self.arrays is None else self.digest)

    def __repr__(self) -> str:
        return repr(str(self.path)) if self.arrays is None else f"<Table {', '.join(self.names)}>"


@dataclass(frozen=True)
class TableKind(Kind):
    """Columns of numbers: a mapping from names to arrays, or the path of a CSV or npz file.

    A path in a config is relative to the config's folder, one in Python to the working directory.
    It is written as an absolute one.
    """

    what = "the path of a CSV or npz file, or a mapping from names to numbers"

    def check(self, value: Any) -> Table:
        if isinstance(value, Table):
            return value
        if isinstance(value, str | Path):
            return Table(path=Path(Text(self.what).check(str(value))).absolute())
        if not isinstance(value, Mapping):
            refuse_kind(self.what, value)
        if not value:
            refuse(f"expected {self.what}, got an empty mapping")
        return Table({Text("a name").check(n): _array(n, column) for n, column in value.items()})

    def read(self, node: Node, path: Keys, reader: Reader) -> Any:
        if isinstance(node, Scalar) and not node.is_null:
            return Table(path=(reader.folder / node.text).absolute(), is_stored=reader.stored)
        if not isinstance(node, MappingNode) or not node.entries:
            return refuse_node(self, node, path, reader)
        columns = {}
        for name, entry in node.entries.items():
            below = (*path, name)
            reader.note(below, node.key_places[name])
            columns[name] = NUMBERS.read(entry, below, reader)
        return INVALID if INVALID in columns.values() else self.check(columns)

    def dump(self, value: Table) -> Any:
        if value.arrays is None:
            return str(value.path)
        return {name: array.tolist() for name, array in value.arrays.items()}


def _array(name: str, given: Any) -> np.ndarray:
    """Return numbers as float64 (n,), a number as (1,)."""
    try:
        array = np.asarray(given)
    except ValueError:
        array = np.array(None)
    if array.dtype.kind not in "iufb" or not array.size:
        refuse(f"expected an array of numbers, got {type(given).__name__} {array.dtype}", name)
    return np.array(array, dtype=np.float64).reshape(-1)


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
