"""One rate for all steps."""

from __future__ import annotations

from pinn.optimizers.schedules.schedule import Memory, Schedule
from pinn.schema import declared


@declared
class ConstantRate(Schedule):
    """The learning rate in every step."""

    def rate(self, learning_rate: float, step: int, steps: int, memory: Memory) -> float:
        return learning_rate
