"""How low a loss can fall before rounding is all that is left of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pinn.objective import Objective
from pinn.sampling import Points, stream

# Evaluations whose rounding errors are compared.
_TRIED = 3
# So close to its floor rounding has most part in every residual.
_AT_FLOOR = 4.0
# The part of theta by which the slope of the residual along the gradient is found.
_SHORT = 1e-3


@dataclass(frozen=True)
class Rounding:
    """What rounding does to a loss at some theta.

    floor: the sum of squares of the rounding errors in the weighted rows, below which no loss can
    be told from zero. noise: by how much the loss itself is uncertain. Both are measured: each
    number of theta goes up or down by one unit in its last place, at random from a fixed stream,
    and the rows change by their rounding errors, twice over.
    """

    loss: float
    floor: float
    noise: float

    @classmethod
    def at(cls, objective: Objective, theta: np.ndarray) -> Rounding:
        """Measure it; takes a few forward evaluations and leaves the objective at theta."""
        rows = objective.weighted_rows(theta)
        floors, changes = [], []
        for moved in _nearest(objective, theta):
            other = objective.weighted_rows(moved)
            floors.append(float(np.sum((other - rows) ** 2)) / 2)
            changes.append(float((other - rows) @ (other + rows)))
        objective.parameters.load(theta)
        noise = math.sqrt(sum(change**2 for change in changes) / (2 * _TRIED))
        return cls(float(rows @ rows), sum(floors) / _TRIED, noise)

    @property
    def is_all(self) -> bool:
        """Whether there is no more in the loss than rounding, whatever the solver."""
        return self.loss <= _AT_FLOOR * self.floor


def rounding_of_blocks(
    objective: Objective, theta: np.ndarray, points: Mapping[str, Points]
) -> dict[str, float]:
    """Return the root mean square of the rounding errors in each block's residual at points.

    Measured as Rounding is; the objective is left at theta.
    """
    rows = objective.residuals(theta, points)
    squares = dict.fromkeys(rows, 0.0)
    for moved in _nearest(objective, theta):
        for name, other in objective.residuals(moved, points).items():
            squares[name] += float(np.mean((other - rows[name]) ** 2)) / 2
    objective.parameters.load(theta)
    return {name: math.sqrt(square / _TRIED) for name, square in squares.items()}


def _nearest(objective: Objective, theta: np.ndarray) -> Iterator[np.ndarray]:
    """Give vectors with each number of theta one unit in its last place up or down."""
    unit, rng = np.finfo(objective.dtype).eps, stream(0, "rounding")
    for _ in range(_TRIED):
        yield theta * (1 + unit * rng.choice([-1.0, 1.0], theta.size))


def best_decrease(objective: Objective, theta: np.ndarray) -> float:
    """Return by how much the best step along the gradient lowers the loss, to second order.

    With H = 2 J^T J it is |g|^4 / (2 g^T H g); J g is a difference of rows over a step that is long
    beside rounding. Leaves the objective at theta.
    """
    gradient = objective.value_and_gradient(theta).gradient
    square = float(gradient @ gradient)
    if square == 0:
        return 0.0
    rows = objective.weighted_rows(theta)
    size = _SHORT * max(float(np.linalg.norm(theta)), 1e-30) / math.sqrt(square)
    slope = (objective.weighted_rows(theta + size * gradient) - rows) / size
    objective.parameters.load(theta)
    curvature = 4 * float(slope @ slope)
    return square**2 / curvature if curvature > 0 else math.inf
