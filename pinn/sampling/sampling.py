"""How many points of each kind a problem gets, and how they are placed."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pinn.geometry import UnitSampler
from pinn.sampling.adaptive import ADAPTIVE
from pinn.sampling.methods import METHODS
from pinn.schema import Count, NonNegative, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Entry

# Points of each equation: a network of a few hundred numbers is determined by them, and more of
# them cost steps. Along a line a fifth of them lie closer than in a square or a cube.
_INTERIOR, _INTERIOR_LINE = 2500, 500
# For each of them, of which an adaptive method chooses one.
_CANDIDATES = 8


@declared
class Sampling:
    """Counts and method of the collocation points.

    interior: points of each equation, None for 500 where there is one coordinate and 2500 where
    there are more. initial: points of each initial condition. boundary: points of each boundary
    condition, shared among its faces by their size. A grid has at most that many. redraw: steps
    after which all points are drawn anew, None for never; new points keep a network from fitting
    its points alone.

    method: an entry of pinn.sampling.METHODS. adaptive: one of pinn.sampling.ADAPTIVE, None for
    points by `method` whenever they are drawn. "rad" draws the new interior points where the
    residual is large, out of `candidates` even ones (None: eight times `interior`), with the
    density |r|^rad_power / mean(|r|^rad_power) + rad_floor (pinn.sampling.rad). The first points,
    and those of conditions, are placed by `method` all the same.

    Raises ValueError for a count below one, an unknown method or fewer candidates than points,
    TypeError for a count that is not a whole number.
    """

    interior: Count | None = None
    initial: Count = 100
    boundary: Count = 200
    method: Annotated[str, Entry(METHODS)] = "latin-hypercube"
    redraw: Count | None = 500
    adaptive: Annotated[str, Entry(ADAPTIVE)] | None = "rad"
    candidates: Count | None = None
    rad_power: NonNegative = 1.0
    rad_floor: NonNegative = 1.0

    def __post_init__(self) -> None:
        if self.adaptive is None or self.interior is None or self.candidates is None:
            return
        if self.candidates < self.interior:
            refuse(
                f"expected at least the {self.interior} interior points, got {self.candidates}",
                "candidates",
            )

    def resolved(self, coordinates: int) -> Sampling:
        """Return the settings for a domain of so many coordinates, every count a number."""
        interior = self.interior or (_INTERIOR_LINE if coordinates == 1 else _INTERIOR)
        candidates = self.candidates or _CANDIDATES * interior
        return replace(self, interior=interior, candidates=candidates)

    @property
    def sampler(self) -> UnitSampler:
        """The method as a function (n, dimensions, rng) -> (n, dimensions) in the unit cube."""
        return METHODS[self.method]
