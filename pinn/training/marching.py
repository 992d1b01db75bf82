"""Training of a model of windows: one window of time after the other."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

import autograd as T
from pinn.conditions import Dirichlet, Initial, Interface, Neumann, Operator, Periodic, Robin
from pinn.geometry import during
from pinn.models.windows import Window
from pinn.objective import Objective
from pinn.objective.weighting import Fixed, Weighting
from pinn.problem import Problem
from pinn.sampling import Sampling
from pinn.schema.errors import at, refuse
from pinn.training.batches import Batches
from pinn.training.collocation import Collocation, redrawing
from pinn.training.fresh import FreshLoss
from pinn.training.legs import Legs
from pinn.training.loop import Training
from pinn.training.records import Resume

if TYPE_CHECKING:
    from pinn.training.experiment import Experiment

# Conditions whose points follow the times of the domain; others would have to be taken apart.
_FOLLOWING = (Dirichlet, Initial, Interface, Neumann, Operator, Periodic, Robin)


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
    low, high = experiment.model.times(experiment.problem.domain, number)
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


def trained_network(objective: Objective) -> T.nn.Module:
    """Return the network that a window has of its own, not to be trained any more."""
    (window,) = (one for one in objective.parameters.module.modules() if isinstance(one, Window))
    window.network.requires_grad_(False)
    return window.network


class March(Legs):
    """The training of a model of windows, one after the other.

    objective: that of all windows together. started: whether the objective's theta is where all
    windows begin, as that of an older solution; else each network begins as the one before it
    ended, but for one that is solved for, which begins as it was drawn. A window is trained as any
    problem is, with the stages, points and weights of the experiment, on its own times; the
    networks before it stay as they are. The losses told are those in the window; that at the end is
    the mean over windows.
    """

    leg = "window"

    @property
    def count(self) -> int:
        return self._experiment.model.count

    def _announced(self, number: int) -> str:
        experiment = self._experiment
        low, high = experiment.model.edges(experiment.problem.domain)[number : number + 2]
        return f"{_time(experiment.problem)} from {low:.6g} to {high:.6g}"

    def _prepared(self, number: int, resume: Resume | None) -> tuple[Objective, Training]:
        experiment = self._experiment
        objective, collocation, weighting = of_window(experiment, number, self._earlier)
        own = self._started or not number or experiment.model.linear
        begun = number if own else number - 1
        objective.parameters.load(self._theta[self._place(begun)])
        left, to_come = self._left(self._leg_began), self.count - number
        sizes = collocation.batches
        return objective, Training(
            objective,
            experiment.plan,
            [self._relay(number)],
            redrawing(collocation, objective),
            seconds=None if math.isinf(left) else max(left, 0.0) / to_come,
            limited="this window",
            target=experiment.target,
            apart=FreshLoss(objective, collocation.fresh("judging")),
            fresh=FreshLoss(objective, collocation.fresh("fresh")),
            weighting=weighting,
            batches=Batches(sizes, experiment.seed) if sizes else None,
            resume=resume,
        )

    def _kept(self, objective: Objective) -> T.nn.Module:
        return trained_network(objective)

    def _losses(self) -> tuple[float, Mapping[str, float]]:
        losses = {
            block.name: _mean(
                one.losses[block.name] for one in self._reports if block.name in one.losses
            )
            for block in self._objective.blocks
        }
        return _mean(one.loss for one in self._reports), losses

    def _place(self, number: int) -> slice:
        size = self._objective.size // self.count
        return slice(number * size, (number + 1) * size)

    def _whole(self, number: int, theta: np.ndarray) -> np.ndarray:
        whole = self._theta.copy()
        whole[self._place(number)] = theta
        return whole

    def _part(self, number: int, theta: np.ndarray) -> np.ndarray:
        return theta[self._place(number)]

    def _take_up(self) -> None:
        for number in range(len(self._reports)):
            objective, *_ = of_window(self._experiment, number, self._earlier)
            objective.parameters.load(self._theta[self._place(number)])
            self._earlier.append(self._kept(objective))


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else math.nan
