"""A rate that falls along half a period of the cosine."""

from __future__ import annotations

import math

from pinn.optimizers.schedules.schedule import Memory, Schedule
from pinn.schema import NonNegative, declared


@declared
class CosineDecay(Schedule):
    """A rate that falls as a cosine does, from the learning rate to `final_rate` in the last step.

    It falls slowly at first and at the end. Raises ValueError for a final rate below zero.

    Loshchilov and Hutter, ICLR 2017 (arXiv 1608.03983), equation 5, without restarts.
    """

    final_rate: NonNegative = 0.0

    def rate(self, learning_rate: float, step: int, steps: int, memory: Memory) -> float:
        if steps == 1:
            return learning_rate
        share = (step - 1) / (steps - 1)
        height = 0.5 * (1 + math.cos(math.pi * share))
        return self.final_rate + (learning_rate - self.final_rate) * height
