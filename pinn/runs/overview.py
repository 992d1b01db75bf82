"""Runs beside each other: what became of each, in a line or in full."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinn.estimates.record import is_doubted
from pinn.files import DamagedFile, sentence_of
from pinn.runs.claim import MARKER, RunExists, is_run
from pinn.runs.run import Run
from pinn.solution.recovery import DataFit, Recovery
from pinn.solution.report_text import DOUBTED, marked
from pinn.text import aligned, labelled

HEADINGS = ("run", "state", "steps", "seconds", "loss", "error", "estimated")
"""Those of the cells of an Overview."""

_UNSOLVED = "unsolved"


@dataclass(frozen=True)
class Overview:
    """What became of a run.

    state: why it stopped, "running", "cut short", or what is wrong with its files. error: the
    largest relative L2 error of an unknown, estimate: the largest that is estimated, nan where not
    known; doubted: whether one of them is not to be trusted. unsolved: whether training ended
    with a problem that does not seem to be solved, though it did not diverge. summary: all that
    the run ended with, empty before.
    """

    directory: Path
    state: str
    steps: int = 0
    seconds: float = math.nan
    loss: float = math.nan
    error: float = math.nan
    estimate: float = math.nan
    doubted: bool = False
    unsolved: bool = False
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
        ended = summary if told is not last else {}
        estimate = ended.get("error_estimate") or {}
        return cls(
            run.directory, state, steps=told.get("steps") or told.get("step", 0),
            seconds=_number(told.get("wall_s")), loss=_number(told.get("loss")),
            error=_largest(told.get("rel_l2")),
            estimate=_largest(estimate.get("relative_l2")), doubted=any(doubted_of(ended).values()),
            unsolved=bool(ended.get("unsolved")) and state != "diverged", summary=summary,
        )  # fmt: skip

    @property
    def cells(self) -> tuple[str, ...]:
        """Its line in a table, see `table_of`."""
        return (
            str(self.directory), self.told_state, f"{self.steps}", _shown(self.seconds, ".1f"),
            _shown(self.loss, ".2e"), _shown(self.error, ".2e"),
            marked(_shown(self.estimate, ".2e"), self.doubted),
        )  # fmt: skip

    @property
    def doubt_of_coefficients(self) -> str:
        """Why the standard errors are not to be trusted, a sentence; "" where they are."""
        return recovery_of(self.summary).doubt(self.unsolved)

    @property
    def told_state(self) -> str:
        """Its state, and that it is unsolved where that is so."""
        return f"{self.state}, {_UNSOLVED}" if self.unsolved else self.state


def overviews(folder: str | Path) -> list[Overview]:
    """Return those of all runs below a folder, or of the one that it is, by name."""
    found = sorted(path.parent for path in Path(folder).rglob(MARKER))
    return [Overview.of(directory) for directory in found]


def table_of(runs: Sequence[Overview]) -> str:
    """Return a table with a line for each run, and what the marks in it mean."""
    table = aligned([HEADINGS, *(run.cells for run in runs)], left=2)
    return "\n".join([table, *explained(runs)])


def explained(runs: Sequence[Overview]) -> list[str]:
    """Return what the marks in a table of runs mean, of those that are there."""
    why = " (why: runs show RUN)"
    found = []
    if any(run.doubted for run in runs):
        found.append(labelled(DOUBTED, f"the estimated error is not to be trusted{why}"))
    if any(run.unsolved for run in runs):
        found.append(labelled(_UNSOLVED, f"the problem does not seem to be solved{why}"))
    return found


def doubted_of(summary: Mapping[str, Any]) -> dict[str, bool]:
    """Return which estimated errors in a summary are not to be trusted."""
    estimate = summary.get("error_estimate") or {}
    doubts = estimate.get("doubts") or ()
    return {name: is_doubted(v, doubts) for name, v in (estimate.get("relative_l2") or {}).items()}


def recovery_of(summary: Mapping[str, Any]) -> Recovery:
    """Return what a summary has of coefficients and data; of an older one what there is."""
    kept = summary.get("recovery") or {}
    # null stands for an error without end, and for a number of a fit that is not known
    errors = {n: math.inf if one is None else one
              for n, one in (kept.get("standard_errors") or {}).items()}  # fmt: skip
    numbers = ("sigma", "freedom", "chi_square", "probability")
    data = {
        name: DataFit(
            rows=fit["rows"], left_out=fit.get("left_out") or 0, outliers=fit.get("outliers") or 0,
            **{key: math.nan if fit.get(key) is None else float(fit[key]) for key in numbers},
        )
        for name, fit in (kept.get("data") or {}).items()
    }  # fmt: skip
    return Recovery(errors, data=data, untrained=tuple(kept.get("untrained") or ()))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _largest(values: Any) -> float:
    numbers = [_number(v) for v in (values.values() if isinstance(values, Mapping) else [values])]
    return max(numbers, default=math.nan)


def _shown(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)
