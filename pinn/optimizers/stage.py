"""What a solver is to the training loop: the interface all of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

import numpy as np

from pinn.schema import Family

Evaluate = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""theta (P,) float64 -> loss, gradient (P,); raises Diverged where either is not finite."""


class StopReason(StrEnum):
    """Why a stage ended; compares equal to its text."""

    STEPS = "steps done"
    CONVERGED = "gradient below tolerance"
    NO_DECREASE = "no further decrease"
    LINE_SEARCH = "line search failed"
    TIME = "time limit"
    DIVERGED = "diverged"
    INTERRUPTED = "interrupted"


class StageStopped(Exception):
    """Ends a stage from inside an evaluation or a step callback; the training loop catches it."""

    def __init__(self, reason: StopReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Diverged(StageStopped):
    """The loss or its gradient is not finite."""

    def __init__(self, message: str) -> None:
        super().__init__(StopReason.DIVERGED, message)


@dataclass(frozen=True)
class Step:
    """One accepted iterate: the number of the step in its stage (from 1), theta and its loss.

    `state` holds what the solver would need to go on from here, as named arrays.
    """

    number: int
    theta: np.ndarray
    loss: float
    learning_rate: float | None = None
    state: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class StageEnd:
    """How a solver ended by itself: the last theta, why, and a sentence that says so."""

    theta: np.ndarray
    reason: StopReason
    message: str


STAGES = Family("training stage", example="pinn.Adam()")


class Stage(ABC):
    """A solver with its settings; `seconds` limits the wall time of the stage (None: no limit)."""

    family = STAGES
    name: ClassVar[str]
    # Whether new points restart the solver: what it knows of the loss holds for the old ones only.
    needs_fixed_points: ClassVar[bool]
    steps: int
    seconds: float | None

    def check_size(self, size: int) -> None:  # noqa: B027 - most solvers take any size
        """Raise ValueError for more trainable numbers than the solver is made for."""

    @abstractmethod
    def minimize(
        self,
        evaluate: Evaluate,
        theta: np.ndarray,
        on_step: Callable[[Step], None],
        done: int = 0,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> StageEnd:
        """Lower the loss from theta; `on_step` is told of every accepted iterate.

        done: steps that the stage has taken before it was restarted; numbers go on from there, and
        `steps` counts them. state: the `state` of the last of them, for a solver that can go on
        with it although the points are other ones by now; None to begin anew. Exceptions of
        `evaluate` and `on_step` pass through. `theta` is not changed in place, nor is an array that
        was handed to `on_step`.
        """


STAGES.base = Stage
