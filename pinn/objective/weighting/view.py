"""What a weighting sees of the objective."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pinn.sampling import Points

if TYPE_CHECKING:
    from pinn.objective.objective import Objective


class View:
    """The blocks of an objective at one theta and its present points; by block name.

    Each property is computed when it is first asked for, and kept. step: the number of steps taken
    so far in the whole run. new_points: whether some were drawn anew since the last look. hold: as
    in Weighting.is_due. losses: what is known of them already.
    """

    def __init__(
        self,
        objective: Objective,
        theta: np.ndarray,
        step: int = 0,
        *,
        new_points: bool = False,
        hold: int = 1,
        losses: Mapping[str, float] | None = None,
    ) -> None:
        self.objective = objective
        self.theta = theta
        self.step = step
        self.new_points = new_points
        self.hold = hold
        if losses is not None:
            self.losses = losses

    def again(self) -> View:
        """Return a view that has computed nothing yet, of the objective as it is by now."""
        return View(
            self.objective, self.theta, self.step, new_points=self.new_points, hold=self.hold
        )

    @property
    def names(self) -> list[str]:
        """The blocks' names, in order."""
        return [block.name for block in self.objective.blocks]

    @property
    def equations(self) -> list[str]:
        """The names of the blocks that are equations; the others are conditions."""
        return list(self.objective.problem.equations)

    @property
    def points(self) -> Mapping[str, Points]:
        """Each block's points."""
        return {block.name: block.points for block in self.objective.blocks}

    @cached_property
    def losses(self) -> Mapping[str, float]:
        """Each block's mean(v * r^2), v being the present weights of its rows."""
        return self.objective.losses(self.theta)

    @cached_property
    def residuals(self) -> Mapping[str, np.ndarray]:
        """Each block's unweighted residual, (rows,)."""
        return self.objective.residuals(self.theta)

    @cached_property
    def gradients(self) -> Mapping[str, np.ndarray]:
        """The gradient of each block's mean(v * r^2), (size,) float64."""
        return self.objective.gradients(self.theta)

    @cached_property
    def kernel_diagonals(self) -> Mapping[str, np.ndarray]:
        """|dr_i/dtheta|^2 of each unweighted row, (rows,): the tangent kernel's diagonal."""
        return self.objective.kernel_diagonals(self.theta)
