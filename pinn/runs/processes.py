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

# Of the first process: one may be killed while it begins, another would end as two have.
_TRIES = 2


class CannotBegin(RuntimeError):
    """No process of an executor has begun, and another would not either."""


class Processes(Executor):
    """So many processes of this machine, each of which does one thing at a time.

    One that is killed costs what it was doing and nothing else: a fresh one takes its place, where
    a ProcessPoolExecutor ends all others and takes no more. They do not hear Ctrl-C, which is for
    whoever started them, and are asked to end (SIGTERM) when that process is gone.

    Each imports the script that started it. Where the script comes to this again there, that
    process ends without a word. So the first begins before all others; where it ends before it
    takes anything, and another in its place does too, whoever waits for what was submitted gets
    CannotBegin.
    """

    def __init__(self, count: int) -> None:
        # What multiprocessing itself looks at before it refuses to start a process.
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise SystemExit(1)
        self._first = threading.Lock()  # of the thread that has the first process
        self._begun = False
        self._exit_codes: list[int | None] = []  # of those that ended before one had begun
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
        pool = getattr(self._own, "pool", None) or self._pool_after_the_first()
        self._own.pool = pool
        try:
            return pool.submit(_called, function, arguments, named).result()
        except BrokenExecutor:
            del self._own.pool
            raise

    def _pool_after_the_first(self) -> ProcessPoolExecutor:
        """Return a new pool for this thread when the first process has begun, or with that."""
        with self._first:
            while not self._begun:
                if len(self._exit_codes) == _TRIES:
                    raise CannotBegin(_about_ends(self._exit_codes))
                pool = self._new_pool()
                try:
                    pool.submit(os.getpid).result()
                except BrokenExecutor:
                    self._exit_codes.append(_exit_code(pool))
                else:
                    self._begun = True
                    return pool
        return self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        """Return a pool of one process, which starts with the first thing that it is given."""
        # Not a fork: threads of this process may hold locks that a copy would wait for.
        pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_begin)
        self._pools.append(pool)
        # Before it comes to `_begin` a process has what its thread has of signals. (Making a pool
        # may start the tracker of multiprocessing, which lets the signal through again.)
        if hasattr(signal, "pthread_sigmask"):  # not on Windows
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        return pool


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


def _exit_code(pool: ProcessPoolExecutor) -> int | None:
    """Return that of the process of a broken pool, None where a pool does not tell."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown()  # waits for the end of its process
    return processes[0].exitcode if processes else None


def _about_ends(exit_codes: list[int | None]) -> str:
    codes = " and ".join("unknown" if code is None else f"{code}" for code in exit_codes)
    return (
        f"no process begins: {len(exit_codes)} were started, one after the other, and ended before "
        f"they took any work, with exit codes {codes}; what they said is printed above. A possible "
        "cause: each process imports the script that starts it, which therefore keeps what it does "
        'below `if __name__ == "__main__":`'
    )
