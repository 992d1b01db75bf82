"""What an embedding is: a map between a network's inputs and its first layer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import autograd as T
from pinn.geometry import Shape
from pinn.models.parts import Part
from pinn.schema.declared import Member
from pinn.schema.family import Family
from pinn.schema.kinds import Items
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping, Node, Scalar

EMBEDDINGS = Family("embedding", example="pinn.FourierEmbedding()")


@dataclass(frozen=True)
class Piece:
    """Some columns of what a network sees, (n, width).

    name: the coordinate or the feature that they are made of alone, "" where they are made of
    several. extent: the length that 1 stands for where the piece is a coordinate, which runs from
    -1 to 1 over its bounds; middle: the coordinate at 0. about: the place that they tell of, "" for
    none.
    """

    name: str = ""
    width: int = 1
    extent: float | None = None
    middle: float = 0.0
    about: str = ""


class Embedding(ABC):
    """A map from pieces to pieces; several of them are applied one after the other.

    trainable: whether any of its parts is trained.
    """

    family = EMBEDDINGS
    trainable: bool = False

    @abstractmethod
    def pieces(self, given: Sequence[Piece]) -> tuple[Piece, ...]:
        """Return what the pieces become; DeclarationError for pieces that it cannot take."""

    def check(self, domain: Shape, given: Sequence[Piece]) -> None:
        """Raise DeclarationError for a domain in which the pieces are no numbers somewhere."""
        return

    @abstractmethod
    def parts(self, given: Sequence[Piece]) -> dict[str, Part]:
        """Return what the embedding is made of."""

    def joined(self, following: Embedding) -> Embedding | None:
        """Return one that does what both do, with fewer operations, if there is any."""
        return None

    @abstractmethod
    def forward(
        self, parts: dict[str, Any], given: Sequence[Piece], values: Sequence[T.Tensor]
    ) -> list[T.Tensor]:
        """Return the values of `pieces(given)` from those of `given`, each (n, width)."""


EMBEDDINGS.base = Embedding


@dataclass(frozen=True)
class _OneOrMore(Items):
    """A list of embeddings; one alone is a list of one."""

    kind: Member = Member(EMBEDDINGS)
    named: str = "an embedding or a list of them"

    def check(self, value: Any) -> tuple:
        return super().check((value,) if isinstance(value, Embedding | type) else value)

    def read(self, node: Node, path: tuple[str, ...], reader: Reader) -> Any:
        if isinstance(node, Mapping) or (isinstance(node, Scalar) and not node.is_null):
            one = self.kind.read(node, path, reader)
            return INVALID if one is INVALID else (one,)
        return super().read(node, path, reader)


AnyEmbeddings = Annotated[Embedding | Sequence[Embedding], _OneOrMore()]
"""The annotation of an argument that takes embeddings."""
