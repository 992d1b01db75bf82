"""Figures of fields in one coordinate: lines, with the error below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.figures.field_data import FieldData
from pinn.figures.scales import scale_of
from pinn.figures.style import (
    BLUE,
    FAINT,
    INK,
    LINE_COLOURS,
    RED,
    draw_band,
    draw_measured,
    held,
    log_ticks,
    new_figure,
    style_axes,
    subtitle,
    symbol,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# So many entries of a legend stand in the line of a title.
_BESIDE_TITLE = 2


def plot_line(
    data: FieldData,
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
    absolute: bool = True,
) -> Figure:
    """Draw a field in one coordinate, the reference dashed over it and the error below.

    vmin, vmax: the ends of the vertical axis. log: whether it is logarithmic. absolute: whether the
    error is drawn without its sign, on a logarithmic axis.
    """
    ((name, grid),) = data.coordinates.items()
    figure, panels = line_panels(data.reference is not None)
    top = panels[0]
    handles = draw_line_of(top, data)
    set_range(top, *data.drawn_values, vmin=vmin, vmax=vmax, log=log)
    top.set_ylabel(data.label(), fontsize=12)
    # of many entries the legend takes a line of its own
    title = data.title() + "\n" * (len(handles) > _BESIDE_TITLE)
    top.set_title(title, fontsize=12, loc="left")
    if len(handles) > 1:
        _legend_above(top, handles)
    if data.reference is not None:
        _draw_error_panel(panels[1], data, absolute)
    _finish(panels, data, name)
    return figure


def plot_line_error(data: FieldData, *, absolute: bool = True, name: str = "error") -> Figure:
    """Draw the error of a field in one coordinate alone; name: what the title calls it."""
    (coordinate,) = data.coordinates
    figure, (axes,) = line_panels(False)
    _draw_error_panel(axes, data, absolute)
    axes.set_title(f"{data.title()},  {name}\n", fontsize=12, loc="left")
    _finish([axes], data, coordinate)
    return figure


def _draw_error_panel(axes: Axes, data: FieldData, absolute: bool) -> None:
    (grid,) = data.coordinates.values()
    draw_error(axes, grid, data.error, absolute=absolute)
    error_limits([axes], data.error, absolute)
    axes.set_ylabel(data.error_label(absolute), fontsize=11)
    subtitle(axes, data.summary())


def plot_overlay(
    fields: Sequence[FieldData],
    labels: Sequence[str] | None = None,
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
    absolute: bool = True,
) -> Figure:
    """Draw several fields in the same coordinate in one panel, with their errors below.

    labels: of the lines; None takes the names of the unknowns. References are dashed. What all of
    them are held at is in the title. absolute: as in `plot_line`. Raises ValueError for no field,
    or fields in other coordinates than the first.
    """
    if not fields:
        raise ValueError("expected a field or more to draw over each other, got none")
    for data in fields:
        if len(data.coordinates) != 1 or list(data.coordinates) != list(fields[0].coordinates):
            raise ValueError(
                "lines are drawn over each other where all fields have one and the same "
                f"coordinate, got {', '.join(f.title() for f in fields)}; hold the others fixed"
            )
    (name,) = fields[0].coordinates
    labels = [symbol(data.unknown) for data in fields] if labels is None else list(labels)
    errors = [data.error for data in fields if data.error is not None]
    figure, panels = line_panels(bool(errors))
    top = panels[0]
    handles, beside = [], {}
    for index, (data, label) in enumerate(zip(fields, labels, strict=True)):
        grid = data.coordinates[name]
        colour = LINE_COLOURS[index % len(LINE_COLOURS)]
        line, *others = draw_line_of(top, data, colour, label)
        handles.append(line)
        beside |= {one.get_label(): one for one in others}
        if data.error is not None:
            draw_error(panels[1], grid, data.error, colour, absolute)
    beside.pop("reference", None)
    handles += beside.values()
    if errors:
        handles.append(_dashed("reference"))
        error_limits(panels[1:], np.concatenate(errors), absolute)
        panels[1].set_ylabel("absolute error" if absolute else "error", fontsize=11)
    shown = [array for data in fields for array in data.drawn_values]
    set_range(top, *shown, vmin=vmin, vmax=vmax, log=log)
    unknowns = dict.fromkeys(data.label() for data in fields)
    top.set_ylabel(", ".join(unknowns), fontsize=12)
    first, *others = [data.fixed.items() for data in fields]
    shared = {n: v for n, v in first if all((n, v) in one for one in others)}
    alike = [one for one in fields[0].said if all(one in data.said for data in fields)]
    said = [*held(shared, fields[0].units), *alike]
    top.set_title(", ".join(said), fontsize=12, loc="left")
    top.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0,
        frameon=False, fontsize=11,
    )  # fmt: skip
    _finish(panels, fields[0], name)
    return figure


def line_panels(with_error: bool, columns: int = 0) -> tuple[Figure, Any]:
    """Return a figure and its panels, the errors' below; a row of so many columns, or one panel."""
    wide = 1.2 + 3.1 * columns if columns else 6.8
    high = (4.9 if columns else 5.2) if with_error else (3.4 if columns else 3.8)
    figure = new_figure(wide, high)
    rows = {"nrows": 2, "height_ratios": (2.4, 1)} if with_error else {"nrows": 1}
    shared = {"sharex": True, "sharey": "row" if columns else False, "squeeze": False}
    panels = figure.subplots(ncols=columns or 1, **shared, **rows)
    for axes in panels.flat:
        style_axes(axes)
    return figure, panels if columns else panels[:, 0]


def set_range(axes: Axes, *arrays: np.ndarray | None, **ends: Any) -> None:
    """Give the vertical axis the range of arrays, or the ends that are asked for."""
    margin = ends["vmin"] is None and ends["vmax"] is None
    scale_of(*arrays, **ends).set_axis(axes, margin=margin)


def draw_line_of(
    axes: Axes, data: FieldData, colour: str | None = None, label: str = "network"
) -> list[Any]:
    """Draw a field in one coordinate, its reference, what noise leaves open and what was measured.

    Returns what a legend needs of them, the line first.
    """
    (grid,) = data.coordinates.values()
    handles = draw_lines(axes, grid, data.values, data.reference, colour, label)
    if data.band is not None:
        handles.append(draw_band(axes, grid, data.values, data.band, colour or BLUE))
    if data.measured is not None:
        places, values = data.measured.T
        rings = draw_measured(axes, places, values, data.data_label(), colour or "black")
        handles.append(rings)
    return handles


def draw_lines(
    axes: Axes,
    grid: np.ndarray,
    values: np.ndarray,
    reference: np.ndarray | None,
    colour: str | None = None,
    label: str = "network",
) -> list[Any]:
    """Draw a field and its reference, dashed; return what a legend needs of them."""
    handles = axes.plot(grid, values, color=colour or BLUE, linewidth=2.4, label=label)
    if reference is not None:
        handles += axes.plot(
            grid, reference, color=INK if colour else RED, linewidth=1.2 if colour else 1.6,
            linestyle=(0, (4, 3)), label="reference",
        )  # fmt: skip
    return handles


def draw_error(
    axes: Axes, grid: np.ndarray, error: np.ndarray, colour: str = INK, absolute: bool = True
) -> Any:
    """Draw an error, or its size on a logarithmic axis; return the line."""
    (line,) = axes.plot(grid, error_drawn(error, absolute), color=colour, linewidth=1.3)
    if absolute:
        axes.set_yscale("log")
        log_ticks(axes.yaxis)
    return line


def error_drawn(error: np.ndarray, absolute: bool) -> np.ndarray:
    """Return the values that a line of an error has."""
    size = np.abs(error)
    return np.where(size > 0, size, np.nan) if absolute else error


def error_limits(panels: Sequence[Axes], error: np.ndarray, absolute: bool = True) -> None:
    """Give error panels one scale, which sign changes of the error do not stretch."""
    error = np.abs(error)
    if not absolute:
        finite = error[np.isfinite(error)]
        end = 1.1 * float(finite.max(initial=0.0)) or 1e-16
        for axes in panels:
            axes.set_ylim(-end, end)
            axes.axhline(0.0, color=FAINT, linewidth=0.8, zorder=1)
        return
    positive = error[np.isfinite(error) & (error > 0)]
    top = float(positive.max()) if positive.size else 1e-16
    low = max(float(np.quantile(positive, 0.02)), 1e-5 * top) if positive.size else 0.1 * top
    for axes in panels:
        axes.set_ylim(10.0 ** math.floor(math.log10(low)), 2 * top)


def _legend_above(axes: Axes, handles: list[Any]) -> None:
    axes.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2,
        ncols=len(handles), frameon=False, fontsize=11,
    )  # fmt: skip


def _dashed(label: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=INK, linewidth=1.2, linestyle=(0, (4, 3)), label=label)


def _finish(panels: Any, data: FieldData, name: str) -> None:
    grid = data.coordinates[name]
    panels[0].set_xlim(grid[0], grid[-1])
    panels[-1].set_xlabel(data.label(name), fontsize=12)
