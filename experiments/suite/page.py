"""The page of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.bench.report import number, section, table
from experiments.resumable import machine_line, state
from experiments.suite.entry import Entry
from experiments.suite.verdict import FACTOR, left_to_auto, summaries, told_apart, verdicts

_HEADER = [
    "#", "problem", "by auto", "network", "parameters", "stages", "seconds", "error", "estimate",
    "worst", "goal", "published", "reached",
]  # fmt: skip


def markdown(entries: Sequence[Entry], runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page, a table for each budget."""
    lines = summaries(entries, runs)
    page = [
        "# The accuracy suite",
        "\n".join(f"`{one}`" for one in sorted({run["measured"]["command"] for run in runs})),
        "\n".join(sorted({machine_line(run) for run in runs})),
        "Each problem is a config (or a program) of `experiments/suite/problems`. The error is the "
        "relative L2 error of the worst unknown, or the relative error of the worst coefficient, "
        "at points that no training saw: the median of the seeds (the upper one of an even "
        "number), and the worst of them. Network, stages and steps are those of the median run, "
        "and so is `estimate`: what it says of that error by itself, without a reference, with a ? "
        "where it says that this is not to be trusted; "
        "`seconds` is the whole call, the median. `published` is the best figure known of a neural "
        "network for this very set-up; where no source is named below, the paper was not at hand. "
        "No run looks at the reference.",
    ]
    for seconds in sorted({line["budget_seconds"] for line in lines}):
        own = [line for line in lines if line["budget_seconds"] == seconds]
        numbered = verdicts(own, entries)
        page += [
            f"## {seconds:g} seconds",
            f"{sum(numbered.values())} of {len(numbered)} problems measured reach their goal by "
            f"the median of the seeds, {len({entry.number for entry in entries})} problems in all.",
            *([_by_rule(own)] if all(line["auto"] is not None for line in own) else []),
            *_estimates([run for run in runs if run["budget_seconds"] == seconds]),
            table(_HEADER, [_line(line) for line in own]),
        ]
    notes = [f"{line['title']}: {line['note']}" for line in _once(lines) if line["note"]]
    said: dict[str, list[str]] = {}
    for run in runs:
        for text in run.get("warnings", []):
            said.setdefault(text, []).append(run["name"])
    page += [
        *section("Notes", notes),
        *section("Where the published figures come from", [
            f"{line['title']}: {line['source']}" for line in _once(lines) if line["source"]
        ]),
        *section("Runs", [run_line(run) for run in runs]),
        *section("Warnings of the runs", [
            f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in said.items()
        ]),
    ]
    return "\n\n".join(page) + "\n"


def _by_rule(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on what is chosen by the product's own rules."""
    told = {what: _counted(numbers) for what, numbers in left_to_auto(lines).items()}
    return (
        f"The kind and size of the model are what `auto` chooses by its rule (docs/decisions/0037) "
        f"in {told['model']}, the stages of training (0036) in {told['stages']}, as for any user "
        "who states a problem; what the network sees, and where more points lie, is said where a "
        "symmetry, a singularity or a layer is known."
    )


def _counted(numbers: Sequence[int]) -> str:
    return f"{len(numbers)} problems ({', '.join(map(str, numbers))})" if numbers else "none"


def _estimates(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence on the estimates of the errors, or nothing where no run has one."""
    count = told_apart(runs)
    if not count["runs"]:
        return []
    return [
        f"The estimate is within a factor {FACTOR:g} of the true error in {count['within']} of "
        f"{count['runs']} runs; in {count['silent']} it is below a tenth of it without a warning."
    ]


def _estimate(line: Mapping[str, Any]) -> str:
    doubtful = line["estimate"] is not None and not line["trusted"]
    return number(line["estimate"], 2) + (" ?" if doubtful else "")


def _once(lines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return list({line["name"]: line for line in lines}.values())


def _line(line: Mapping[str, Any]) -> list[str]:
    stages = ", ".join(f"{stage['name']} {stage['steps']}" for stage in line["stages"])
    figures = (line[key] for key in ("worst", "goal", "published"))
    return [
        str(line["number"]), line["title"], ", ".join(line["auto"] or ()) or "-",
        line["network"] or "-",
        number(line["parameters"], 9), stages or "-", number(line["seconds"]),
        number(line["error"], 2), _estimate(line), *(number(figure, 2) for figure in figures),
        "yes" if line["reached"] else "no",
    ]  # fmt: skip


def run_line(run: Mapping[str, Any]) -> str:
    """Return what a run did, and its figures, as a line of a list."""
    what = f"{run['name']}, {run['budget_seconds']:g} s, seed {run['seed']}"
    if "failed" in run:
        return f"{what}: {run['failed']}"
    stages = "; ".join(
        f"{stage['name']} {stage['steps']} steps in {number(stage['seconds'])} s ({stage['reason']}"
        f", loss {number(stage['loss'], 2)}, on fresh points {number(stage['fresh_loss'], 2)})"
        for stage in run["stages"]
    )
    errors = ", ".join(f"{name} {number(error, 2)}" for name, error in run["errors"].items())
    known = run["reference_agreement"]
    reference = run["reference"] + (f", known to {number(known, 2)}" if known else "")
    setbacks = "".join(f"; {text}" for text in run["setbacks"])
    estimate = _estimated(run.get("estimate") or {})
    return (
        f"{what}: {errors} ({reference}){estimate}; {stages}; {number(run['seconds'])} s, "
        f"{number(run['cpu_seconds'])} s of processors{setbacks}"
        + "".join(f"; {text}" for text in state(run))
    )


def _estimated(estimate: Mapping[str, Any]) -> str:
    """Return what a run says of its errors, to follow them; nothing of a run from before that."""
    if not estimate:
        return ""
    if "failed" in estimate:
        return f"; no estimate: {estimate['failed']}"
    found = ", ".join(f"{name} {number(error, 2)}" for name, error in estimate["errors"].items())
    doubts = "".join(f"; not to be trusted: {text}" for text in estimate["doubts"])
    took = number(estimate["seconds"], 2)
    return f"; estimated {found or 'nothing'} in {took} s{doubts}"
