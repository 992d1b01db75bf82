"""How many points of each kind a problem gets, and how they are placed."""

from __future__ import annotations

from typing import Annotated

from pinn.geometry import UnitSampler
from pinn.sampling.adaptive import ADAPTIVE
from pinn.sampling.methods import METHODS
from pinn.schema import Count, NonNegative, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Entry


@declared
class Sampling:
    """Counts and method of the collocation points.

    interior: points of each equation. initial: points of each initial condition. boundary: points
    of each boundary condition, shared among its faces by their size. A grid has at most that many.
    redraw: steps after which all points are drawn anew, None for never; new points keep a network
    from fitting its points alone.

    method: an entry of pinn.sampling.METHODS. adaptive: one of pinn.sampling.ADAPTIVE: "rad" draws
    the new interior points where the residual is large, out of `candidates` even ones, with the
    density |r|^rad_power / mean(|r|^rad_power) + rad_floor (pinn.sampling.rad);
    the first points, and those of conditions, are placed by `method` all the same.

    Raises ValueError for a count below one, an unknown method, fewer candidates than points or
    adaptive points that are never drawn anew, TypeError for a count that is not a whole number.
    """

    interior: Count = 2500
    initial: Count = 100
    boundary: Count = 200
    method: Annotated[str, Entry(METHODS)] = "latin-hypercube"
    redraw: Count | None = 500
    adaptive: Annotated[str, Entry(ADAPTIVE)] | None = None
    candidates: Count = 20_000
    rad_power: NonNegative = 1.0
    rad_floor: NonNegative = 1.0

    def __post_init__(self) -> None:
        if self.adaptive is None:
            return
        if self.redraw is None:
            refuse(
                "expected `redraw`, the steps between two draws, with it, got None", "adaptive"
            )
        if self.candidates < self.interior:
            refuse(
                f"expected at least the {self.interior} interior points, got {self.candidates}",
                "candidates",
            )

    @property
    def sampler(self) -> UnitSampler:
        """The method as a function (n, dimensions, rng) -> (n, dimensions) in the unit cube."""
        return METHODS[self.method]
