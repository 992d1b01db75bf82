"""Inputs in which a solution is smooth at a corner that turns inward: a root of the plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np

import autograd as T
from pinn.geometry import Shape
from pinn.models.embeddings.embedding import Embedding, Piece
from pinn.models.embeddings.place import contains, places_of, told
from pinn.models.parts import Part
from pinn.schema import Name, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Number

# The branch point lies so far behind the corner, in roundings of the domain's extent: derivatives
# are numbers in the corner too. Negative powers level off at so large a share of the extent.
_BEHIND, _LEVEL = 64, 1e-2
# Places on the way from a corner to its pole, as far as the domain may reach, that lie outside.
_BETWEEN = 1024


@declared
class CornerEmbedding(Embedding):
    """What a network sees of a corner beside all else: a root of the plane about it.

    At a corner of more than 180 degrees the slope of a solution is infinite: it is r^e times a
    function of the angle, e < 1, beside what is smooth, and networks of the coordinates alone are
    not. With the points of the plane as complex numbers z and q = k (z - a)/(z - c), the first two
    inputs are the real and the imaginary part of q^e, whose modulus goes like |z - a|^e near the
    corner a, and towards a number far from it. It is smooth but on the straight way from a to c.

    corner: a, two numbers. pole: c, such as the middle of a hole, or a point far away: the way to
    it from the corner has to lie outside of the domain, as for those of `Shape.inward_corners`.
    exponent: e; pi/angle for Laplace's equation with values, or slopes, given on both sides of the
    corner, 2/3 at a corner of 270 degrees, and half of that between values and slopes; 0.5445 of
    Stokes' flow and of elastic plates at 270 degrees. coordinates: their names; the first two that
    come in where left out. of: what is singular there. "vector": two unknowns that are the
    components of one, as displacements are, for which |q|^e (q/|q|)^(e - 2) is seen too; "flow":
    beside these a pressure, which goes like q^(e - 1), levelled off. Raises ValueError for
    coordinates that do not come in or repeat, and a way that lies in the domain.

    Kondrat'ev, Trans. Moscow Math. Soc. 16 (1967) 227; Strang and Fix, An Analysis of the Finite
    Element Method (1973), chapter 8; flows: Moffatt, J. Fluid Mech. 18 (1964) 1; elastic plates:
    Williams, J. Appl. Mech. 19 (1952) 526.
    """

    corner: tuple[float, float]
    pole: tuple[float, float]
    exponent: Annotated[float, Number(above=0.0)] = 2 / 3
    coordinates: tuple[Name, Name] | None = None
    of: Literal["scalar", "vector", "flow"] = "scalar"

    def __post_init__(self) -> None:
        if self.corner == self.pole:
            refuse("expected another point than the corner", "pole")
        if self.coordinates is not None and len(set(self.coordinates)) < 2:
            refuse(f"expected different names, got {', '.join(self.coordinates)}", "coordinates")

    def check(self, domain: Shape, given: Sequence[Piece]) -> None:
        names = [given[place].name for place in self._places(given)]
        for name in names:
            if name not in domain.space:
                refuse(
                    f"expected two coordinates of space, {', '.join(domain.space)}, got {name!r}",
                    "coordinates",
                )
        extent = max(high - low for low, high in map(domain.bounds.get, names))
        length = min(1.0, 4 * extent / math.dist(self.corner, self.pole))
        share = length * (np.arange(_BETWEEN) + 0.5)[:, None] / _BETWEEN
        way = np.array(self.corner) * (1 - share) + np.array(self.pole) * share
        if contains(domain, names, way).any():
            corners = ", ".join(
                f"{told(one.at)} with pole {told(one.pole)}" for one in domain.inward_corners
            )
            known = f"it turns inward at {corners}" if corners else "it turns inward nowhere"
            refuse(
                f"expected a point that is reached from the corner {told(self.corner)} outside of "
                f"the domain, got {told(self.pole)}; {known}",
                "pole",
            )

    def pieces(self, given: Sequence[Piece]) -> tuple[Piece, ...]:
        self._places(given)
        return (*given, Piece(width=2 * len(self._pairs), about=f"corner {told(self.corner)}"))

    def parts(self, given: Sequence[Piece]) -> dict[str, Part]:
        return {}

    def forward(
        self, parts: dict[str, Any], given: Sequence[Piece], values: Sequence[T.Tensor]
    ) -> list[T.Tensor]:
        places = self._places(given)
        seen = [given[place] for place in places]
        room = math.dist(self.corner, self.pole)
        extent = max(piece.extent for piece in seen)
        behind = _BEHIND * T.finfo(values[places[0]].dtype).eps * extent / room
        branch = [a + behind * (c - a) for a, c in zip(self.corner, self.pole, strict=True)]

        def away(point: Sequence[float]) -> list[T.Tensor]:
            return [
                values[place] * piece.extent + (piece.middle - at)
                for place, piece, at in zip(places, seen, point, strict=True)
            ]

        (a, b), (c, d) = away(branch), away(self.pole)
        # (z - a) (z - c)* has the angle of the quotient
        angle = T.atan2(b * c - a * d, a * c + b * d)
        factor = 1 + room / self._farthest(seen)
        squared = (a * a + b * b) / (c * c + d * d) * factor**2
        level = (_LEVEL * factor * min(extent / room, 1.0)) ** 2
        found = []
        for power, turns in self._pairs:
            modulus = (squared if power > 0 else squared + level) ** (power / 2)
            found += [modulus * T.cos(angle * turns), modulus * T.sin(angle * turns)]
        return [*values, T.cat(found, dim=1)]

    @property
    def _pairs(self) -> list[tuple[float, float]]:
        """The power of the modulus and the factor of the angle, for each two inputs."""
        e = self.exponent
        pairs = {"scalar": 1, "vector": 2, "flow": 3}[self.of]
        return [(e, e), (e, e - 2), (e - 1, e - 1)][:pairs]

    def _farthest(self, seen: Sequence[Piece]) -> float:
        """Return the distance of the corner from the farthest one of the bounding box."""
        pairs = zip(seen, self.corner, strict=True)
        return math.hypot(*(piece.extent + abs(piece.middle - at) for piece, at in pairs))

    def _places(self, given: Sequence[Piece]) -> list[int]:
        return places_of(given, self.coordinates, 2, "corner")
