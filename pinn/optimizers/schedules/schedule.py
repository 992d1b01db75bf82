"""What makes the rate of each step: the interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from pinn.schema import Family

Memory = Mapping[str, np.ndarray]

SCHEDULES = Family("schedule", example="pinn.CosineDecay()")


# What a schedule remembers goes into a solver's state under names that begin so.
_IN_STATE = "schedule_"


def in_state(memory: Memory) -> dict[str, np.ndarray]:
    """Return what a schedule remembers as arrays of a solver's state."""
    return {f"{_IN_STATE}{name}": array for name, array in memory.items()}


def remembered(state: Memory) -> dict[str, np.ndarray]:
    """Return what a solver's state says that the schedule remembers."""
    # By name: the arrays of others may be elsewhere until they are read.
    return {
        name.removeprefix(_IN_STATE): state[name] for name in state if name.startswith(_IN_STATE)
    }


class Schedule(ABC):
    """The rate of each step, from the learning rate of the stage.

    A schedule keeps nothing in itself: what it knows of the losses is its memory, a mapping of
    arrays, so that a run which is resumed goes on with the same bits. One schedule may serve
    several stages. Steps are counted from 1, after those that warm up.
    """

    family = SCHEDULES

    def check(self, learning_rate: float) -> None:  # noqa: B027 - most go with any rate
        """Raise DeclarationError, naming the field, where it does not go with a learning rate."""

    def remember(self, loss: float, memory: Memory) -> Memory:
        """Return the memory after the loss of one more step; empty, as here, if only steps count.

        memory: what the last call returned, empty at the first.
        """
        return {}

    @abstractmethod
    def rate(self, learning_rate: float, step: int, steps: int, memory: Memory) -> float:
        """Return the rate of a step out of so many, whose loss is in the memory.

        On a GPU it is also asked for steps to come, with the memory of the losses so far.
        """


SCHEDULES.base = Schedule
