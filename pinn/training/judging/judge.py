"""How a run judges its own progress: when it looks, at what, and what follows from that."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from pinn.objective import Objective
from pinn.optimizers import Stage, StageEnd, StopReason
from pinn.training.course import Course
from pinn.training.judging.fresh import FreshLoss
from pinn.training.judging.verdicts import at_floor, settled, target_reached
from pinn.training.judging.watched import Known
from pinn.training.looks import Looks
from pinn.training.points.batches import PointsInUse
from pinn.training.points.redraw import Overfit, overfit

# So often a run looks at its loss on points apart, which costs less than a step; stages of few long
# steps, that say how often they would have other points, so many times in between. Below its target
# it looks sooner, after so large a share of all steps.
_LOOK_EVERY, _BETWEEN_DRAWS = 100, 5
_SOONER = 0.02


def look_every(stage: Stage) -> int:
    """Return the number of steps between two looks."""
    if stage.redraw in (None, "never"):
        return _LOOK_EVERY
    return min(_LOOK_EVERY, max(1, stage.redraw // _BETWEEN_DRAWS))


class Judge:
    """Looks at the losses of an objective on its points and on others, and judges by them.

    apart: the loss on points that training does not take; without it the present ones have to do.
    target: the loss at which training ends, None for none.
    """

    def __init__(
        self,
        objective: Objective,
        points: PointsInUse,
        apart: FreshLoss | None = None,
        target: float | None = None,
    ) -> None:
        self._objective = objective
        self._points = points
        self._apart = apart
        self._target = target
        # Whether rounding, or the noise of data, is all that is left: no other solver helps.
        self.at_end = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the blocks, in the order of what `Looks` hold."""
        return tuple(block.name for block in self._objective.blocks)

    @property
    def weights(self) -> np.ndarray:
        """The present weights of the blocks, (B,)."""
        return np.array([block.weight for block in self._objective.blocks])

    def look(self, looks: Looks, step: int, known: Known, stage: Stage) -> Looks:
        """Add the losses after a step, where a look is due."""
        if not self._is_due(looks, step, known.loss, look_every(stage)):
            return looks
        present, fresh = known.losses, known.losses
        if self._apart is not None:
            fresh = self._apart.losses(known.theta)
            everything = self._points.all
            elsewhere = self._points.is_batch or self._apart.is_of_other_sums
            if everything.row_weights or elsewhere:
                present = self._apart.losses(known.theta, everything.points)
            self._objective.parameters.load(known.theta)
        return looks.taken(step, self._in_order(fresh), self._in_order(present))

    def end(
        self,
        course: Course,
        step: int,
        known: Known,
        stage: Stage,
        enough: Callable[[], str | None],
    ) -> StageEnd | None:
        """Say why a stage ends after a step, where the run has looked at it.

        enough: says why the plan has enough of the stage.
        """
        looks = course.looks
        if not looks.is_at(step):
            return None
        theta, loss, _ = known
        weights, objective = self.weights, self._objective

        def of_noise() -> str | None:
            return settled(objective, theta, course, weights) if stage.takes_jacobian else None

        found = (
            (StopReason.TARGET, lambda: target_reached(loss, self._target, looks, weights)),
            (StopReason.PRECISION, lambda: at_floor(objective, theta, looks, weights)),
            (StopReason.SETTLED, of_noise),
            (StopReason.STALLED, enough),
        )
        for reason, verdict in found:
            why = verdict()
            if why is not None:
                self.at_end = reason in (StopReason.PRECISION, StopReason.SETTLED)
                return StageEnd(theta, reason, f"{why}, after step {step}")
        return None

    def ratio(self, looks: Looks, step: int) -> float:
        """Return the loss on fresh points over that on the present ones; nan: not looked at."""
        return looks.overfit(self.weights) if looks.is_at(step) else math.nan

    def overfit(self, course: Course, step: int, draws: int, stage: Stage) -> Overfit | None:
        """Say whether the present points are overfitted, where the run has looked at the step.

        draws: how often they had been drawn anew.
        """
        if not course.looks.is_at(step):
            return None
        return overfit(
            course.looks, self.weights, self.names, course.drawn_at, draws, look_every(stage)
        )

    def _is_due(self, looks: Looks, step: int, loss: float, every: int) -> bool:
        if step % every == 0:
            return True
        below = self._target is not None and loss <= self._target
        return below and step - looks.last >= _SOONER * step

    def _in_order(self, losses: Mapping[str, float]) -> np.ndarray:
        return np.array([losses[name] for name in self.names])
