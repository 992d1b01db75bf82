"""Continuation: a hard problem by way of easier ones, whose constants have other values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from pinn.models.windows import Windows
from pinn.objective import Objective
from pinn.problem.uses import names_used
from pinn.schema.errors import at, refuse
from pinn.schema.kinds import Items, Names, Number
from pinn.training.judging.fresh import FreshLoss, fresh_points, judging_points
from pinn.training.legs import Legs
from pinn.training.loop import Training
from pinn.training.points.collocation import redrawing
from pinn.training.records import Resume

if TYPE_CHECKING:
    from pinn.problem import Problem
    from pinn.training.experiment import Experiment

_VALUES = Names(
    Items(Number(), "a list of numbers such as [1, 2, 4]", least=1),
    "a mapping from constants to lists of numbers such as {Re: [10, 100]}",
)
Values = Annotated[Mapping[str, tuple[float, ...]], _VALUES]
"""Constant -> the values that it has in turn, before its own."""

# The part of a limit in time that the values on the way have together, at most.
_SHARE = 0.5
# On the way a problem is solved well enough where so small a share is left of the loss of the first
# one untrained: the next one begins there, and ends elsewhere.
_ENOUGH = 1e-8


def check_continuation(experiment: Experiment) -> None:
    """Raise DeclarationError, with the key, for values that a problem cannot go through."""
    values, problem = experiment.continuation, experiment.problem
    if not values:
        return
    if isinstance(experiment.model, Windows):
        refuse("expected none with a model of windows, which goes through its windows in turn")
    lengths = {name: len(own) for name, own in values.items()}
    for name in values:
        if name not in problem.constants:
            known = ", ".join(problem.constants) or "it has none"
            with at(name):
                refuse(f"expected a constant of the problem ({known}), got {name!r}")
        made = [other for other, needs in problem.computed_from.items() if name in needs]
        if made:
            with at(name):
                refuse(
                    f"{', '.join(made)} was computed from {name!r} and keeps its value; write the "
                    f"equations with {name!r} itself, or give numbers and go through both"
                )
        if not _uses(problem, name):
            with at(name):
                refuse(f"no equation and no condition has {name!r}, so its values change nothing")
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{count} of {name}" for name, count in lengths.items())
        refuse(f"expected as many values of each constant, got {shown}")
    for number in range(len(next(iter(values.values())))):
        with at(*values, number) if len(values) == 1 else at(number):
            of_leg(experiment, number)  # what it makes of the problem is refused here


def of_leg(experiment: Experiment, number: int) -> Experiment:
    """Return the experiment with the values of a place in the lists; its own after the last."""
    values = experiment.continuation
    problem = experiment.problem
    if number < len(next(iter(values.values()))):
        now = {name: own[number] for name, own in values.items()}
        problem = dataclasses.replace(
            problem, constants={**problem.constants, **now}, reference=None
        )
    return dataclasses.replace(experiment, problem=problem, continuation={})


class Continued(Legs):
    """The training of a problem by way of others: each begins where the one before it ended.

    A problem on the way is trained as any is, until its loss is a small share of that of the first,
    untrained, or not above the target of the run; all of them have half of the time together, at
    most. The losses told are those of the problem of the leg, the one at the end is that of the
    problem itself.

    Allgower and Georg, Introduction to Numerical Continuation Methods, SIAM 2003, chapter 2; for
    networks, as a curriculum: Krishnapriyan et al., NeurIPS 2021, section 5.1.
    """

    leg = "continuation"
    _enough = math.inf

    @property
    def count(self) -> int:
        return 1 + len(next(iter(self._experiment.continuation.values())))

    def _announced(self, number: int) -> str:
        constants = of_leg(self._experiment, number).problem.constants
        return ", ".join(f"{n} = {constants[n]:.6g}" for n in self._experiment.continuation)

    def _prepared(self, number: int, resume: Resume | None) -> tuple[Objective, Training]:
        experiment = of_leg(self._experiment, number)
        is_last = number == self.count - 1
        objective = self._objective if is_last else experiment.objective()
        if not number:
            self._enough = _enough(objective)
        objective.parameters.load(self._theta)
        return objective, Training(
            objective,
            experiment.plan,
            [self._relay(number)],
            redrawing(experiment.collocation, objective),
            seconds=self._seconds_of(number),
            limited="all stages" if is_last else "this value",
            target=experiment.target if is_last else self._target(),
            apart=FreshLoss(objective, judging_points(experiment)),
            fresh=FreshLoss(objective, fresh_points(experiment)),
            weighting=experiment.weighting,
            batches=experiment.batches,
            resume=resume,
        )

    def _take_up(self) -> None:
        self._enough = _enough(of_leg(self._experiment, 0).objective())

    def _target(self) -> float | None:
        enough = max(self._enough, self._experiment.target or 0.0)
        return enough if 0 < enough < math.inf else None

    def _seconds_of(self, number: int) -> float | None:
        """Return the limit of a leg: what one before it left over goes to those that follow."""
        left, seconds = self._left(self._leg_began), self._experiment.seconds
        if seconds is None:
            return None
        on_the_way = self.count - 1 - number
        if on_the_way:
            left = (left - (1 - _SHARE) * seconds) / on_the_way
        return max(left, 0.0)

    def _losses(self) -> tuple[float, Mapping[str, float]]:
        if len(self._reports) == self.count:
            return self._reports[-1].loss, dict(self._reports[-1].losses)
        losses = self._objective.losses(self._theta)
        return self._objective.total(losses), losses


def _enough(first: Objective) -> float:
    """Return the loss at which a leg is done, from the first one untrained."""
    return _ENOUGH * first.value(first.theta)


def _uses(problem: Problem, name: str) -> bool:
    """Return whether a constant stands in an equation or a condition, or may: in a function."""
    used = names_used([problem.equations, problem.conditions, problem.piecewise, problem.regions])
    return used is None or name in used
