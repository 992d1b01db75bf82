"""Signals that stop training between two steps, and never in the middle of a file."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from types import FrameType
from typing import Any

from autograd.ranks import ALONE, Ranks
from pinn.optimizers import StopReason
from pinn.training.callbacks import Callback
from pinn.training.records import StageInfo, StageReport, StepRecord

# Ctrl-C, a polite request to terminate, a terminal that was closed; the last is of Windows.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
_SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
_HANGUP = getattr(signal, "SIGHUP", None)


class _Phase(Enum):
    BEFORE = auto()  # nothing to save yet
    TRAINING = auto()
    SAVING = auto()  # from the moment training is broken off until its files are written
    AFTER = auto()


class Interrupts(Callback):
    """Takes the signals that ask a program to end, while its `with` block lasts.

    As the last callback of `pinn.solve` it lets the running step end and then raises
    KeyboardInterrupt, which ends training as "interrupted". A second signal raises it at once; from
    then on until a `held` block ends nothing is raised, so that what was reached is saved. Before
    training and after that block a signal is an ordinary KeyboardInterrupt.

    A closed terminal tells its program twice, by the system and by the shell, so that a hangup
    after another signal asks for nothing more. A signal that was ignored from the start (nohup, a
    background job) stays ignored. Of ranks that share the work rank 0 takes signals, for which all
    raise KeyboardInterrupt when they next meet. Only the main thread gets signals: in another
    thread this does nothing.
    """

    def __init__(self, ranks: Ranks = ALONE) -> None:
        self._ranks = ranks
        self._phase = _Phase.BEFORE
        self._asked = False
        self._heard = False  # training has ended for what was asked
        self._impatient = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                # None is a handler that was not set from Python, and could not be put back.
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """A block that no signal breaks off, for files that must be written.

        Raises KeyboardInterrupt at the block's end when somebody asked for more than the end of
        training: what comes after the block is not wanted.
        """
        self._phase = _Phase.SAVING
        try:
            yield
        finally:
            self._phase = _Phase.AFTER
        if self._impatient or (self._asked and not self._heard):
            raise KeyboardInterrupt

    def on_stage_start(self, info: StageInfo) -> None:
        self._phase = _Phase.TRAINING

    def on_step(self, record: StepRecord) -> None:
        if self._asked:
            self._heard = True
            raise KeyboardInterrupt

    def on_stage_end(self, report: StageReport) -> None:
        if self._asked:
            self._heard = True
            if report.reason != StopReason.INTERRUPTED:
                raise KeyboardInterrupt  # asked for in the last step: no next stage may begin

    def _take(self, number: int, frame: FrameType | None) -> None:
        if number == _HANGUP and self._asked:
            return
        again, self._asked = self._asked, True
        if self._phase is _Phase.TRAINING and not again:
            _tell("stopping after this step (Ctrl-C again: at once)")
        elif self._phase is _Phase.TRAINING:
            self._phase = _Phase.SAVING
            self._heard = self._impatient = True
            self._ranks.interrupt()
        elif self._phase is _Phase.SAVING:
            self._impatient = True
            _tell("one moment: files are being written")
        else:
            self._ranks.interrupt()


def _tell(message: str) -> None:
    """Write a line past Python's buffers, which the interrupted code may be in the middle of."""
    try:
        os.write(sys.__stderr__.fileno(), f"\n{message}\n".encode())
    except (OSError, ValueError, AttributeError):
        pass  # nobody reads stderr, and a signal handler must not fail for that
