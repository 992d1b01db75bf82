"""Several runs compared: where their configs differ, and what came of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pinn.runs.overview import Overview, doubted_of, explained, recovery_of
from pinn.solution.report_text import marked
from pinn.text import aligned

# Where a run is written, and how often, is no part of what it is.
_NOT_COMPARED = "output"
_LONGEST = 40


def differences(
    configs: Sequence[Mapping[str, str]], but: str = _NOT_COMPARED
) -> dict[str, list[str]]:
    """Return the keys in which configs differ, with the value in each ("-": it has none).

    configs: values as texts, by dotted keys. but: a key that does not count, nor what is below it.
    """
    keys = dict.fromkeys(key for one in configs for key in one)
    return {
        key: [_shown(one.get(key, "-")) for one in configs] for key in keys
        if len({one.get(key) for one in configs}) > 1 and not f"{key}.".startswith(f"{but}.")
    }  # fmt: skip


def results(seen: Sequence[Overview]) -> dict[str, list[str]]:
    """Return what runs ended with: by name, a text for each run."""
    rows = {
        "state": [one.told_state for one in seen],
        "steps": [str(one.steps) for one in seen],
        "seconds": [f"{one.seconds:.1f}" for one in seen],
        "loss": [f"{one.loss:.3e}" for one in seen],
    }
    for title, path in (
        ("error", ("rel_l2",)),
        ("estimated error", ("error_estimate", "relative_l2")),
        ("parameter", ("parameters",)),
    ):
        told = [_under(one.summary, path) for one in seen]
        for name in dict.fromkeys(name for one in told for name in one):
            if title == "parameter":
                rows[name] = [_coefficient(one, name) for one in seen]
                continue
            rows[f"{title} of {name}"] = [
                format(one[name], ".2e") if one.get(name) is not None else "-" for one in told
            ]
    for number, one in enumerate(seen):
        for name, doubted in doubted_of(one.summary).items():
            row = rows[f"estimated error of {name}"]
            row[number] = marked(row[number], doubted)
    return rows


def comparison_text(runs: Sequence[Overview], configs: Sequence[Mapping[str, str]]) -> str:
    """Return both as tables with a column for each run; configs: as for `differences`."""
    heads = ["", *(str(run.directory) for run in runs)]
    different = differences(configs)
    rows = [heads, *([key, *values] for key, values in different.items())]
    parts = [aligned(rows) if different else "their configs are the same"]
    table = aligned([heads, *([name, *row] for name, row in results(runs).items())])
    parts.append("\n".join([table, *explained(runs)]))
    return "\n\n".join(parts)


def _coefficient(run: Overview, name: str) -> str:
    """Return the value that a run found, with its standard error where it has one."""
    value = _under(run.summary, ("parameters",)).get(name)
    if value is None:
        return "-"
    return recovery_of(run.summary).of(name, value, sure=not run.doubt_of_coefficients)


def _under(summary: Any, path: tuple[str, ...]) -> dict[str, Any]:
    for key in path:
        summary = summary.get(key) or {}
    return summary


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
