"""Whether bad input is taken, or refused as it should be; anything else is a finding."""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Beyond this an input hangs, for whoever waits for an answer: of the processor, and by the clock.
SECONDS, WAITED = 10, 300
# What nobody would read to its end.
LONGEST_MESSAGE = 5000


class Finding(Exception):
    """What is wrong with how an input was taken."""


class Hang(BaseException):
    """An input took longer than SECONDS."""


def attempt(action: Callable[[], object], *documented: type[Exception]) -> bool:
    """Return whether an action took its input; False where it raised what it is to raise.

    Raises Finding for other errors, for one without a message or with an endless one, for an
    action that does not end, and for memory that runs out.
    """
    try:
        with _limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            action()
    except documented as error:
        if not str(error).strip():
            raise Finding(f"{type(error).__name__} without a word") from error
        if len(str(error)) > LONGEST_MESSAGE:
            raise Finding(f"{type(error).__name__} with {len(str(error))} characters") from error
        return False
    except (Exception, Hang) as error:
        raise Finding(_told(error)) from error
    return True


def _told(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    return f"{type(error).__name__} at {where}: {str(error)[:200]}"


@contextmanager
def _limited() -> Iterator[None]:
    def hang(*_: object) -> None:
        raise Hang

    limits = ((signal.SIGPROF, signal.ITIMER_PROF, SECONDS),
              (signal.SIGALRM, signal.ITIMER_REAL, WAITED))  # fmt: skip
    before = [signal.signal(number, hang) for number, _, _ in limits]
    for _, timer, seconds in limits:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(limits, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
