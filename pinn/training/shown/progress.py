"""Training as it goes: a live line on a terminal, a bar in a notebook, plain lines elsewhere."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, TextIO

from pinn.checks import printable
from pinn.training.callbacks import Callback
from pinn.training.course import Decision
from pinn.training.records import StageInfo, StageReport, StepRecord
from pinn.training.shown.display import display_for
from pinn.training.shown.standing import Standing

# The error against a reference is shown so often that it takes two hundredths of the time at most.
_REST, _LEAST_REST = 50.0, 1.0
# An error estimate that took fewer seconds is not worth a word.
_WORTH_A_WORD = 2.0
# Seconds before it is said how far the choice of a model is, and again.
_BETWEEN_TRIALS = 3.0
# Moments from which the number of steps a second is taken.
_MOMENTS = 50


def estimate_time(report: Any) -> str | None:
    """Return what the error estimate took beside training, in words; None for no time to tell."""
    seconds = report.error_estimate.seconds
    if not seconds >= _WORTH_A_WORD:  # nan where there is none
        return None
    trained = f"{report.wall_seconds:.1f} s of training"
    return f"the error estimate took {seconds:.1f} s, on top of the {trained}"


class Progress(Callback):
    """Shows training as it goes: step, losses by name, error, rate and time left.

    On a terminal one line that changes, with as much as fits its width: of many losses the largest
    are named and the others counted. In a notebook tqdm's bar. Elsewhere plain lines: one every
    `interval` seconds. Each stage ends with a sentence that has the loss on fresh points as well,
    the run with its report. The error is that against the reference, where there is one. stream:
    sys.stderr where left out.
    """

    def __init__(self, stream: TextIO | None = None, interval: float = 10.0) -> None:
        self._display = display_for(stream, interval)
        self._session: Any = None
        self._info: StageInfo | None = None
        self._began = self._shown = 0.0
        self._told: float | None = None  # when of a trial, last
        # When, and at which step of the stage, it was shown: the last ones.
        self._moments: deque[tuple[float, int]] = deque(maxlen=_MOMENTS)
        self._errors: Mapping[str, float] = {}
        self._errors_due = 0.0

    def tell(self, sentence: str) -> None:
        """Write a sentence, above the line that changes where there is one.

        Control characters, which a name or a message of the user's may have, are escaped.
        """
        self._display.tell(printable(sentence, "\n\t"))

    def on_choosing(self, sentence: str) -> None:
        now = time.perf_counter()
        if self._told is None:  # a short trial is not worth a word
            self._told = now
        elif now - self._told >= _BETWEEN_TRIALS:
            self.tell(f"choosing the model: {sentence}")
            self._told = now

    def on_start(self, session: Any) -> None:
        self._session, self._errors, self._errors_due = session, {}, 0.0
        self._told = None

    def on_stage_start(self, info: StageInfo) -> None:
        self._info = info
        self._began = self._shown = time.perf_counter()
        self._moments.clear()

    def on_step(self, record: StepRecord) -> None:
        now = time.perf_counter()
        # A line at every step would cost as much as a small network's step.
        if now - self._shown < self._display.every:
            return
        self._display.show(self._standing(record, now))
        self._shown = now

    def on_setback(self, record: StepRecord) -> None:
        self.tell(str(record.setbacks[-1]))

    def on_decision(self, decision: Decision) -> None:
        self.tell(str(decision))

    def on_stage_end(self, report: StageReport) -> None:
        self._display.end()
        fresh = "" if math.isnan(report.fresh_loss) else f" ({report.fresh_loss:.3e} fresh)"
        steps = "1 step" if report.steps == 1 else f"{report.steps} steps"
        self.tell(
            f"{report.name}: {report.message}; loss {report.loss:.3e}{fresh}, "
            f"{steps} in {report.seconds:.1f} s"
        )

    def on_estimate(self, solution: Any) -> None:
        self.tell("estimating the error of the solution (error_bars: false leaves it out)")

    def on_failure(self, error: BaseException) -> None:
        self._display.end()

    def on_end(self, solution: Any) -> None:
        self.tell(str(solution.report))
        if (took := estimate_time(solution.report)) is not None:
            self.tell(took)

    def _standing(self, record: StepRecord, now: float) -> Standing:
        rate = self._rate(record, now)
        to_go = record.stage_steps - record.stage_step
        left, share = to_go / rate, record.stage_step / max(1, record.stage_steps)
        limit = self._info.seconds
        if limit is not None:
            spent = now - self._began
            left, share = min(left, max(limit - spent, 0.0)), max(share, min(1.0, spent / limit))
        return Standing(
            stage=record.stage,
            step=record.stage_step,
            steps=record.stage_steps if limit is None else None,
            share=share,
            rate=rate,
            left=left,
            loss=record.loss,
            losses=record.losses,
            shares={n: record.weights.get(n, 1.0) * loss for n, loss in record.losses.items()},
            errors=self._errors_at(record, now),
            parameters=record.parameters,
            learning_rate=record.learning_rate,
            damping=record.damping,
        )

    def _rate(self, record: StepRecord, now: float) -> float:
        """Return the steps a second of late; the first step may have recorded programs."""
        if self._moments:
            began, step = self._moments[0]
        else:
            began, step = now - max(record.stage_seconds, 1e-9), 0
        self._moments.append((now, record.stage_step))
        return max(record.stage_step - step, 1) / max(now - began, 1e-9)

    def _errors_at(self, record: StepRecord, now: float) -> Mapping[str, float]:
        if self._session is not None and now >= self._errors_due:
            self._errors = self._session.errors(record).rel_l2
            spent = time.perf_counter() - now
            self._errors_due = now + spent + max(_REST * spent, _LEAST_REST)
        return self._errors
