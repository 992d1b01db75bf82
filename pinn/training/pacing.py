"""Windows of time as long as random features follow what happens in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import autograd as T
from pinn.models import Windows
from pinn.objective import Objective
from pinn.problem import Problem
from pinn.sampling import Points
from pinn.training.experiment import Experiment
from pinn.training.given import given_values
from pinn.training.marching import of_window
from pinn.training.trial import Budget, Tell, Trial, fitted

# The window that is tried first, as a share of all time; the shortest, and the same as a share of
# when it is: there are few numbers between times that are nearer.
_FIRST, _SHORTEST, _NEAREST = 1 / 8, 1e-12, 4e-9
# The most windows.
_MOST = 500
# A window may leave this much of what changes in it, as a share of the unknown: what adds up is an
# error of eight or nine digits. With a share of that the next window is longer, by a factor.
_LEAVES, _LESS, _LONGER, _MUCH_LESS, _MUCH_LONGER = 1e-9, 0.1, 1.4, 1e-3, 2.0
# Where it leaves more the next try is shorter, and much shorter where it left as much as this.
_SHORTER, _MUCH_SHORTER, _ALL_OF_IT = 0.5, 0.2, 1e-3
# A fit that leaves this share of a loss has found nothing, and does not tell what changes.
_NOT_FOUND = 0.5
# One that leaves less tells how large an unknown is, if not yet more: what was at rest may jump.
_ROUGHLY = 0.1
# A residual smaller than this share of the largest so far, squared, is as good as none.
_NOTHING = 1e-20
# Points that judge a window are also at its start, each half as far from it as the one before:
# there is what is gone soon, which points all over a window do not see.
_HALVINGS = 20
# Times at which it is seen how much changes.
_SEEN = 64
# The share of a limit in time that windows may take: training begins where they end.
SHARE = 0.75


class Paced(NamedTuple):
    """An experiment in windows, where all of them were found to be, and the most that one leaves.

    left: of what changes in a window, as a share of the unknown.
    """

    experiment: Experiment
    theta: np.ndarray
    left: float


def paced(
    experiment: Experiment,
    windows: Callable[[Sequence[float]], Windows],
    budget: Budget,
    tell: Tell = lambda sentence: None,
) -> Paced | None:
    """Go through time in windows, each solved by a short fit; None where features do not follow.

    windows: breaks -> the model, in time alone. A window that leaves more of what changes in it
    than is allowed is tried again at a fraction of its length; after one that leaves much less the
    next is longer. tell: hears of each.
    """
    domain = experiment.problem.domain
    low, high = map(float, domain.bounds[domain.time])
    length, here, seen, worst = _FIRST * (high - low), None, Seen(), 0.0
    breaks: list[float] = []
    networks: list[T.nn.Module] = []
    thetas: list[np.ndarray] = []
    began, tries, start = budget.spent, 0, low
    while start < high:
        end = _end(start, length, high)
        tried = replace(experiment, model=windows([*breaks, end][: len(breaks) + (end < high)]))
        here = of_window(tried, len(networks), networks, here)
        objective = here.objective
        points = near_start(tried.problem, here.collocation.fresh("judging"), (start, end))
        if not networks:
            objective.parameters.load(_constant(objective, start))
        trial = fitted(objective, points, objective.theta, budget, SHARE)
        left = seen.left(trial, objective, (start, end))
        if left <= _LEAVES:
            objective.parameters.load(trial.theta)
            networks.append(here.trained_network())
            thetas.append(trial.theta)
            breaks.append(end)
            worst = max(worst, left)
            seen.take(trial)
            start = end
            tell(f"{len(breaks)} windows of time, up to {domain.time} = {end:.6g} of {high:g}")
            if left <= _LESS * _LEAVES:
                length *= _MUCH_LONGER if left <= _MUCH_LESS * _LEAVES else _LONGER
        else:
            length = (end - start) * (_MUCH_SHORTER if left > _ALL_OF_IT else _SHORTER)
            if length < max(_SHORTEST * (high - low), _NEAREST * abs(start)):
                return None
        tries += 1
        # at best each is longer than the one before
        to_come = math.log2(1 + (high - start) / length)
        predicted = budget.spent + to_come * (budget.spent - began) / tries
        is_over = len(networks) == _MOST or not budget.allows(predicted, SHARE)
        if is_over and start < high:
            return None
    return Paced(tried, np.concatenate(thetas), worst)


def _constant(objective: Objective, start: float) -> np.ndarray:
    """Return the theta at which unknowns are the constants that soft conditions give, if any.

    A network of zero may have no finite residual, as of log(u), or be far from any solution.
    """
    parameters, problem = objective.parameters, objective.problem
    like, theta = parameters.tensors[0], objective.theta
    at = T.tensor([[start]], dtype=like.dtype, device=like.device)

    def values(numbers: np.ndarray) -> np.ndarray:
        parameters.load(numbers)
        with T.no_grad():
            return parameters.module(at).cpu().numpy()[0]

    given = given_values(problem, lambda: {block.name: block.points for block in objective.blocks})
    zero = values(theta)
    for part in parameters.layout.parts:
        if part.name.endswith("bias") and part.shape == zero.shape:
            raised = theta.copy()
            part.of(raised)[...] += 1.0
            slopes = values(raised) - zero
            for number, unknown in enumerate(problem.unknowns):
                found = given(unknown)
                if found.size and slopes[number]:
                    part.of(theta)[number] += (found.mean() - zero[number]) / slopes[number]
    return theta


def _end(start: float, length: float, high: float) -> float:
    """Return where a window ends that is about so long, so that no sliver is left after it."""
    left = (high - start) / length
    if left <= 1.2:
        return high
    return start + (length if left >= 2 else (high - start) / 2)


def near_start(
    problem: Problem, points: Mapping[str, Points], times: tuple[float, float]
) -> dict[str, Points]:
    """Return points of blocks, in time alone, and for equations further ones near the start."""
    start, end = times
    near = Points((start + (end - start) * 0.5 ** np.arange(1.0, 1 + _HALVINGS))[:, None])
    return {
        name: Points.joined([one, near]) if name in problem.equations and not one.columns else one
        for name, one in points.items()
    }


class Seen:
    """What has been met so far: the largest loss of each block, and values of each unknown."""

    def __init__(self) -> None:
        self._losses: dict[str, float] = {}
        self._values = 0.0

    def left(self, trial: Trial, objective: Objective, times: tuple[float, float]) -> float:
        """Return how much of what changes in a window a fit has left, as a share of the unknown.

        How large unknowns are is noted of each fit that leaves little enough to tell. Infinite for
        what is no number.
        """
        if not all(map(math.isfinite, [*trial.before.values(), *trial.after.values()])):
            return math.inf
        share, whole = 0.0, max([*trial.before.values(), *self._losses.values()])
        for name, after in trial.after.items():
            most = max(self._losses.get(name, 0.0), trial.before[name])
            before = trial.before[name] if trial.before[name] > _NOTHING * whole else most
            before = before if before > _NOTHING * whole else whole
            share = max(share, after / before if before > 0 else after)
        if share >= _NOT_FOUND:
            return math.inf
        changes, largest = self._changes(trial, objective, times)
        if share < _ROUGHLY:
            self._values = largest
        with np.errstate(invalid="ignore", divide="ignore"):
            change = np.max(changes / np.where(largest > 0, largest, 1.0))
        left = math.sqrt(share) * float(change)
        return left if math.isfinite(left) else math.inf

    def take(self, trial: Trial) -> None:
        """Take note of the losses of a window that is solved."""
        for name, before in trial.before.items():
            self._losses[name] = max(before, self._losses.get(name, 0.0))

    def _changes(
        self, trial: Trial, objective: Objective, times: tuple[float, float]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much unknowns change, beside going on as before, and their largest."""
        like, found = objective.parameters.tensors[0], []
        at = T.tensor(np.linspace(*times, _SEEN)[:, None], dtype=like.dtype, device=like.device)
        for theta in (np.zeros_like(trial.theta), trial.theta):
            objective.parameters.load(theta)
            with T.no_grad(), np.errstate(all="ignore"):
                found.append(objective.parameters.module(at).cpu().numpy())
        largest = np.maximum(self._values, np.abs(found[1]).max(0))
        return np.abs(found[1] - found[0]).max(0), largest
