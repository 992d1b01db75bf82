"""What was tried and found, as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.fuzz.attempts import SECONDS
from experiments.fuzz.targets import TARGETS
from experiments.resumable import machine_line

_KINDS = {
    "expressions": "texts of the expression language, resolved in a problem",
    "yaml": "lines of configs, parsed",
    "overrides": "`--set` options, laid over a config",
    "configs": "configs with keys and values changed, loaded",
    "checks": "the same, checked by the command line",
    "tables": "tables in text, read as columns and rows",
    "arrays": "tables in npz files, the same",
    "summaries": "summary.json, shown by `runs show`",
    "metrics": "metrics.jsonl, read and compared",
    "solutions": "solution.npz, loaded and evaluated",
    "checkpoints": "checkpoint.npz, read to go on from",
}


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sums over all rows."""
    seconds = sum(row["seconds"] for row in rows)
    inputs = sum(row["inputs"] for row in rows)
    return {
        "inputs": inputs, "taken": sum(row["taken"] for row in rows), "seconds": seconds,
        "inputs_per_second": inputs / seconds if seconds else None,
        "seeds": sorted({row["seed"] for row in rows}),
        "findings": sum(len(row["findings"]) for row in rows),
    }  # fmt: skip


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the page in Markdown."""
    total = summary(rows)
    lines = [
        "# Bad input", "",
        "Made at random from what is good: each input is to be taken, or refused with the error "
        f"that is documented and a sentence, in {SECONDS} seconds of the processor and 1 GiB "
        "beside the program's own memory. Anything else is a finding; its input is kept in "
        "tests/fuzz_corpus, where the tests try it again.", "",
        "| kind | what it is | inputs | taken | a second | memory, MiB | findings |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for name in TARGETS:
        own = [row for row in rows if row["name"] == name]
        if not own:
            continue
        one = summary(own)
        memory = max(row["memory_mib"] for row in own)
        lines.append(
            f"| {name} | {_KINDS[name]} | {one['inputs']:,} | {one['taken'] / one['inputs']:.1%} "
            f"| {one['inputs_per_second']:.0f} | {memory:.0f} | {one['findings']} |"
        )
    seeds = ", ".join(map(str, total["seeds"]))
    lines += [
        "", f"Together {total['inputs']:,} inputs of seed {seeds} in {total['seconds']:.0f} "
        f"seconds of the processor; findings: {total['findings']}.", "",
    ]  # fmt: skip
    for row in rows:
        for one in row["findings"]:
            lines.append(f"- {row['name']}: `{one['what']}` ({one['file']})")
    commands = list(dict.fromkeys(row["measured"]["command"] for row in rows))
    lines += ["", *(f"`{command}`" for command in commands), ""]
    lines += list(dict.fromkeys(machine_line(row) for row in rows))
    return "\n".join(lines) + "\n"
