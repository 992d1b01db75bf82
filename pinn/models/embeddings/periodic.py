"""Inputs in which a network is periodic, whatever its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import autograd as T
from pinn.checks import nearest
from pinn.models.embeddings.embedding import Embedding, Piece
from pinn.models.parts import Part, Scalar
from pinn.schema import Count, Name, Positive, declared
from pinn.schema.errors import refuse


@declared
class PeriodicEmbedding(Embedding):
    """A coordinate as waves, so that the network and all its derivatives are periodic in it.

    x becomes cos(k w (x - c)), sin(k w (x - c)) for k = 1 ... harmonics, with w = 2 pi / period and
    c the middle of the domain. period: the domain's width where it is left out. trainable: whether
    w is trained, from there. Dong and Ni, J. Comput. Phys. 435, 2021, with both waves instead of a
    trained phase.
    """

    coordinate: Name
    period: Positive | None = None
    harmonics: Count = 1
    trainable: bool = False

    def pieces(self, given: Sequence[Piece]) -> tuple[Piece, ...]:
        place = self._place(given)
        waves = Piece(self.coordinate, 2 * self.harmonics)
        return (*given[:place], waves, *given[place + 1 :])

    def parts(self, given: Sequence[Piece]) -> dict[str, Part]:
        return {"": Scalar(1.0)} if self.trainable else {}

    def forward(
        self, parts: dict[str, Any], given: Sequence[Piece], values: Sequence[T.Tensor]
    ) -> list[T.Tensor]:
        place = self._place(given)
        extent = given[place].extent
        period = 2 * extent if self.period is None else self.period
        # w (x - c) = w * extent * z, for a coordinate z between -1 and 1
        phase = values[place] * (2 * np.pi * extent / period)
        if self.trainable:
            phase = phase * parts[""]
        phases = [phase, *(phase * float(k) for k in range(2, self.harmonics + 1))]
        waves = T.cat([wave(one) for one in phases for wave in (T.cos, T.sin)], dim=1)
        return [*values[:place], waves, *values[place + 1 :]]

    def _place(self, given: Sequence[Piece]) -> int:
        coordinates = [piece.name for piece in given if piece.extent is not None]
        if self.coordinate not in coordinates:
            refuse(
                f"expected one of the coordinates that come in, {', '.join(coordinates) or 'none'},"
                f" got {self.coordinate!r}{nearest(self.coordinate, coordinates)}",
                "coordinate",
            )
        names = [piece.name if piece.extent is not None else "" for piece in given]
        return names.index(self.coordinate)
