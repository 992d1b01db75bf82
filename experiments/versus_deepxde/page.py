"""The page of the results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.bench.report import number, table
from experiments.resumable import machine_line
from experiments.versus_deepxde.pair import BY_NAME
from experiments.versus_deepxde.verdict import ERROR, TIME, verdict

_HEADER = [
    "problem", "DeepXDE's error", "its seconds", "our seconds to it", "part of its time",
    "our error at its time", "part of its error", "our last error", "our seconds",
]  # fmt: skip

Row = Mapping[str, Any]


def markdown(rows: Sequence[Row]) -> str:
    """Return the results as a page, beside versus_deepxde.png."""
    judged = [one for one in map(verdict, rows) if one is not None]
    sooner, closer = sum(one.is_sooner for one in judged), sum(one.is_closer for one in judged)
    versions = sorted({
        ", ".join(f"{name} {version}" for name, version in row["deepxde"]["versions"].items())
        for row in rows if "versions" in row["deepxde"]
    })  # fmt: skip
    page = [
        "# DeepXDE and us",
        "\n".join(sorted({f"`{row['measured']['command']}`" for row in rows})),
        "\n".join(sorted({machine_line(row) for row in rows} | set(versions))),
        "![errors over time](versus_deepxde.png)",
        "Each problem is solved by DeepXDE with the setting of its own example (network, points, "
        "optimiser, steps), in single precision with PyTorch, and by a config of `configs` or "
        "`experiments/peers/problems`, one right after the other on the same cores, with as many "
        "threads. The error is the relative L2 error of the worst unknown, or the relative error "
        "of the worst coefficient, against one reference at the same points; neither training "
        "sees it. Time is wall time from the statement of the problem to the end of training: "
        "imports and looks at the error are left out, drawing points, and recording and compiling "
        "our programs, are in. `*`: the limit of time ended DeepXDE's training before its own "
        "end (an open circle in the picture). `-`: not reached.",
        f"In {_of(sooner, judged)} we are at DeepXDE's final error within {TIME:g} of its time; in "
        f"{_of(closer, judged)} our error at the end of its time is at most {ERROR:g} of its own.",
        table(_HEADER, [_line(row) for row in rows]),
        "## What was run",
        "\n".join(f"- {_told(row)}" for row in rows),
    ]
    said = [f"- {BY_NAME[row['name']].title}: {BY_NAME[row['name']].note}"
            for row in rows if BY_NAME[row["name"]].note]  # fmt: skip
    return "\n\n".join([*page, *(["## Notes", "\n".join(said)] if said else [])]) + "\n"


def _of(count: int, judged: Sequence[object]) -> str:
    return f"{count} of {len(judged)} problems"


def _line(row: Row) -> list[str]:
    title, found = BY_NAME[row["name"]].title, verdict(row)
    if found is None:
        return [title, *["-"] * (len(_HEADER) - 1)]
    cut = "" if row["deepxde"]["whole"] else "*"
    own = row["ours"]
    return [
        title, _figure(found.error), _figure(found.seconds, 3) + cut,
        _figure(found.our_seconds), _figure(found.part_of_time),
        _figure(found.our_error), _figure(found.part_of_error),
        _figure(own["error"]), _figure(own["seconds"], 3),
    ]  # fmt: skip


def _figure(value: float | None, digits: int = 2) -> str:
    return "-" if value is None or math.isinf(value) else number(value, digits)


def _told(row: Row) -> str:
    theirs, ours = row["deepxde"], row["ours"]
    return f"{BY_NAME[row['name']].title}. DeepXDE: {_theirs(theirs)}. Ours: {_ours(ours)}."


def _theirs(facts: Mapping[str, Any]) -> str:
    if "failed" in facts:
        return facts["failed"]
    stages = "; ".join(
        stage["stage"] + (f" ({stage['steps']} taken)" if _is_told(stage) else "")
        for stage in facts["stages"]
    )
    return f"{facts['parameters']} parameters; {stages}; {_seconds(facts)}"


def _is_told(stage: Mapping[str, Any]) -> bool:
    return not stage["whole"] or stage["stage"].startswith("L-BFGS")


def _ours(facts: Mapping[str, Any]) -> str:
    if "failed" in facts:
        return facts["failed"]
    stages = "; ".join(f"{stage['name']} {stage['steps']} steps" for stage in facts["stages"])
    known = facts["reference_agreement"]
    reference = facts["reference"] + (f", known to {number(known, 2)}" if known else "")
    return (
        f"{facts['network']}, {facts['parameters']} parameters; {stages} "
        f"({facts['stop_reason']}); {_seconds(facts)}; reference: {reference}"
    )


def _seconds(facts: Mapping[str, Any]) -> str:
    return f"{number(facts['seconds'])} s, {number(facts['cpu_seconds'])} s of processors"
