"""Random Fourier features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import autograd as T
from pinn.models.embeddings.embedding import Embedding, Piece
from pinn.models.parts import Frequencies, Part
from pinn.schema import Count, declared
from pinn.schema.kinds import Number, Several

_SCALES = Several(Number(above=0.0), "a number > 0 or a list of them")


@declared
class FourierEmbedding(Embedding):
    """Random Fourier features [cos(pi B z), sin(pi B z)] of all that the network sees.

    Entries of B are normal with standard deviation `scale`: about as many waves run across the
    domain, since coordinates z go from -1 to 1. count: waves, each a cosine and a sine; with
    several scales, so many for each. trainable: whether B is trained. Tancik et al., NeurIPS 2020,
    eq. 5; several scales: Wang, Wang and Perdikaris, CMAME 384, 2021.
    """

    count: Count = 64
    scale: Annotated[float | Sequence[float], _SCALES] = (1.0,)
    trainable: bool = False

    def pieces(self, given: Sequence[Piece]) -> tuple[Piece, ...]:
        name = given[0].name if len(given) == 1 else ""
        return (Piece(name, 2 * self.count * len(self.scale)),)

    def parts(self, given: Sequence[Piece]) -> dict[str, Part]:
        width = sum(piece.width for piece in given)
        return {"": Frequencies(width, self.count, self.scale, self.trainable)}

    def forward(
        self, parts: dict[str, Any], given: Sequence[Piece], values: Sequence[T.Tensor]
    ) -> list[T.Tensor]:
        return [parts[""](values[0] if len(values) == 1 else T.cat(list(values), dim=1))]
