"""The losses and errors of several runs on one figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.figures.history import kept
from pinn.figures.style import LINE_COLOURS, log_ticks, new_figure, plain, style_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DASHES = ("-", "--", "-.", ":")
_ROWS = (("loss", "loss"), ("fresh_loss", "loss on fresh points"), ("rel_l2", "relative L2 error"))


def plot_comparison(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """Draw loss, loss on fresh points and largest error of runs over steps and over seconds.

    runs: the lines of metrics.jsonl of each, by the name that the legend has. What no run has is
    left out. Raises ValueError where no run has logged a step.
    """
    runs = {name: kept(lines) for name, lines in runs.items() if lines}
    if not runs:
        raise ValueError("no metrics to draw: none of the runs has logged a step")
    columns = {name: {key: _column(lines, key) for key, _ in _ROWS} for name, lines in runs.items()}
    rows = [
        (key, title) for key, title in _ROWS
        if any(np.isfinite(own[key]).any() for own in columns.values())
    ]  # fmt: skip
    figure = new_figure(10.5, 1.2 + 2.4 * len(rows))
    panels = figure.subplots(len(rows), 2, sharex="col", sharey="row", squeeze=False)
    for number, (name, lines) in enumerate(runs.items()):
        look = {
            "color": LINE_COLOURS[number % len(LINE_COLOURS)],
            "linestyle": _DASHES[number // len(LINE_COLOURS) % len(_DASHES)], "linewidth": 1.5,
            "marker": "o" if len(lines) == 1 else None, "markersize": 4,
        }  # fmt: skip
        for place, (key, _) in enumerate(rows):
            for axes, along in zip(panels[place], ("step", "wall_s"), strict=True):
                axes.plot(_column(lines, along), columns[name][key], label=plain(name), **look)
    for place, (_, title) in enumerate(rows):
        panels[place][0].set_ylabel(title, fontsize=11)
        for axes in panels[place]:
            style_axes(axes)
            axes.set_yscale("log")
            log_ticks(axes.yaxis)
    for axes, title in zip(panels[-1], ("step", "seconds"), strict=True):
        axes.set_xlabel(title, fontsize=12)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=min(3, len(labels)), frameon=False,
        fontsize=10,
    )  # fmt: skip
    return figure


def _column(lines: Sequence[Mapping[str, Any]], key: str) -> np.ndarray:
    return np.array([_positive(line.get(key)) for line in lines])


def _positive(value: Any) -> float:
    """Return a number above zero, of several by name the largest; nan for anything else."""
    if isinstance(value, Mapping):
        return max((_positive(one) for one in value.values()), default=math.nan)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) and value > 0 else math.nan
