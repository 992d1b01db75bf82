"""The value of a condition: a formula, or a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pinn.schema.declared import Record
from pinn.schema.errors import DeclarationError, Path
from pinn.schema.kinds import Formula
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node
from pinn.tables.table import Table


@dataclass(frozen=True)
class FormulaOrTable(Formula):
    """A formula, a pinn.Table, or a list of arrays: where, and the values there; (xs, us)."""

    def check(self, value: Any) -> Any:
        if isinstance(value, tuple | list) and len(value) > 1 and all(map(np.ndim, value)):
            value = Table.of_arrays(value)
        if isinstance(value, Table):
            return value.as_function()
        return super().check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, MappingNode):
            table = Record(Table).read(node, path, reader)
            if table is INVALID:
                return INVALID
            try:
                return table.as_function()
            except DeclarationError as error:
                return reader.refuse(error, path)
        return super().read(node, path, reader)

    def dump(self, value: Any) -> Any:
        return Record(Table).dump(value) if isinstance(value, Table) else super().dump(value)
