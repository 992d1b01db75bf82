"""Training of a model of windows: one window of time after the other."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import autograd as T
from pinn.conditions import Dirichlet, Initial, Interface, Neumann, Operator, Periodic, Robin
from pinn.equations.leaves import At, Derivative
from pinn.expressions import Expression, nodes
from pinn.geometry import Shape, during
from pinn.models.windows import Window
from pinn.objective import Objective
from pinn.objective.flat_parameters import FlatParameters
from pinn.objective.weighting import Fixed, Weighting
from pinn.optimizers import StopReason
from pinn.problem import Problem
from pinn.residuals import Residual
from pinn.sampling import Sampling
from pinn.schema.errors import DeclarationError, at, refuse
from pinn.training.judging.fresh import FreshLoss
from pinn.training.legs import Legs
from pinn.training.loop import Training
from pinn.training.points.batches import Batches
from pinn.training.points.collocation import Collocation, redrawing
from pinn.training.records import LegReport, Resume
from pinn.training.windows.road import SOLVED_UP_TO, counted, is_of_limit

if TYPE_CHECKING:
    from pinn.training.experiment import Experiment

# At most u and u_t go over from window to window.
_MOST_HANDED = 2
# Conditions whose points follow the times of the domain; others would have to be taken apart.
_FOLLOWING = (Dirichlet, Initial, Interface, Neumann, Operator, Periodic, Robin)


def check_windows(
    problem: Problem, sampling: Sampling, weighting: Weighting, order: int = _MOST_HANDED
) -> None:
    """Raise DeclarationError, with the key, for what cannot be trained window by window.

    order: how many of u, u_t, ... go over from window to window.
    """
    with at("problem"):
        _check_equations(problem, order)
        for key in ("parameters", "fields"):
            if getattr(problem, key):
                refuse(
                    "expected none with a model of windows: the first window alone would decide "
                    "on them", key,
                )  # fmt: skip
        for number, condition in enumerate(problem.conditions):
            in_time = isinstance(condition, Periodic) and condition.coordinate == _time(problem)
            if isinstance(condition, Operator):
                in_time = _time(problem) in condition.at or _names(condition.on, _time(problem))
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


def can_be_windowed(problem: Problem, sampling: Sampling, weighting: Weighting) -> bool:
    """Return whether a problem in time can be trained window by window."""
    if problem.domain.time is None:
        return False
    try:
        check_windows(problem, sampling, weighting)
    except DeclarationError:
        return False
    return True


def _check_equations(problem: Problem, order: int) -> None:
    """Refuse equations that a window cannot hold by what goes over to it, and by its own times."""
    time = _time(problem)
    expected = "expected, with a model of windows, equations"
    handed = "u alone goes" if order == 1 else "u and u_t go"
    residuals = {residual.name: residual for residual in problem.residuals}
    for name, equation in problem.equations.items():
        with at("equations", name):
            if _names(getattr(equation, "on", None), time):
                refuse(f"{expected} that hold at all times, got one on a part of {time}", "on")
            for node in _nodes(residuals[name]):
                if isinstance(node, At) and time in node.names:
                    refuse(
                        f"{expected} at one time each, as a window knows its own times alone; "
                        f"got {node}"
                    )
                taken = node.coordinates.count(time) if isinstance(node, Derivative) else 0
                if taken > order:
                    refuse(
                        f"{expected} of order {order} in {time} at most, as {handed} over from "
                        f"window to window; got {node}"
                    )


def _nodes(residual: Residual) -> Iterator[Expression]:
    """Yield all parts of a residual that is no function."""
    for term in residual.terms:
        if isinstance(term.tree, Expression):
            yield from nodes(term.tree)


def _names(on: object, time: str) -> bool:
    """Return whether a part of a domain is told by its times."""
    if isinstance(on, Shape):
        return time in on.coordinates
    return isinstance(on, str) and re.search(rf"\b{re.escape(time)}\b", on) is not None


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


class WindowTraining(NamedTuple):
    """What is minimised in a window, where its points are, and its scheme of weights."""

    objective: Objective
    collocation: Collocation
    weighting: Weighting

    @property
    def window(self) -> Window:
        """The window, as a part of what is trained."""
        return _window(self.objective.parameters)

    def trained_network(self) -> T.nn.Module:
        """Return the network that the window has of its own, not to be trained any more."""
        return self.window.trained()


def of_window(
    experiment: Experiment,
    number: int,
    earlier: Sequence[T.nn.Module] = (),
    before: WindowTraining | None = None,
) -> WindowTraining:
    """Return what a window is trained by, as its network was drawn.

    number: from 0. earlier: the trained networks of the windows before. before: that of another
    window, whose network has been taken; in time alone it is the same objective that becomes that
    of this window where it can, as nothing is to be recorded again.
    """
    low, high = experiment.model.times(experiment.problem.domain, number)
    problem = _during(experiment.problem, low, high, first=number == 0)
    collocation = Collocation(problem, _sampling(experiment.sampling, problem), experiment.seed)
    weighting = _weighting(experiment.weighting, problem)

    def drawn() -> FlatParameters:
        return experiment.initial_parameters(model=experiment.model.in_window(number, earlier))

    def objective_of(parameters: FlatParameters, given: Sequence[T.Tensor] = ()) -> Objective:
        points, weights = collocation.draw(), weighting.initial
        return experiment.objective_of(problem, parameters, points, weights, given)

    parameters = drawn()
    window = _window(parameters)
    if not window.moves:
        return WindowTraining(objective_of(parameters), collocation, weighting)
    if before is None or not before.window.can_become(window):
        moving = drawn()
        objective = objective_of(moving, list(_window(moving).buffers()))
    else:
        objective = before.objective
        objective.set_points(collocation.draw())
        objective.set_weights(weighting.initial)
    _window(objective.parameters).become(window)
    return WindowTraining(objective, collocation, weighting)


def _window(parameters: FlatParameters) -> Window:
    (found,) = (one for one in parameters.module.modules() if isinstance(one, Window))
    return found


class March(Legs):
    """The training of a model of windows, one after the other.

    objective: that of all windows together. started: whether the objective's theta is where all
    windows begin, as that of an older solution; else each network begins as the one before it
    ended, but for one that is solved for, which begins as it was drawn. A window is trained as any
    problem is, with the stages, points and weights of the experiment, on its own times; the
    networks before it stay as they are. The losses told are those in the window; that at the end is
    the mean over windows, and so is that on fresh points where all of time was come to.
    """

    leg = "window"
    _here: WindowTraining | None = None

    @property
    def count(self) -> int:
        return self._experiment.model.trained

    def _announced(self, number: int) -> str:
        experiment = self._experiment
        low, high = experiment.model.edges(experiment.problem.domain)[number : number + 2]
        return f"{_time(experiment.problem)} from {low:.6g} to {high:.6g}"

    def _prepared(self, number: int, resume: Resume | None) -> tuple[Objective, Training]:
        experiment = self._experiment
        self._here = of_window(experiment, number, self._earlier, self._here)
        objective, collocation, weighting = self._here
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
            # features that are solved for go lower in shorter windows
            larger=not experiment.model.linear,
            target=experiment.target,
            apart=FreshLoss(objective, collocation.fresh("judging")),
            fresh=FreshLoss(objective, collocation.fresh("fresh")),
            weighting=weighting,
            batches=Batches(sizes, experiment.seed) if sizes else None,
            resume=resume,
        )

    def _said(self, message: str) -> str:
        model, time = self._experiment.model, _time(self._experiment.problem)
        if model.until is None or not self._is_whole:
            return super()._said(message)
        # What the last of them reached, where a solution ends, tells nothing of the others.
        return f"{SOLVED_UP_TO} {time} = {model.until:.6g}, in {counted(self.count)} of time"

    @property
    def _is_whole(self) -> bool:
        """Whether all windows went as low as they go."""
        return len(self._reports) == self.count and self._end[0] is StopReason.MINIMUM

    @property
    def _reason(self) -> StopReason:
        limited = any(is_of_limit(one) for one in self._decisions)
        return StopReason.TIME if limited and self._is_whole else super()._reason

    def _kept(self, objective: Objective) -> T.nn.Module:
        return self._here.trained_network()

    def _losses(self) -> tuple[float, Mapping[str, float]]:
        losses = {
            block.name: _mean(
                (one.losses[block.name], length)
                for one, length in self._lengths()
                if block.name in one.losses
            )
            for block in self._objective.blocks
        }
        return _mean((one.loss, length) for one, length in self._lengths()), losses

    def _fresh_loss(self) -> float:
        if len(self._reports) < self.count or self._experiment.model.until is not None:
            return super()._fresh_loss()  # what is not solved counts
        return _mean(
            (one.stages[-1].fresh_loss, length) for one, length in self._lengths() if one.stages
        )

    def _lengths(self) -> Iterator[tuple[LegReport, float]]:
        """Yield the windows that have ended and how long each is."""
        edges = self._experiment.model.edges(self._experiment.problem.domain)
        yield from zip(self._reports, np.diff(edges), strict=False)

    def _place(self, number: int) -> slice:
        size = self._objective.size // self._experiment.model.count
        return slice(number * size, (number + 1) * size)

    def _whole(self, number: int, theta: np.ndarray) -> np.ndarray:
        whole = self._theta.copy()
        whole[self._place(number)] = theta
        return whole

    def _part(self, number: int, theta: np.ndarray) -> np.ndarray:
        return theta[self._place(number)]

    def _take_up(self) -> None:
        for number in range(len(self._reports)):
            self._here = of_window(self._experiment, number, self._earlier, self._here)
            self._here.objective.parameters.load(self._theta[self._place(number)])
            self._earlier.append(self._here.trained_network())


def _mean(values: Iterable[tuple[float, float]]) -> float:
    """Return the mean of numbers with their weights."""
    found = list(values)
    whole = sum(weight for _, weight in found)
    return sum(value * weight for value, weight in found) / whole if found else math.nan
