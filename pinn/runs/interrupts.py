"""Ctrl-C that stops training between two steps, and never in the middle of a file."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from pinn.optimizers import StopReason
from pinn.training.callbacks import Callback
from pinn.training.records import StageInfo, StageReport, StepRecord

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts(Callback):
    """Takes Ctrl-C (and a polite request to terminate) while its `with` block lasts.

    As the last callback of `pinn.solve` it lets the running step end and then raises
    KeyboardInterrupt, which ends training as "interrupted". A second Ctrl-C raises it at once, as
    does one outside of training. While `held` lasts nothing is raised. Only the main thread gets
    signals: in another thread this does nothing.
    """

    def __init__(self) -> None:
        self._training = False
        self._asked = False
        self._held = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._take) for number in _SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """A block that no Ctrl-C breaks off, for files that must be written."""
        self._held = True
        try:
            yield
        finally:
            self._held = False

    def on_stage_start(self, info: StageInfo) -> None:
        self._training = True

    def on_step(self, record: StepRecord) -> None:
        if self._asked:
            raise KeyboardInterrupt

    def on_stage_end(self, report: StageReport) -> None:
        self._training = False
        if self._asked and report.reason != StopReason.INTERRUPTED:
            raise KeyboardInterrupt  # asked for in the last step: the next stage must not begin

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self._held:
            _tell("one moment: files are being written")
        elif self._training and not self._asked:
            self._asked = True
            _tell("stopping after this step (Ctrl-C again: at once)")
        else:
            raise KeyboardInterrupt


def _tell(message: str) -> None:
    """Write a line past Python's buffers, which the interrupted code may be in the middle of."""
    try:
        os.write(sys.__stderr__.fileno(), f"\n{message}\n".encode())
    except (OSError, ValueError, AttributeError):
        pass  # nobody reads stderr, and a signal handler must not fail for that
