"""What follows from the runs of an entry and of its changes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from experiments.ablations.ablation import AS_IT_IS, Ablation
from experiments.suite.verdict import error_of

FACTOR = 2.0
"""Errors that are less apart than this count as the same."""

ROUNDING = 1e-12
"""Errors below this, or below what the reference is known to, are not told apart."""

Run = Mapping[str, Any]


class Verdict(StrEnum):
    """What the suite's setting does, beside what it is changed to."""

    HELPS = "helps"
    NOTHING = "makes no difference"
    HURTS = "hurts"


@dataclass(frozen=True)
class Line:
    """A line of the table: a change, the figures of its median run, and what they say.

    error: the median of the seeds, the upper one of an even number; None where the run failed or it
    is no number, as ratio then is, the error over that of the suite's setting. verdict: None where
    one of the two is not there to be compared.
    """

    name: str
    what: str
    seeds: list[int]
    error: float | None
    fresh_loss: float | None
    seconds: float | None
    steps: int | None
    ratio: float | None
    verdict: Verdict | None

    @property
    def is_changed(self) -> bool:
        return self.what != AS_IT_IS.what


def compared(error: float, usual: float, known: float | None = None) -> Verdict | None:
    """Return what two errors say of what has the latter; None where both are infinite.

    known: how well the reference is known that they are taken against.
    """
    if max(error, usual) <= max(known or 0.0, ROUNDING):
        return Verdict.NOTHING
    if math.isinf(error) and math.isinf(usual):
        return None
    if error > FACTOR * usual:
        return Verdict.HELPS
    return Verdict.HURTS if error < usual / FACTOR else Verdict.NOTHING


def lines_of(ablations: Sequence[Ablation], runs: Iterable[Run]) -> list[Line]:
    """Return the lines of one entry for one budget: ablations are its own, runs all of these."""
    by_name: dict[str, list[Run]] = {}
    for run in runs:
        by_name.setdefault(run["name"], []).append(run)
    shown = {name: _median(own) for name, own in by_name.items()}
    (plain,) = (one for one in ablations if one.change == AS_IT_IS)
    usual = shown.get(plain.name)
    lines = []
    for one in ablations:
        if one.name not in shown:
            continue
        run, ratio, verdict = shown[one.name], None, None
        if one is not plain and usual is not None:
            error, beside = error_of(run), error_of(usual)
            known = usual.get("reference_agreement") or run.get("reference_agreement")
            verdict = compared(error, beside, known)
            ratio = error / beside if 0 < beside < math.inf and error < math.inf else None
        figures = {key: run.get(key) for key in ("fresh_loss", "seconds", "steps")}
        error = error_of(run)
        lines.append(Line(
            one.name, one.change.what, sorted(each["seed"] for each in by_name[one.name]),
            error if math.isfinite(error) else None, **figures, ratio=ratio, verdict=verdict,
        ))  # fmt: skip
    return lines


def _median(runs: Sequence[Run]) -> Run:
    return sorted(runs, key=error_of)[len(runs) // 2]


def tables(
    ablations: Iterable[Ablation], runs: Iterable[Run]
) -> dict[float, dict[str, list[Line]]]:
    """Return the lines by budget and by the name of the entry, those that there are."""
    entries: dict[str, list[Ablation]] = {}
    for one in ablations:
        entries.setdefault(one.entry.name, []).append(one)
    runs, found = list(runs), {}
    for seconds in sorted({run["budget_seconds"] for run in runs}):
        own = [run for run in runs if run["budget_seconds"] == seconds]
        lines = {name: lines_of(each, own) for name, each in entries.items()}
        found[seconds] = {name: each for name, each in lines.items() if each}
    return found


def told(ablations: Iterable[Ablation], runs: Iterable[Run]) -> dict[str, Any]:
    """Return what a file of runs says of them: the lines of all tables."""
    return {
        "lines": [
            {"budget_seconds": seconds, **asdict(line)}
            for seconds, entries in tables(ablations, runs).items()
            for lines in entries.values() for line in lines
        ]
    }  # fmt: skip
