"""The value of a condition: a formula, or a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pinn.schema.declared import Record
from pinn.schema.errors import Path
from pinn.schema.kinds import Formula
from pinn.schema.reader import Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node
from pinn.tables.table import Table


@dataclass(frozen=True)
class FormulaOrTable(Formula):
    """A formula, a pinn.Table, or a list of arrays: where, and the values there; (xs, us)."""

    def check(self, value: Any) -> Any:
        if isinstance(value, Table):
            return value
        if isinstance(value, tuple | list) and len(value) > 1 and all(map(np.ndim, value)):
            return Table.of_arrays(value)
        return super().check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, MappingNode):
            return Record(Table).read(node, path, reader)
        return super().read(node, path, reader)

    def dump(self, value: Any) -> Any:
        return Record(Table).dump(value) if isinstance(value, Table) else super().dump(value)
