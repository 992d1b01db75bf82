"""What the runs of an entry say together: median and worst of its seeds, and the verdict."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from experiments.suite.entry import Entry

Run = Mapping[str, Any]

# An estimate should be within this factor of the error, and never below this share of it unless a
# warning says that it is not to be trusted.
FACTOR, SILENT = 3.0, 0.1


def error_of(run: Run) -> float:
    """Return the error of a run; infinite where it failed or is no number."""
    error = run.get("error")
    return math.inf if error is None or math.isnan(error) else error


def estimate_of(run: Run) -> tuple[float, bool] | None:
    """Return what a run estimates of the worst of its errors, and whether it trusts that.

    Where it has none of that name, it is the worst that it has; None for runs without an estimate.
    """
    estimate, errors = run.get("estimate") or {}, run.get("errors") or {}
    found = {name: e for name, e in estimate.get("errors", {}).items() if e is not None}
    if not found or not errors:
        return None
    worst = max(errors, key=lambda name: _size(errors[name]))
    value = found.get(worst, max(found.values(), key=_size))
    return None if math.isnan(value) else (value, estimate["trusted"])


def _size(error: float | None) -> float:
    return math.inf if error is None or math.isnan(error) else error


def told_apart(runs: Iterable[Run]) -> dict[str, int]:
    """Return how many runs there are with an estimate, and how well these are: counts of runs.

    within: a factor 3 of the true error. silent: below a tenth of it, and trusted. Runs whose error
    is less than the digits of the reference have no true error to compare with.
    """
    pairs = [
        (error_of(run), *one) for run in runs
        if (one := estimate_of(run)) is not None
        and error_of(run) >= (run.get("reference_agreement") or 0.0)
    ]  # fmt: skip
    close = [1 / FACTOR <= value / error <= FACTOR for error, value, _ in pairs if error > 0]
    silent = [value < SILENT * error and trusted for error, value, trusted in pairs]
    return {"runs": len(pairs), "within": sum(close), "silent": sum(silent)}


def summary(entry: Entry, seconds: float, runs: Iterable[Run]) -> dict[str, Any]:
    """Return the line of an entry for a budget: its runs are those of the seeds.

    The run shown is that of the median, the upper one of an even number; `reached` is whether its
    error is within the goal.
    """
    ranked = sorted(runs, key=error_of)
    shown = ranked[len(ranked) // 2]
    errors = [error_of(run) for run in ranked]
    median, goal = errors[len(errors) // 2], entry.goal(seconds)
    times = [run["seconds"] for run in ranked if "seconds" in run]
    estimate, trusted = estimate_of(shown) or (None, None)
    return {
        "name": entry.name, **entry.words, "budget_seconds": seconds,
        "auto": shown.get("auto"),
        "network": shown.get("network"), "parameters": shown.get("parameters"),
        "stages": shown.get("stages", []), "seconds": statistics.median(times) if times else None,
        "error": _finite(median), "worst": _finite(errors[-1]), "goal": goal,
        "estimate": estimate, "trusted": trusted,
        "reached": median <= goal, "seeds": sorted(run["seed"] for run in ranked),
    }  # fmt: skip


def _finite(error: float) -> float | None:
    return None if math.isinf(error) else error


def summaries(entries: Iterable[Entry], runs: Iterable[Run]) -> list[dict[str, Any]]:
    """Return the lines of all entries that have runs, by budget and in order."""
    runs = list(runs)
    budgets = sorted({run["budget_seconds"] for run in runs})
    lines = []
    for seconds in budgets:
        for entry in entries:
            own = [
                run for run in runs
                if run["name"] == entry.name and run["budget_seconds"] == seconds
            ]  # fmt: skip
            if own:
                lines.append(summary(entry, seconds, own))
    return lines


def verdicts(lines: Iterable[Mapping[str, Any]], entries: Iterable[Entry]) -> dict[int, bool]:
    """Return whether the problems reach their goals, by number, those with a line for each entry.

    lines: summaries of one budget. A problem with variants is as good as the worst of them.
    """
    reached = {line["name"]: line["reached"] for line in lines}
    numbers: dict[int, list[bool | None]] = {}
    for entry in entries:
        numbers.setdefault(entry.number, []).append(reached.get(entry.name))
    return {number: all(each) for number, each in numbers.items() if None not in each}


def left_to_auto(lines: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the numbers of the problems that leave the model, the stages to `auto`.

    lines: summaries of one budget. A problem with variants does where all of them do.
    """
    left: dict[int, set[str]] = {}
    for line in lines:
        left.setdefault(line["number"], {"model", "stages"}).intersection_update(line["auto"] or ())
    return {
        what: [number for number, found in left.items() if what in found]
        for what in ("model", "stages")
    }


def told(entries: Iterable[Entry], runs: Iterable[Run]) -> dict[str, Any]:
    """Return what a file of runs says of them: the lines of entries, and the problems' verdicts."""
    entries, lines = list(entries), summaries(entries, runs)
    reached = []
    for seconds in dict.fromkeys(line["budget_seconds"] for line in lines):
        own = [line for line in lines if line["budget_seconds"] == seconds]
        numbered = {str(number): is_so for number, is_so in verdicts(own, entries).items()}
        reached.append({"budget_seconds": seconds, "problems": numbered})
    return {"reached": reached, "entries": lines}
