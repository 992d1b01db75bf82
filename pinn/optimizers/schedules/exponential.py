"""A rate that falls by the same factor from step to step."""

from __future__ import annotations

from pinn.optimizers.schedules.schedule import Memory, Schedule
from pinn.schema import Positive, declared


@declared
class ExponentialDecay(Schedule):
    """A rate that falls geometrically, from the learning rate to `final_rate` in the last step.

    Raises ValueError for a final rate that is not above zero.
    """

    final_rate: Positive

    def rate(self, learning_rate: float, step: int, steps: int, memory: Memory) -> float:
        if steps == 1:
            return learning_rate
        share = (step - 1) / (steps - 1)
        return learning_rate * (self.final_rate / learning_rate) ** share
