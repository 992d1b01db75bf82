"""Slices of a field in two coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure
from pinn.figures.field_data import FieldData
from pinn.figures.lines import _draw_line_error, _draw_lines, _error_limits
from pinn.figures.style import new_figure, padded, style, symbol


def plot_slices(data: FieldData, at: Sequence[float] | None = None) -> Figure:
    """Draw the field along one coordinate at three values of the other, with the error below.

    at: where to cut the time (or, without a time, the second coordinate); None takes a quarter,
    a half and three quarters of its range. The nearest grid points are drawn and named in the
    titles.
    """
    if len(data.coordinates) == 1:
        raise ValueError(f"field {data.unknown!r} has one coordinate: it has no slices to draw")
    from matplotlib.ticker import MaxNLocator

    along, across = axes_of_slices(data)
    grid, cuts = data.coordinates[along], data.coordinates[across]
    if at is None:
        at = cuts[0] + (cuts[-1] - cuts[0]) * np.array([0.25, 0.5, 0.75])
    places = [int(np.abs(cuts - value).argmin()) for value in at]
    if not places:
        raise ValueError(f"field {data.unknown!r}: give one place to cut {across!r} or more")
    axis = list(data.coordinates).index(across)
    with_error = data.reference is not None

    columns = len(places)
    figure = new_figure(1.2 + 3.1 * columns, 4.9 if with_error else 3.4)
    rows = {"nrows": 2, "height_ratios": (2.4, 1)} if with_error else {"nrows": 1}
    panels = figure.subplots(ncols=columns, sharex=True, sharey="row", squeeze=False, **rows)
    low, high = padded(data.values, data.reference)
    for column, place in enumerate(places):
        top, bottom = panels[0, column], panels[-1, column]
        top.set_title(f"{symbol(across)} = {cuts[place]:.4g}", fontsize=12)
        style(top)
        top.set_xlim(grid[0], grid[-1])
        top.set_ylim(low, high)
        lines = (cut(array, place, axis) for array in (data.values, data.reference))
        handles = _draw_lines(top, grid, *lines)
        if with_error:
            _draw_line_error(bottom, grid, cut(data.error, place, axis))
        bottom.set_xlabel(symbol(along), fontsize=12)
        bottom.xaxis.set_major_locator(MaxNLocator(4))
    panels[0, 0].set_ylabel(symbol(data.unknown), fontsize=12)
    if with_error:
        _error_limits(panels[1], np.stack([cut(data.error, p, axis) for p in places]))
        panels[1, 0].set_ylabel("absolute error", fontsize=11)
        figure.legend(
            handles=handles, loc="outside upper center", ncols=2, frameon=False, fontsize=11
        )
    return figure


def axes_of_slices(data: FieldData) -> tuple[str, str]:
    """Return (along, across): cuts are at values of the time, else of the second coordinate."""
    first, second = data.coordinates
    return (second, first) if data.time == first else (first, second)


def cut(values: np.ndarray | None, place: int, axis: int) -> np.ndarray | None:
    return None if values is None else np.take(values, place, axis=axis)
