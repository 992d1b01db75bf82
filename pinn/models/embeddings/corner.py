"""Inputs in which a solution is smooth at a corner: a root of the plane, or a logarithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

import autograd as T
from pinn.geometry import Shape
from pinn.models.embeddings.embedding import Embedding, Piece
from pinn.models.embeddings.place import contains, places_of, told
from pinn.models.parts import Factorization, Maker, Part
from pinn.schema import Name, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Number

# The branch point lies so far behind the corner, in roundings of the domain's extent: derivatives
# are numbers in the corner too. Negative powers level off at so large a share of the extent.
_BEHIND, _LEVEL = 64, 1e-2
# Places on the way from a corner to its pole, as far as the domain may reach, that lie outside.
_BETWEEN = 1024
_POINTS = "corner", "pole"
# Corners are seen at once where these are equal.
_ALIKE = "coordinates", "of", "log"


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
    beside these a pressure, which goes like q^(e - 1), levelled off. log: what is seen is the
    slopes in e of all that, q^e times the logarithm of q: with e = 2 what a source makes in a
    corner of 90 degrees, which turns outward; not of a flow. Raises ValueError for coordinates that
    do not come in or repeat, and a way that lies in the domain.

    Kondrat'ev, Trans. Moscow Math. Soc. 16 (1967) 227; Strang and Fix, An Analysis of the Finite
    Element Method (1973), chapter 8; flows: Moffatt, J. Fluid Mech. 18 (1964) 1; elastic plates:
    Williams, J. Appl. Mech. 19 (1952) 526.
    """

    corner: tuple[float, float]
    pole: tuple[float, float]
    exponent: Annotated[float, Number(above=0.0)] = 2 / 3
    coordinates: tuple[Name, Name] | None = None
    of: Literal["scalar", "vector", "flow"] = "scalar"
    log: bool = False

    def __post_init__(self) -> None:
        if self.corner == self.pole:
            refuse("expected another point than the corner", "pole")
        if self.log and self.of == "flow":
            refuse('expected "scalar" or "vector" where there is a logarithm, got "flow"', "of")
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
        return {"": _Roots((self,), given)}

    def joined(self, following: Embedding) -> Embedding | None:
        return _Corners((self,)).joined(following)

    def forward(
        self, parts: dict[str, Any], given: Sequence[Piece], values: Sequence[T.Tensor]
    ) -> list[T.Tensor]:
        return [*values, parts[""](values)]

    @property
    def _pairs(self) -> list[tuple[float, float]]:
        """The power of the modulus and the factor of the angle, for each two inputs."""
        e = self.exponent
        pairs = {"scalar": 1, "vector": 2, "flow": 3}[self.of]
        return [(e, e), (e, e - 2), (e - 1, e - 1)][:pairs]

    def _places(self, given: Sequence[Piece]) -> list[int]:
        return places_of(given, self.coordinates, 2, "corner")


@dataclass(frozen=True)
class _Corners(Embedding):
    """Corners that follow each other, seen by operations of all of them at once."""

    members: tuple[CornerEmbedding, ...]

    def pieces(self, given: Sequence[Piece]) -> tuple[Piece, ...]:
        for one in self.members:
            given = one.pieces(given)
        return tuple(given)

    def parts(self, given: Sequence[Piece]) -> dict[str, Part]:
        return {"": _Roots(self.members, given)}

    def joined(self, following: Embedding) -> Embedding | None:
        last = self.members[-1]
        if not isinstance(following, CornerEmbedding):
            return None
        alike = all(getattr(following, key) == getattr(last, key) for key in _ALIKE)
        return _Corners((*self.members, following)) if alike else None

    def forward(
        self, parts: dict[str, Any], given: Sequence[Piece], values: Sequence[T.Tensor]
    ) -> list[T.Tensor]:
        found, width = parts[""](values), 2 * len(self.members[0]._pairs)
        ends = range(width, width * len(self.members) + 1, width)
        return [*values, *(found[:, end - width : end] for end in ends)]


@dataclass(frozen=True)
class _Roots(Part):
    """Columns of coordinates -> what corners of them are seen as, (n, inputs of each in turn)."""

    members: tuple[CornerEmbedding, ...]
    given: Sequence[Piece]

    def count(self, factorization: Factorization | None) -> int:
        return 0

    def make(
        self, owner: T.nn.Module, name: str, maker: Maker
    ) -> Callable[[Sequence[T.Tensor]], T.Tensor]:
        places = self.members[0]._places(self.given)
        numbers = self._numbers([self.given[place] for place in places], T.finfo(maker.dtype).eps)
        tensors = {key: maker.tensor(np.atleast_2d(array)) for key, array in numbers.items()}
        for key, tensor in tensors.items():
            owner.register_buffer(f"{key}{name}", tensor, persistent=False)
        return _RootsOf(places, len(self.members), self.members[0].log, tensors)

    def _numbers(self, seen: Sequence[Piece], eps: float) -> dict[str, np.ndarray]:
        """Return the numbers of the operations, of all corners, or pairs of them, in a row."""
        corner, pole = (np.array([getattr(m, key) for m in self.members]) for key in _POINTS)
        extents, middles = np.array([(one.extent, one.middle) for one in seen]).T
        room, extent = np.linalg.norm(pole - corner, axis=1), extents.max()
        # of the bounding box
        farthest = np.linalg.norm(extents + np.abs(middles - corner), axis=1)
        factor = 1 + room / farthest
        branch = corner + (_BEHIND * eps * extent / room)[:, None] * (pole - corner)
        # z - a of all corners, and behind them z - c
        shifts = middles - np.vstack([branch, pole])
        powers, turns = np.moveaxis(np.array([one._pairs for one in self.members]), 2, 0)
        level = (_LEVEL * factor * np.minimum(extent / room, 1.0)) ** 2 * (powers[:, -1] <= 0)
        return {
            "extent_x": np.full(len(shifts), extents[0]), "shift_x": shifts[:, 0],
            "extent_y": np.full(len(shifts), extents[1]), "shift_y": shifts[:, 1],
            "factor": 2 * np.log(factor), "turns": turns.T.ravel(),
            "power": powers[:, 0] / 2, "negative": powers[:, -1] / 2, "level": level,
        }  # fmt: skip


class _RootsOf:
    """Columns of coordinates -> (n, inputs); numbers: see _Roots."""

    def __init__(
        self, places: Sequence[int], count: int, log: bool, numbers: dict[str, T.Tensor]
    ) -> None:
        self._places, self._count, self._log = places, count, log
        self._numbers = numbers

    def __call__(self, values: Sequence[T.Tensor]) -> T.Tensor:
        k, numbers = self._count, self._numbers
        x, y = (
            values[place] * numbers[f"extent_{axis}"] + numbers[f"shift_{axis}"]
            for place, axis in zip(self._places, "xy", strict=True)
        )
        (a, c), (b, d) = ((one[:, :k], one[:, k:]) for one in (x, y))
        # (z - a) (z - c)* has the angle of the quotient
        angle = T.atan2(b * c - a * d, a * c + b * d)
        squares = T.log(x * x + y * y)
        squared = squares[:, :k] - squares[:, k:] + numbers["factor"]
        pairs = numbers["turns"].shape[1] // k
        moduli = [T.exp(squared * numbers["power"])] * min(pairs, 2)
        if pairs > 2:
            moduli.append(T.exp(T.log(T.exp(squared) + numbers["level"]) * numbers["negative"]))
        modulus = T.cat(moduli, dim=1)
        turned = T.cat([angle] * pairs, dim=1) * numbers["turns"]
        cos, sin = T.cos(turned), T.sin(turned)
        if self._log:
            real, imaginary = (T.cat([one] * pairs, dim=1) for one in (squared / 2, angle))
            cos, sin = real * cos - imaginary * sin, real * sin + imaginary * cos
        both = T.stack([modulus * cos, modulus * sin], dim=2)
        n = both.shape[0]
        return both.reshape(n, pairs, k, 2).permute(0, 2, 1, 3).reshape(n, 2 * pairs * k)
