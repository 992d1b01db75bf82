"""A weighting in a file: `{initial_u: 10}`, a scheme by the name of the table, or a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pinn.objective.weighting.combined import Combined
from pinn.objective.weighting.fixed import WEIGHTS, Fixed
from pinn.objective.weighting.weighting import Weighting
from pinn.schema.declared import Member
from pinn.schema.errors import Path
from pinn.schema.kinds import Items
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar, Sequence


@dataclass(frozen=True)
class WeightingKind(Member):
    """A weighting; a mapping from block names to numbers is a fixed one, None weighs all by 1.

    A list of several is one of the product of their weights.
    """

    @property
    def what(self) -> str:
        return f"a mapping from block names to weights, or {super().what}, or a list of several"

    def check(self, value: Any) -> Weighting:
        if value is None or isinstance(value, Mapping):
            return Fixed(WEIGHTS.check(value))
        if isinstance(value, list | tuple):
            return self._combined(self._several.check(value))
        return super().check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.is_null:
            return Fixed()
        if isinstance(node, MappingNode):
            if not self._is_scheme(node):
                blocks = WEIGHTS.read(node, path, reader)
                return INVALID if blocks is INVALID else Fixed(blocks)
        if isinstance(node, Sequence):
            schemes = self._several.read(node, path, reader)
            return INVALID if schemes is INVALID else self._combined(schemes)
        return super().read(node, path, reader)

    @property
    def _several(self) -> Items:
        return Items(self, "a list of weightings", least=1)

    def _combined(self, schemes: tuple[Weighting, ...]) -> Weighting:
        return schemes[0] if len(schemes) == 1 else Combined(schemes)

    def _is_scheme(self, node: MappingNode) -> bool:
        """Tell `{NAME: {...}}` or `{NAME: }` of a scheme from the weights of blocks."""
        if len(node.entries) != 1:
            return False
        ((name, body),) = node.entries.items()
        bare = isinstance(body, Scalar) and body.is_null and name in self.family
        return bare or isinstance(body, MappingNode)

    def dump(self, value: Weighting) -> Any:
        if type(value) is Combined:
            return self._several.dump(value.schemes)
        return dict(value.blocks) if type(value) is Fixed else super().dump(value)


AnyWeighting = Annotated[Weighting | None, WeightingKind(Weighting.family)]
"""The annotation of an argument that takes a weighting."""
