"""Points of the user's own: the name of a file, columns by name, or rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pinn.files import Table, TableError, read_table, table_of
from pinn.schema.errors import Path as Keys
from pinn.schema.errors import refuse, refuse_kind
from pinn.schema.kinds import Items, Kind, Names, Number, Text, refuse_node
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar, Sequence

_COLUMNS = Names(Items(Number(), "a list of numbers", least=1), "a mapping of columns", least=1)
_ROWS = Items(Items(Number(), "a list of numbers", least=1), "a list of rows", least=1)


@dataclass(frozen=True)
class OwnPoints(Kind):
    """Points as a file's name, as columns or as rows; plain texts and tuples once checked.

    The file is read when its points are asked for: a solution that is loaded has no need of it.
    """

    what = "the name of a CSV or npz file, a mapping from coordinates to numbers, or a list of rows"

    def check(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, str | Path):
            return Text().check(str(value))
        try:
            if isinstance(value, Mapping):
                table = table_of(value)
                return {name: tuple(column.tolist()) for name, column in table.columns.items()}
            rows = np.asarray(value)
            if rows.ndim == 2 and rows.dtype.kind in "fiu" and rows.size:
                table_of({str(k): column for k, column in enumerate(rows.T)})
                return tuple(map(tuple, rows.astype(np.float64).tolist()))
        except ValueError as error:
            refuse(f"expected {self.what}: {error}")
        refuse_kind(self.what, value)

    def read(self, node: Node, path: Keys, reader: Reader) -> Any:
        if isinstance(node, Scalar):
            return None if node.is_null else Text().read(node, path, reader)
        kind = {MappingNode: _COLUMNS, Sequence: _ROWS}[type(node)]
        values = kind.read(node, path, reader)
        if values is INVALID:
            return INVALID
        try:
            return self.check(values)
        except ValueError as error:
            return refuse_node(self, node, path, reader, f": {error}")

    def dump(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: list(column) for name, column in value.items()}
        return [list(row) for row in value] if isinstance(value, tuple) else value


def own_table(points: Any, coordinates: tuple[str, ...]) -> Table:
    """Return checked points of the user's own as a table; TableError for what is in none.

    Rows have the coordinates in the domain's order.
    """
    if isinstance(points, str):
        path = Path(points)
        try:
            return _read(path, path.stat().st_mtime_ns)
        except FileNotFoundError:
            raise TableError(f"{points}: expected a file with points, found none") from None
    if isinstance(points, Mapping):
        return table_of(points)
    widths = {len(row) for row in points}
    if widths != {len(coordinates)}:
        raise TableError(
            f"expected rows of {len(coordinates)} numbers, {', '.join(coordinates)}, got "
            f"{', '.join(map(str, sorted(widths)))}"
        )
    return table_of(dict(zip(coordinates, np.array(points).T, strict=True)))


@lru_cache(maxsize=16)
def _read(path: Path, changed: int) -> Table:
    return read_table(path)
