"""How long steps take, for limits in time."""

from __future__ import annotations

# Told of is what took more than this share of a limit before the ordinary steps.
_TOLD = 0.25


class Pace:
    """How long the steps of a stage take: the first one, which may record programs, apart.

    before: the seconds that its steps took before the stage was gone on with. expected: those that
    one of its steps is likely to take, by those of the stage before; 0 where nothing tells.
    """

    def __init__(self, began: float, before: float = 0.0, expected: float = 0.0) -> None:
        self._steps = 0
        self._before, self._expected = before, expected
        self._began = self._first_ended = self._last_ended = began
        self._worked = 0.0

    def step_ended(self, now: float, worked: float = 0.0) -> None:
        """Note that a step has ended.

        worked: the seconds that its solver took for it, less those of recording programs.
        """
        self._steps += 1
        self._last_ended = now
        self._worked = worked
        if self._steps == 1:
            self._first_ended = now

    @property
    def seconds(self) -> float:
        """The seconds of all steps."""
        return self._before + self._last_ended - self._began

    @property
    def first(self) -> float:
        """The seconds of the first step."""
        return self._first_ended - self._began

    @property
    def ordinary(self) -> float:
        """The seconds of a later one, callbacks and new points included; 0 before there is one."""
        return (self._last_ended - self._first_ended) / max(1, self._steps - 1)

    @property
    def next_step(self) -> float:
        """The seconds that one more step is likely to take; 0 where nothing tells.

        As long as an ordinary one, or as the solver took for the last: the first one, which tells
        nothing else, or one for which it tried more than for others, which it will soon do again.
        """
        usual = self.ordinary if self._steps > 1 else self._expected
        return max(usual, self._worked)


def is_told(seconds: float, limit: float) -> bool:
    """Whether something took so large a share of a limit that the limit's message tells of it."""
    return seconds > _TOLD * limit


def told(what: str, seconds: float, limit: float) -> str:
    """Tell of what took more than its share of a limit."""
    if not is_told(seconds, limit):
        return ""
    return f"; {what} took {seconds:.2g} s of it, most likely to record its programs"
