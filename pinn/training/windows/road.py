"""How far windows have come through time, and what is told where they do not get through."""

from __future__ import annotations

import math

import numpy as np

from pinn.training.course import Decision
from pinn.training.judging.trial import Budget

# The most windows.
_MOST = 500
# How a decision begins that tells of time that is not solved.
SOLVED_UP_TO = "solved up to"
# How the reason begins that is a limit in time.
LIMITED = "the limit of"
# Seconds that are foreseen with windows that grow and with such that do not: so much alike are one
# number, and a range beyond so much is no help.
_ALIKE, _TOLD = 1.3, 30.0
# The share of a limit in time that windows may take: training begins where they end.
SHARE = 0.75
# Where less than this share of time is solved, or no window goes on, another model is tried, if
# less than so much of the limit is gone.
_LITTLE, _TIME_FOR_OTHERS = 0.1, 0.5
# A solution seems to end where the time that is solved and the earliest that is not reached are so
# near, as a share of what is solved, and where over so many windows a slope has grown by this
# factor, and that gap become so many times smaller.
_GAP, _GROWING, _GROWTH, _SHRINKAGE = 1e-5, 8, 10.0, 10.0


def counted(windows: int) -> str:
    """Return so many windows in words."""
    return "1 window" if windows == 1 else f"{windows} windows"


def is_of_limit(decision: Decision) -> bool:
    """Return whether a decision tells of time that is not solved for want of seconds."""
    return decision.what.startswith(SOLVED_UP_TO) and decision.why.startswith(LIMITED)


class Road:
    """How far through time windows have come, and how fast."""

    def __init__(self, low: float, high: float, time: str, budget: Budget) -> None:
        self.start = low
        self._low, self._high, self._time, self._budget = low, high, time, budget
        self._began, self._tries = budget.spent, 0
        self._ends: list[float] = []
        # Of each window, how much each unknown changed in it by its length, and how far the
        # earliest time was that had not been reached.
        self._slopes: list[np.ndarray] = []
        self._gaps: list[float] = []
        # The earliest end that was tried and is not reached.
        self._not_reached = math.inf

    def breaks(self, end: float) -> list[float]:
        """Return where windows meet where the next one is to end at a time."""
        return [one for one in dict.fromkeys([*self._ends, end]) if one < self._high]

    def went_to(self, end: float, change: np.ndarray) -> None:
        """Take note of a window that is solved."""
        self._tries += 1
        self._slopes.append(change / (end - self.start))
        if self._not_reached <= end:
            self._not_reached = math.inf
        self._ends.append(end)
        self._gaps.append(self._not_reached - end)
        self.start = end

    def failed_at(self, end: float) -> None:
        """Take note of one that is not."""
        self._tries += 1
        self._not_reached = min(self._not_reached, end)

    def is_over(self, length: float) -> bool:
        """Return whether no window is to be tried any more; length: of the next.

        That is where the share of a limit in time is gone, and sooner where little is solved, the
        rest cannot be done even if each is twice as long as the one before, and there is time to
        try something else.
        """
        if len(self._ends) == _MOST or self._budget.is_spent(SHARE):
            return True
        to_come = math.log2(1 + (self._high - self.start) / length)
        spent = self._budget.spent
        predicted = spent + to_come * (spent - self._began) / self._tries
        return not self._budget.allows(predicted, SHARE) and self._had_better_stop()

    def _had_better_stop(self) -> bool:
        solved = (self.start - self._low) / (self._high - self._low)
        return solved < _LITTLE and not self._budget.is_spent(_TIME_FOR_OTHERS)

    def rest(self, stuck: bool) -> Decision | None:
        """Return what is told of the time that is not solved; None where others are to be tried.

        stuck: whether no window, however short, goes on from here.
        """
        ends = self._ends_here()
        time_for_others = not self._budget.is_spent(_TIME_FOR_OTHERS)
        if not self._ends or (not ends and (self._had_better_stop() or stuck and time_for_others)):
            return None
        windows = counted(len(self._ends))
        what = (
            f"{SOLVED_UP_TO} {self._time} = {self.start:.6g} of {self._high:g}, "
            f"in {windows} of time"
        )
        if ends:
            middle = f"{(self.start + self._not_reached) / 2:#.4g}"
            why = (
                f"the solution seems to end at {self._time} = {middle}: it changes ever faster "
                "towards it, and windows get ever shorter"
            )
        elif stuck:
            why = "random features do not follow it from there on, however short the window"
        elif len(self._ends) + self._to_come() > _MOST:
            why = f"at the pace so far all of it would take more than {_MOST} windows"
        else:
            spent = self._budget.spent
            each = (spent - self._began) / len(self._ends)
            # windows that go on growing, as the last ones did, or that do not
            few, many = (
                float(f"{(spent + count * each) / SHARE:.2g}")
                for count in (self._to_come(), (self._high - self.start) / self._recent().mean())
            )
            seconds = f"about {few:g} s"
            if many > _ALIKE * few:
                seconds = f"{few:g} to {many:g} s" if many < _TOLD * few else f"{few:g} s or more"
            why = (
                f"{LIMITED} {self._budget.limit:g} s does not do for more; at the pace so far "
                f"{seconds} would do for all of it"
            )
        return Decision(0, what, f"{why}. What comes after {self.start:.6g} is not solved")

    def _ends_here(self) -> bool:
        """Return whether the solution seems to end: slopes grow towards a time, without end."""
        if len(self._slopes) <= _GROWING:
            return False
        gap = self._not_reached - self.start
        shrinks = gap * _SHRINKAGE < self._gaps[-1 - _GROWING]
        grows = np.any(self._slopes[-1] > _GROWTH * self._slopes[-1 - _GROWING])
        return gap < _GAP * (self.start - self._low) and shrinks and bool(grows)

    def _recent(self) -> np.ndarray:
        """Return how long the last windows were."""
        return np.diff([self._low, *self._ends])[-_GROWING:]

    def _to_come(self) -> float:
        """Return how many windows the rest takes, if they go on growing as the last ones did."""
        lengths = self._recent()
        growth = (lengths[-1] / lengths[0]) ** (1 / max(1, len(lengths) - 1))
        growth, rest = float(growth), self._high - self.start
        if growth <= 1 + 1e-3:
            return rest / float(lengths.mean())
        return math.log1p(rest / lengths[-1] * (growth - 1) / growth) / math.log(growth)
