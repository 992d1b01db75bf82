"""A short fit of features that are solved for, watched by the clock and judged by points apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pinn.objective import Objective
from pinn.optimizers import Diverged, GaussNewton
from pinn.sampling import Points
from pinn.training.judging.fresh import FreshLoss, shares
from pinn.training.judging.watched import TimeIsUp, Watched

# Steps of a trial, which ends where the next would lower the loss by less than this share, or where
# two together have not: what features resolve falls by orders of magnitude soon. So it does not go
# on by tiny parts of a step either.
STEPS, FALLS, HALVINGS = 10, 0.5, 8
# A step that is under way may take up to this share of a limit in time.
AT_MOST = 0.5


Tell = Callable[[str], Any]
"""What hears how far trials have come, in words."""


@dataclass(frozen=True)
class Budget:
    """A limit in time, of which what is tried may take a share.

    limit: seconds, None for none. clock: what tells the time. began: when, by the clock.
    """

    limit: float | None
    clock: Callable[[], float]
    began: float

    @property
    def spent(self) -> float:
        """The seconds since it began."""
        return self.clock() - self.began

    def allows(self, seconds: float, share: float) -> bool:
        """Return whether so many seconds in all are within a share of the limit."""
        return self.limit is None or seconds <= share * self.limit

    def is_spent(self, share: float) -> bool:
        """Return whether a share of the limit has gone by."""
        return not self.allows(self.spent, share)

    def until(self, share: float) -> float:
        """Return the time at which a share of the limit has gone by, by the clock."""
        return math.inf if self.limit is None else self.began + share * self.limit


class Trial(NamedTuple):
    """What a fit found, and the weighted losses on points apart, by block, before it and after.

    found: the trained numbers by name; theta: as one vector. seconds: of a step. crept: whether
    steps fell short of what the features could do, so that more features would not help.
    """

    before: Mapping[str, float]
    after: Mapping[str, float]
    seconds: float
    found: Mapping[str, np.ndarray]
    crept: bool
    theta: np.ndarray

    @property
    def left(self) -> float:
        """The largest share of a block's loss that is left."""
        return max(shares(self.before, self.after).values())


def fitted(
    objective: Objective,
    points: Mapping[str, Points],
    start: np.ndarray,
    budget: Budget,
    share: float,
) -> Trial:
    """Take Gauss-Newton steps from a start as long as they get; points: by which it is judged.

    share: of the budget, after which no step begins.
    """
    function = _Clocked(objective, budget.until(max(AT_MOST, share)))
    apart, theta = FreshLoss(objective, points), start
    before = apart.weighted(objective.theta)
    clock, seconds, losses, crept = budget.clock, [], [], False
    solver = GaussNewton(steps=STEPS, least_fall=FALLS, halvings=HALVINGS)
    began, recorded = clock(), 0.0
    try:
        with closing(solver.run(function, start)) as run:
            for step in run:
                theta = step.theta
                function.forget()
                losses.append(step.loss)
                seconds.append(clock() - began - (function.recording - recorded))
                crept = len(losses) >= 3 and losses[-1] > FALLS * losses[-3]
                if crept or budget.is_spent(share):
                    break
                began, recorded = clock(), function.recording
    except (Diverged, TimeIsUp):
        pass  # as far as it came
    # of linear rows the first step alone reduces a Jacobian
    whole = seconds[:1] if len(seconds) > 1 and function.is_linear else seconds
    return Trial(
        before, apart.weighted(theta), min(whole, default=clock() - began),
        objective.parameters.named(theta), crept, theta,
    )  # fmt: skip


class _Clocked(Watched):
    """A watched objective that looks at the clock before its value or Jacobian, and after a chunk.

    until: the time, by the clock of its ranks, from which on TimeIsUp is raised.
    """

    def __init__(self, objective: Objective, until: float) -> None:
        super().__init__(objective, look=self._look_at_the_clock)
        self._until = until

    def jacobian(self, theta: np.ndarray, out: Any | None = None) -> tuple[Any, Any]:
        self._look_at_the_clock()
        return super().jacobian(theta, out)

    def jacobian_chunks(
        self, theta: np.ndarray, rows: int | None = 1024
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for pair in super().jacobian_chunks(theta, rows):
            self._look_at_the_clock()
            yield pair

    def _look_at_the_clock(self) -> None:
        if math.isfinite(self._until) and self.ranks.clock() > self._until:
            raise TimeIsUp
