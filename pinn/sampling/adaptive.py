"""The adaptive methods by name: how points are chosen once there are residuals to go by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pinn.sampling.rad import rad_rows

if TYPE_CHECKING:
    from pinn.sampling.sampling import Sampling

Adaptive = Callable[[Sequence[np.ndarray], "Sampling", np.random.Generator], np.ndarray]
"""(residuals of each equation at m candidates, settings, rng) -> rows of the candidates to take."""


def rad(
    residuals: Sequence[np.ndarray], sampling: Sampling, rng: np.random.Generator
) -> np.ndarray:
    """Points drawn in proportion to the residual and a floor; see pinn.sampling.rad."""
    return rad_rows(residuals, sampling.interior, rng, sampling.rad_power, sampling.rad_floor)


ADAPTIVE: dict[str, Adaptive] = {"rad": rad}
