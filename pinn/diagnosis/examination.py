"""What is known of a solution, found out when it is first asked for."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pinn.diagnosis.finding import Finding
from pinn.diagnosis.last_weights import last_weights
from pinn.diagnosis.posed.statement import Statement, statement_of
from pinn.diagnosis.scaled_residual import LARGE, scaled_residuals, term_sizes
from pinn.models import Windows
from pinn.objective import Objective
from pinn.optimizers import LBFGS, Diverged, LevenbergMarquardt, SSBroyden, Stage
from pinn.residuals import Measured, Residual
from pinn.sampling import Points, Sampling
from pinn.solution.solution import Solution
from pinn.training.auto import MOST_DENSE
from pinn.training.judging.rounding import Rounding
from pinn.training.judging.watched import Watched
from pinn.training.points.collocation import Collocation

# Fresh points of an equation, and of a condition, at least: their residuals are looked at by place.
_INTERIOR, _OTHER = 3000, 600
# A trained loss is overfitted where the fresh one is so many times as large.
OVERFIT = 3.0
# Below this share of its terms a residual is that of a solution with some digits.
GOOD = 1e-4
# Of the trial of another solver: operations, and steps at least and at most.
_WORK, _FEWEST, _MOST = 5e10, 4, 25
_QUASI_NEWTON_STEPS = 150
# A trial that lowers the loss so much shows that all it takes is steps.
_HELPS = 10.0
# Fewer records than these say nothing of how the loss falls.
_RECORDS = 6

# A decision that tells of trainings in turn, of which this is one.
_LEG = re.compile(r"(window|continuation) \d")


@dataclass(frozen=True)
class Trial:
    """A few steps of a solver from where training ended, on the present points.

    before, after: the loss on fresh points. trained_before, trained_after: on the present ones.
    """

    stage: Stage
    steps: int
    before: float
    after: float
    trained_before: float
    trained_after: float


class Examination:
    """A solution as the causes see it: losses by block, residuals by place, history, a trial.

    records: what was logged on the way, as in metrics.jsonl; the report's history where left out.
    The solution stays as it is. Each property is computed once. Points are in streams of their own.
    """

    def __init__(
        self, solution: Solution, records: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        self.solution = solution
        self.experiment = solution.experiment
        self.problem = solution.problem
        self.report = solution.report
        self.theta = solution.theta
        self.records = list(records or solution.report.history)
        # What the causes before this one in the table have found.
        self.found: list[Finding] = []

    def has_found(self, cause: str) -> bool:
        """Return whether a cause before this one in the table was found."""
        return any(one.cause == cause for one in self.found)

    # ---- losses

    @cached_property
    def objective(self) -> Objective:
        """The objective at theta, at points such as training had last, under its last weights.

        Of windows of time the last had points in itself alone: all are drawn again.
        """
        experiment, solution = self.experiment, self.solution
        last = None if isinstance(experiment.model, Windows) else solution.last
        points = experiment.draw_points() if last is None or not last.points else last.points
        objective = Objective(
            self.problem, experiment.initial_parameters(), points, dtype=experiment.dtype,
            device=experiment.device, engine=experiment.engine,
            derivatives=experiment.derivatives, threads=experiment.threads, executor="numpy",
        )  # fmt: skip
        objective.parameters.load(self.theta)
        if last is None and experiment.sampling.redraw is not None:
            drawn = experiment.draw_points(1, lambda at: objective.residuals(self.theta, at))
            objective.set_points(drawn)
        objective.set_weights(self.weights)
        return objective

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each block at the end of training."""
        return last_weights(self.solution, self.records)

    @cached_property
    def fresh_points(self) -> dict[str, Points]:
        """Uniform points of every block that training never saw."""
        had = {block.name: len(block.points) for block in self.objective.blocks}
        plenty = Sampling(
            interior=max(_INTERIOR, *had.values()), initial=_OTHER, boundary=_OTHER,
            redraw=None, adaptive=None,
        )  # fmt: skip
        return Collocation(self.problem, plenty, self.experiment.seed).fresh("doctor")

    @cached_property
    def residuals(self) -> dict[str, np.ndarray]:
        """Each block's residual on its fresh points."""
        found = self.objective.residuals(self.theta, self.fresh_points)
        return {name: array.astype(np.float64) for name, array in found.items()}

    @cached_property
    def fresh(self) -> dict[str, float]:
        """Each block's mean square on fresh points."""
        return {name: float(np.mean(array**2)) for name, array in self.residuals.items()}

    @cached_property
    def trained(self) -> dict[str, float]:
        """Each block's loss on the points that it was trained on last."""
        found = self.report.losses
        if found.keys() == self.fresh.keys() and all(map(math.isfinite, found.values())):
            return dict(found)
        return self.objective.losses(self.theta)

    def total(self, losses: Mapping[str, float]) -> float:
        """Return the weighted sum of losses by block."""
        return float(sum(self.weights[name] * loss for name, loss in losses.items()))

    def of_data(self, losses: Mapping[str, float]) -> float:
        """Return the part of that sum that blocks of data have."""
        residuals = self.problem.residuals
        data = {one.name for one in residuals if isinstance(one.source, Measured)}
        return self.total({name: loss for name, loss in losses.items() if name in data})

    @cached_property
    def overfit(self) -> bool:
        """Whether the points that were trained on are fitted much better than others."""
        return self.total(self.fresh) > OVERFIT * self.total(self.trained)

    @cached_property
    def shares(self) -> dict[str, float]:
        """How far each residual is from holding, in units of its terms; see scaled_residuals."""
        return scaled_residuals(self.solution)

    @cached_property
    def terms(self) -> dict[str, float]:
        """The root mean square of each residual's terms, which the residual would be otherwise."""
        return term_sizes(self.solution)

    @cached_property
    def unsolved(self) -> float | None:
        """The largest of these where the problem is not solved, else None."""
        worst = max(self.shares.values(), default=0.0)
        return worst if worst >= LARGE else None

    @property
    def is_good(self) -> bool:
        """Whether every residual is below a ten-thousandth of its terms."""
        return max(self.shares.values(), default=1.0) < GOOD

    @cached_property
    def gradients(self) -> dict[str, float]:
        """The size of the gradient of each block's weighted loss."""
        found = self.objective.gradients(self.theta)
        return {n: self.weights[n] * float(np.linalg.norm(g)) for n, g in found.items()}

    @cached_property
    def rounding(self) -> Rounding:
        """What rounding does to the loss."""
        return Rounding.at(self.objective, self.theta)

    @cached_property
    def floor(self) -> float:
        """What rounding in float64 would leave of the loss."""
        units = np.finfo(np.float64).eps / np.finfo(self.objective.dtype).eps
        return max(self.rounding.floor * float(units) ** 2, np.finfo(np.float64).tiny)

    # ---- the problem

    @cached_property
    def statement(self) -> Statement | None:
        """The problem as the checks see it; None for one that they would take too long for."""
        return statement_of(self.problem)

    @property
    def equations(self) -> list[Residual]:
        """The residuals of the equations."""
        return [r for r in self.problem.residuals if r.name in self.problem.equations]

    def condition_numbers(self, names: Sequence[str], hard: bool | None = None) -> list[int]:
        """Return the places in the list of conditions of those that have one of these names."""
        pairs = zip(self.problem.conditions, self.problem.by_condition, strict=True)
        return [
            number for number, (condition, own) in enumerate(pairs)
            if (hard is None or condition.hard is hard) and any(r.name in names for r in own)
        ]  # fmt: skip

    # ---- the course of training

    @cached_property
    def fall(self) -> tuple[float, int] | None:
        """The factor by which the loss fell over the last half of all steps, and their number.

        On fresh points where these were logged. None of a history that is too short to tell.
        """
        key = "fresh_loss" if all("fresh_loss" in r for r in self.records) else "loss"
        # Of windows, and of values that a constant had, the last one alone.
        legs = (one for one in self.report.decisions if _LEG.match(one.what))
        since = max((one.step for one in legs), default=0)
        pairs = [
            (r["step"] - since, r[key]) for r in self.records
            if r.get(key) is not None and r["step"] > since
        ]  # fmt: skip
        if len(pairs) < _RECORDS:
            return None
        steps, losses = np.array(pairs, dtype=np.float64).T
        half = steps[-1] / 2
        before, after = losses[steps <= half], losses[steps > half]
        if not (before.size and after.size and after.min() > 0):
            return None
        return float(before.min() / after.min()), round(steps[-1] - half)

    @property
    def numbers(self) -> int:
        """How many numbers are trained at once: those of one window, which has all rows too."""
        model = self.experiment.model
        return self.objective.size // (model.count if isinstance(model, Windows) else 1)

    @cached_property
    def trial(self) -> Trial:
        """A few steps of the solver that a network of this size is trained best with."""
        objective, theta = self.objective, self.theta
        stage, steps = self._tried()
        before = self.total(self.fresh), objective.value(theta)
        function, end, done = Watched(objective), theta, 0
        try:
            for step in itertools.islice(stage.run(function, theta.copy()), steps):
                end, done = np.array(step.theta), step.number
                function.forget()
        except Diverged:
            end = theta
        after = self.total(self._losses_at(end)), objective.value(end)
        objective.parameters.load(theta)
        return Trial(stage, done, before[0], after[0], before[1], after[1])

    @property
    def is_stuck(self) -> bool:
        """Whether the trial hardly helps: else the network follows, given steps."""
        return self.trial.after * _HELPS >= self.trial.before

    def _tried(self) -> tuple[Stage, int]:
        size, rows = self.objective.size, self.objective.rows
        steps = int(min(_WORK / (2 * rows * size**2), _MOST))
        if steps >= _FEWEST and size <= rows:
            return LevenbergMarquardt(steps=200), steps
        stage = SSBroyden(steps=2000) if size <= MOST_DENSE else LBFGS(steps=2000)
        return stage, _QUASI_NEWTON_STEPS

    def _losses_at(self, theta: np.ndarray) -> dict[str, float]:
        found = self.objective.residuals(theta, self.fresh_points)
        return {name: float(np.mean(array.astype(np.float64) ** 2)) for name, array in
                found.items()}  # fmt: skip


def orders(high: float, low: float) -> float:
    """Return how many orders of magnitude lie between two losses, 0 at least."""
    tiny = np.finfo(np.float64).tiny
    return max(0.0, math.log10(max(high, tiny) / max(low, tiny)))


def unsolved_orders(share: float) -> float:
    """Return the orders between a residual of this share of its terms and one of a thousandth."""
    return 2 * orders(share, 1e-3)
