"""The training loop: stages in turn, callbacks, and the reason why it ended."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from pinn.files import DamagedFile
from pinn.objective import Objective
from pinn.objective.weighting import State, View, Weighting, Weights, alike, reweigh
from pinn.optimizers import Diverged, Stage, StageEnd, Step, StopReason
from pinn.training.ahead import steps_ahead
from pinn.training.callbacks import check_callbacks, notify
from pinn.training.course import Course, Decision
from pinn.training.history import History
from pinn.training.judging.fresh import FreshLoss
from pinn.training.judging.judge import Judge
from pinn.training.judging.verdicts import further, no_way_down, outlook
from pinn.training.judging.watched import Known, TimeIsUp, Watched
from pinn.training.looks import Looks
from pinn.training.pace import Pace, is_told, told
from pinn.training.plan import Plan, Scale, Situation, plan_of
from pinn.training.points.batches import Batches, PointsInUse
from pinn.training.points.redraw import Redraw, RedrawOverfit
from pinn.training.records import (
    MOST_SETBACKS,
    Resume,
    Setback,
    StageInfo,
    StageReport,
    StepRecord,
    TrainingResult,
)

# A stage that ends for one of these is the last one.
_FINAL = (
    StopReason.TARGET, StopReason.DIVERGED, StopReason.INTERRUPTED, StopReason.CALLBACK,
)  # fmt: skip
# So is one that the judge ends for one of these.
_AT_END = StopReason.PRECISION, StopReason.SETTLED
# A step that has found nothing lower may try further losses beyond a limit for such a share of it.
_BEYOND = 0.25


def train(
    objective: Objective,
    stages: Plan | Sequence[Stage],
    callbacks: Iterable[Any] = (),
    redraw: Redraw | RedrawOverfit | None = None,
    **limits: Any,
) -> TrainingResult:
    """Run the stages, or those of a plan, from the objective's present theta; see Training."""
    return Training(objective, stages, callbacks, redraw, **limits).run()


class Training:
    """One training run: `run` trains, and `result` tells what it has reached, at any time.

    A stage that ends at a limit, at a tolerance, without a lower loss or because the plan has
    enough of it hands over to the next. Every hundred steps, sooner in a stage of long ones
    (judge.look_every), the run looks at its loss on points `apart`. Training ends where the loss
    has reached `target`, on the present points and on those, and where rounding is all that is left
    of it ("precision floor"), or of a fit of data the noise that they are told to have ("settled").
    After a loss or gradient that is not finite training goes back to the last good step, with its
    points and weights, and takes shorter steps (Stage.slower); the next points are others than
    those that may have been to blame. After three tries in a stage it ends as "diverged", at that
    step. Ctrl-C ends it as "interrupted", a callback that asks for it as "stopped by callback", and
    `seconds` of wall time, all that `run` does included, as "time limit"; time is up where one more
    step, as long as an ordinary one or as the last, does not fit. Then the result holds the last
    theta that was accepted. The objective is left at the result. Any other exception passes through
    `run`.

    fresh: the loss on points that decide nothing, told at the end of each stage. apart: the loss on
    others that training does not take, by which it is judged (the present ones where it is left
    out). batches: the points that each step of a stage takes, where it may see a part of them
    (Stage.takes_batches); the losses told of its steps are those on the batch, the loss that it
    ends with is that on all points. decisions: what was decided before training. spent: the seconds
    that choosing the model took, which count. limited: what `seconds` is for, in words. larger:
    whether a larger network is what goes lower where this one is at its end. resume: where to go on
    from, with the bits of a run that never stopped; all else has to be as in the run it comes from.
    """

    def __init__(
        self,
        objective: Objective,
        stages: Plan | Sequence[Stage],
        callbacks: Iterable[Any] = (),
        redraw: Redraw | RedrawOverfit | None = None,
        *,
        seconds: float | None = None,
        target: float | None = None,
        apart: FreshLoss | None = None,
        fresh: FreshLoss | None = None,
        weighting: Weighting | None = None,
        batches: Batches | None = None,
        decisions: Sequence[Decision] = (),
        spent: float = 0.0,
        resume: Resume | None = None,
        limited: str = "all stages",
        larger: bool = True,
    ) -> None:
        self._objective = objective
        self._limited = limited
        self._larger = larger
        self._plan = plan_of(stages)
        self._callbacks = check_callbacks(callbacks)
        self._redraw = redraw
        self._seconds = seconds
        self._fresh = fresh
        self._weighting = weighting
        self._points = PointsInUse(objective, batches)
        self._judge = Judge(objective, self._points, apart, target)
        # What the weighting remembers.
        self._weighting_state: State = {}
        self._clock = objective.ranks.clock
        self._began = self._clock() - spent
        self._spent = spent
        # Whether there is no time for one more step of the whole run.
        self._time_is_up = False
        # The seconds of the first evaluation, which records the programs.
        self._recording = 0.0
        self._function = Watched(
            objective, self._steps_ahead,
            lambda: self._points.place(self._draws, self._steps), self._look_at_the_clock,
        )  # fmt: skip
        self._pace: Pace | None = None
        self._index = 0
        self._steps = 0
        self._draws = 0
        self._course = Course(Looks.none(len(objective.blocks)), decisions=tuple(decisions))
        # What a callback said when it was told of a decision and asked to stop.
        self._told_to_stop: str | None = None
        # The solver's number of the last step of the running stage, and its state after it.
        self._stage_step = 0
        self._state: Mapping[str, np.ndarray] | None = None
        # When it began, and the seconds that it took before it was gone on with.
        self._stage_began = self._stage_before = 0.0
        # The step at which a search without success was last answered by new points.
        self._helped_at: int | None = None
        self._reports: list[StageReport] = []
        self._history = History()
        self._last: StepRecord | None = None
        # Of the running stage: the step to go back to, and the lowest sum of losses.
        self._good: StepRecord | None = None
        self._lowest = math.inf
        self._setbacks: tuple[Setback, ...] = ()
        self._fresh_loss = math.nan
        self._accepted = Known(
            objective.theta, math.nan, {block.name: math.nan for block in objective.blocks}
        )
        self._reason, self._message = StopReason.STEPS, "no stage to run"
        if resume is not None:
            try:
                self._take_up(resume)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                # Made by hand, or damaged before it was written: a checksum is no proof.
                what = str(error) or type(error).__name__
                raise DamagedFile(
                    f"the checkpoint does not fit the run that goes on with it: {what}"
                ) from error

    # ---- the whole

    @property
    def last(self) -> StepRecord | None:
        """The last accepted step."""
        return self._last

    def run(self) -> TrainingResult:
        """Train, and return the result; exceptions of callbacks and of the machine pass through."""
        try:
            while self._choose():
                self._run_stage(self._stage)
                if self._is_over():
                    break
                self._index += 1
            if self._reason is not StopReason.DIVERGED:
                self._tell_of_weights()
            if self._reason in (StopReason.STEPS, StopReason.TIME):
                self._message += outlook(self._situation)
            elif self._reason is StopReason.MINIMUM and self._larger:
                theta, limit = self._accepted.theta, self._seconds
                left = None if limit is None else self._left
                self._message += further(self._objective, theta, left)
        except KeyboardInterrupt:
            # Between stages, or in a callback at a stage's end: no stage was there to report it.
            return self.interrupt()
        return self.result()

    def fail(self, error: Exception) -> TrainingResult:
        """Return the result of a run that an exception ended."""
        self._ended(StopReason.FAILED, f"{type(error).__name__}{self._after()}: {error}")
        return self.result()

    def interrupt(self) -> TrainingResult:
        """Return the result of a run that Ctrl-C ended before it began."""
        self._ended(StopReason.INTERRUPTED, f"interrupted{self._after()}")
        return self.result()

    def stop(self, why: str) -> TrainingResult:
        """Return the result of a run that a callback ended before it began."""
        self._ended(*self._asked(why))
        return self.result()

    def result(self) -> TrainingResult:
        """Return what training has reached; the objective is left there."""
        theta, loss, losses = self._accepted
        self._objective.parameters.load(theta)
        return TrainingResult(
            theta=theta,
            loss=loss,
            losses=dict(losses),
            reason=self._reason,
            message=self._message,
            stages=tuple(self._reports),
            steps=self._steps,
            seconds=self._clock() - self._began,
            history=self._history.lines,
            last=self._last,
            fresh_loss=self._fresh_loss,
            setbacks=self._setbacks,
            decisions=self._course.decisions,
            resume=self.standing(),
        )

    def standing(self) -> Resume | None:
        """Return where the run can be gone on from, after its last step; None before the first."""
        record = self._last
        if record is None:
            return None
        ended = tuple(self._reports[: record.stage_index])
        return Resume(record, self._history.until(record), ended)

    def _ended(self, reason: StopReason, message: str) -> None:
        self._history.close(self._last)
        self._reason, self._message = reason, message

    def _is_over(self) -> bool:
        """Whether no stage may follow the last one."""
        return (
            self._reason in _FINAL
            or self._time_is_up
            or self._left() <= 0
            or (self._reason in _AT_END and self._judge.at_end)
        )

    # ---- what is chosen on the way

    @property
    def _stage(self) -> Stage:
        return self._course.choices[self._index].stage

    def _choose(self) -> bool:
        """Ask for the next stage, unless that was chosen before; return whether there is one."""
        if self._index < len(self._course.choices):
            return True
        choice = self._plan.next(self._situation)
        if choice.stage is None:
            if choice.why:
                self._decide("training ends", choice.why)
            return False
        said = choice.stage.check(self._objective)
        self._course = self._course.chosen(choice)
        if choice.why:
            what = f"{choice.stage.name}, up to {choice.stage.steps} steps"
            self._decide(what, "; ".join([choice.why, *said]))
        return True

    def _decide(self, what: str, why: str) -> None:
        decision = Decision(self._steps, what, why)
        self._course = self._course.decided(decision)
        asked = notify(self._callbacks, "on_decision", decision)
        self._told_to_stop = asked if self._told_to_stop is None else self._told_to_stop

    @property
    def _situation(self) -> Situation:
        return Situation(
            size=self._objective.size,
            rows=self._objective.rows,
            precision=self._objective.dtype.name,
            number=len(self._course.choices),
            steps=self._steps,
            stage_step=self._stage_step,
            loss=self._accepted.loss,
            fresh_loss=self._fresh_loss,
            stages=tuple(self._reports),
            history=self._history.lines,
            looks=self._course.looks,
            weights=self._judge.weights,
            seconds=self._seconds,
            left=None if self._seconds is None else self._left(),
            weighed_at=self._course.weighed_at,
        )

    # ---- a stage

    def _run_stage(self, stage: Stage) -> None:
        began = self._stage_began = self._clock() - self._stage_before
        own = math.inf if stage.seconds is None else stage.seconds - self._stage_before
        seconds = min(self._left(), own)
        limit = None if math.isinf(seconds) else seconds
        why = self._course.choices[self._index].why
        info = StageInfo(self._index, self._plan.count, stage.name, stage.steps, limit, why)
        self._function.forget()
        asked = notify(self._callbacks, "on_stage_start", info)
        self._ended(*(self._follow(stage) if asked is None else self._asked(asked)))
        self._take_all()
        if self._fresh is not None:
            self._fresh_loss = self._fresh(self._accepted.theta)
        report = StageReport(
            stage.name,
            self._stage_step,
            self._clock() - began,
            self._accepted.loss,
            self._reason,
            self._message,
            self._fresh_loss,
            why,
        )
        self._reports.append(report)
        self._stage_step, self._state, self._stage_before = 0, None, 0.0
        self._good, self._lowest = None, math.inf
        asked = notify(self._callbacks, "on_stage_end", report)
        if asked is not None and self._reason not in _FINAL:
            self._reason, self._message = self._asked(asked)

    def _follow(self, stage: Stage) -> tuple[StopReason, str]:
        """Run a stage to its end, and say why that was."""
        try:
            pace = None
            while True:
                try:
                    if math.isnan(self._accepted.loss):
                        began = self._clock()
                        self._reweigh(stage)
                        self._accepted = self._function.find(self._accepted.theta)
                        self._recording = self._clock() - began
                    pace = self._pace = pace or self._new_pace(stage)
                    late = self._time_limit(stage, pace)
                    if late is not None:
                        if self._take_all():
                            self._accepted = self._function.find(self._accepted.theta)
                        return StopReason.TIME, late
                    end = self._descend(stage, pace)
                    return end.reason, end.message
                except Diverged as diverged:
                    trouble = self._go_back(stage, f"{diverged},{self._after()}")
                if trouble is not None:
                    return trouble
        except KeyboardInterrupt:
            return StopReason.INTERRUPTED, f"interrupted{self._after()}"

    def _descend(self, stage: Stage, pace: Pace) -> StageEnd:
        """Run a stage from the last accepted step to its end, with other points on the way."""
        end = None
        if self._state is not None:  # what comes right after the step that is gone on from
            end = self._judged(stage)
            if end is None:
                self._change(stage)
        else:
            self._take_batch(stage)
        while end is None:
            if self._told_to_stop is not None:
                asked, self._told_to_stop = self._told_to_stop, None
                end = StageEnd(self._accepted.theta, *self._asked(asked))
                break
            end = self._pursue(stage, pace)
            if (
                end is not None
                and end.reason in (StopReason.LINE_SEARCH, StopReason.NO_DECREASE)
                and self._may_draw(stage)
                and self._helped_at != self._steps
            ):
                # On other points there may be a way down.
                self._helped_at = self._steps
                self._take_new_points()
                self._reweigh(stage, new_points=True)
                end = None
        # The step of Adam ends at a theta that has not been evaluated yet.
        if self._take_all() or not np.array_equal(end.theta, self._accepted.theta):
            self._accepted = self._function.find(end.theta)
        if end.reason in (StopReason.LINE_SEARCH, StopReason.NO_DECREASE):
            why = no_way_down(self._objective, end.theta)
            if why is not None:
                return StageEnd(end.theta, StopReason.PRECISION, f"{why},{self._after()}")
        return end

    def _pursue(self, stage: Stage, pace: Pace) -> StageEnd | None:
        """Run a solver from the last accepted theta; None where it has to begin anew."""
        steps = stage.run(self._function, self._accepted.theta.copy(), self._state)
        with closing(steps):
            while True:
                began, recorded = self._clock(), self._function.recording
                try:
                    step = next(steps)
                except StopIteration as stopped:
                    return stopped.value
                except TimeIsUp:
                    lowest = self._function.lower_than(self._accepted)
                    theta = self._accepted.theta if lowest is None else lowest.theta
                    self._time_is_up = True
                    return StageEnd(theta, StopReason.TIME, (
                        f"time limit of {self._seconds:g} s for {self._limited} reached within "
                        f"step {self._steps + 1}"
                    ))  # fmt: skip
                worked = self._clock() - began - (self._function.recording - recorded)
                asked = self._accept(step)
                if asked is not None:
                    return StageEnd(step.theta, *self._asked(asked))
                end = self._judged(stage)
                if end is not None:
                    return end
                pace.step_ended(self._clock(), worked)
                # What has been taken already is told, and took its time before.
                late = None if step.ahead else self._time_limit(stage, pace)
                if late is not None:
                    return StageEnd(step.theta, StopReason.TIME, late)
                if self._change(stage):
                    return None

    def _accept(self, step: Step) -> str | None:
        """Take a step, and tell the callbacks; returns what one of them says to stop for."""
        self._accepted = self._function.find(step.theta)
        self._function.forget()
        self._steps += 1
        self._stage_step, self._state = step.number, step.state
        theta, loss, losses = self._accepted
        theta.flags.writeable = False
        self._lowest = min(self._lowest, sum(losses.values()))
        stage, everything = self._stage, self._points.all
        looks = self._judge.look(self._course.looks, self._steps, self._accepted, stage)
        self._course = self._course.looked(looks)
        self._last = StepRecord(
            step=self._steps,
            stage=stage.name,
            stage_index=self._index,
            stage_step=step.number,
            stage_steps=stage.steps,
            loss=loss,
            losses=losses,
            learning_rate=step.learning_rate,
            seconds=self._clock() - self._began,
            theta=theta,
            solver_state=step.state,
            draw=self._draws,
            points=everything.points,
            weights=self._objective.weights,
            row_weights=everything.row_weights,
            weighting_state=self._weighting_state,
            parameters=self._objective.coefficients(theta),
            lowest=self._lowest,
            setbacks=self._setbacks,
            course=self._course,
            stage_seconds=self._clock() - self._stage_began,
        )
        if self._last.is_good:
            self._good = self._last
        self._history.add(self._last, self._reports)
        return notify(self._callbacks, "on_step", self._last)

    def _judged(self, stage: Stage) -> StageEnd | None:
        """Say whether a stage ends after its last step."""

        def enough() -> str | None:
            done = self._stage_step >= stage.steps  # the stage will say so itself
            return None if done else self._plan.enough(stage, self._situation)

        return self._judge.end(self._course, self._steps, self._accepted, stage, enough)

    # ---- numbers that are not finite

    def _go_back(self, stage: Stage, what: str) -> tuple[StopReason, str] | None:
        """Stand at the last good step of a stage again, before shorter steps.

        Returns why there is no more use in that: the stage has no good step, or no shorter ones, or
        has tried often enough.
        """
        good = self._good
        if good is None:
            return StopReason.DIVERGED, what
        tries = 1 + sum(setback.stage_index == self._index for setback in self._setbacks)
        state = stage.slower(good.stage_step, good.solver_state, tries)
        give_up = state is None or tries > MOST_SETBACKS
        if not give_up:
            setback = Setback(good.step, stage.name, self._index, tries, what)
            self._setbacks = (*self._setbacks, setback)
        self._good = dataclasses.replace(
            good, solver_state=state or {}, setbacks=self._setbacks, draw=self._draws,
            course=self._course.back_at(good.course),
        )  # fmt: skip
        self._history.go_back(good.step)
        self._stand_at(self._good)
        if give_up:
            if self._take_all():  # what was told of the step is the loss of its batch
                found = self._objective.value_and_gradient(good.theta)
                self._accepted = Known(good.theta, found.loss, found.losses)
            tried = f", as after {tries - 1} tries with shorter steps" * (tries > 1)
            return StopReason.DIVERGED, f"{what}{tried}; back at step {good.step}"
        asked = notify(self._callbacks, "on_setback", self._good)
        return None if asked is None else self._asked(asked)

    # ---- points and weights

    def _change(self, stage: Stage) -> bool:
        """Take the points and weights that follow the last step; return whether there are any."""
        if self._stage_step >= stage.steps:
            return False
        redrawn = self._is_redraw_due(stage)
        if redrawn:
            self._take_new_points()
        changed = self._reweigh(stage, redrawn) or redrawn
        return self._take_batch(stage) or changed

    def _may_draw(self, stage: Stage) -> bool:
        return self._redraw is not None and stage.redraw != "never"

    def _is_redraw_due(self, stage: Stage) -> bool:
        """Whether the points have served; where that is told by their loss, decide on how many."""
        if not self._may_draw(stage):
            return False
        course = self._course
        if isinstance(self._redraw, Redraw):
            ratio = self._judge.ratio(course.looks, self._steps)
            return self._redraw.is_due(stage, self._served(), ratio)
        found = self._judge.overfit(course, self._steps, self._draws, stage)
        if found is None:
            return False
        self._course = course.grew(found.blocks)
        more = f", more of them for {', '.join(found.blocks)}" if found.blocks else ""
        self._decide(f"new points{more}", found.why)
        return True

    def _reweigh(self, stage: Stage, new_points: bool = False) -> bool:
        """Let the weighting choose where it is due; return whether it was."""
        weighting = self._weighting
        if weighting is None or not weighting.is_due(self._steps, new_points, stage.hold):
            return False
        self._take_all()
        theta, loss, losses = self._accepted
        known = None if new_points or math.isnan(loss) else losses
        view = View(
            self._objective, theta, self._steps, new_points=new_points, hold=stage.hold,
            losses=known,
        )  # fmt: skip
        before = self._weights
        try:
            self._weighting_state = reweigh(weighting, view, self._weighting_state)
        except ValueError:
            # Weights that are not finite come from residuals that are not: that is what to tell of.
            self._function.value_and_gradient(theta)
            raise
        if not alike(before, self._weights):
            self._course = self._course.weighed(self._steps)
        self._objective.parameters.load(theta)
        self._function.forget()
        return True

    @property
    def _weights(self) -> Weights:
        return Weights(self._objective.weights, self._objective.row_weights)

    def _tell_of_weights(self) -> None:
        """Decide on nothing more: tell what became of weights that were chosen on the way."""
        weighting, losses = self._weighting, self._accepted.losses
        if weighting is None or not self._steps or math.isnan(self._accepted.loss):
            return
        view = View(self._objective, self._accepted.theta, self._steps, losses=losses)
        for what, why in weighting.outcome(view, self._weighting_state):
            self._decide(what, why)

    def _take_new_points(self) -> None:
        self._take_all()
        self._draws += 1
        self._course = self._course.drawn(self._steps)
        # A line search may have left it elsewhere.
        self._objective.parameters.load(self._accepted.theta)
        self._objective.set_points(self._redraw.points(self._draws, self._course.grown))
        self._function.forget()

    def _take_batch(self, stage: Stage, step: int | None = None) -> bool:
        """Take the points of a step, the next one if left out; return whether they are others."""
        if not stage.takes_batches:
            return False
        if stage.takes_steps_ahead(self._function):
            taken = self._points.take_ahead(lambda: (self._draws, self._steps))
        else:
            taken = self._points.take(self._draws, self._steps if step is None else step)
        if taken:
            self._function.forget()
        return taken

    def _take_all(self) -> bool:
        """Take all points again after a batch of them; return whether there was one."""
        left = self._points.take_all()
        if left:
            self._function.forget()
        return left

    # ---- limits and words

    def _time_limit(self, stage: Stage, pace: Pace) -> str | None:
        """Say which limit has no room for one more step; None where there is time."""
        if stage.seconds is not None and pace.seconds + pace.next_step >= stage.seconds:
            said = f"time limit of {stage.seconds:g} s reached{self._after()}"
            return said + told("its first step", pace.first - pace.ordinary, stage.seconds)
        if self._left() > pace.next_step:
            return None
        self._time_is_up = True
        said = f"time limit of {self._seconds:g} s for {self._limited} reached{self._after()}"
        if is_told(self._spent, self._seconds):
            said += f"; choosing the model took {self._spent:.2g} s of it"
        if self._steps == 0 and is_told(self._recording, self._seconds):
            return (
                f"{said}: recording and compiling the step's programs took "
                f"{self._recording:.2g} s of it and left no time for a step; give it more"
            )
        return said + told("the first evaluation", self._recording, self._seconds)

    def _look_at_the_clock(self) -> None:
        """Raise TimeIsUp where a step that is under way has had its time; what it found counts."""
        if self._seconds is None or self._left() > 0:
            return
        found = self._function.lower_than(self._accepted) is not None
        if found or self._left() < -_BEYOND * self._seconds:
            raise TimeIsUp

    def _new_pace(self, stage: Stage) -> Pace:
        """Return the pace of a stage that begins: as that of the one before, of the same solver."""
        alike = self._reports and self._reports[-1].name == stage.name and self._pace is not None
        expected = self._pace.next_step if alike else 0.0
        return Pace(self._clock(), self._stage_before, expected)

    def _steps_ahead(self) -> int:
        """How many steps a solver on a device takes before it tells of the first."""
        stage, pace = self._stage, self._pace
        if pace is None:
            return 1
        left = self._left()
        if stage.seconds is not None:
            left = min(left, stage.seconds - pace.seconds)
        redraw = self._redraw if self._may_draw(stage) else None
        return steps_ahead(
            self._steps, stage, pace, left, self._weighting, redraw, self._served()
        )

    def _served(self) -> int:
        """How many steps of the stage the present points have had."""
        return min(self._stage_step, self._steps - self._course.drawn_at)

    def _left(self) -> float:
        """The seconds that are left for all stages together."""
        if self._seconds is None:
            return math.inf
        return self._seconds - (self._clock() - self._began)

    def _after(self) -> str:
        return f" after step {self._steps}"

    def _asked(self, why: str) -> tuple[StopReason, str]:
        said = f": {why}" if why else ""
        return StopReason.CALLBACK, f"stopped by a callback{self._after()}{said}"

    # ---- going on

    def _take_up(self, resume: Resume) -> None:
        """Become the run that has just taken this step."""
        record = resume.record
        self._index, self._draws = record.stage_index, record.draw
        self._history, self._reports = History(resume.history), list(resume.stages)
        self._history.thin(record.step, self._reports)
        self._setbacks = record.setbacks
        self._fresh_loss = self._reports[-1].fresh_loss if self._reports else math.nan
        self._lowest = min(record.lowest, sum(record.losses.values()))
        scale = Scale.of(self._objective, self._seconds)
        stages = [choice.stage for choice in record.course.choices]
        again = (self._plan.again(number, one, scale) for number, one in enumerate(stages))
        self._good = dataclasses.replace(record, course=record.course.with_stages(again))
        self._stand_at(self._good)
        self._began -= record.seconds
        self._stage_before = record.stage_seconds

    def _stand_at(self, record: StepRecord) -> None:
        """Take over a step as the last one; the draws go on from where they are."""
        self._take_all()
        self._steps, self._stage_step = record.step, record.stage_step
        self._state = record.solver_state
        self._last = record
        self._accepted = Known(record.theta, record.loss, dict(record.losses))
        self._objective.set_points(record.points)
        self._objective.set_weights(record.weights, record.row_weights)
        self._weighting_state = record.weighting_state
        self._course = record.course
        self._objective.parameters.load(record.theta)
        self._function.forget()
        # What was told of the step is of a batch, and one of these points judges it.
        self._take_batch(self._stage, record.step - 1)
