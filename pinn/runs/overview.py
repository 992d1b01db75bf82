"""Runs beside each other: what became of each, in a line or in full."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinn.files import DamagedFile, sentence_of
from pinn.runs.claim import MARKER, RunExists, is_run
from pinn.runs.run import Run
from pinn.text import aligned

HEADINGS = ("run", "state", "steps", "seconds", "loss", "error", "estimated")
"""Those of the cells of an Overview."""


@dataclass(frozen=True)
class Overview:
    """What became of a run.

    state: why it stopped, "running", "cut short", or what is wrong with its files. error: the
    largest relative L2 error of an unknown, estimate: the largest that is estimated, nan where not
    known. summary: all that the run ended with, empty before.
    """

    directory: Path
    state: str
    steps: int = 0
    seconds: float = math.nan
    loss: float = math.nan
    error: float = math.nan
    estimate: float = math.nan
    summary: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, directory: str | Path) -> Overview:
        """Return that of a run directory, whatever state its files are in."""
        run = Run(directory)
        try:
            state = "cut short" if is_run(run.directory) else "empty"
        except RunExists:
            # A copy without its marker is nobody's to write in.
            state = "running" if os.path.lexists(run.directory / MARKER) else "cut short"
        except OSError as error:
            return cls(run.directory, sentence_of(error))
        try:
            lines = run.metrics(1)  # the last is among them
            summary = run.summary() if run.summary_path.exists() else {}
        except (DamagedFile, OSError) as error:
            return cls(run.directory, sentence_of(error))
        last = lines[-1] if lines else {}
        told = {**last, **summary} if state != "running" else last
        if summary and state != "running" and (summary.get("steps") or 0) >= last.get("step", 0):
            state = str(summary.get("stop_reason"))
        estimate = summary.get("error_estimate") if told is not last else None
        return cls(
            run.directory, state, steps=told.get("steps") or told.get("step", 0),
            seconds=_number(told.get("wall_s")), loss=_number(told.get("loss")),
            error=_largest(told.get("rel_l2")),
            estimate=_largest((estimate or {}).get("relative_l2")), summary=summary,
        )  # fmt: skip

    @property
    def cells(self) -> tuple[str, ...]:
        """Its line in a table, see `table_of`."""
        return (
            str(self.directory), self.state, f"{self.steps}", _shown(self.seconds, ".1f"),
            _shown(self.loss, ".2e"), _shown(self.error, ".2e"), _shown(self.estimate, ".2e"),
        )  # fmt: skip


def overviews(folder: str | Path) -> list[Overview]:
    """Return those of all runs below a folder, or of the one that it is, by name."""
    found = sorted(path.parent for path in Path(folder).rglob(MARKER))
    return [Overview.of(directory) for directory in found]


def table_of(runs: Iterable[Overview]) -> str:
    """Return a table with a line for each run."""
    return aligned([HEADINGS, *(run.cells for run in runs)], left=2)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _largest(values: Any) -> float:
    numbers = [_number(v) for v in (values.values() if isinstance(values, Mapping) else [values])]
    return max(numbers, default=math.nan)


def _shown(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)
