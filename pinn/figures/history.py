"""The history of training as a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.figures.style import (
    FAINT,
    INK,
    LINE_COLOURS,
    log_ticks,
    new_figure,
    short,
    shortened,
    step_axis,
    style_axes,
    symbol,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DASHES = ("-", "--", "-.", ":")
_OF_ROWS = ("least", "mean", "largest")


def plot_history(records: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw every named loss against the step, with the stages marked, error and weights below.

    records: the lines of metrics.jsonl in order: `step`, `stage`, `loss`, `losses` (of the blocks,
    by name), `fresh_loss` (on points that training never sees, dashed) and, where a reference
    exists, `rel_l2` (a number, or a dict by unknown); where a scheme chooses them, the `weights` of
    blocks, and the `row_weights` of their points (`least`, `mean` and `largest`, the mean in a band
    from one to the other). Values that are missing, null, zero or not finite
    leave a gap. `draw`, how often the points had been drawn anew, gives ticks at the bottom: the
    loss on other points may jump. Steps that training went back on are left out. Raises ValueError
    without a record.
    """
    if not records:
        raise ValueError("no metrics to draw: the run has not logged a step")
    records = kept(records)
    steps = np.array([float(record["step"]) for record in records])
    losses = _columns([record.get("losses") or {} for record in records])
    errors = _errors_by_name(records)
    weights = _columns([record.get("weights") or {} for record in records])
    if all(np.all(values[np.isfinite(values)] == 1) for values in weights.values()):
        weights = {}  # a scheme that weighs points alone
    row_weights = _columns_of_rows([record.get("row_weights") or {} for record in records])

    below = bool(errors) + bool(weights) + bool(row_weights)
    figure = new_figure(9.2, 4.8 + 1.4 * below)
    ratios = (2.4, *[1] * below)
    panels = figure.subplots(
        nrows=1 + below, ncols=1, sharex=True, squeeze=False, height_ratios=ratios
    )[:, 0]  # fmt: skip
    top = panels[0]
    for index, (name, values) in enumerate(losses.items()):
        _draw_history(
            top, steps, values, shortened(name), linewidth=1.3, **_look_of([], name, index)
        )
    total = _column(records, "loss")
    if not any(np.array_equal(total, values) for values in losses.values()):
        _draw_history(top, steps, total, "total", color=INK, linewidth=2.2, zorder=3)
    fresh = _column(records, "fresh_loss")
    if np.isfinite(fresh).any():
        look = {"color": INK, "linewidth": 1.2, "linestyle": (0, (4, 2)), "zorder": 3}
        _draw_history(top, steps, fresh, "on fresh points", **look)
    top.set_ylabel("loss", fontsize=12)
    _mark_draws(top, steps, [record.get("draw") for record in records])
    handles, labels = top.get_legend_handles_labels()
    first = ("total  ", "on fresh points  ")
    places = sorted(range(len(labels)), key=lambda i: not labels[i].startswith(first))
    handles, labels = [handles[i] for i in places], [labels[i] for i in places]
    top.legend(
        handles, labels,
        title="last value", title_fontsize=10, alignment="left",
        loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False,
        fontsize=10,
    )  # fmt: skip
    if errors:
        bottom = panels[1]
        for index, (name, values) in enumerate(errors.items()):
            colour = LINE_COLOURS[index % len(LINE_COLOURS)]
            label = symbol(name) if name else ""
            _draw_history(bottom, steps, values, label, color=colour, linewidth=1.8)
        bottom.set_ylabel("relative L2 error", fontsize=11)
        bottom.legend(
            loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False,
            fontsize=10,
        )  # fmt: skip
    names = list(losses)
    if weights:
        axes = panels[1 + bool(errors)]
        axes.set_ylabel("weight", fontsize=11)
        for index, (name, values) in enumerate(weights.items()):
            axes.plot(steps, values, linewidth=1.3, **_look_of(names, name, index))
    if row_weights:
        axes = panels[-1]
        axes.set_ylabel("weight of points", fontsize=11)
        for index, (name, (least, mean, largest)) in enumerate(row_weights.items()):
            look = _look_of(names, name, index)
            axes.plot(steps, mean, linewidth=1.3, **look)
            axes.fill_between(
                steps, least, largest, color=look["color"], alpha=0.15, linewidth=0
            )
    for axes in panels:
        style_axes(axes)
        axes.set_yscale("log")
        log_ticks(axes.yaxis)
        if steps[-1] > steps[0]:
            axes.set_xlim(steps[0], steps[-1])
    step_axis(panels[-1])
    mark_stages(panels, steps, [record.get("stage") for record in records])
    return figure


def _column(records: Sequence[Mapping[str, Any]], key: str) -> np.ndarray:
    return np.array([_positive(record.get(key)) for record in records])


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Return one column a name, for all names that any of the rows has."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _column(rows, name) for name in names}


def _columns_of_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[np.ndarray]]:
    """Return the least, the mean and the largest weight of the points of each block."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {
        name: [_column([row.get(name) or {} for row in rows], key) for key in _OF_ROWS]
        for name in names
    }


def _look_of(losses: Sequence[str], name: str, index: int) -> dict[str, Any]:
    """Return the colour and dashes of a block, those that its loss has."""
    place = losses.index(name) if name in losses else index
    count = len(LINE_COLOURS)
    dash = _DASHES[place // count % len(_DASHES)]
    return {"color": LINE_COLOURS[place % count], "linestyle": dash}


def _errors_by_name(records: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    given = [record.get("rel_l2") for record in records]
    columns = _columns([row if isinstance(row, Mapping) else {"": row} for row in given])
    return {name: values for name, values in columns.items() if np.isfinite(values).any()}


def kept(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the records without those that a later one of their step, or an earlier, undid."""
    found: list[Mapping[str, Any]] = []
    for record in reversed(records):
        if not found or record["step"] < found[-1]["step"]:
            found.append(record)
    return found[::-1]


def _draw_history(
    axes: Axes, steps: np.ndarray, values: np.ndarray, name: str, **look: Any
) -> None:
    known = values[np.isfinite(values)]
    last = short(known[-1]) if known.size else "none above zero"
    marker = "o" if known.size == 1 else None  # one value makes no line
    label = f"{name}  {last}" if name else last
    axes.plot(steps, values, label=label, marker=marker, markersize=4, **look)


def _mark_draws(axes: Axes, steps: np.ndarray, draws: Sequence[Any]) -> None:
    """Mark at the bottom after which of the logged steps the points were drawn anew."""
    known = [(step, draw) for step, draw in zip(steps, draws, strict=True) if draw is not None]
    after = [one[0] for one, two in zip(known, known[1:], strict=False) if two[1] != one[1]]
    if after:
        axes.plot(
            after, np.full(len(after), 0.025), transform=axes.get_xaxis_transform(), color=INK,
            marker="|", markersize=8, markeredgewidth=0.9, linestyle="none",
            label="points drawn anew",
        )  # fmt: skip


def mark_stages(panels: Sequence[Axes], steps: np.ndarray, stages: Sequence[Any]) -> None:
    """Mark where each training stage begins, and write its name at the top."""
    starts = [i for i, stage in enumerate(stages) if i == 0 or stage != stages[i - 1]]
    if stages[0] is None and len(starts) == 1:
        return
    free_from, level = -math.inf, 0
    for i in starts:
        begin = steps[max(i - 1, 0)]  # a stage began after the last step of the one before it
        if i > 0:
            for axes in panels:
                axes.axvline(begin, color=FAINT, linewidth=1.0, linestyle=(0, (2, 2)))
        # The names of short stages would run into each other: the next one goes a line higher.
        if stages[i] is not None:
            level = level + 1 if begin < free_from else 0
            name = shortened(str(stages[i]))
            free_from = begin + 0.014 * (len(name) + 1) * (steps[-1] - steps[0])
            panels[0].annotate(
                name, (begin, 1.0), xycoords=("data", "axes fraction"),
                xytext=(3, 4 + 12 * (level % 3)), textcoords="offset points",
                fontsize=10, color="#555555",
            )  # fmt: skip


def _positive(value: Any) -> float:
    """Return a number fit for a logarithmic axis; nan for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return math.nan
    return float(value) if math.isfinite(value) and value > 0 else math.nan
