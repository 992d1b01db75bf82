"""Training of a model of windows: one window of time after the other."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import autograd as T
from pinn.conditions import Dirichlet, Initial, Interface, Neumann, Operator, Periodic, Robin
from pinn.geometry import during
from pinn.models.windows import Window
from pinn.objective import Objective
from pinn.objective.weighting import Fixed, Weighting
from pinn.optimizers import StopReason
from pinn.problem import Problem
from pinn.sampling import Sampling
from pinn.schema.errors import at, refuse
from pinn.training.batches import Batches
from pinn.training.callbacks import Callback, check_callbacks, notify
from pinn.training.collocation import Collocation, redrawing
from pinn.training.course import Decision
from pinn.training.fresh import FreshLoss
from pinn.training.loop import Training
from pinn.training.records import StageInfo, StageReport, StepRecord, TrainingResult

if TYPE_CHECKING:
    from pinn.training.experiment import Experiment

# Conditions whose points follow the times of the domain; others would have to be taken apart.
_FOLLOWING = (Dirichlet, Initial, Interface, Neumann, Operator, Periodic, Robin)
# After these no other window is begun.
_FINAL = (
    StopReason.DIVERGED, StopReason.INTERRUPTED, StopReason.CALLBACK, StopReason.FAILED,
)  # fmt: skip


def check_windows(problem: Problem, sampling: Sampling, weighting: Weighting) -> None:
    """Raise DeclarationError, with the key, for what cannot be trained window by window."""
    with at("problem"):
        for key in ("parameters", "fields"):
            if getattr(problem, key):
                refuse(
                    "expected none with a model of windows: the first window alone would decide "
                    "on them", key,
                )  # fmt: skip
        for number, condition in enumerate(problem.conditions):
            in_time = isinstance(condition, Periodic) and condition.coordinate == _time(problem)
            if in_time or not isinstance(condition, _FOLLOWING):
                with at("conditions", number):
                    refuse(
                        f"expected, with a model of windows, conditions at the start or at all "
                        f"times alike ({', '.join(one.__name__ for one in _FOLLOWING)}), got "
                        f"{type(condition).__name__}{' in time' * in_time}"
                    )
    later = _during(problem, *problem.domain.bounds[_time(problem)], first=False)
    with at("weighting"):
        _weighting(weighting, later).check(later)


def _time(problem: Problem) -> str:
    return str(problem.domain.time)


def _during(problem: Problem, low: float, high: float, *, first: bool) -> Problem:
    """Return what is to hold in a window: without what is hard, as it is anyhow, and references.

    Conditions at the start of time are of the first window alone.
    """
    conditions = [
        one for one in problem.conditions
        if not one.hard and (first or not isinstance(one, Initial))
    ]  # fmt: skip
    return dataclasses.replace(
        problem, domain=during(problem.domain, low, high), conditions=tuple(conditions),
        reference=None,
    )  # fmt: skip


def _sampling(sampling: Sampling, problem: Problem) -> Sampling:
    """Return the settings without those of blocks that a window does not have."""
    names = {residual.name for residual in problem.residuals}
    kept = {name: own for name, own in sampling.blocks.items() if name in names}
    return dataclasses.replace(sampling, blocks=kept)


def _weighting(weighting: Weighting, problem: Problem) -> Weighting:
    """Return fixed weights without those of blocks that a window does not have."""
    if not isinstance(weighting, Fixed):
        return weighting
    names = {residual.name for residual in problem.residuals}
    return Fixed({name: one for name, one in weighting.blocks.items() if name in names})


def of_window(
    experiment: Experiment, number: int, earlier: Sequence[T.nn.Module] = ()
) -> tuple[Objective, Collocation, Weighting]:
    """Return what is minimised in a window, where its points are, and its scheme of weights.

    number: from 0. earlier: the trained networks of the windows before.
    """
    domain = experiment.problem.domain
    low, high = map(float, experiment.model.edges(domain)[number : number + 2])
    problem = _during(experiment.problem, low, high, first=number == 0)
    collocation = Collocation(problem, _sampling(experiment.sampling, problem), experiment.seed)
    weighting = _weighting(experiment.weighting, problem)
    parameters = experiment.initial_parameters(
        lambda owner, network, domain: network.within(number, earlier)
    )
    objective = experiment.objective_of(
        problem, parameters, collocation.draw(), weighting.initial
    )
    return objective, collocation, weighting


class March:
    """The training of a model of windows, in turn; it is to pinn.solve what a Training is.

    objective: that of all windows together, which is left at the result. fresh: its loss on points
    that decide nothing. started: whether the objective's theta is where all windows begin, as that
    of an older solution; else each network begins as the one before it ended. A window is trained
    as any problem is, with the stages, points and weights of the experiment, on its own times; the
    networks before it stay as they are. Callbacks hear of the steps of all windows as of one run,
    with the whole theta. The losses told are those in the window; that at the end is the mean over
    windows.
    """

    def __init__(
        self,
        experiment: Experiment,
        objective: Objective,
        callbacks: Iterable[Any] = (),
        *,
        fresh: FreshLoss,
        started: bool = False,
    ) -> None:
        self._experiment = experiment
        self._started = started
        self._objective = objective
        self._callbacks = check_callbacks(callbacks)
        self._fresh = fresh
        self._edges = [float(one) for one in experiment.model.edges(experiment.problem.domain)]
        self._began = time.perf_counter()
        self._theta = objective.theta.copy()
        self._size = objective.size // experiment.model.count
        self._earlier: list[T.nn.Module] = []
        self._results: list[TrainingResult] = []
        self._decisions: list[Decision] = []
        self._running: Training | None = None
        self._last: StepRecord | None = None
        self._end = (StopReason.STEPS, "no stage to run")

    # ---- the whole

    def run(self) -> TrainingResult:
        """Train every window, and return the result; exceptions of callbacks pass through."""
        try:
            for number in range(self._experiment.model.count):
                if number and self._left() <= 0:
                    break
                asked = self._announce(number)
                if asked is not None:
                    said = f": {asked}" if asked else ""
                    self._end = StopReason.CALLBACK, f"stopped by a callback{said}"
                    break
                objective, self._running = self._prepared(number)
                self._take(self._running.run())
                if self._end[0] in _FINAL:
                    break
                own = _own(objective.parameters.module)
                own.requires_grad_(False)
                self._earlier.append(own)
        except KeyboardInterrupt:
            self._end = StopReason.INTERRUPTED, "interrupted between two windows"
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

    def _result(self) -> TrainingResult:
        self._objective.parameters.load(self._theta)
        with np.errstate(over="ignore", invalid="ignore"):
            fresh_loss = self._fresh(self._theta) if self._results else math.nan
        reason, message = self._end
        if self._results:
            message = f"window {len(self._results)} of {self._experiment.model.count}: {message}"
        return TrainingResult(
            theta=self._theta,
            loss=_mean(one.loss for one in self._results),
            losses={
                block.name: _mean(
                    one.losses[block.name] for one in self._results if block.name in one.losses
                )
                for block in self._objective.blocks
            },
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

    # ---- one window

    def _announce(self, number: int) -> str | None:
        low, high = self._edges[number : number + 2]
        what = f"window {number + 1} of {self._experiment.model.count}"
        name = _time(self._experiment.problem)
        return self._decide(Decision(self._steps, what, f"{name} from {low:.6g} to {high:.6g}"))

    def _decide(self, decision: Decision) -> str | None:
        self._decisions.append(decision)
        return notify(self._callbacks, "on_decision", decision)

    def _prepared(self, number: int) -> tuple[Objective, Training]:
        experiment = self._experiment
        objective, collocation, weighting = of_window(experiment, number, self._earlier)
        begun = number if self._started or not number else number - 1
        objective.parameters.load(self._theta[self._place(begun)])
        left, to_come = self._left(), experiment.model.count - number
        sizes = collocation.batches
        return objective, Training(
            objective,
            experiment.plan,
            [_Relay(self, number)],
            redrawing(collocation, objective),
            seconds=None if math.isinf(left) else max(left, 0.0) / to_come,
            target=experiment.target,
            apart=FreshLoss(objective, collocation.fresh("judging")),
            fresh=FreshLoss(objective, collocation.fresh("fresh")),
            weighting=weighting,
            batches=Batches(sizes, experiment.seed) if sizes else None,
        )

    def _take(self, result: TrainingResult) -> None:
        """Take what a window has reached."""
        number = len(self._results)
        self._theta = self._whole(number, result.theta)
        self._end = result.reason, result.message
        self._results.append(result)
        self._running = None

    def _place(self, number: int) -> slice:
        return slice(number * self._size, (number + 1) * self._size)

    def _whole(self, number: int, theta: np.ndarray) -> np.ndarray:
        """Return theta of all windows, from that of one."""
        whole = self._theta.copy()
        whole[self._place(number)] = theta
        return whole

    # ---- what is told of it

    @property
    def _steps(self) -> int:
        return sum(result.steps for result in self._results)

    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _left(self) -> float:
        seconds = self._experiment.seconds
        return math.inf if seconds is None else seconds - self._seconds()

    def _history(self) -> list[dict[str, Any]]:
        found, steps, seconds = [], 0, 0.0
        for result in self._results:
            found += [
                {**line, "step": line["step"] + steps, "wall_s": line["wall_s"] + seconds}
                for line in result.history
            ]
            steps, seconds = steps + result.steps, seconds + result.seconds
        return found

    def _setbacks(self) -> tuple:
        found, steps = [], 0
        for result in self._results:
            found += [dataclasses.replace(s, step=s.step + steps) for s in result.setbacks]
            steps += result.steps
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

    @property
    def _stages(self) -> int:
        return sum(len(result.stages) for result in self._results)


class _Relay(Callback):
    """Tells the callbacks of a run what happens in a window, as part of the whole."""

    def __init__(self, march: March, number: int) -> None:
        self._march = march
        self._number = number

    def _tell(self, event: str, argument: Any) -> None:
        asked = notify(self._march._callbacks, event, argument)
        if asked is not None:
            raise StopIteration(asked)

    def on_stage_start(self, info: StageInfo) -> None:
        index = info.index + self._march._stages
        self._tell("on_stage_start", dataclasses.replace(info, index=index, count=None))

    def on_decision(self, decision: Decision) -> None:
        step = decision.step + self._march._steps
        asked = self._march._decide(dataclasses.replace(decision, step=step))
        if asked is not None:
            raise StopIteration(asked)

    def on_step(self, record: StepRecord) -> None:
        self._tell("on_step", self._march._record(self._number, record))

    def on_setback(self, record: StepRecord) -> None:
        self._tell("on_setback", self._march._record(self._number, record))

    def on_stage_end(self, report: StageReport) -> None:
        self._tell("on_stage_end", report)


def _own(module: T.nn.Module) -> T.nn.Module:
    """Return the network of its own that a window has, inside of what hard conditions need."""
    (window,) = (one for one in module.modules() if isinstance(one, Window))
    return window.network


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else math.nan
