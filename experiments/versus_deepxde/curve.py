"""Errors over wall time: how they are taken, and what is read from them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

Curve = Sequence[tuple[float, float | None]]
"""Seconds and the error then, in the order of time; None for one that is no finite number."""

# Between two looks at the error the time grows by this factor, after the first one.
_FACTOR = 1.1
_FIRST = 0.02


class Stopwatch:
    """Wall seconds of training, in which looks at the error do not count.

    curve: what they have found.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.curve: list[tuple[float, float | None]] = []
        self._clock = clock
        self._left_out = 0.0
        self._next = _FIRST
        self._began = clock()

    @property
    def seconds(self) -> float:
        """The seconds since it was made, without those of looking."""
        return self._clock() - self._began - self._left_out

    def look(self, error: Callable[[], float], anyway: bool = False) -> None:
        """Ask for the error where its time has come; anyway: also where it has not."""
        seconds = self.seconds
        if seconds < self._next and not anyway:
            return
        value = error()
        self.curve.append((seconds, value if math.isfinite(value) else None))
        self._next = max(self._next, seconds) * _FACTOR
        self._left_out += self.seconds - seconds


def final(curve: Curve) -> tuple[float, float]:
    """Return the last time and the error then."""
    seconds, error = curve[-1]
    return seconds, _number(error)


def time_to(curve: Curve, error: float) -> float:
    """Return the first time at which the error is at most this, infinite where it never is."""
    return next((t for t, found in curve if _number(found) <= error), math.inf)


def error_at(curve: Curve, seconds: float) -> float:
    """Return the error that was found last until then; infinite where that is before the first."""
    until = [error for t, error in curve if t <= seconds]
    return _number(until[-1]) if until else math.inf


def _number(error: float | None) -> float:
    return math.inf if error is None else error
