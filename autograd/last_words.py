"""How one of several ranks ends: the others hear of it, and an error of all is printed once."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any

from .ranks import RankFailed

_PATIENCE = 2  # seconds that a traceback waits for the words of others
# Looks each second whether the process that it speaks for is still there.
_LATE = """
waited=0
while [ $waited -lt "$2" ]; do
  sleep 1
  kill -0 "$1" 2>/dev/null || exit
  waited=$((waited + 1))
done
echo "$3" >&2
"""

Leave = Callable[[str, Callable[[], object]], Sequence[str]]


class LastWords:
    """What a rank says when its process ends, whether by an error that nobody caught or not.

    leave: called with the error in words, "" for none, and with a function to call while it waits;
    returns the words of all ranks when all have ended. A traceback is printed then, by one rank of
    those that have the same, and not for a RankFailed about an error that its rank prints. While
    the others go on for long, it is printed without their words.
    """

    def __init__(self, number: int, leave: Leave) -> None:
        self._number, self._leave, self._process = number, leave, os.getpid()
        self._kept: tuple[type[BaseException], BaseException, TracebackType | None] | None = None
        self._usual, sys.excepthook = sys.excepthook, self._keep
        atexit.register(self._say)

    def _keep(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        interactive = hasattr(sys, "ps1") or sys.flags.interactive
        if interactive or os.getpid() != self._process:
            self._usual(kind, error, trace)  # nothing ends, or not this rank
        else:
            self._kept = kind, error, trace

    def _say(self) -> None:
        from mpi4py import MPI

        if os.getpid() != self._process or MPI.Is_finalized():
            return
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the others end by it, and so does this
        late = time.perf_counter() + _PATIENCE
        words = f"{self._kept[0].__name__}: {self._kept[1]}" if self._kept else ""
        told: Sequence[str] = ()
        try:
            told = self._leave(words, lambda: time.perf_counter() > late and self._print())
        finally:
            if not self._said_by_another(words, told):
                self._print()

    def _print(self) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            with suppress(OSError, ValueError, AttributeError):  # closed, or None
                self._usual(*kept)
                sys.stderr.flush()

    def _said_by_another(self, words: str, told: Sequence[str]) -> bool:
        if words in told[: self._number]:
            return True
        about_another = self._kept is not None and issubclass(self._kept[0], RankFailed)
        return about_another and any(
            other and other != words and words.endswith(other) for other in told
        )


@contextmanager
def when_late(sentence: str, seconds: int | None) -> Iterator[None]:
    """Have a sentence said on stderr where a block takes longer, also while Python stands still.

    seconds: None for never. Without a shell nothing is said.
    """
    teller: Any = None
    if seconds is not None and os.name == "posix":
        with suppress(OSError):
            teller = subprocess.Popen(
                ["sh", "-c", _LATE, "sh", str(os.getpid()), str(seconds), sentence],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )  # fmt: skip
    try:
        yield
    finally:
        if teller is not None:
            teller.kill()
            teller.wait()
