"""How many points of each kind a problem gets, and how they are placed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pinn.checks import check_choice, check_count
from pinn.geometry.domain import UnitSampler
from pinn.sampling.methods import METHODS


@dataclass(frozen=True)
class Sampling:
    """Counts and method of the collocation points.

    interior: points of each equation. initial: points of each initial condition. boundary: points
    of each boundary condition, shared among its faces by their size. A grid has at most that many.
    redraw: steps after which all points are drawn anew, None for never; new points keep a network
    from fitting its points alone, and restart L-BFGS. Raises ValueError for a count below one or an
    unknown method, TypeError for a count that is not a whole number.
    """

    interior: int = 2500
    initial: int = 100
    boundary: int = 200
    method: Literal["uniform", "grid", "latin-hypercube", "sobol", "halton"] = "latin-hypercube"
    redraw: int | None = None

    def __post_init__(self) -> None:
        for name in ("interior", "initial", "boundary"):
            check_count(f"sampling: {name}", getattr(self, name))
        if self.redraw is not None:
            check_count("sampling: redraw", self.redraw)
        check_choice("sampling: method", self.method, METHODS)

    @property
    def sampler(self) -> UnitSampler:
        """The method as a function (n, dimensions, rng) -> (n, dimensions) in the unit cube."""
        return METHODS[self.method]
