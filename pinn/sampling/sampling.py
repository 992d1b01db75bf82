"""How many points of each kind a problem gets, and how they are placed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pinn.checks import check_choice, check_count, check_number
from pinn.geometry.domain import UnitSampler
from pinn.sampling.methods import METHODS


@dataclass(frozen=True)
class Sampling:
    """Counts and method of the collocation points.

    interior: points of each equation. initial: points of each initial condition. boundary: points
    of each boundary condition, shared among its faces by their size. A grid has at most that many.
    redraw: steps after which all points are drawn anew, None for never; new points keep a network
    from fitting its points alone.

    adaptive: "rad" draws the new interior points where the residual is large, out of `candidates`
    even ones, with the density |r|^rad_power / mean(|r|^rad_power) + rad_floor (pinn.sampling.rad);
    the first points, and those of conditions, are placed by `method` all the same.

    Raises ValueError for a count below one, an unknown method, fewer candidates than points or
    adaptive points that are never drawn anew, TypeError for a count that is not a whole number.
    """

    interior: int = 2500
    initial: int = 100
    boundary: int = 200
    method: Literal["uniform", "grid", "latin-hypercube", "sobol", "halton"] = "latin-hypercube"
    redraw: int | None = 500
    adaptive: Literal["rad"] | None = None
    candidates: int = 20_000
    rad_power: float = 1.0
    rad_floor: float = 1.0

    def __post_init__(self) -> None:
        for name in ("interior", "initial", "boundary"):
            check_count(f"sampling: {name}", getattr(self, name))
        if self.redraw is not None:
            check_count("sampling: redraw", self.redraw)
        check_choice("sampling: method", self.method, METHODS)
        check_count("sampling: candidates", self.candidates)
        check_number("sampling: rad_power", self.rad_power, low=0.0)
        check_number("sampling: rad_floor", self.rad_floor, low=0.0)
        if self.adaptive is None:
            return
        check_choice("sampling: adaptive", self.adaptive, ("rad",))
        if self.redraw is None:
            raise ValueError(
                "sampling: adaptive: expected `redraw`, the steps between two draws, with it, "
                "got None"
            )
        if self.candidates < self.interior:
            raise ValueError(
                f"sampling: candidates: expected at least the {self.interior} interior points, "
                f"got {self.candidates}"
            )

    @property
    def sampler(self) -> UnitSampler:
        """The method as a function (n, dimensions, rng) -> (n, dimensions) in the unit cube."""
        return METHODS[self.method]
