"""The loss on points that training never sees."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pinn.objective import Objective
from pinn.sampling import stream

if TYPE_CHECKING:
    from pinn.training.setup import Setup


class FreshLoss:
    """The training loss on points of its own: an objective fits its points first of all.

    points: block name -> (n, d). They take no part in training, in weights or in stopping.
    """

    def __init__(self, objective: Objective, points: Mapping[str, np.ndarray]) -> None:
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


def fresh_points(setup: Setup) -> dict[str, np.ndarray]:
    """Return uniform random points of every block, as many as training has, from a stream apart."""
    sampling = dataclasses.replace(setup.sampling, method="uniform")
    return {
        residual.name: residual.sample(sampling, stream(setup.seed, "fresh", residual.name))
        for residual in setup.problem.residuals
    }
