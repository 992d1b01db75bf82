"""Several trainings in turn, told as one run."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.objective import Objective
from pinn.optimizers import StopReason
from pinn.training.callbacks import Callback, check_callbacks, notify
from pinn.training.course import Decision
from pinn.training.judging.fresh import FreshLoss
from pinn.training.loop import Training
from pinn.training.records import (
    LegReport,
    Resume,
    StageInfo,
    StageReport,
    StepRecord,
    TrainingResult,
)

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
    resume: where to go on from. Callbacks hear of the steps of all legs as of one run, with the
    whole theta.
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
        resume: Resume | None = None,
    ) -> None:
        self._experiment = experiment
        self._objective = objective
        self._callbacks = check_callbacks(callbacks)
        self._fresh = fresh
        self._started = started
        self._clock = objective.ranks.clock
        self._began = self._clock() - spent
        self._theta = objective.theta.copy()
        self._reports: list[LegReport] = []
        # What `_kept` said of each leg that has ended.
        self._earlier: list[Any] = []
        self._decisions = list(decisions)
        # The running leg, and the seconds after which it began.
        self._running: Training | None = None
        self._leg_began = 0.0
        self._last: StepRecord | None = None
        # How many decisions there were then.
        self._decided = 0
        self._resume = resume
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
    def _prepared(self, number: int, resume: Resume | None) -> tuple[Objective, Training]:
        """Return what is minimised in a leg, and its training; resume: where that goes on."""

    @abstractmethod
    def _losses(self) -> tuple[float, Mapping[str, float]]:
        """Return the loss of the run as far as it came, and that of each block."""

    def _fresh_loss(self) -> float:
        """Return the loss of the run where training did not look."""
        return self._fresh(self._theta)

    def _kept(self, objective: Objective) -> Any:
        """Return what later legs need of one that has ended, besides theta."""
        return None

    def _whole(self, number: int, theta: np.ndarray) -> np.ndarray:
        """Return the whole theta, from that of a leg."""
        return theta.copy()

    def _part(self, number: int, theta: np.ndarray) -> np.ndarray:
        """Return that of a leg, from the whole theta."""
        return theta

    def _take_up(self) -> None:
        """Become ready to go on in a leg; theta and the reports of earlier ones are back."""
        return None

    # ---- the whole

    @property
    def last(self) -> StepRecord | None:
        """The last step, as callbacks heard of it."""
        return self._last

    def run(self) -> TrainingResult:
        """Train every leg, and return the result; exceptions of callbacks pass through."""
        try:
            resume = self._gone_back()
            for number in range(len(self._reports), self.count):
                if resume is None and number and self._left() <= 0:
                    if self._end[0] is not StopReason.TIME:
                        limit = f"time limit of {self._experiment.seconds:g} s reached"
                        self._end = StopReason.TIME, f"{limit} before {self.leg} {number + 1}"
                    break
                if resume is None:
                    what = f"{self.leg} {number + 1} of {self.count}"
                    asked = self._decide(Decision(self._steps, what, self._announced(number)))
                    if asked is not None:
                        said = f": {asked}" if asked else ""
                        self._end = StopReason.CALLBACK, f"stopped by a callback{said}"
                        break
                    self._leg_began = self._seconds()
                objective, self._running = self._prepared(number, resume)
                resume = None
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
            fresh_loss = self._fresh_loss() if self._reports else math.nan
            loss, losses = self._losses()
        self._objective.parameters.load(self._theta)
        _, message = self._end
        if self._reports:
            message = self._said(message)
        return TrainingResult(
            theta=self._theta,
            loss=loss,
            losses=losses,
            reason=self._reason,
            message=message,
            stages=tuple(stage for one in self._reports for stage in one.stages),
            steps=self._steps,
            seconds=self._seconds(),
            history=self._history(),
            last=self._last,
            fresh_loss=fresh_loss,
            setbacks=self._setbacks(),
            decisions=tuple(self._decisions),
            resume=self.standing(),
        )

    # ---- going on

    def standing(self) -> Resume | None:
        """Return where the run can be gone on from, after its last step; None before the first."""
        if self._running is not None:
            self._resume = self._of_whole(self._running.standing()) or self._resume
        return self._resume

    def _of_whole(self, standing: Resume | None) -> Resume | None:
        """Return where the running leg stands as part of the whole."""
        if standing is None:
            return None
        theta = self._whole(len(self._reports), standing.record.theta)
        return dataclasses.replace(
            standing,
            record=dataclasses.replace(standing.record, theta=theta),
            legs=tuple(self._reports),
            began=self._leg_began,
            started=self._started,
            decisions=tuple(self._decisions[: self._decided]),
        )

    def _gone_back(self) -> Resume | None:
        """Stand where the run is gone on from; return where the leg that goes on stood."""
        resume = self._resume
        if resume is None:
            return None
        record, number = resume.record, len(resume.legs)
        self._theta = np.array(record.theta)
        self._reports, self._decisions = list(resume.legs), list(resume.decisions)
        self._leg_began, self._started = resume.began, resume.started
        self._began = self._clock() - resume.began - record.seconds
        self._take_up()
        own = dataclasses.replace(record, theta=self._part(number, self._theta))
        self._last = self._record(number, own)
        return dataclasses.replace(resume, record=own)

    # ---- one leg

    def _decide(self, decision: Decision) -> str | None:
        self._decisions.append(decision)
        return notify(self._callbacks, "on_decision", decision)

    def _relay(self, number: int) -> Callback:
        """Return what tells the callbacks of the run what happens in a leg."""
        return _Relay(self, number)

    def _take(self, result: TrainingResult) -> None:
        """Take what a leg has reached."""
        self.standing()
        self._theta = self._whole(len(self._reports), result.theta)
        self._end = result.reason, result.message
        self._reports.append(LegReport.of(result, self._leg_began))
        self._running = None

    # ---- what is told of it

    @property
    def _reason(self) -> StopReason:
        """Why the run ended."""
        return self._end[0]

    def _said(self, message: str) -> str:
        """Return what is said of the end of the run; message: of that of its last leg."""
        return f"{self.leg} {len(self._reports)} of {self.count}: {message}"

    @property
    def _steps(self) -> int:
        return sum(leg.steps for leg in self._reports)

    @property
    def _stages(self) -> int:
        return sum(len(leg.stages) for leg in self._reports)

    def _seconds(self) -> float:
        return self._clock() - self._began

    def _left(self, spent: float | None = None) -> float:
        """The seconds that are left, after so many (now, where left out)."""
        seconds = self._experiment.seconds
        if seconds is None:
            return math.inf
        return seconds - (self._seconds() if spent is None else spent)

    def _history(self) -> list[dict[str, Any]]:
        found, steps = [], 0
        for leg in self._reports:
            found += [
                {**line, "step": line["step"] + steps, "wall_s": line["wall_s"] + leg.began}
                for line in leg.history
            ]
            steps += leg.steps
        return found

    def _setbacks(self) -> tuple:
        found, steps, stages = [], 0, 0
        for leg in self._reports:
            found += [
                dataclasses.replace(
                    setback, step=setback.step + steps, stage_index=setback.stage_index + stages
                )
                for setback in leg.setbacks
            ]
            steps, stages = steps + leg.steps, stages + len(leg.stages)
        return tuple(found)

    def _record(self, number: int, record: StepRecord) -> StepRecord:
        theta = self._whole(number, record.theta)
        theta.flags.writeable = False
        self._decided = len(self._decisions)
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
