"""What a model keeps by itself, as the checks ask for it."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pinn.diagnosis.posed.network import fixed_by_model, held_by_model
from pinn.objective import Objective
from pinn.sampling import stream


class Held(Protocol):
    """What a model keeps, whatever its parameters."""

    def across(self, unknown: str, coordinate: str, orders: int) -> int:
        """Return how many conditions of these orders it keeps at the ends of a coordinate."""

    def at(self, unknown: str, points: np.ndarray) -> bool:
        """Return whether it keeps the unknown's values at points (n, d)."""


class HeldByModel:
    """What the model of an objective keeps; found by running it with other parameters."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective

    def across(self, unknown: str, coordinate: str, orders: int) -> int:
        rng = stream(0, "held", unknown, coordinate)
        return held_by_model(self._objective, unknown, coordinate, orders, rng)

    def at(self, unknown: str, points: np.ndarray) -> bool:
        return fixed_by_model(self._objective, unknown, points, stream(0, "fixed", unknown))
