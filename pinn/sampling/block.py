"""The settings of some blocks, where they are not those of the others of their kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pinn.files import Columns
from pinn.sampling.adaptive import ADAPTIVE
from pinn.sampling.methods import METHODS
from pinn.schema import Count, Text, declared
from pinn.schema.columns import ColumnsKind
from pinn.schema.declared import Record, dump
from pinn.schema.errors import Path, at, refuse
from pinn.schema.kinds import Entry, Integer, Optional
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Node, Scalar


@declared(owner="block")
class BlockSampling:
    """What one block has instead of what others of its kind have; None for what is the same.

    count: points. method, adaptive, density, batch: as of the sampling as a whole, also for blocks
    that are conditions; adaptive "even" for points that look at no residual. points: points of your
    own instead, which stay the same throughout: a CSV or npz file (in a config relative to it) with
    a column for each coordinate, a mapping of such columns, or a list of rows; on a boundary they
    have the normals that its shape has there. Blocks that hold at the same place share their points
    as long as their settings are equal.
    """

    count: Count | None = None
    method: Annotated[str, Entry(METHODS)] | None = None
    adaptive: Annotated[str, Entry(ADAPTIVE)] | None = None
    density: Text | None = None
    batch: Count | None = None
    points: Annotated[Columns | None, Optional(ColumnsKind(rows=True))] = None

    def __post_init__(self) -> None:
        if self.points is None:
            return
        if self.points.path is None:  # a file is read when its points are needed
            with at("points"):
                self.points.rows(self.points.names, ())
        for name in ("count", "method", "adaptive", "density"):
            if getattr(self, name) is not None:
                refuse("expected none of it beside points of your own, which are all used", name)


@dataclass(frozen=True)
class BlockKind(Record):
    """The settings of a block, or its number of points alone."""

    cls: Any = BlockSampling

    @property
    def what(self) -> str:
        return f"a number of points, or {super().what}"

    def check(self, value: Any) -> BlockSampling:
        if isinstance(value, int) and not isinstance(value, bool):
            return BlockSampling(count=value)
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return BlockSampling(**value)
        return super().check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and not node.is_null:
            count = Integer(low=1).read(node, path, reader)
            return INVALID if count is INVALID else BlockSampling(count=count)
        return super().read(node, path, reader)

    def dump(self, value: BlockSampling) -> Any:
        given = {name: one for name, one in dump(value).items() if one is not None}
        return given["count"] if given.keys() == {"count"} else given
