"""What was logged while training ran, as the curves that the page draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pinn.figures.history import kept
from pinn.figures.style import INK, LINE_COLOURS

# Lines of metrics that are drawn; of more some are left out, the first and last of stages never.
_MOST = 1200
_DASHES = ("solid", "dash", "dashdot", "dot")
_DIGITS = 6


def curves_data(
    records: Sequence[Mapping[str, Any]], standard_errors: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return the curves of a run as plain data.

    records: the lines of metrics.jsonl. standard_errors: of coefficients, by name. "steps" and
    "seconds" are what they are drawn over; "panels" have a title, whether they are logarithmic, and
    "series" with name, values (null where there is none), colour and dash; "stages" tell at which
    of the lines a stage begins, and "draws" at which the points had been drawn anew.
    """
    records = _thinned(kept(records)) if records else []
    fresh = _series("loss on fresh points", [row.get("fresh_loss") for row in records], INK, "dot")
    losses = _named([row.get("losses") for row in records])
    total = _series("total", [row.get("loss") for row in records], INK, width=2.5)
    if len(losses) == 1 and losses[0]["values"] == total["values"]:
        losses = []
    errors = [row.get("rel_l2") for row in records]
    errors = [one if isinstance(one, Mapping) else {"error": one} for one in errors]
    panels = [
        _panel("loss", [total, *losses, fresh]),
        _panel("relative L2 error", _named(errors)),
        *_coefficients([row.get("parameters") for row in records], standard_errors or {}),
        _panel("weight of a loss", _named([row.get("weights") for row in records])),
    ]
    stages = [row.get("stage") for row in records]
    begins = [i for i, name in enumerate(stages) if i == 0 or name != stages[i - 1]]
    draws = [row.get("draw") for row in records]
    return {
        "steps": [row["step"] for row in records],
        "seconds": [_number(row.get("wall_s")) for row in records],
        "panels": [panel for panel in panels if panel["series"]],
        # A stage begins after the last step of the one before it.
        "stages": [[max(i - 1, 0), str(stages[i])] for i in begins if stages[i] is not None],
        "draws": [
            i for i in range(1, len(draws))
            if None not in (draws[i], draws[i - 1]) and draws[i] != draws[i - 1]
        ],
    }  # fmt: skip


def _thinned(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    every = math.ceil(len(records) / _MOST)
    last = len(records) - 1
    return [
        row for i, row in enumerate(records)
        if i % every == 0 or i == last
        or row.get("stage") != records[i + 1].get("stage")
        or row.get("stage") != records[i - 1].get("stage")
    ]  # fmt: skip


def _panel(title: str, series: Sequence[dict[str, Any]], log: bool = True) -> dict[str, Any]:
    """Return a panel; on a logarithmic axis only what is above zero is shown."""
    if log:
        series = [
            one | {"values": [v if v is not None and v > 0 else None for v in one["values"]]}
            for one in series
        ]
    known = [one for one in series if any(value is not None for value in one["values"])]
    return {"title": title, "log": log, "series": known, "band": None}


def _coefficients(
    rows: Sequence[Any], standard_errors: Mapping[str, float]
) -> list[dict[str, Any]]:
    panels = []
    for one in _named(rows):
        panel = _panel(one["name"], [one], log=False)
        error = _number(standard_errors.get(one["name"]))
        known = [value for value in one["values"] if value is not None]
        if known and error is not None:
            panel["band"] = [known[-1] - 2 * error, known[-1] + 2 * error]
        panels.append(panel)
    return panels


def _named(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return a series for each name that some of the rows, mappings or None, have."""
    rows = [row if isinstance(row, Mapping) else {} for row in rows]
    names = dict.fromkeys(name for row in rows for name in row)
    return [
        _series(
            name, [row.get(name) for row in rows], LINE_COLOURS[i % len(LINE_COLOURS)],
            _DASHES[i // len(LINE_COLOURS) % len(_DASHES)],
        )
        for i, name in enumerate(names)
    ]  # fmt: skip


def _series(
    name: str, values: Sequence[Any], colour: str, dash: str = "solid", width: float = 1.6
) -> dict[str, Any]:
    numbers = [_number(value) for value in values]
    return {"name": name, "values": numbers, "colour": colour, "dash": dash, "width": width}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Whole numbers may be too large for a float; comparing them is no trouble.
    return float(f"{value:.{_DIGITS}g}") if abs(value) < 1e308 else None
