"""The history of the coefficients of an inverse problem as a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.figures.history import mark_stages
from pinn.figures.style import LINE_COLOURS, label, new_figure, step_axis, style_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# A taller picture is beyond what can be drawn, and read.
_MOST_PANELS = 60
# So few points are marked: what lies between them is not known.
_FEW = 30


def plot_coefficients(
    records: Sequence[Mapping[str, Any]],
    errors: Mapping[str, float] | None = None,
    units: Mapping[str, str] | None = None,
) -> Figure:
    """Draw each coefficient against the step, with the stages marked, a panel each, 60 at most.

    records: the lines of metrics.jsonl in order, with `step`, `stage` and, by name, `parameters`;
    values that are missing or not finite leave a gap, and 30 or fewer have a dot each. errors:
    coefficient -> standard error, drawn as a band of two of them about the last value. units:
    coefficient -> unit. Raises ValueError where no record has any.
    """
    rows = [record.get("parameters") or {} for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))[:_MOST_PANELS]
    if not names:
        raise ValueError("no coefficients to draw: the records have no parameters")
    steps = np.array([float(record["step"]) for record in records])
    figure = new_figure(9.2, 1.2 + 2.2 * len(names))
    panels = figure.subplots(nrows=len(names), ncols=1, sharex=True, squeeze=False)[:, 0]
    for index, (axes, name) in enumerate(zip(panels, names, strict=True)):
        values = np.array([_finite(row.get(name)) for row in rows])
        colour = LINE_COLOURS[index % len(LINE_COLOURS)]
        known = values[np.isfinite(values)]
        marker = "o" if known.size <= _FEW else None
        axes.plot(
            steps, values, color=colour, linewidth=1.8, marker=marker, markersize=4, clip_on=False
        )
        text = f"{known[-1]:.6g}" if known.size else "not known"
        error = _finite((errors or {}).get(name))
        if known.size and math.isfinite(error):
            text += f" ± {error:.2g}"
            band = (known[-1] - 2 * error, known[-1] + 2 * error)
            axes.axhspan(*band, color=colour, alpha=0.15, linewidth=0)
        axes.set_ylabel(label(name, units or {}), fontsize=12)
        style_axes(axes)
        axes.annotate(
            text, (1.0, 1.0), xycoords="axes fraction", xytext=(0, 5), ha="right",
            textcoords="offset points", fontsize=10, color="#555555",
        )  # fmt: skip
    if steps[-1] > steps[0]:
        panels[0].set_xlim(steps[0], steps[-1])
    step_axis(panels[-1])
    mark_stages(panels, steps, [record.get("stage") for record in records])
    return figure


def _finite(value: Any) -> float:
    """Return a number; nan for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return math.nan
    return float(value) if math.isfinite(value) else math.nan
