"""Training as it goes, on a terminal or as plain lines."""

from __future__ import annotations

import math
import sys
import time
from typing import Any, TextIO

from pinn.training.callbacks import Callback
from pinn.training.course import Decision
from pinn.training.records import StageInfo, StageReport, StepRecord


class Progress(Callback):
    """Shows training as it goes: one bar a stage with named losses, rate and time left.

    Where the stream is not a terminal, plain lines: one every `interval` seconds and one at the end
    of each stage, which shows the loss on fresh points as well. The final line gives the stop
    reason and the relative error, where there is a reference.
    """

    def __init__(self, stream: TextIO | None = None, interval: float = 10.0) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._interval = interval
        self._terminal = bool(getattr(self._stream, "isatty", lambda: False)())
        self._bar: Any = None
        self._info: StageInfo | None = None
        self._began = 0.0
        self._shown = 0.0

    def on_stage_start(self, info: StageInfo) -> None:
        self._info = info
        self._began = self._shown = time.perf_counter()
        if self._terminal:
            from tqdm import tqdm

            # Beside a limit in time that of the steps is none: a bar of its share would mislead.
            total = info.steps if info.seconds is None else None
            self._bar = tqdm(
                total=total, desc=info.name, unit="step", file=self._stream, dynamic_ncols=True
            )

    def on_step(self, record: StepRecord) -> None:
        now = time.perf_counter()
        # Formatting the losses at every step would cost as much as a small network's step.
        if now - self._shown < (0.1 if self._bar is not None else self._interval):
            return
        self._shown = now
        losses, time_left = _losses_text(record), self._time_left(record, now - self._began)
        if self._bar is not None:
            if self._info.seconds is not None:
                losses = f"{losses}, {time_left}"
            self._bar.set_postfix_str(losses, refresh=False)
            self._bar.update(record.stage_step - self._bar.n)
        else:
            count = f"/{record.stage_steps}" if self._info.seconds is None else ""
            rate = record.stage_step / (now - self._began)
            self._write(
                f"{record.stage} {record.stage_step}{count}  {losses}  {rate:.0f} steps/s, "
                f"{time_left}"
            )

    def _time_left(self, record: StepRecord, spent: float) -> str:
        left = (record.stage_steps - record.stage_step) * spent / record.stage_step
        if self._info.seconds is not None:
            left = min(left, max(self._info.seconds - spent, 0.0))
        return f"at most {_clock(left)} left"

    def on_setback(self, record: StepRecord) -> None:
        self._tell(str(record.setbacks[-1]))

    def on_decision(self, decision: Decision) -> None:
        self._tell(str(decision))

    def on_stage_end(self, report: StageReport) -> None:
        if self._bar is not None:
            self._bar.update(report.steps - self._bar.n)
            self._bar.close()
            self._bar = None
        fresh = "" if math.isnan(report.fresh_loss) else f" ({report.fresh_loss:.3e} fresh)"
        self._write(
            f"{report.name}: {report.message}; loss {report.loss:.3e}{fresh}, "
            f"{report.steps} steps in {report.seconds:.1f} s"
        )

    def on_end(self, solution: Any) -> None:
        self._write(solution.report.summary())

    def _tell(self, line: str) -> None:
        """Write a line, above the bar where there is one."""
        if self._bar is not None:
            self._bar.write(line, file=self._stream)
        else:
            self._write(line)

    def _write(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


def _losses_text(record: StepRecord) -> str:
    named = (f"{name} {loss:.2e}" for name, loss in record.losses.items())
    return ", ".join([f"loss {record.loss:.2e}", *named])


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
