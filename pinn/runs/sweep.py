"""What became of the runs of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pinn.runs.overview import HEADINGS, Overview
from pinn.runs.run import Run
from pinn.text import aligned

# What a directory says of a run that left nothing there, or nothing about its end.
_UNSAID = ("empty", "cut short")


@dataclass(frozen=True)
class Sweep:
    """Runs of a grid of values, in its order; printed it is a table.

    names: what was varied. values: of these, as texts, for each run. directories: of the runs.
    codes: the exit code of each, 0 for one that is done and None for one that was cut short.
    """

    names: Sequence[str]
    values: Sequence[Sequence[str]]
    directories: Sequence[Path]
    codes: Sequence[int | None]

    @property
    def runs(self) -> list[Run]:
        """The run directories."""
        return [Run(directory) for directory in self.directories]

    def __str__(self) -> str:
        rows = [(*self.names, *HEADINGS[1:])]
        for texts, directory, code in zip(self.values, self.directories, self.codes, strict=True):
            state, *others = Overview.of(directory).cells[1:]
            failed = code is not None and code != 0 and state in _UNSAID
            rows.append((*texts, "failed" if failed else state, *others))
        return aligned(rows, left=len(self.names) + 1)
