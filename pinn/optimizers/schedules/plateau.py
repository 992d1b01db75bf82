"""A rate that falls where the loss no longer does."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from pinn.optimizers.schedules.schedule import Memory, Schedule
from pinn.schema import Count, Fraction, NonNegative, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Number


@declared
class PlateauDecay(Schedule):
    """A rate that is multiplied by `factor` whenever the loss has not improved for some steps.

    patience: so many steps in a row. improvement: the share of the lowest loss so far by which a
    loss has to be lower to count. final_rate: the rate goes no lower. The loss is that of each step
    on its own points and with its own weights: give batches and points that are drawn anew the
    patience that their noise needs. Raises ValueError for a number outside its range, and for a
    final rate above the learning rate.
    """

    factor: Annotated[float, Number(above=0.0, below=1.0)] = 0.5
    patience: Count = 100
    improvement: Fraction = 1e-3
    final_rate: NonNegative = 0.0

    def check(self, learning_rate: float) -> None:
        if self.final_rate > learning_rate:
            refuse(
                f"expected at most the learning rate {learning_rate:g}, got {self.final_rate:g}",
                "final_rate",
            )

    def remember(self, loss: float, memory: Memory) -> Memory:
        """Return the lowest loss, how long it has stood, and the share of the rate."""
        if not memory:
            return _memory(loss, 0, 1.0)
        lowest, share = float(memory["lowest"]), float(memory["share"])
        waited = int(memory["waited"])
        if loss < lowest - self.improvement * abs(lowest):
            return _memory(loss, 0, share)
        if waited + 1 < self.patience:
            return _memory(lowest, waited + 1, share)
        return _memory(lowest, 0, self.factor * share)

    def rate(self, learning_rate: float, step: int, steps: int, memory: Memory) -> float:
        return max(self.final_rate, learning_rate * float(memory["share"]))


def _memory(lowest: float, waited: int, share: float) -> Memory:
    found = {"lowest": lowest, "waited": waited, "share": share}
    return {name: np.array(value) for name, value in found.items()}
