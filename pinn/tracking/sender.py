"""Calls the methods of a log in order, on a thread of its own: training waits for no network."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from pinn.tracking.log import Log

# What the last call leaves behind: that there are no more.
_END = None


class Sender:
    """A log that is opened and written to on another thread, which ends at its first failure.

    open: what opens it. trouble: the exception that ended it, None while all is well; what is sent
    after that is dropped.
    """

    def __init__(self, open: Callable[[], Log]) -> None:
        self.trouble: Exception | None = None
        self.where = ""
        self._open = open
        self._calls: SimpleQueue[tuple[str, tuple[Any, ...]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="pinn-tracking", daemon=True)
        self._thread.start()

    def send(self, method: str, *arguments: Any) -> None:
        """Have a method of the log called, after those that were sent before."""
        if self.trouble is None:
            self._calls.put((method, arguments))

    def end(self) -> None:
        """Say that no more is to come."""
        self._calls.put(_END)

    def wait(self, seconds: float) -> bool:
        """Wait until all is written; return whether it is, and not so after so many seconds."""
        limit = time.monotonic() + seconds
        while self._thread.is_alive() and time.monotonic() < limit:
            self._thread.join(min(0.1, seconds))  # short waits: Ctrl-C is heard between them
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            log = self._open()
            self.where = log.where
            while True:
                call = self._calls.get()
                if call is _END:
                    return
                method, arguments = call
                getattr(log, method)(*arguments)
        except Exception as error:  # of a tool that others wrote: it may be any
            self.trouble = error
        except SystemExit as error:
            self.trouble = RuntimeError(f"it asked to exit ({error})")
