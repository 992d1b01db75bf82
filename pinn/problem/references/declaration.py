"""How a problem says what it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from pinn.checks import nearest
from pinn.files import TABLE_SUFFIXES, Columns
from pinn.problem.references.table import names
from pinn.schema.columns import ColumnsKind
from pinn.schema.declared import built, dump, fields_of, read_fields
from pinn.schema.errors import Mistakes, Path, refuse_kind
from pinn.schema.kinds import Formula, Kind, Names, listed, refuse_node
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar
from pinn.tables import Table

_COLUMNS = ColumnsKind()


@dataclass(frozen=True)
class ReferenceKind(Kind):
    """The name of a reference that ships, the path of a table, a formula or a table for each
    unknown, or a function of the namespace.
    """

    what = (
        "the name of a shipped reference or of a CSV or npz file, or a mapping from unknowns to "
        "expressions or {table: file}"
    )

    def check(self, value: Any) -> str | Columns | dict[str, Any] | Callable:
        if isinstance(value, FilePath) or (isinstance(value, str) and _is_file(value)):
            return _COLUMNS.check(value)
        if isinstance(value, str | Columns):
            return value  # the problem, which knows its unknowns, looks them up
        if isinstance(value, Table):
            return {value.value: value}
        if isinstance(value, Mapping):
            mistakes, given = Mistakes(), {}
            for name, one in value.items():
                with mistakes.under(name):
                    given[name] = Table(name, **one) if isinstance(one, Mapping) else one
            mistakes.end()
            return Names(FormulaOrValues()).check(given)
        if callable(value) and not isinstance(value, type):
            return value
        refuse_kind(
            "the name of a shipped reference or of a file, a mapping from unknowns to texts or "
            "tables, or a function",
            value,
        )

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, MappingNode):
            return self._read_each(node, path, reader)
        if not isinstance(node, Scalar):
            return refuse_node(self, node, path, reader)
        if node.text in names():
            return node.text
        if _is_file(node.text):
            return _COLUMNS.read(node, path, reader)
        what = f"one of {listed(names())}, the name of a file, or {{unknown: expression}}"
        hint = nearest(node.text, names())
        return reader.complain(path, f"expected {what}, got {node}{hint}", node.place)

    def _read_each(self, node: MappingNode, path: Path, reader: Reader) -> Any:
        """Return formulas and tables by unknown."""
        formulas = {n: one for n, one in node.entries.items() if not isinstance(one, MappingNode)}
        plain = MappingNode(formulas, node.place, node.key_places)
        found = Names(Formula()).read(plain, path, reader)
        tables = {}
        for name in (name for name in node.entries if name not in formulas):
            below = (*path, name)
            reader.note(below, node.key_places[name])
            fields = {n: field for n, field in fields_of(Table).items() if n != "value"}
            values = read_fields(fields, node.entries[name], below, reader)
            if values is not INVALID:
                values = built(Table, {"value": name, **values}, below, reader)
            tables[name] = values
        if found is INVALID or any(one is INVALID for one in tables.values()):
            return INVALID
        return {name: tables[name] if name in tables else found[name] for name in node.entries}

    def dump(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return None if callable(value) else value
        # A formula that was a function is left out; the others can still be compared with.
        found = {name: one for name, one in value.items() if not callable(one)}
        return {name: _plain(one) for name, one in found.items()} or None


@dataclass(frozen=True)
class FormulaOrValues(Formula):
    """A formula, a pinn.Table, or a list of arrays: the coordinates, and the values there."""

    def check(self, value: Any) -> Any:
        if isinstance(value, Table):
            return value
        if isinstance(value, tuple | list) and len(value) > 1 and all(map(np.ndim, value)):
            return Table.of_arrays(value)
        return super().check(value)


def _is_file(text: str) -> bool:
    return text not in names() and FilePath(text).suffix.lower() in TABLE_SUFFIXES


def _plain(one: Any) -> Any:
    if not isinstance(one, Table):
        return one
    return {name: given for name, given in dump(one).items() if name in ("table", "over")}
