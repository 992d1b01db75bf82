"""The page of the results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.ablations.ablation import PROBLEMS, Ablation
from experiments.ablations.verdict import FACTOR, ROUNDING, Line, Verdict, tables
from experiments.bench.report import number, section, table
from experiments.resumable import ROOT, machine_line
from experiments.suite.page import run_line

_HEADER = ["with", "fresh loss", "error", "seconds", "steps", "ratio", "the suite's setting"]

# What is said of the suite's setting, and of the errors that it says it of.
_SAID = {
    Verdict.HELPS: f"the error is more than {FACTOR:g} times as large with",
    Verdict.NOTHING: f"the error is the same within a factor of {FACTOR:g} with",
    Verdict.HURTS: f"the error is less than 1/{FACTOR:g} as large with",
}


def markdown(ablations: Sequence[Ablation], runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page, a table for each entry of the suite and each budget."""
    entries = {one.entry.name: one.entry for one in ablations}
    page = [
        "# What the accuracy comes from",
        "\n".join(f"`{one}`" for one in sorted({run["measured"]["command"] for run in runs})),
        "\n".join(sorted({machine_line(run) for run in runs})),
        "A table is an entry of the accuracy suite (`experiments/suite/problems`), a line one "
        "thing that is changed (`experiments/ablations/changes.py`), trained for at most as long "
        "and compared with the same reference, which no run looks at. `error` is the relative L2 "
        "error of the worst unknown, or the relative error of the worst coefficient, the median of "
        "the seeds (the upper one of an even number); the other figures are those of that run. "
        "`fresh loss` is on points that training does not see; where the problem is stated "
        "otherwise it is another loss. `ratio` is the error over that of the suite's setting. "
        f"Errors within a factor of {FACTOR:g} count as the same, and so do those below "
        f"{ROUNDING:g} or below what the reference is known to.",
    ]
    for seconds, by_entry in tables(ablations, runs).items():
        page += [f"## {seconds:g} seconds", _count(by_entry.values())]
        for name, lines in by_entry.items():
            page += [f"### {entries[name].title}", table(_HEADER, [_cells(line) for line in lines])]
            page += [_follows(lines)]
    measured = {run["name"] for run in runs}
    page += section("What is laid over the suite's config", [
        f"{one.name}: {_over(one)}" for one in ablations if one.name in measured and _over(one)
    ])  # fmt: skip
    page += section("Runs", [run_line(run) for run in runs])
    return "\n\n".join(page) + "\n"


def _count(entries: Iterable[Sequence[Line]]) -> str:
    found = [line.verdict for lines in entries for line in lines if line.is_changed]
    helps, nothing, hurts = (found.count(verdict) for verdict in _SAID)
    return (
        f"Of {len(found)} changes the suite's setting helps beside {helps}, makes no difference "
        f"beside {nothing} and hurts beside {hurts}."
    )


def _over(one: Ablation) -> str:
    own = [f"`{PROBLEMS.relative_to(ROOT) / one.file.name}`"] if one.change.statement else []
    return ", ".join([*own, *(f"`{text}`" for text in one.settings)])


def _cells(line: Line) -> list[str]:
    return [
        line.what, number(line.fresh_loss, 2), number(line.error, 2), number(line.seconds),
        number(line.steps, 9), number(line.ratio, 2), line.verdict or "-",
    ]  # fmt: skip


def _follows(lines: Sequence[Line]) -> str:
    """Return in words what the errors of changes say of the suite's setting."""
    found = {verdict: [line for line in lines if line.verdict is verdict] for verdict in _SAID}
    said = [
        f"The suite's setting {verdict}: {_SAID[verdict]} {'; '.join(map(_named, own))}."
        for verdict, own in found.items() if own
    ]  # fmt: skip
    return " ".join(said) or "There is nothing to compare yet."


def _named(line: Line) -> str:
    return f"{line.what} ({'failed' if line.ratio is None else number(line.ratio, 2)})"
