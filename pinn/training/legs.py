"""Several trainings in turn, told as one run."""

from __future__ import annotations

import dataclasses
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.objective import Objective
from pinn.optimizers import StopReason
from pinn.training.callbacks import Callback, check_callbacks, notify
from pinn.training.course import Decision
from pinn.training.fresh import FreshLoss
from pinn.training.loop import Training
from pinn.training.records import StageInfo, StageReport, StepRecord, TrainingResult

if TYPE_CHECKING:
    from pinn.training.experiment import Experiment

# After these no other leg is begun.
_FINAL = (
    StopReason.DIVERGED, StopReason.INTERRUPTED, StopReason.CALLBACK, StopReason.FAILED,
)  # fmt: skip


class Legs(ABC):
    """Trainings in turn that are one run; it is to pinn.solve what a Training is.

    objective: that of the whole run, which is left at the result. fresh: its loss on points that
    decide nothing. started: whether the objective's theta is an older solution, to go on from.
    decisions: what was decided before training. spent: the seconds that it took, which count.
    Callbacks hear of the steps of all legs as of one run, with the whole theta.
    """

    leg = "leg"
    """What one of them is called."""

    def __init__(
        self,
        experiment: Experiment,
        objective: Objective,
        callbacks: Iterable[Any] = (),
        *,
        fresh: FreshLoss,
        started: bool = False,
        decisions: Sequence[Decision] = (),
        spent: float = 0.0,
    ) -> None:
        self._experiment = experiment
        self._objective = objective
        self._callbacks = check_callbacks(callbacks)
        self._fresh = fresh
        self._started = started
        self._began = time.perf_counter() - spent
        self._theta = objective.theta.copy()
        self._results: list[TrainingResult] = []
        # What `_kept` said of each leg that has ended.
        self._earlier: list[Any] = []
        # The seconds after which each leg began.
        self._starts: list[float] = []
        self._decisions = list(decisions)
        self._running: Training | None = None
        self._last: StepRecord | None = None
        self._end = (StopReason.STEPS, "no stage to run")

    # ---- what a leg is

    @property
    @abstractmethod
    def count(self) -> int:
        """How many there are."""

    @abstractmethod
    def _announced(self, number: int) -> str:
        """Return what is told of a leg, counted from 0, before it begins."""

    @abstractmethod
    def _prepared(self, number: int) -> tuple[Objective, Training]:
        """Return what is minimised in a leg, and its training."""

    @abstractmethod
    def _losses(self) -> tuple[float, Mapping[str, float]]:
        """Return the loss of the run as far as it came, and that of each block."""

    def _kept(self, objective: Objective) -> Any:
        """Return what later legs need of one that has ended, besides theta."""
        return None

    def _whole(self, number: int, theta: np.ndarray) -> np.ndarray:
        """Return the whole theta, from that of a leg."""
        return theta.copy()

    # ---- the whole

    def run(self) -> TrainingResult:
        """Train every leg, and return the result; exceptions of callbacks pass through."""
        try:
            for number in range(self.count):
                if number and self._left() <= 0:
                    if self._end[0] is not StopReason.TIME:
                        limit = f"time limit of {self._experiment.seconds:g} s reached"
                        self._end = StopReason.TIME, f"{limit} before {self.leg} {number + 1}"
                    break
                what = f"{self.leg} {number + 1} of {self.count}"
                asked = self._decide(Decision(self._steps, what, self._announced(number)))
                if asked is not None:
                    said = f": {asked}" if asked else ""
                    self._end = StopReason.CALLBACK, f"stopped by a callback{said}"
                    break
                self._starts.append(self._seconds())
                objective, self._running = self._prepared(number)
                self._take(self._running.run())
                if self._end[0] in _FINAL:
                    break
                self._earlier.append(self._kept(objective))
        except KeyboardInterrupt:
            self._end = StopReason.INTERRUPTED, f"interrupted between two {self.leg}s"
        return self._result()

    def fail(self, error: Exception) -> TrainingResult:
        """Return the result of a run that an exception ended."""
        if self._running is not None:
            self._take(self._running.fail(error))
        else:
            self._end = StopReason.FAILED, f"{type(error).__name__}: {error}"
        return self._result()

    def stop(self, why: str) -> TrainingResult:
        """Return the result of a run that a callback ended before it began."""
        said = f": {why}" if why else ""
        self._end = StopReason.CALLBACK, f"stopped by a callback after step 0{said}"
        return self._result()

    def interrupt(self) -> TrainingResult:
        """Return the result of a run that Ctrl-C ended before it began."""
        self._end = StopReason.INTERRUPTED, "interrupted after step 0"
        return self._result()

    def _result(self) -> TrainingResult:
        self._objective.parameters.load(self._theta)
        with np.errstate(over="ignore", invalid="ignore"):
            fresh_loss = self._fresh(self._theta) if self._results else math.nan
            loss, losses = self._losses()
        self._objective.parameters.load(self._theta)
        reason, message = self._end
        if self._results:
            message = f"{self.leg} {len(self._results)} of {self.count}: {message}"
        return TrainingResult(
            theta=self._theta,
            loss=loss,
            losses=losses,
            reason=reason,
            message=message,
            stages=tuple(stage for one in self._results for stage in one.stages),
            steps=self._steps,
            seconds=self._seconds(),
            history=self._history(),
            last=self._last,
            fresh_loss=fresh_loss,
            setbacks=self._setbacks(),
            decisions=tuple(self._decisions),
        )

    # ---- one leg

    def _decide(self, decision: Decision) -> str | None:
        self._decisions.append(decision)
        return notify(self._callbacks, "on_decision", decision)

    def _relay(self, number: int) -> Callback:
        """Return what tells the callbacks of the run what happens in a leg."""
        return _Relay(self, number)

    def _take(self, result: TrainingResult) -> None:
        """Take what a leg has reached."""
        self._theta = self._whole(len(self._results), result.theta)
        self._end = result.reason, result.message
        self._results.append(result)
        self._running = None

    # ---- what is told of it

    @property
    def _steps(self) -> int:
        return sum(result.steps for result in self._results)

    @property
    def _stages(self) -> int:
        return sum(len(result.stages) for result in self._results)

    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _left(self) -> float:
        seconds = self._experiment.seconds
        return math.inf if seconds is None else seconds - self._seconds()

    def _history(self) -> list[dict[str, Any]]:
        found, steps = [], 0
        for began, result in zip(self._starts, self._results, strict=False):
            found += [
                {**line, "step": line["step"] + steps, "wall_s": line["wall_s"] + began}
                for line in result.history
            ]
            steps += result.steps
        return found

    def _setbacks(self) -> tuple:
        found, steps, stages = [], 0, 0
        for result in self._results:
            found += [
                dataclasses.replace(
                    setback, step=setback.step + steps, stage_index=setback.stage_index + stages
                )
                for setback in result.setbacks
            ]
            steps, stages = steps + result.steps, stages + len(result.stages)
        return tuple(found)

    def _record(self, number: int, record: StepRecord) -> StepRecord:
        theta = self._whole(number, record.theta)
        theta.flags.writeable = False
        self._last = dataclasses.replace(
            record,
            step=record.step + self._steps,
            stage_index=record.stage_index + self._stages,
            seconds=self._seconds(),
            theta=theta,
        )
        return self._last


class _Relay(Callback):
    """Tells the callbacks of a run what happens in a leg, as part of the whole."""

    def __init__(self, legs: Legs, number: int) -> None:
        self._legs = legs
        self._number = number

    def _tell(self, event: str, argument: Any) -> None:
        asked = notify(self._legs._callbacks, event, argument)
        if asked is not None:
            raise StopIteration(asked)

    def on_stage_start(self, info: StageInfo) -> None:
        index = info.index + self._legs._stages
        self._tell("on_stage_start", dataclasses.replace(info, index=index, count=None))

    def on_decision(self, decision: Decision) -> None:
        step = decision.step + self._legs._steps
        asked = self._legs._decide(dataclasses.replace(decision, step=step))
        if asked is not None:
            raise StopIteration(asked)

    def on_step(self, record: StepRecord) -> None:
        self._tell("on_step", self._legs._record(self._number, record))

    def on_setback(self, record: StepRecord) -> None:
        self._tell("on_setback", self._legs._record(self._number, record))

    def on_stage_end(self, report: StageReport) -> None:
        self._tell("on_stage_end", report)
