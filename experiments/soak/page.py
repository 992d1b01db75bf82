"""The page of the results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.bench.report import number, section, table
from experiments.resumable import machine_line

_MOST_ROWS = 12


def markdown(facts: Mapping[str, Any]) -> str:
    """Return the results as a page, beside soak.png."""
    memory, rows = facts["memory"], facts["steps"]
    processor = {row["minute"]: row["mean_ms"] for row in facts["processor"]}
    first, last = (processor[k] for k in (min(1, len(processor) - 1), len(processor) - 1))
    reads = sum(facts["reads"].values())
    kinds = ", ".join(f"{count} of .{kind}" for kind, count in sorted(facts["reads"].items()))
    invalid = len(facts["invalid"])
    flat = "flat" if memory["flat"] else "NOT flat"
    shown = rows[:: max(1, -(-len(rows) // _MOST_ROWS))]
    page = [
        "# A long run",
        f"`{facts['measured']['command']}`",
        machine_line(facts),
        "![memory and the time of steps](soak.png)",
        f"{facts['last_step']} steps of `experiments/soak/soak.yaml` in {facts['minutes']:g} "
        f"minutes: Adam with weights by gradients, {facts['draws']} draws of its points, a "
        f"checkpoint every second and the figures every {facts['figures_seconds']:g} seconds, in "
        "one process. Another opens every file of the run again and again, as fast as it can.",
        f"Memory is {flat} after the first minute: {number(memory['least'])} to "
        f"{number(memory['most'])} MiB, {100 * memory['growth']:+.1f} % from its first tenth to "
        f"its last, {memory['mib_per_hour']:+.1f} MiB an hour by a line through the samples (one a "
        "second).",
        f"The median time of a step changes by {100 * facts['drift']:+.1f} % from the first tenth "
        "of the minutes to the last. It includes all that is done between two lines of the "
        "metrics: drawing points, checkpoints, figures; and the turns of others, where they share "
        "the core.",
        f"The processor's time of a step, the mean of all that the process does, goes from "
        f"{number(first)} ms in minute 1 to {number(last)} ms in the "
        f"last: {100 * facts['processor_drift']:+.1f} % from the first tenth of the minutes to the "
        "last.",
        f"Files read: {reads} ({kinds}). Invalid ones: {invalid}.",
        table(
            ["minute", "samples", "median ms", "90 %", "99 %", "processor's ms"],
            [
                [str(row["minute"]), str(row["samples"]),
                 *(number(row[name]) for name in ("median_ms", "p90_ms", "p99_ms")),
                 number(processor.get(row["minute"]))]
                for row in shown
            ],
        ),
        *section("Invalid files", facts["invalid"][:20]),
    ]  # fmt: skip
    return "\n\n".join(page) + "\n"
