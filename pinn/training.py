"""The training loop: stages in turn, callbacks, and the reason why it ended."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

import numpy as np

from pinn.objective import Objective
from pinn.optimizers import LBFGS, Adam, Diverged, Stage, StageStopped, Step, StopReason

# One record in this many steps goes to the history, besides the first and last of each stage.
HISTORY_STRIDE = 10


def default_training() -> list[Stage]:
    """Return the stages that are used where none are given: Adam to settle, then L-BFGS."""
    return [Adam(steps=500, learning_rate=5e-3, final_rate=1e-3), LBFGS(steps=6000)]


@dataclass(frozen=True)
class StageInfo:
    """A stage that begins: its name, its place among `count` stages, and its limits."""

    index: int
    count: int
    name: str
    steps: int
    seconds: float | None


@dataclass(frozen=True)
class StepRecord:
    """One accepted step, as callbacks see it.

    step counts from 1 over all stages, stage_step within this one. loss is the weighted sum, losses
    are the unweighted mean squares by block, both at `theta`, a read-only array. seconds is wall
    time since training began. solver_state holds the solver's own arrays by name, and may be empty
    after the next step. draw counts how often the points had been drawn anew; points are these, by
    block name.
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
    points: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the record as a line of metrics: numbers and texts, without arrays."""
        return {
            "step": self.step,
            "stage": self.stage,
            "wall_s": self.seconds,
            "loss": self.loss,
            "losses": dict(self.losses),
            "lr": self.learning_rate,
        }


@dataclass(frozen=True)
class StageReport:
    """A stage that ended: its steps, wall seconds, the loss it left, why, and a sentence."""

    name: str
    steps: int
    seconds: float
    loss: float
    reason: StopReason
    message: str


@dataclass(frozen=True)
class TrainingResult:
    """What training left: theta, its loss, and why it stopped (the last stage's reason).

    `last` is the last accepted step, None where there was none; `history` thinned records in the
    form of StepRecord.as_dict.
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


class Callback:
    """What training calls on its way; a subclass defines the methods it needs.

    Any object with some of these methods will do, and a plain function is taken as on_step.
    """

    def on_start(self, session: Any) -> None:
        """Called once by pinn.solve before training; see pinn.solving.Session."""

    def on_stage_start(self, info: StageInfo) -> None:
        """Called before the first step of each stage."""

    def on_step(self, record: StepRecord) -> None:
        """Called after every accepted step."""

    def on_stage_end(self, report: StageReport) -> None:
        """Called when a stage has ended, whatever the reason."""

    def on_end(self, solution: Any) -> None:
        """Called once by pinn.solve, with the solution."""


def notify(callbacks: Iterable[Any], event: str, argument: Any) -> None:
    """Call the method `event` of each callback that has it; a plain function hears on_step."""
    for callback in callbacks:
        method = getattr(callback, event, None)
        if method is None and event == "on_step" and callable(callback):
            method = callback
        if method is not None:
            method(argument)


def check_callbacks(callbacks: Iterable[Any]) -> tuple[Any, ...]:
    """Return the callbacks as a tuple; TypeError for one that is neither callable nor has on_..."""
    callbacks = tuple(callbacks)
    events = [name for name in vars(Callback) if name.startswith("on_")]
    for callback in callbacks:
        if not callable(callback) and not any(hasattr(callback, event) for event in events):
            raise TypeError(
                f"callbacks: expected a function of a step record or an object with some of "
                f"{', '.join(events)}, got {callback!r}"
            )
    return callbacks


@dataclass(frozen=True)
class Redraw:
    """New points on the way: `draw(number)` gives the points of draw 1, 2, ..., by block name.

    They are taken after every `every` steps of a stage that goes on, and once when its line search
    fails. The objective is at the last accepted theta when `draw` is called.
    """

    every: int
    draw: Callable[[int], Mapping[str, np.ndarray]]


class _NewPoints(Exception):
    """Ends a solver that cannot go on with other points."""


def train(
    objective: Objective,
    stages: Sequence[Stage],
    callbacks: Iterable[Any] = (),
    redraw: Redraw | None = None,
) -> TrainingResult:
    """Run the stages in turn from the objective's present theta.

    A stage that ends at a limit, at a tolerance or in a failed line search hands over to the next.
    A loss or gradient that is not finite ends training as "diverged"; Ctrl-C ends it as
    "interrupted". Either way the result holds the last theta that was accepted, and the objective
    is left there. An error in a callback passes through.
    """
    loop = _Loop(objective, stages, check_callbacks(callbacks), redraw)
    try:
        loop.run()
    except KeyboardInterrupt:
        # Between stages, or in a callback at a stage's end: no stage was there to report it.
        loop.interrupted()
    return loop.result()


class _Loop:
    """The state of one training run."""

    def __init__(
        self,
        objective: Objective,
        stages: Sequence[Stage],
        callbacks: tuple[Any, ...],
        redraw: Redraw | None,
    ) -> None:
        self.objective = objective
        self.stages = stages
        self.callbacks = callbacks
        self.redraw = redraw
        self.draws = 0
        self.began = time.perf_counter()
        self.stage_began = self.began
        self.index = 0
        self.steps = 0
        self.stage_step = 0
        # The step at which a failed line search was last answered by new points.
        self.helped_at: int | None = None
        self.reports: list[StageReport] = []
        self.history: list[dict[str, Any]] = []
        self.last: StepRecord | None = None
        # What was evaluated since the last accepted step: a line search tries several.
        self.tried: list[tuple[np.ndarray, float, dict[str, float]]] = []
        unknown = {block.name: math.nan for block in objective.blocks}
        self.accepted = (objective.theta, math.nan, unknown)
        self.reason = StopReason.STEPS
        self.message = "no stage to run"

    def run(self) -> None:
        for index, stage in enumerate(self.stages):
            self.index = index
            info = StageInfo(self.index, len(self.stages), stage.name, stage.steps, stage.seconds)
            self.stage_began = time.perf_counter()
            self.stage_step = 0
            self.tried.clear()
            notify(self.callbacks, "on_stage_start", info)
            self.reason, self.message = self.run_stage(stage)
            self.remember_last()
            report = StageReport(
                stage.name,
                self.stage_step,
                time.perf_counter() - self.stage_began,
                self.accepted[1],
                self.reason,
                self.message,
            )
            self.reports.append(report)
            notify(self.callbacks, "on_stage_end", report)
            if self.reason in (StopReason.DIVERGED, StopReason.INTERRUPTED):
                return

    def run_stage(self, stage: Stage) -> tuple[StopReason, str]:
        try:
            if math.isnan(self.accepted[1]):
                self.evaluate(self.accepted[0])
                self.accepted = self.tried[-1]
            end = state = None
            while end is None:
                theta = self.accepted[0].copy()
                try:
                    end = stage.minimize(
                        self.evaluate, theta, self.on_step, self.stage_step, state
                    )
                except _NewPoints:
                    state = self.last.solver_state
                    continue
                if (
                    end.reason is StopReason.LINE_SEARCH
                    and self.redraw is not None
                    and self.helped_at != self.steps
                ):
                    # On other points there may be a way down.
                    self.helped_at = self.steps
                    self.take_new_points()
                    end = state = None
            # The step of Adam ends at a theta that has not been evaluated yet.
            if not np.array_equal(end.theta, self.accepted[0]):
                self.accepted = self.find(end.theta)
        except StageStopped as stopped:
            return stopped.reason, stopped.message
        except KeyboardInterrupt:
            return StopReason.INTERRUPTED, f"interrupted after step {self.steps}"
        return end.reason, end.message

    def evaluate(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        loss, gradient, losses = self.objective.value_and_gradient(theta)
        if not (math.isfinite(loss) and np.isfinite(gradient).all()):
            where = self.objective.not_finite(theta) or "the weighted sum of the losses overflows"
            raise Diverged(f"{where}, after step {self.steps}; theta is back at that step")
        self.tried.append((theta.copy(), loss, losses))
        return loss, gradient

    def find(self, theta: np.ndarray) -> tuple[np.ndarray, float, dict[str, float]]:
        """Return what is known of a theta, which was most likely evaluated last."""
        for tried in reversed(self.tried):
            if np.array_equal(tried[0], theta):
                return tried
        self.evaluate(theta)
        return self.tried[-1]

    def on_step(self, step: Step) -> None:
        self.accepted = self.find(step.theta)
        self.tried.clear()
        self.steps += 1
        self.stage_step = step.number
        theta, loss, losses = self.accepted
        theta.flags.writeable = False
        stage = self.stages[self.index]
        now = time.perf_counter()
        self.last = StepRecord(
            step=self.steps,
            stage=stage.name,
            stage_index=self.index,
            stage_step=step.number,
            stage_steps=stage.steps,
            loss=loss,
            losses=losses,
            learning_rate=step.learning_rate,
            seconds=now - self.began,
            theta=theta,
            solver_state=step.state,
            draw=self.draws,
            points={block.name: block.points for block in self.objective.blocks},
        )
        if step.number == 1 or step.number % HISTORY_STRIDE == 0:
            self.history.append(self.last.as_dict())
        notify(self.callbacks, "on_step", self.last)
        if stage.seconds is not None and now - self.stage_began >= stage.seconds:
            raise StageStopped(
                StopReason.TIME,
                f"time limit of {stage.seconds:g} s reached after step {self.steps}",
            )
        if (
            self.redraw is not None
            and step.number % self.redraw.every == 0
            and step.number < stage.steps
        ):
            self.take_new_points()
            if stage.needs_fixed_points:
                raise _NewPoints

    def take_new_points(self) -> None:
        self.draws += 1
        # A line search may have left it elsewhere.
        self.objective.parameters.load(self.accepted[0])
        self.objective.set_points(self.redraw.draw(self.draws))

    def remember_last(self) -> None:
        """Add the stage's last step to the history, unless it is there."""
        if self.last is not None and (
            not self.history or self.history[-1]["step"] != self.last.step
        ):
            self.history.append(self.last.as_dict())

    def interrupted(self) -> None:
        self.remember_last()
        self.reason = StopReason.INTERRUPTED
        self.message = f"interrupted after step {self.steps}"

    def result(self) -> TrainingResult:
        theta, loss, losses = self.accepted
        self.objective.parameters.load(theta)
        return TrainingResult(
            theta=theta,
            loss=loss,
            losses=dict(losses),
            reason=self.reason,
            message=self.message,
            stages=tuple(self.reports),
            steps=self.steps,
            seconds=time.perf_counter() - self.began,
            history=self.history,
            last=self.last,
        )


class Progress(Callback):
    """Shows training as it goes: one bar a stage with named losses, rate and time left.

    Where the stream is not a terminal, plain lines: one every `interval` seconds and one at the end
    of each stage. The final line gives the stop reason and the relative error, where there is a
    reference.
    """

    def __init__(self, stream: TextIO | None = None, interval: float = 10.0) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._interval = interval
        self._terminal = bool(getattr(self._stream, "isatty", lambda: False)())
        self._bar: Any = None
        self._info: StageInfo | None = None
        self._began = 0.0
        self._shown = 0.0

    def on_stage_start(self, info: StageInfo) -> None:
        self._info = info
        self._began = self._shown = time.perf_counter()
        if self._terminal:
            from tqdm import tqdm

            self._bar = tqdm(
                total=info.steps, desc=info.name, unit="step", file=self._stream, dynamic_ncols=True
            )

    def on_step(self, record: StepRecord) -> None:
        now = time.perf_counter()
        # Formatting the losses at every step would cost as much as a small network's step.
        if now - self._shown < (0.1 if self._bar is not None else self._interval):
            return
        self._shown = now
        if self._bar is not None:
            self._bar.set_postfix_str(_losses_text(record), refresh=False)
            self._bar.update(record.stage_step - self._bar.n)
        else:
            rate = record.stage_step / (now - self._began)
            left = (record.stage_steps - record.stage_step) / rate
            self._write(
                f"{record.stage} {record.stage_step}/{record.stage_steps}  "
                f"{_losses_text(record)}  {rate:.0f} steps/s, at most {_clock(left)} left"
            )

    def on_stage_end(self, report: StageReport) -> None:
        if self._bar is not None:
            self._bar.update(report.steps - self._bar.n)
            self._bar.close()
            self._bar = None
        self._write(
            f"{report.name}: {report.message}; loss {report.loss:.3e}, "
            f"{report.steps} steps in {report.seconds:.1f} s"
        )

    def on_end(self, solution: Any) -> None:
        self._write(solution.report.summary())

    def _write(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


def _losses_text(record: StepRecord) -> str:
    named = (f"{name} {loss:.2e}" for name, loss in record.losses.items())
    return ", ".join([f"loss {record.loss:.2e}", *named])


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
