"""What a network sees: the coordinates or features of them, then embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import autograd as T
from pinn.equations.leaves import Coordinate
from pinn.expressions import Expression, nodes
from pinn.geometry import Shape
from pinn.models.embeddings import Embedding, Piece
from pinn.models.features import Features, resolved
from pinn.models.parts import Maker
from pinn.schema.errors import at, refuse


class InputPlan:
    """The pieces that a network sees, step by step, known before anything is made.

    features: texts in the coordinates, one column each; the coordinates themselves where there are
    none. A coordinate alone is scaled from its bounds to [-1, 1], another text is taken as it is.
    Raises DeclarationError, with the key, for a text that means nothing, a coordinate that no
    feature has, and what an embedding cannot take.
    """

    def __init__(
        self, domain: Shape, features: Sequence[str], embeddings: Sequence[Embedding]
    ) -> None:
        self.bounds = dict(domain.bounds)
        self.trees = _seen(domain, features)
        self.features = Features(domain, self.trees)
        self.embeddings = tuple(embeddings)
        pieces: tuple[Piece, ...] = tuple(map(self._piece, self.trees))
        self.given = []
        for number, embedding in enumerate(self.embeddings):
            self.given.append(pieces)
            with at("embedding", number):
                pieces = embedding.pieces(pieces)
                embedding.check(domain, self.given[-1])
        self.width = sum(piece.width for piece in pieces)
        self._pieces = pieces

    def count(self) -> int:
        """Return how many numbers of the embeddings are trained."""
        return sum(
            part.count(None)
            for embedding, given in zip(self.embeddings, self.given, strict=True)
            for part in embedding.parts(given).values()
        )

    def places(self) -> tuple[list[int], list[list[int]]]:
        """Return the numbers of the inputs about no place, and those about each."""
        ends = np.cumsum([piece.width for piece in self._pieces])
        about: dict[str, list[int]] = {"": []}
        for piece, end in zip(self._pieces, ends.tolist(), strict=True):
            about.setdefault(piece.about, []).extend(range(end - piece.width, end))
        return about.pop(""), list(about.values())

    def _piece(self, tree: Expression) -> Piece:
        if not isinstance(tree, Coordinate):
            return Piece(str(tree))
        low, high = self.bounds[tree.name]
        return Piece(tree.name, extent=(high - low) / 2, middle=(high + low) / 2)


def _seen(domain: Shape, features: Sequence[str]) -> tuple[Expression, ...]:
    names = domain.coordinates
    if not features:
        return tuple(map(Coordinate, names))
    trees = resolved(domain, features, "features")
    seen = {node.name for tree in trees for node in nodes(tree) if isinstance(node, Coordinate)}
    missing = [name for name in names if name not in seen]
    if missing:
        refuse(
            f"none of them has {', '.join(missing)}, which the network then cannot depend on: the "
            "features stand for the coordinates, so name those that are to stay, such as "
            f"[{', '.join([*missing, *features])}]",
            "features",
        )
    return trees


def _joined(plan: InputPlan) -> list[tuple[int, Embedding, Sequence[Piece]]]:
    """Return the number of each embedding, it and its pieces, those that are one as one."""
    found: list[tuple[int, Embedding, Sequence[Piece]]] = []
    for number, (embedding, given) in enumerate(zip(plan.embeddings, plan.given, strict=True)):
        both = found[-1][1].joined(embedding) if found else None
        if both is None:
            found.append((number, embedding, given))
        else:
            found[-1] = (found[-1][0], both, found[-1][2])
    return found


class Inputs(T.nn.Module):
    """Points (n, d) -> what the first layer sees, (n, width); see InputPlan.

    The values of logarithmic families come in evened out (see Spaced).
    """

    def __init__(self, plan: InputPlan, maker: Maker) -> None:
        super().__init__()
        self._features = plan.features
        self._plain = not plan.embeddings and plan.trees == tuple(map(Coordinate, plan.bounds))
        if self._plain:
            factors, shifts = zip(*plan.features.scaling.values(), strict=True)
            self.register_buffer("scale", maker.tensor(factors), persistent=False)
            self.register_buffer("shift", maker.tensor(shifts), persistent=False)
        self._steps: list[tuple[Embedding, dict[str, Any], Sequence[Piece]]] = []
        for number, embedding, given in _joined(plan):
            owner = T.nn.Module()
            self.add_module(f"embedding{number}", owner)
            parts = embedding.parts(given)
            made = {name: part.make(owner, name, maker) for name, part in parts.items()}
            self._steps.append((embedding, made, given))

    def forward(self, points: T.Tensor) -> T.Tensor:
        if self._plain:
            return points * self.scale + self.shift
        return self.of_columns([points[:, j : j + 1] for j in range(points.shape[1])])

    def of_columns(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        """Return the same from a column (n, 1) for each coordinate.

        What is made of x alone then has no derivatives in t to carry.
        """
        if self._plain:
            return self.forward(T.cat(list(columns), dim=1))
        values: list[T.Tensor] = self._features(columns)
        for embedding, parts, given in self._steps:
            values = embedding.forward(parts, given, values)
        return values[0] if len(values) == 1 else T.cat(values, dim=1)
