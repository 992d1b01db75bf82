"""Cut trainings of the suite's problems short, and compare the errors they estimate with the true.

    python -m experiments.estimates [--only NAME ...] [--budget 2,4,8] [--seeds 0,1,2] [--jobs N]
                                    [--threads N] [--anew] [--out FOLDER]

A solution that training has not finished is where an estimate is needed most and is hardest: much
of the residual is left, and the error may be too large for an equation that is linear in it. After
every run estimates.json and estimates.md are written; the same command goes on with what was cut
short.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from experiments.bench.report import number, section, table
from experiments.command_line import add_runs, chosen, parser
from experiments.resumable import Rows, machine_line
from experiments.running import SEVERAL, fill
from experiments.suite.entries import ENTRIES
from experiments.suite.entry import Entry
from experiments.suite.verdict import FACTOR, SILENT, error_of, estimate_of

_MODULE = "experiments.estimates"
_BUDGETS = (2.0, 4.0, 8.0)  # seconds: a small part of what any of these problems takes


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing; returns 0, 2 for wrong usage, 130 where it was interrupted."""
    made = parser(_MODULE, __doc__, "these problems of the suite, by name or number")
    add_runs(made, _BUDGETS, (0, 1, 2))
    options = made.parse_args(arguments)
    names = [entry.name for entry in ENTRIES]
    try:
        entries = chosen(
            options.only, _by_name(), f"some of {', '.join(names)}, or the numbers of problems"
        )
        results = Rows(options.out / "estimates.json", names, several=SEVERAL, summary=counts)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return fill(results, entries, options, _MODULE, options.out / "estimates.md", markdown)


def _by_name() -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in ENTRIES:
        for name in (entry.name, str(entry.number)):
            found.setdefault(name, []).append(entry)
    return found


class Pair(NamedTuple):
    """The error of a run and what it says of it: times the truth, and whether it is believed."""

    error: float
    times: float
    trusted: bool

    @property
    def is_within(self) -> bool:
        return 1 / FACTOR <= self.times <= FACTOR


def pairs(runs: Iterable[Mapping[str, Any]]) -> list[Pair]:
    """Return those of the runs with an estimate and an error that the reference can tell."""
    found = []
    for run in runs:
        error, estimate = error_of(run), estimate_of(run)
        if estimate is not None and max(run.get("reference_agreement") or 0.0, 1e-13) < error:
            found.append(Pair(error, estimate[0] / error, estimate[1]))
    return found


def counts(runs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how often what is believed is right, and how often what is right is doubted."""
    found = pairs(runs)
    believed = [pair for pair in found if pair.trusted]
    return {
        "runs": len(found), "believed": len(believed),
        "believed_within": sum(pair.is_within for pair in believed),
        "believed_below_a_third": sum(pair.times < 1 / FACTOR for pair in believed),
        "believed_below_a_tenth": sum(pair.times < SILENT for pair in believed),
        "lowest_believed": min((pair.times for pair in believed), default=None),
        "highest_believed": max((pair.times for pair in believed), default=None),
        "doubted_within": sum(pair.is_within for pair in found if not pair.trusted),
    }  # fmt: skip


def markdown(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the page: what the counts say, a line for each problem and budget, and the misses."""
    found = counts(runs)
    commands = sorted({run["measured"]["command"] for run in runs})
    return "\n\n".join([
        "# Estimates of the errors of solutions that were cut short",
        "\n".join(f"`{command}`" for command in commands),
        "\n".join(sorted({machine_line(run) for run in runs})),
        "Problems of the accuracy suite, trained for much less time than they take; then "
        "`error_estimate()`, which knows the equations alone, beside the error from a reference: "
        "the worst unknown or coefficient, estimate over truth.",
        f"{found['believed']} of {found['runs']} estimates are believed: "
        f"{found['believed_within']} of these within a factor {FACTOR:g} of the truth, "
        f"{found['believed_below_a_third']} below a third of it, "
        f"{found['believed_below_a_tenth']} below a tenth (lowest "
        f"{number(found['lowest_believed'], 2)}, highest {number(found['highest_believed'], 2)}). "
        f"Of the {found['runs'] - found['believed']} that are told as not to be trusted "
        f"{found['doubted_within']} are within the factor all the same.",
        table(
            ["problem", "seconds", "runs", "error", "believed", "believed: times the truth",
             "doubted: times the truth"],
            [line for key in _keys(runs) if (line := _line(key, runs))],
        ),
        *section("Believed, and not within the factor", [
            f"{run['name']}, {run['budget_seconds']:g} s, seed {run['seed']}: error "
            f"{number(pair.error, 2)}, estimate {number(pair.times, 2)} of it; unexplained "
            f"{number(run['estimate']['unexplained'], 2)}"
            for run in runs for pair in pairs([run]) if pair.trusted and not pair.is_within
        ]),
        *section("Without an estimate", [
            f"{run['name']}, {run['budget_seconds']:g} s, seed {run['seed']}: {_why(run)}"
            for run in runs if estimate_of(run) is None
        ]),
    ]) + "\n"  # fmt: skip


def _keys(runs: Iterable[Mapping[str, Any]]) -> list[tuple[str, float]]:
    return list(dict.fromkeys((run["name"], run["budget_seconds"]) for run in runs))


def _line(key: tuple[str, float], runs: Iterable[Mapping[str, Any]]) -> list[str]:
    found = pairs(run for run in runs if (run["name"], run["budget_seconds"]) == key)
    if not found:
        return []
    errors = sorted(pair.error for pair in found)
    return [
        key[0], f"{key[1]:g}", str(len(found)), number(errors[len(errors) // 2], 2),
        str(sum(pair.trusted for pair in found)),
        *(
            ", ".join(number(pair.times, 2) for pair in found if pair.trusted is trusted) or "-"
            for trusted in (True, False)
        ),
    ]  # fmt: skip


def _why(run: Mapping[str, Any]) -> str:
    estimate = run.get("estimate") or {}
    doubts = "; ".join(estimate.get("doubts", ()))
    return run.get("failed") or estimate.get("failed") or doubts or "nothing was estimated"


if __name__ == "__main__":
    sys.exit(main())
