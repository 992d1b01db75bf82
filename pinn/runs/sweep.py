"""What became of the runs of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pinn.runs.overview import HEADINGS, Overview, explained
from pinn.runs.run import Run
from pinn.text import aligned

# What a directory says of a run that left nothing there, or nothing about its end.
_UNSAID = ("empty", "cut short")
# Of runs that have one reason.
_MOST_NAMED = 4


@dataclass(frozen=True)
class Sweep:
    """Runs of a grid of values, in its order; printed it is a table.

    names: what was varied. values: of these, as texts, for each run. directories: of the runs.
    codes: the exit code of each, 0 for one that is done and None for one that was cut short.
    reasons: why that is not 0, in a sentence, empty where there is nothing to say; the table ends
    with them.
    """

    names: Sequence[str]
    values: Sequence[Sequence[str]]
    directories: Sequence[Path]
    codes: Sequence[int | None]
    reasons: Sequence[str]

    @property
    def runs(self) -> list[Run]:
        """The run directories."""
        return [Run(directory) for directory in self.directories]

    def __str__(self) -> str:
        rows = [(*self.names, *HEADINGS[1:])]
        seen = [Overview.of(directory) for directory in self.directories]
        for texts, one, code, reason in zip(
            self.values, seen, self.codes, self.reasons, strict=True
        ):
            state, *others = one.cells[1:]
            if code and state in _UNSAID:
                state = "failed"
            elif code is None and not reason and state == "running":
                state = "interrupted"  # it was asked to end, and nobody waited for that
            rows.append((*texts, state, *others))
        table = aligned(rows, left=len(self.names) + 1)
        return "\n".join([table, *explained(seen), *self._told_reasons()])

    def _told_reasons(self) -> list[str]:
        """Return each reason once, after the runs that it is of."""
        runs: dict[str, list[str]] = {}
        for directory, reason in zip(self.directories, self.reasons, strict=True):
            if reason:
                runs.setdefault(reason, []).append(directory.name)
        return [f"{_listed(names)}: {reason}" for reason, names in runs.items()]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
