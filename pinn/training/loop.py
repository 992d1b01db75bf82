"""The training loop: stages in turn, callbacks, and the reason why it ended."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinn.objective import Objective
from pinn.optimizers import Diverged, Stage, StageStopped, Step, StopReason
from pinn.sampling import Points
from pinn.training.callbacks import check_callbacks, notify
from pinn.training.records import StageInfo, StageReport, StepRecord, TrainingResult

# One record in this many steps goes to the history, besides the first and last of each stage.
HISTORY_STRIDE = 10


@dataclass(frozen=True)
class Redraw:
    """New points on the way: `draw(number)` gives the points of draw 1, 2, ..., by block name.

    They are taken after every `every` steps of a stage that goes on, and once when its line search
    fails. The objective is at the last accepted theta when `draw` is called.
    """

    every: int
    draw: Callable[[int], Mapping[str, Points]]


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
