"""How solvers say that there is nothing left for them to do."""

from __future__ import annotations

import numpy as np

from pinn.optimizers.solver import StageEnd, StopReason


def converged(
    theta: np.ndarray, number: int, gradient: np.ndarray, tolerance: float
) -> StageEnd | None:
    """Return the end of a stage, after so many steps, where the gradient is zero to a tolerance."""
    return converged_to(theta, number, _largest(gradient), tolerance)


def converged_to(
    theta: np.ndarray, number: int, largest: float, tolerance: float
) -> StageEnd | None:
    """Return the same, of the largest component of the gradient."""
    if largest > tolerance:
        return None
    return StageEnd(theta, StopReason.CONVERGED, (
        f"after {number} steps the largest component of the gradient, {largest:.1e}, is not above "
        f"the tolerance {tolerance:.1e}"
    ))  # fmt: skip


def no_decrease(
    theta: np.ndarray, number: int, gradient: np.ndarray, loss: float, tried: str
) -> StageEnd:
    """Return the end of a stage where nothing of what was tried gives a lower loss."""
    return no_decrease_from(theta, number, _largest(gradient), loss, tried)


def no_decrease_from(
    theta: np.ndarray, number: int, largest: float, loss: float, tried: str
) -> StageEnd:
    """Return the same, of the largest component of the gradient."""
    return StageEnd(theta, StopReason.NO_DECREASE, (
        f"after {number} steps {tried} gives a lower loss than {loss:.3e}, most likely at the "
        f"limit of rounding; largest component of the gradient {largest:.1e}"
    ))  # fmt: skip


def _largest(gradient: np.ndarray) -> float:
    return float(np.max(np.abs(gradient)))
