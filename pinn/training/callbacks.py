"""What training calls on its way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autograd.ranks import Ranks
from pinn.schema.errors import at, refuse_class, refuse_kind
from pinn.training.course import Decision
from pinn.training.records import StageInfo, StageReport, StepRecord


class Callback:
    """What training calls on its way; a subclass defines the methods it needs.

    Any object with some of these methods will do, and a plain function is taken as on_step. A
    method that returns True, or raises StopIteration (with a reason, if there is one), stops
    training; the solution is returned as it stands. Any other exception passes through pinn.solve,
    with the solution so far as its attribute `solution`.
    """

    def on_choosing(self, sentence: str) -> None:
        """Called by pinn.solve while it chooses the model, with how far that has come."""

    def on_start(self, session: Any) -> None:
        """Called once by pinn.solve before training; see pinn.solving.Session."""

    def on_stage_start(self, info: StageInfo) -> None:
        """Called before the first step of each stage."""

    def on_decision(self, decision: Decision) -> None:
        """Called when something is decided on the way: a stage that a plan chose, new points."""

    def on_step(self, record: StepRecord) -> bool | None:
        """Called after every accepted step."""

    def on_setback(self, record: StepRecord) -> None:
        """Called when training has gone back to a step; its last setback says why."""

    def on_stage_end(self, report: StageReport) -> None:
        """Called when a stage has ended, whatever the reason."""

    def on_estimate(self, solution: Any) -> None:
        """Called by pinn.solve after training, before it estimates the error of the solution."""

    def on_failure(self, error: BaseException) -> None:
        """Called by pinn.solve in place of on_end, before it passes an exception on."""

    def on_end(self, solution: Any) -> None:
        """Called once by pinn.solve, with the solution."""


class Relayed(Callback):
    """Callbacks that rank 0 calls, and whose wish to stop, or exception, is that of all ranks."""

    def __init__(self, callbacks: Iterable[Any], ranks: Ranks) -> None:
        self._callbacks = tuple(callbacks)
        self._ranks = ranks

    def on_choosing(self, sentence: str) -> None:
        if self._ranks.number == 0:  # there is nothing to stop yet
            notify(self._callbacks, "on_choosing", sentence)

    def on_start(self, session: Any) -> None:
        self._tell("on_start", session)

    def on_stage_start(self, info: StageInfo) -> None:
        self._tell("on_stage_start", info)

    def on_decision(self, decision: Decision) -> None:
        self._tell("on_decision", decision)

    def on_step(self, record: StepRecord) -> None:
        self._tell("on_step", record, record.theta)

    def on_setback(self, record: StepRecord) -> None:
        self._tell("on_setback", record)

    def on_stage_end(self, report: StageReport) -> None:
        self._tell("on_stage_end", report)

    def on_estimate(self, solution: Any) -> None:
        self._tell("on_estimate", solution)

    def on_failure(self, error: BaseException) -> None:
        if self._ranks.number == 0:  # there is nothing left to agree upon
            notify(self._callbacks, "on_failure", error)

    def on_end(self, solution: Any) -> None:
        self._tell("on_end", solution)

    def _tell(self, event: str, argument: Any, alike: np.ndarray | None = None) -> None:
        asked = self._ranks.agreed(lambda: notify(self._callbacks, event, argument), alike)
        if asked is not None:
            raise StopIteration(asked)


def notify(callbacks: Iterable[Any], event: str, argument: Any) -> str | None:
    """Call the method `event` of each callback that has it; a plain function hears on_step.

    Returns None, or what the first callback that asks to stop gives as its reason ("" for none);
    the others hear of the event all the same.
    """
    asked = None
    for callback in callbacks:
        method = getattr(callback, event, None)
        if method is None and event == "on_step" and callable(callback):
            method = callback
        if method is None:
            continue
        try:
            # Whatever else a function happens to return, such as the result of a lambda, is no ask.
            answer = method(argument)
            reason = "" if isinstance(answer, bool | np.bool_) and answer else None
        except StopIteration as stop:
            reason = str(stop)
        asked = reason if asked is None else asked
    return asked


def check_callbacks(callbacks: Iterable[Any]) -> tuple[Any, ...]:
    """Return the callbacks as a tuple; TypeError for one that is neither callable nor has on_..."""
    events = [name for name in vars(Callback) if name.startswith("on_")]

    def hears(callback: Any) -> bool:
        return any(hasattr(callback, event) for event in events)

    with at("callbacks"):
        if not isinstance(callbacks, Iterable):
            hint = "; put it in [ ]" if callable(callbacks) or hears(callbacks) else ""
            refuse_kind("a list of callbacks", callbacks, hint)
    callbacks = tuple(callbacks)
    for i, callback in enumerate(callbacks):
        is_class = isinstance(callback, type)
        with at("callbacks", i):
            if is_class and hears(callback):
                refuse_class("a callback", callback)
            if is_class or not (callable(callback) or hears(callback)):
                refuse_kind(
                    "a function of a step record or an object with some of "
                    f"{', '.join(events)}", callback,
                )  # fmt: skip
    return callbacks
