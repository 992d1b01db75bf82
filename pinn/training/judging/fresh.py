"""The loss where training does not look: at other points, and with more nodes in sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pinn.objective import Objective
from pinn.sampling import Points

if TYPE_CHECKING:
    from pinn.training.experiment import Experiment

# A residual that is large at one point in so many alone is that of a corner, not of what lies
# between points.
_PEAKS = 500
# A block with so small a share of all losses at the start had none.
_NOTHING = 1e-12


class FreshLoss:
    """The training loss on points of its own: an objective fits its points first of all.

    Sums over nodes have half as many again: their nodes are fitted like points are.

    points: by block name, none that training takes.
    """

    def __init__(self, objective: Objective, points: Mapping[str, Points]) -> None:
        self._objective = objective
        self._judged = objective.with_finer_sums()
        self._points = points

    @property
    def is_of_other_sums(self) -> bool:
        """Whether it differs from the training loss at the points of training too."""
        return self._judged is not self._objective

    def __call__(self, theta: np.ndarray) -> float:
        """Return the weighted loss at theta; evaluating leaves the model there."""
        return float(sum(self.weighted(theta).values()))

    def weighted(self, theta: np.ndarray) -> dict[str, float]:
        """Return what each block adds to that by name."""
        losses = self.losses(theta)
        return {b.name: b.weight * losses[b.name] for b in self._objective.blocks}

    def losses(
        self, theta: np.ndarray, points: Mapping[str, Points] | None = None
    ) -> dict[str, float]:
        """Return the mean square of each block's residual by name; points: others than its own."""
        return mean_squares(self._judged, theta, points or self._points)

    def widespread(self, theta: np.ndarray) -> dict[str, float]:
        """Return the same without the largest of each block's residuals, one in 500.

        What is large there alone, as in a corner, is no residual between the points of training.
        """
        found = self._judged.residuals(theta, self._points)
        return {name: float(np.mean(without_peaks(rows))) for name, rows in found.items()}


def without_peaks(residual: np.ndarray) -> np.ndarray:
    """Return the squares of a residual, (n,), without the largest, one in 500 of them."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.sort(np.square(residual, dtype=np.float64))
    return squares[: len(squares) - len(squares) // _PEAKS]


def mean_squares(
    objective: Objective, theta: np.ndarray, points: Mapping[str, Points] | None = None
) -> dict[str, float]:
    """Return the mean square of each block's residual by name, whatever its rows weigh.

    points: others than the objective's. Evaluating leaves the model at theta.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return {
            name: float(np.mean(np.square(residual, dtype=np.float64)))
            for name, residual in objective.residuals(theta, points).items()
        }


def shares(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each block's loss that is left, of all losses' where it had none.

    By block, so that a condition of large values does not hide an equation that is not solved.
    Infinite for what is no number.
    """
    whole = sum(before.values())
    if not (whole > 0 and math.isfinite(whole)):
        solved = whole == 0 and not any(after.values())
        return dict.fromkeys(after, 0.0 if solved else math.inf)
    found = {
        name: loss / (before[name] if before[name] > _NOTHING * whole else whole)
        for name, loss in after.items()
    }
    return {name: share if math.isfinite(share) else math.inf for name, share in found.items()}


def fresh_points(experiment: Experiment) -> dict[str, Points]:
    """Return uniform random points of every block from a stream apart; see Collocation.fresh.

    They take no part in training, in weights, in any decision or in stopping: what is told of a
    solution is its loss there.
    """
    return experiment.collocation.fresh("fresh")


def judging_points(experiment: Experiment) -> dict[str, Points]:
    """Return others, from a third stream: those by which a run is judged on its way."""
    return experiment.collocation.fresh("judging")
