"""The loss on points that training never sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pinn.objective import Objective
from pinn.sampling import Points

if TYPE_CHECKING:
    from pinn.training.experiment import Experiment


class FreshLoss:
    """The training loss on points of its own: an objective fits its points first of all.

    points: by block name, none that training takes.
    """

    def __init__(self, objective: Objective, points: Mapping[str, Points]) -> None:
        self._objective = objective
        self._points = points

    def __call__(self, theta: np.ndarray) -> float:
        """Return the weighted loss at theta; evaluating leaves the model there."""
        losses = self.losses(theta)
        return float(sum(b.weight * losses[b.name] for b in self._objective.blocks))

    def losses(
        self, theta: np.ndarray, points: Mapping[str, Points] | None = None
    ) -> dict[str, float]:
        """Return the mean square of each block's residual by name; points: others than its own."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            residuals = self._objective.residuals(theta, points or self._points)
            return {
                name: float(np.mean(np.square(residual, dtype=np.float64)))
                for name, residual in residuals.items()
            }


def fresh_points(experiment: Experiment) -> dict[str, Points]:
    """Return uniform random points of every block, as many as training has, from a stream apart.

    They take no part in training, in weights, in any decision or in stopping: what is told of a
    solution is its loss there.
    """
    return experiment.collocation.fresh("fresh")


def judging_points(experiment: Experiment) -> dict[str, Points]:
    """Return as many others, from a third stream: those by which a run is judged on its way."""
    return experiment.collocation.fresh("judging")
