"""From a problem to its trained solution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pinn.checks import check_number
from pinn.objective import Objective
from pinn.optimizers import Stage
from pinn.problem.problem import Problem
from pinn.sampling import Sampling
from pinn.solution.accuracy import Errors, TestSet
from pinn.solution.report import Report
from pinn.solution.solution import Solution
from pinn.training.callbacks import check_callbacks, notify
from pinn.training.defaults import default_training
from pinn.training.fresh import FreshLoss, fresh_points
from pinn.training.loop import Redraw, Training
from pinn.training.records import StepRecord, TrainingResult
from pinn.training.resources import training_resources
from pinn.training.setup import Setup
from pinn.training.start import load_start


class Session:
    """What a callback gets in `on_start`: the setup, and the way to a solution at any step."""

    def __init__(
        self, setup: Setup, objective: Objective, test: TestSet, fresh: FreshLoss
    ) -> None:
        self.setup = setup
        self.objective = objective
        self._test = test
        self._fresh = fresh

    def solution(self, record: StepRecord) -> Solution:
        """Return the solution as it stands at a step, without its errors: a checkpoint.

        Training is not touched: the solution has a model of its own.
        """
        report = Report(
            stop_reason="running",
            message=f"not finished: step {record.step}",
            loss=record.loss,
            losses=dict(record.losses),
            wall_seconds=record.seconds,
            steps=record.step,
        )
        return Solution(self.setup, record.theta, report, record)

    def errors(self, record: StepRecord) -> Errors:
        """Return the errors against the reference at a step, for display only."""
        return self._test.errors(self.solution(record).evaluate)

    def fresh_loss(self, record: StepRecord) -> float:
        """Return the loss at a step on points that training never sees, for display only."""
        return self._fresh(record.theta)


def solve(
    problem: Problem,
    model: Any = None,
    sampling: Sampling | None = None,
    training: Iterable[Stage] | None = None,
    weights: Mapping[str, float] | None = None,
    seed: int = 0,
    precision: str = "float64",
    device: str = "cpu",
    callbacks: Iterable[Any] = (),
    *,
    seconds: float | None = None,
    start: Solution | Mapping[str, np.ndarray] | np.ndarray | None = None,
    engine: str = "recorded",
    derivatives: str = "jets",
    threads: int | None = None,
) -> Solution:
    """Train a network to satisfy a problem, and return it with a report.

    model: pinn.MLP(); sampling: pinn.Sampling(); training: a list of stages, default_training() of
    the model's size. weights: block name -> weight in the loss, 1 where left out. precision:
    "float64" or "float32". device: "cpu" or "cuda". callbacks: functions of a step record, or
    objects with the methods of pinn.training.Callback; pinn.Progress() shows progress, and without
    it nothing is printed. seconds: limit of the wall time of all stages; the default stages then
    use it up, unless the loss goes no lower before. start: a solution of the same model (or its
    theta, as a vector or by name) to begin from. engine: "recorded" (traced once, replayed in
    chunks), or "eager" for debugging. derivatives: "jets" (one Taylor-mode sweep) or "nested"
    (reverse mode again and again, for models with operations that have no Taylor rule). threads:
    None takes all cores; the bits are the same for any number.

    Equal arguments give equal bits, but where a time limit ended a stage. Ctrl-C stops training and
    returns what there is, with report.stop_reason "interrupted", as does a callback that returns
    True or raises StopIteration ("stopped by callback"); a loss that is not finite ends it as
    "diverged". Any other exception on the way has the solution so far as its attribute `solution`.
    The problem's reference takes no part in training: it is compared with once, at the end.

    Raises TypeError or ValueError, naming the argument, before training begins.
    """
    callbacks = check_callbacks(callbacks)
    if seconds is not None:
        check_number("seconds", seconds, above=0.0)
    setup = Setup.checked(
        problem, model, sampling, training, weights, seed, precision, device,
        engine, derivatives, threads,
    )
    with training_resources():
        objective = setup.objective()
        if training is None:
            setup = replace(setup, training=tuple(default_training(objective.size, seconds)))
        for stage in setup.training:
            stage.check_size(objective.size)
        if start is not None:
            load_start(objective.parameters, start)
        # Before training, so that a reference that fails does so at once.
        test = TestSet(problem, (block.points for block in objective.blocks))
        fresh = FreshLoss(objective, fresh_points(setup))
        run = Training(
            objective, setup.training, callbacks, _redraw(setup, objective),
            seconds=seconds, fresh=fresh,
        )
        asked = notify(callbacks, "on_start", Session(setup, objective, test, fresh))
        try:
            result = run.run() if asked is None else run.stop(asked)
        except Exception as error:
            error.solution = _solution(setup, run.fail(error))
            error.add_note(
                "what training had reached is the attribute `solution` of this exception: "
                f"{error.solution.report.steps} steps, loss {error.solution.report.loss:.3e}"
            )
            raise
        solution = _solution(setup, result)
        errors = test.errors(solution.evaluate)
        solution.report = Report.of(result, errors, solution.parameters)
    notify(callbacks, "on_end", solution)
    return solution


def _redraw(setup: Setup, objective: Objective) -> Redraw | None:
    def draw(number: int) -> dict[str, np.ndarray]:
        return setup.draw_points(number, lambda at: objective.residuals(objective.theta, at))

    every = setup.sampling.redraw
    return None if every is None else Redraw(every, draw)


def _solution(setup: Setup, result: TrainingResult) -> Solution:
    """The solution of a run, without its errors."""
    solution = Solution(setup, result.theta, Report.of(result, Errors({}, {}), {}), result.last)
    solution.report = Report.of(result, Errors({}, {}), solution.parameters)
    return solution
