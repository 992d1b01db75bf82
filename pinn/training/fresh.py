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

    points: by block name. They take no part in training, in weights or in stopping.
    """

    def __init__(self, objective: Objective, points: Mapping[str, Points]) -> None:
        self._objective = objective
        self._points = points

    def __call__(self, theta: np.ndarray) -> float:
        """Return the weighted loss at theta; evaluating leaves the model there."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            residuals = self._objective.residuals(theta, self._points)
            return float(
                sum(
                    block.weight * np.mean(np.square(residuals[block.name], dtype=np.float64))
                    for block in self._objective.blocks
                )
            )


def fresh_points(experiment: Experiment) -> dict[str, Points]:
    """Return uniform random points of every block, as many as training has, from a stream apart."""
    return experiment.collocation.fresh()
