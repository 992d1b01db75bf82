"""Inputs in which a solution is smooth around a hole: the inversion in a circle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

import autograd as T
from pinn.geometry import Shape
from pinn.models.embeddings.embedding import Embedding, Piece
from pinn.models.embeddings.place import contains, places_of, told
from pinn.models.parts import Part
from pinn.schema import Name, Positive, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Items, Number

_CENTER = Items(Number(), "the numbers of a point, two or more, such as [0.3, 0.3]", least=2)


@declared
class InversionEmbedding(Embedding):
    """What a network sees of a hole beside all else: its distance, and the inversion in a circle.

    Outside of a circle about c, a solution is made of powers of 1/r, which turn with the angle, and
    of a logarithm. They are smooth in a (x - c)/r^2, one input for each coordinate, and in log(r/a)
    in a plane, (a/r)^(d-2) in space, which goes from -1 to 1 over the domain's bounding box.
    Networks of the coordinates alone take long to follow what is steep around a hole.

    center: c, a number for each coordinate. radius: a, of a circle or ball that lies in the hole:
    the inputs then are 1 at most. coordinates: their names; the first ones that come in where left
    out. Raises ValueError for coordinates that do not come in or repeat, more or fewer of them than
    of c, a c that lies in the domain, where the inputs are no numbers, and a circle as large as it.

    Axler, Bourdon and Ramey, Harmonic Function Theory (2001), chapter 4; series about holes:
    Trefethen, ANZIAM J. 60 (2018) 1.
    """

    center: Annotated[Sequence[float], _CENTER]
    radius: Positive
    coordinates: Sequence[Name] | None = None

    def __post_init__(self) -> None:
        if self.coordinates is not None and len(self.coordinates) != len(self.center):
            refuse(
                f"expected {len(self.center)} names, one for each number of the center, got "
                f"{len(self.coordinates)}",
                "coordinates",
            )
        if self.coordinates is not None and len(set(self.coordinates)) < len(self.coordinates):
            refuse(f"expected different names, got {', '.join(self.coordinates)}", "coordinates")

    def check(self, domain: Shape, given: Sequence[Piece]) -> None:
        names = [given[place].name for place in self._places(given)]
        if contains(domain, names, np.array([self.center])).any():
            holes = ", ".join(told(hole.center) for hole in domain.holes)
            refuse(
                f"expected a point in a hole, got {told(self.center)} in the domain, where the "
                f"inputs are no numbers; {_found(holes)}",
                "center",
            )

    def pieces(self, given: Sequence[Piece]) -> tuple[Piece, ...]:
        seen = [given[place] for place in self._places(given)]
        if not self._farthest(seen) > self.radius:
            refuse("expected less than the distance to the farthest corner of the domain", "radius")
        about = ", ".join(f"{number:g}" for number in self.center)
        return (*given, Piece(width=len(seen) + 1, about=about))

    def parts(self, given: Sequence[Piece]) -> dict[str, Part]:
        return {}

    def forward(
        self, parts: dict[str, Any], given: Sequence[Piece], values: Sequence[T.Tensor]
    ) -> list[T.Tensor]:
        places = self._places(given)
        seen = [given[place] for place in places]
        # in units of the radius: one is its edge
        away = [
            (values[place] + (piece.middle - at) / piece.extent) * (piece.extent / self.radius)
            for place, piece, at in zip(places, seen, self.center, strict=True)
        ]
        squared = sum(one * one for one in away)
        farthest, d = self._farthest(seen) / self.radius, len(away)
        if d == 2:
            radial = T.log(squared) * (1 / math.log(farthest)) - 1
        else:
            least = farthest ** (2 - d)
            radial = squared ** ((2 - d) / 2) * (2 / (1 - least)) - (1 + least) / (1 - least)
        turned = T.cat([*(one / squared for one in away), radial], dim=1)
        return [*values, turned]

    def _farthest(self, seen: Sequence[Piece]) -> float:
        """Return the distance of the center from the farthest corner of the domain."""
        pairs = zip(seen, self.center, strict=True)
        return math.hypot(*(piece.extent + abs(piece.middle - at) for piece, at in pairs))

    def _places(self, given: Sequence[Piece]) -> list[int]:
        return places_of(given, self.coordinates, len(self.center), "center")


def _found(holes: str) -> str:
    return f"its holes are at {holes}" if holes else "it has no hole that is known"
