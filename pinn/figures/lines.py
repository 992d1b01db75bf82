"""Figures of a field in one coordinate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
from pinn.figures.field_data import FieldData
from pinn.figures.style import BLUE, INK, RED, log_ticks, new_figure, padded, style, symbol


def plot_line(data: FieldData) -> Figure:
    ((name, grid),) = data.coordinates.items()
    with_error = data.reference is not None
    figure = new_figure(6.8, 5.2 if with_error else 3.8)
    rows = {"nrows": 2, "height_ratios": (2.4, 1)} if with_error else {"nrows": 1}
    panels = figure.subplots(ncols=1, sharex=True, squeeze=False, **rows)[:, 0]
    top = panels[0]
    style(top)
    handles = _draw_lines(top, grid, data.values, data.reference)
    top.set_xlim(grid[0], grid[-1])
    top.set_ylim(*padded(data.values, data.reference))
    top.set_ylabel(symbol(data.unknown), fontsize=12)
    top.set_title(data._name(), fontsize=12, loc="left")
    if with_error:
        top.legend(
            handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2,
            ncols=2, frameon=False, fontsize=11,
        )  # fmt: skip
        _draw_line_error(panels[1], grid, data.error)
        _error_limits(panels[1:], data.error)
        panels[1].set_ylabel("absolute error", fontsize=11)
        subtitle(panels[1], data)
    panels[-1].set_xlabel(symbol(name), fontsize=12)
    return figure


def _draw_lines(axes: Axes, grid: np.ndarray, values: np.ndarray, reference: Any) -> list[Any]:
    handles = axes.plot(grid, values, color=BLUE, linewidth=2.4, label="network")
    if reference is not None:
        handles += axes.plot(
            grid, reference, color=RED, linewidth=1.6, linestyle=(0, (4, 3)), label="reference"
        )
    return handles


def _draw_line_error(axes: Axes, grid: np.ndarray, error: np.ndarray) -> None:
    style(axes)
    axes.plot(grid, np.where(error > 0, error, np.nan), color=INK, linewidth=1.3)
    axes.set_yscale("log")
    log_ticks(axes.yaxis)


def _error_limits(panels: Sequence[Axes], error: np.ndarray) -> None:
    """Give error panels one scale, which sign changes of the error do not stretch."""
    positive = error[np.isfinite(error) & (error > 0)]
    top = float(positive.max()) if positive.size else 1e-16
    low = max(float(np.quantile(positive, 0.02)), 1e-5 * top) if positive.size else 0.1 * top
    for axes in panels:
        axes.set_ylim(10.0 ** math.floor(math.log10(low)), 2 * top)


def subtitle(axes: Axes, data: FieldData) -> None:
    axes.annotate(
        data._summary(), (0.0, 1.0), xycoords="axes fraction", xytext=(0, 5),
        textcoords="offset points", fontsize=10, color="#555555",
    )  # fmt: skip
