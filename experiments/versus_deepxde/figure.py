"""The results as a picture: a panel a problem, errors over wall time of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.versus_deepxde.pair import BY_NAME

_COLUMNS = 4
_LOOKS = {"deepxde": ("DeepXDE", "#d9763b"), "ours": ("ours", "#1b6ca8")}


def figure(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return a matplotlib figure of the rows; a side that failed has no curve.

    A training that was cut short ends with an open circle.
    """
    from matplotlib.figure import Figure

    columns = min(_COLUMNS, len(rows))
    lines = -(-len(rows) // columns)
    drawn = Figure(figsize=(3.3 * columns, 2.7 * lines + 0.4), layout="constrained")
    panels = drawn.subplots(lines, columns, squeeze=False).reshape(-1)
    for axes in panels[len(rows) :]:
        axes.remove()
    for number, (axes, row) in enumerate(zip(panels, rows, strict=False)):
        for side, (label, colour) in _LOOKS.items():
            _draw(axes, row[side], label, colour)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(BY_NAME[row["name"]].title, fontsize=10)
        axes.grid(alpha=0.25)
        if number % columns == 0:
            axes.set_ylabel("relative error")
        if number + columns >= len(rows):
            axes.set_xlabel("seconds of wall time")
    entries = {label: line for axes in panels[: len(rows)] for line, label in _entries(axes)}
    drawn.legend(
        entries.values(), entries.keys(), loc="outside upper center", ncols=2, frameon=False
    )
    return drawn


def _draw(axes: Any, facts: Mapping[str, Any], label: str, colour: str) -> None:
    curve = [(t, error) for t, error in facts.get("curve", []) if error]
    if curve:
        axes.plot(*zip(*curve, strict=True), color=colour, label=label, linewidth=1.4)
        inside = colour if facts.get("whole", True) else "white"
        axes.plot(*curve[-1], "o", color=colour, markerfacecolor=inside, markersize=5)


def _entries(axes: Any) -> list[tuple[Any, str]]:
    return list(zip(*axes.get_legend_handles_labels(), strict=True))
