"""What training reports: a step, a stage, the whole."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pinn.checks import equal_with_nan
from pinn.optimizers import StopReason
from pinn.sampling import Points
from pinn.training.course import Course, Decision


@dataclass(frozen=True)
class StageInfo:
    """A stage that begins: its name, its place among `count` stages, and its limits.

    count: None where the stages are chosen on the way. seconds: what is left of its own limit, or
    of that of all stages where that is less. why: why it was chosen, "" where it was given.
    """

    index: int
    count: int | None
    name: str
    steps: int
    seconds: float | None
    why: str = ""


@dataclass(frozen=True)
class Setback:
    """Numbers that were not finite, after which training went back to its last good step.

    step: that one, counted over all stages. attempt: how often this stage had gone back, this time
    included. what: the block, point, derivative and operation that gave them, in a sentence.
    """

    step: int
    stage: str
    stage_index: int
    attempt: int
    what: str

    def __str__(self) -> str:
        return (
            f"{self.what}; {self.stage} goes on from step {self.step} with shorter steps, try "
            f"{self.attempt} of {MOST_SETBACKS}"
        )


# So often a stage goes back before it gives up.
MOST_SETBACKS = 3

# A step is a good one to go back to while its loss is at most this many times the lowest of its
# stage. What leads to numbers that are not finite is most often a loss that explodes before.
_GOOD = 1000.0


@dataclass(frozen=True)
class StepRecord:
    """One accepted step, as callbacks see it.

    step counts from 1 over all stages, stage_step within this one. loss is the weighted sum, losses
    are each block's mean square before its weight, in which rows have the weights of rows, both at
    `theta`, a read-only array. seconds is wall time since training began, stage_seconds since this
    stage did. solver_state holds all that the solver goes on with, as arrays by name; it may be
    empty after the next step. draw counts how often the points had been drawn anew; points are
    these, by block name. weights and row_weights are those of the loss,
    weighting_state is what their scheme remembers. parameters are the coefficients at `theta`.
    lowest is the smallest sum of `losses` in this stage so far. setbacks are those of the whole run
    so far, course is what was decided until then. None in a record that was made by hand.
    """

    step: int
    stage: str
    stage_index: int
    stage_step: int
    stage_steps: int
    loss: float
    losses: Mapping[str, float]
    learning_rate: float | None
    seconds: float
    theta: np.ndarray = field(repr=False)
    solver_state: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)
    draw: int = 0
    points: Mapping[str, Points] = field(repr=False, default_factory=dict)
    weights: Mapping[str, float] = field(repr=False, default_factory=dict)
    row_weights: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)
    weighting_state: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    lowest: float = math.inf
    setbacks: tuple[Setback, ...] = ()
    course: Course | None = field(repr=False, default=None)
    stage_seconds: float = 0.0

    @property
    def damping(self) -> float | None:
        """That of the solver's next step, where it has one; unknown after that step."""
        found = self.solver_state.get("damping")
        return None if found is None else float(found)

    @property
    def is_good(self) -> bool:
        """Whether training may go back to it: its loss has not exploded."""
        return sum(self.losses.values()) <= _GOOD * self.lowest

    def as_dict(self) -> dict[str, Any]:
        """Return the record as a line of metrics: numbers and texts, without arrays.

        Where a scheme chooses weights it has those of the blocks, and of weights of rows the least,
        the mean and the largest of each block.
        """
        line = {
            "step": self.step,
            "stage": self.stage,
            "wall_s": self.seconds,
            "loss": self.loss,
            "losses": dict(self.losses),
            "lr": self.learning_rate,
        }
        if self.damping is not None:
            line["damping"] = self.damping
        if self.weighting_state:
            line["weights"] = dict(self.weights)
        if self.row_weights:
            line["row_weights"] = {
                name: {"least": float(v.min()), "mean": float(v.mean()), "largest": float(v.max())}
                for name, v in self.row_weights.items()
            }
        if self.parameters:
            line["parameters"] = dict(self.parameters)
        return line


@equal_with_nan
@dataclass(frozen=True)
class StageReport:
    """A stage that ended: its steps, wall seconds, the loss it left, why, and a sentence.

    fresh_loss: the same loss on points that training never sees, nan where there are none. chosen:
    why the stage was, "" where it was given.
    """

    name: str
    steps: int
    seconds: float
    loss: float
    reason: StopReason
    message: str
    fresh_loss: float = math.nan
    chosen: str = ""


@dataclass(frozen=True)
class TrainingResult:
    """What training left: theta, its loss, and why it stopped (the last stage's reason).

    fresh_loss: the loss on points that training never sees, nan where there are none. `last` is the
    last accepted step, None where there was none; `history` thinned records in the form of
    StepRecord.as_dict. resume: where the run can be gone on from.
    """

    theta: np.ndarray
    loss: float
    losses: dict[str, float]
    reason: StopReason
    message: str
    stages: tuple[StageReport, ...]
    steps: int
    seconds: float
    history: list[dict[str, Any]]
    last: StepRecord | None
    fresh_loss: float = math.nan
    setbacks: tuple[Setback, ...] = ()
    decisions: tuple[Decision, ...] = ()
    resume: Resume | None = field(repr=False, default=None)


@dataclass(frozen=True)
class LegReport:
    """One of several trainings in turn that has ended; began: the seconds before it."""

    steps: int
    began: float
    loss: float
    losses: dict[str, float]
    stages: tuple[StageReport, ...]
    history: list[dict[str, Any]]
    setbacks: tuple[Setback, ...]

    @classmethod
    def of(cls, result: TrainingResult, began: float) -> LegReport:
        """Return that of a training that began after so many seconds of the run."""
        return cls(
            steps=result.steps, began=began, loss=result.loss, losses=dict(result.losses),
            stages=result.stages, history=result.history, setbacks=result.setbacks,
        )  # fmt: skip


@dataclass(frozen=True)
class Resume:
    """Where training goes on: its last step with the solver's state, and what came before.

    history: as in TrainingResult, up to that step. stages: the reports of those that had ended.
    Where the step is of one of several trainings in turn, all of these are those of that one, but
    for theta, which is the whole one; legs: those before it, began: the seconds before it,
    decisions: those of the whole run, started: whether that began at an older solution.
    """

    record: StepRecord
    history: Sequence[Mapping[str, Any]] = ()
    stages: Sequence[StageReport] = ()
    legs: tuple[LegReport, ...] = ()
    began: float = 0.0
    decisions: tuple[Decision, ...] = ()
    started: bool = False

    @property
    def last(self) -> StepRecord:
        """The step as one of the whole run."""
        return replace(
            self.record,
            step=self.record.step + sum(leg.steps for leg in self.legs),
            stage_index=self.record.stage_index + sum(len(leg.stages) for leg in self.legs),
            seconds=self.record.seconds + self.began,
        )
