"""Local processes as an executor, each of them replaced when it is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from typing import Any


class CannotBegin(RuntimeError):
    """No process of an executor has begun, and another would not either."""


class Processes(Executor):
    """So many processes of this machine, each of which does one thing at a time.

    One that is killed costs what it was doing and nothing else: a fresh one takes its place, where
    a ProcessPoolExecutor ends all others and takes no more. They do not hear Ctrl-C, which is for
    whoever started them, and are asked to end (SIGTERM) when that process is gone.

    Each imports the script that started it. Where the script comes to this again there, that
    process ends without a word, and whoever waits for what was submitted gets CannotBegin.
    """

    def __init__(self, count: int) -> None:
        # What multiprocessing itself looks at before it refuses to start a process.
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise SystemExit(1)
        self._begun = self._unable = False
        self._threads = ThreadPoolExecutor(count)
        self._own = threading.local()
        self._pools: list[ProcessPoolExecutor] = []

    def submit(self, function: Callable, /, *arguments: Any, **named: Any) -> Future:
        """Have a function called in a process; as of every executor."""
        return self._threads.submit(self._call, function, arguments, named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when they have done what was submitted."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for pool in self._pools:
            pool.shutdown(wait)

    def _call(self, function: Callable, arguments: tuple, named: dict[str, Any]) -> Any:
        """Call it in the process of this thread."""
        pool = getattr(self._own, "pool", None) or self._new_pool()
        try:
            return pool.submit(_called, function, arguments, named).result()
        except BrokenExecutor:
            del self._own.pool
            raise

    def _new_pool(self) -> ProcessPoolExecutor:
        """Return the pool of this thread, with its process begun."""
        if not self._unable:
            # Not a fork: threads of this process may hold locks that a copy would wait for.
            pool = ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), initializer=_begin
            )
            self._pools.append(pool)
            try:
                pool.submit(os.getpid).result()
            except BrokenExecutor:
                if self._begun:
                    raise
                self._unable = True
            else:
                self._begun = True
                self._own.pool = pool
                return pool
        raise CannotBegin(
            "the processes that were started ended before they took any work: each begins by "
            'importing the script, so what a script does has to stand below if __name__ == '
            '"__main__": (what else went wrong there is printed above)'
        )


def leave_ctrl_c_to_others() -> None:
    """Ignore Ctrl-C, which a terminal sends to every process that was started there."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _begin() -> None:
    leave_ctrl_c_to_others()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait until the parent is gone, however it ended, and ask this process to end."""
    multiprocessing.parent_process().join()
    os.kill(os.getpid(), signal.SIGTERM)


def _called(function: Callable, arguments: tuple, named: dict[str, Any]) -> Any:
    result = function(*arguments, **named)
    if not multiprocessing.parent_process().is_alive():
        os._exit(0)  # what ended the run has been heard, and nobody waits for the result
    return result
