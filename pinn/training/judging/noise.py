"""What noise leaves to be found: by how much a loss can still fall, in units of what noise does.

Where data with noise of standard deviation s are fitted, a sum of squares is larger by s^2 than at
its least where something that they determine is one standard error off. So a loss that no step
lowers by more than a small share of that is at its end: with a decrease d to be had, nothing is
further off than sqrt(d / s^2) of its standard error, to first order. Seber and Wild, Nonlinear
Regression (1989), chapter 2.
"""

from __future__ import annotations

import numpy as np

from pinn.objective import Objective
from pinn.objective.weighting.discrepancy import has_told_noise, within_noise
from pinn.residuals import Measured

# Beside the slopes a number that nothing holds is held by this share of the largest.
_RANK = 1e-12


def of_one_standard_error(objective: Objective) -> float:
    """Return by how much the loss rises where what the data determine is one standard error off.

    The least of all blocks of data, in whose weights the loss is; 0 where there are none, and where
    the size of some noise is not told.
    """
    data = [one for one in objective.blocks if isinstance(one.residual.source, Measured)]
    if not all(has_told_noise(one.residual) for one in data):
        return 0.0
    return min((
        float(np.mean((one.residual.source.noise * one.row_scale()) ** 2)) for one in data
    ), default=0.0)  # fmt: skip


def lie_within_noise(objective: Objective, theta: np.ndarray) -> bool:
    """Return whether all data whose noise is told are as near as that lets them be."""
    rows = objective.residuals(theta)
    return all(
        within_noise(one.residual, rows[one.name])
        for one in objective.blocks if has_told_noise(one.residual)
    )  # fmt: skip


def to_be_had(objective: Objective, theta: np.ndarray, unit: float) -> float:
    """Return by how much the best step lowers the loss, to second order in the rows' linear part.

    Numbers of networks are held to their size, as far as noise lets them be anywhere else: unit is
    that of `of_one_standard_error`. Takes n P^2 operations for n rows and P numbers, and leaves the
    objective at theta.
    """
    normal, slope = objective.gram(theta)
    of_size = np.where(objective.layout.networks, unit / spreads(objective, theta) ** 2, 0.0)
    held = np.maximum(of_size, _RANK * float(np.trace(normal)))
    return float(slope @ np.linalg.solve(normal + np.diag(held), slope))


def spreads(objective: Objective, theta: np.ndarray) -> np.ndarray:
    """Return how far each number may well move where nothing tells: the size of its tensor, or 1.

    (size,); that is meant of the numbers of networks.
    """
    found = np.ones(objective.size)
    for part in objective.layout.parts:
        found[part.place] = max(1.0, float(np.sqrt(np.mean(theta[part.place] ** 2))))
    return found
