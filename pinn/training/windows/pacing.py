"""Windows of time as long as random features follow what happens in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import autograd as T
from pinn.models import Windows
from pinn.objective import Objective
from pinn.problem import Problem
from pinn.sampling import Points
from pinn.training.course import Decision
from pinn.training.experiment import Experiment
from pinn.training.given import given_values
from pinn.training.judging.fresh import FreshLoss
from pinn.training.judging.trial import Budget, Tell, Trial, fitted
from pinn.training.windows.edges import switch_times
from pinn.training.windows.marching import of_window
from pinn.training.windows.road import SHARE, Road, counted

# The window that is tried first, as a share of all time; the shortest, and the same as a share of
# when it is: there are few numbers between times that are nearer.
_FIRST, _SHORTEST, _NEAREST = 1 / 8, 1e-12, 4e-9
# A window may leave this much of what changes in it, as a share of the unknown: what adds up is an
# error of eight or nine digits. With a share of that the next window is longer, by a factor.
_LEAVES, _LESS, _LONGER, _MUCH_LESS, _MUCH_LONGER = 1e-9, 0.1, 1.4, 1e-3, 2.0
# Where it leaves more the next try is shorter, and much shorter where it left as much as this.
_SHORTER, _MUCH_SHORTER, _ALL_OF_IT = 0.5, 0.2, 1e-3
# A fit that leaves this share of a loss has found nothing, and does not tell what changes.
_NOT_FOUND = 0.5
# One that leaves less tells how large an unknown is, if not yet more: what was at rest may jump.
_ROUGHLY = 0.1
# One that leaves less is near a solution, and tells what unknowns that change alone would leave.
_NEARLY = 1e-6
# A residual smaller than this share of the largest so far, squared, is as good as none.
_NOTHING = 1e-20
# Points that judge a window are also at its start, each half as far from it as the one before:
# there is what is gone soon, which points all over a window do not see.
_HALVINGS = 20
# Points all along a line.
_ALONG = 2**14
# Times at which it is seen how much changes.
_SEEN = 64


class Paced(NamedTuple):
    """An experiment in windows, as far as these were found to be, and the most that one leaves.

    left: of what changes in a window, as a share of the unknown. rest: what is told where they do
    not go to the end of time; the model says until when they do.
    """

    experiment: Experiment
    theta: np.ndarray
    left: float
    rest: Decision | None = None


def paced(
    experiment: Experiment,
    windows: Callable[..., Windows],
    budget: Budget,
    tell: Tell = lambda sentence: None,
) -> Paced | None:
    """Go through time in windows, each solved by a short fit; None where features do not follow.

    windows: breaks, until -> the model, in time alone. A window that leaves more of what changes in
    it than is allowed is tried again at a fraction of its length; after one that leaves much less
    the next is longer. None goes beyond a time at which the text says that something changes. Where
    the limit in time, or the solution, ends before all windows are solved
    those that are solved are what is found, but for None where little is solved and time is left to
    try another model. tell: hears of each.
    """
    domain = experiment.problem.domain
    low, high = map(float, domain.bounds[domain.time])
    length, here, seen, worst = _FIRST * (high - low), None, Seen(), 0.0
    road = Road(low, high, str(domain.time), budget)
    edges = np.append(switch_times(experiment.problem), high)
    networks: list[T.nn.Module] = []
    thetas: list[np.ndarray] = []
    while road.start < high:
        start = road.start
        nearest = _shortest(start, low, high)
        end = _end(start, length, float(edges[edges > start + nearest][0]))
        tried = replace(experiment, model=windows(road.breaks(end), None))
        here = of_window(tried, len(networks), networks, here)
        objective = here.objective
        points = near_start(tried.problem, here.collocation.fresh("judging"), (start, end))
        if not networks:
            objective.parameters.load(constant_start(objective, start))
        begun = objective.theta
        trial = fitted(objective, points, begun, budget, SHARE)
        dense = along(tried.problem, (start, end), (end - start) / (high - low))
        trial = seen_along(trial, objective, dense)
        alone = changed_alone(trial, objective, points, begun)
        left = seen.left(trial, objective, (start, end), alone)
        stuck = False
        if left <= _LEAVES:
            objective.parameters.load(trial.theta)
            networks.append(here.trained_network())
            thetas.append(trial.theta)
            worst = max(worst, left)
            seen.take(trial)
            road.went_to(end, seen.change)
            tell(f"{counted(len(networks))} of time, up to {domain.time} = {end:.6g} of {high:g}")
            if left <= _LESS * _LEAVES:
                length *= _MUCH_LONGER if left <= _MUCH_LESS * _LEAVES else _LONGER
        else:
            road.failed_at(end)
            length = (end - start) * (_MUCH_SHORTER if left > _ALL_OF_IT else _SHORTER)
            stuck = length < nearest
        if road.start < high and (stuck or road.is_over(length)):
            rest = road.rest(stuck)
            if rest is None:
                return None
            until = road.start
            model = windows(road.breaks(until), until)
            thetas.append(np.zeros_like(thetas[-1]))
            return Paced(replace(experiment, model=model), np.concatenate(thetas), worst, rest)
    return Paced(tried, np.concatenate(thetas), worst)


def _shortest(start: float, low: float, high: float) -> float:
    """Return the length of the shortest window that begins at a time."""
    return max(_SHORTEST * (high - low), _NEAREST * abs(start))


def constant_start(objective: Objective, start: float) -> np.ndarray:
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


def changed_alone(
    trial: Trial, objective: Objective, points: Mapping[str, Points], begun: np.ndarray
) -> dict[str, float]:
    """Return the largest loss of each block, at points apart, where one unknown alone has changed.

    What balances in an equation may change together, and of what goes on as before hardly a
    residual is left, though each of its terms moves by much. begun: theta before the trial.
    """
    unknowns, largest = len(objective.problem.unknowns), dict(trial.before)
    if unknowns == 1:
        return largest
    apart = FreshLoss(objective, points)
    for number in range(unknowns):
        theta = begun.copy()
        for part in objective.parameters.layout.parts:
            if part.shape[:1] == (unknowns,):  # rows of the last layer and numbers of its bias
                part.of(theta)[number] = part.of(trial.theta)[number]
        for name, loss in apart.weighted(theta).items():
            if math.isfinite(loss):
                largest[name] = max(largest[name], loss)
    return largest


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


def along(
    problem: Problem, times: tuple[float, float], share: float = 1.0
) -> dict[str, Points]:
    """Return points of equations in time alone, of which a pulse in them meets some.

    That is, one of a ten-thousandth of all time, which none of the others may. share: of all time
    that these times are.
    """
    start, end = times
    count = max(1, round(_ALONG * share))
    found = Points((start + (end - start) * (np.arange(count) + 0.5) / count)[:, None])
    return {
        name: found for name, one in problem.equations.items() if getattr(one, "on", None) is None
    }


def seen_along(trial: Trial, objective: Objective, points: Mapping[str, Points]) -> Trial:
    """Return a trial with the losses after it as they are at further points, where larger."""
    mine = {block.name: block.points for block in objective.blocks}
    if any(mine[name].columns for name in points):
        return trial
    found = FreshLoss(objective, {**mine, **points}).weighted(trial.theta)
    after = {
        name: float(np.maximum(loss, found.get(name, loss))) for name, loss in trial.after.items()
    }
    return trial._replace(after=after)


class Seen:
    """What has been met so far: the largest loss of each block, and values of each unknown."""

    def __init__(self) -> None:
        self._losses: dict[str, float] = {}
        self._values = 0.0
        # How much each unknown changes in the window that was asked for last.
        self.change = np.zeros(1)

    def left(
        self,
        trial: Trial,
        objective: Objective,
        times: tuple[float, float],
        alone: Mapping[str, float],
    ) -> float:
        """Return how much of what changes in a window a fit has left, as a share of the unknown.

        alone: the losses of `changed_alone`. How large unknowns are is noted of each fit that
        leaves little enough to tell. Infinite for what is no number.
        """
        if not all(map(math.isfinite, [*trial.before.values(), *trial.after.values()])):
            return math.inf
        share = self._share(trial, trial.before)
        if share >= _NOT_FOUND:
            return math.inf
        changes, largest = self._changes(trial, objective, times)
        self.change = changes
        if share < _ROUGHLY:
            self._values = largest
        if share < _NEARLY:
            share = self._share(trial, alone)
        with np.errstate(invalid="ignore", divide="ignore"):
            change = np.max(changes / np.where(largest > 0, largest, 1.0))
        left = math.sqrt(share) * float(change)
        return left if math.isfinite(left) else math.inf

    def _share(self, trial: Trial, losses: Mapping[str, float]) -> float:
        """Return the largest share of a block's loss that a fit has left.

        Of that before it, or of others where these are larger.
        """
        share, whole = 0.0, max([*trial.before.values(), *self._losses.values()])
        for name, after in trial.after.items():
            most = max(self._losses.get(name, 0.0), trial.before[name])
            before = trial.before[name] if trial.before[name] > _NOTHING * whole else most
            before = max(losses[name], before if before > _NOTHING * whole else whole)
            share = max(share, after / before if before > 0 else after)
        return share

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
