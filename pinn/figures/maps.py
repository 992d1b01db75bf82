"""Figures of a field in two coordinates: colour maps of field, reference and error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.figures.field_data import FieldData
from pinn.figures.lines import plot_line
from pinn.figures.rim import filled_across
from pinn.figures.scales import Scale, scale_of
from pinn.figures.style import FAINT, held, new_figure, sparse_ticks, subtitle, symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MISSING = "#b5b5b5"
# Two coordinates of space are drawn to scale where height over width lies in between.
_FLATTEST, _STEEPEST = 0.12, 5.0


def plot_field(
    data: FieldData,
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
) -> Figure:
    """Draw the trained field: a colour map, or lines for one coordinate.

    A problem in one coordinate is drawn whole: the line, the reference dashed over it, and the
    error below. vmin, vmax: the ends of the colours; None takes those of the values, without the
    spikes that singular corners make: the colour bar says where they were cut off. log: whether the
    colours are logarithmic, on both sides of zero where signs mix.
    """
    if len(data.coordinates) == 1:
        return plot_line(data, vmin=vmin, vmax=vmax, log=log)
    figure = _single_map(data, data.values, "network", _scale(data, vmin, vmax, log))
    _draw_measured(figure.axes[0], data)
    return figure


def plot_reference(
    data: FieldData,
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
) -> Figure:
    """Draw the reference in the colours of `plot_field`; ValueError without a reference."""
    _need_map(data, "reference")
    return _single_map(data, data.reference, "reference", _scale(data, vmin, vmax, log))


def plot_error(data: FieldData) -> Figure:
    """Draw |field - reference| on a logarithmic colour scale; ValueError without a reference."""
    _need_map(data, "error")
    figure = new_figure(*_map_size(data), layout="compressed")
    _draw_error(figure.add_subplot(), data)
    return figure


def plot_panels(
    data: FieldData,
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
) -> Figure:
    """Draw field, reference and error side by side (the field alone without a reference).

    Flat domains have them one above the other. vmin, vmax, log: as in `plot_field`.
    """
    if len(data.coordinates) == 1 or data.reference is None:
        return plot_field(data, vmin=vmin, vmax=vmax, log=log)
    width, height = _map_size(data)
    if height < 0.5 * width:
        figure = new_figure(width, 2.8 * height, layout="compressed")
        first, second, third = figure.subplots(3, 1)
    else:
        figure = new_figure(2.7 * width, height, layout="compressed")
        first, second, third = figure.subplots(1, 3)
    scale = _scale(data, vmin, vmax, log)
    _draw_map(first, data, data.values, scale, f"{data.title()},  network")
    _draw_measured(first, data)
    _draw_map(second, data, data.reference, scale, f"{data.title()},  reference")
    _draw_error(third, data)
    return figure


def plot_maps(
    fields: Sequence[FieldData],
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
) -> Figure:
    """Draw an unknown at several values of what is held, such as times, on one scale.

    A column for each of the fields, with the reference and the error below where all have one; of
    flat domains a row each, with these beside it. vmin, vmax, log: as in `plot_field`. Raises
    ValueError for no field, or for fields that are not in the same two coordinates.
    """
    if not fields or len({tuple(data.coordinates) for data in fields}) > 1:
        raise ValueError("expected a field or more in the same coordinates to draw beside others")
    if len(fields[0].coordinates) != 2:
        raise ValueError(f"field {fields[0].unknown!r} has one coordinate: draw it as lines")
    compared = all(data.reference is not None for data in fields)
    kinds = ("network", "reference", "error")[: 3 if compared else 1]
    width, height = _map_size(fields[0])
    flat = height < 0.5 * width
    rows, columns = (len(fields), len(kinds)) if flat else (len(kinds), len(fields))
    size = (0.55 if flat else 0.75) * columns * width + 1.2, 0.8 * rows * height + 0.6
    figure = new_figure(*size, layout="compressed")
    panels = figure.subplots(rows, columns, squeeze=False)
    panels = panels.T if flat else panels  # a kind each, then a field each
    shown = [data.reference if compared else data.values for data in fields]
    scale = scale_of(*shown, vmin=vmin, vmax=vmax, log=log, centred=True, robust=True)
    for kind, line in zip(kinds, panels, strict=True):
        _draw_row(line, fields, kind, scale, "bottom" if flat else "right")
    for axes, data in zip(panels[0], fields, strict=True):
        axes.set_title(", ".join(held(data.fixed)), fontsize=12, loc="left")
    for axes in panels.flat:
        axes.label_outer()
    return figure


def _draw_row(
    panels: Sequence[Axes], fields: Sequence[FieldData], kind: str, scale: Scale, bar_at: str
) -> None:
    """Draw the values, the references or the errors of fields, with one colour bar."""
    if kind == "error":
        drawn = [data.error for data in fields]
        low, high = _error_range(*drawn)
        errors = Scale(low, high, "log")
        meshes = [
            _mesh(axes, data, errors.shown(data.error), "magma", errors.norm())
            for axes, data in zip(panels, fields, strict=True)
        ]
        for axes, data in zip(panels, fields, strict=True):
            subtitle(axes, data.summary())
        label, extend = "absolute error", "min"
    else:
        drawn = [data.values if kind == "network" else data.reference for data in fields]
        meshes = [
            _mesh(axes, data, scale.shown(values), scale.colours, scale.norm())
            for axes, data, values in zip(panels, fields, drawn, strict=True)
        ]
        note = f"   ({scale.note})" if scale.note else ""
        label = f"{symbol(fields[0].unknown)},  {kind}{note}"
        extend = scale.beyond(np.concatenate([values.ravel() for values in drawn]))
    _colour_bar(list(panels), meshes[0], label, extend, bar_at)


def _scale(data: FieldData, vmin: float | None, vmax: float | None, log: bool) -> Scale:
    """Return one scale for field and reference."""
    drawn = data.values if data.reference is None else data.reference
    return scale_of(drawn, vmin=vmin, vmax=vmax, log=log, centred=True, robust=True)


def _single_map(data: FieldData, values: np.ndarray, what: str, scale: Scale) -> Figure:
    figure = new_figure(*_map_size(data), layout="compressed")
    _draw_map(figure.add_subplot(), data, values, scale, f"{data.title()},  {what}")
    return figure


def _axes_of_map(data: FieldData) -> tuple[str, str]:
    """Return (horizontal, vertical): time runs to the right, else the first coordinate does."""
    first, second = data.coordinates
    return (second, first) if data.time == second else (first, second)


def _height_over_width(data: FieldData) -> float:
    wide, high = (np.ptp(data.coordinates[name]) for name in _axes_of_map(data))
    return float(high / wide)


def _map_size(data: FieldData) -> tuple[float, float]:
    if data.time is not None:
        return 6.4, 4.2
    ratio = min(max(_height_over_width(data), _FLATTEST), 2.0)
    size = min(4.6 / math.sqrt(ratio), 9.0)
    return size + 1.8, size * ratio + 1.1


def _need_map(data: FieldData, what: str) -> None:
    if len(data.coordinates) == 1:
        raise ValueError(
            f"field {data.unknown!r} has one coordinate: plot_field draws its {what} as well"
        )
    if data.reference is None:
        raise ValueError(f"field {data.unknown!r} has no reference: there is no {what} to draw")


def _draw_map(axes: Axes, data: FieldData, values: np.ndarray, scale: Scale, title: str) -> None:
    mesh = _mesh(axes, data, scale.shown(values), scale.colours, scale.norm())
    # Arrows at the ends tell that values lie visibly beyond the scale.
    note = f"   ({scale.note})" if scale.note else ""
    _colour_bar(axes, mesh, f"{symbol(data.unknown)}{note}", scale.beyond(values))
    axes.set_title(title, fontsize=12, loc="left")


def _draw_measured(axes: Axes, data: FieldData) -> None:
    """Draw rings where the unknown was measured: what is inside them is still seen."""
    if data.measured is None:
        return
    columns = dict(zip(data.coordinates, data.measured.T, strict=True))
    horizontal, vertical = _axes_of_map(data)
    axes.scatter(
        columns[horizontal], columns[vertical], s=22, facecolors="none", edgecolors="black",
        linewidths=0.9, label="data", clip_on=False, zorder=3,
    )  # fmt: skip


def _draw_error(axes: Axes, data: FieldData) -> None:
    from matplotlib.colors import LogNorm

    error = data.error
    low, top = _error_range(error)
    mesh = _mesh(axes, data, np.maximum(error, low), "magma", LogNorm(low, top))
    _colour_bar(axes, mesh, "absolute error", "min")
    axes.set_title(f"{data.title()},  error\n", fontsize=12, loc="left")
    subtitle(axes, data.summary())


def _error_range(*errors: np.ndarray) -> tuple[float, float]:
    """Return four decades: they hold all that matters; what is smaller takes the lowest colour."""
    finite = np.concatenate([error[np.isfinite(error)] for error in errors])
    top = float(finite.max()) if finite.size else 0.0
    top = top or 1e-16  # the field equals the reference
    return 1e-4 * top, top


def _colour_bar(
    axes: Axes | list[Axes], mesh: Any, label: str, extend: str, location: str = "right"
) -> None:
    bar = mesh.figure.colorbar(
        mesh, ax=axes, extend=extend, pad=0.02, aspect=26, location=location
    )
    bar.ax.tick_params(labelsize=10, which="both", color=FAINT)
    bar.outline.set_visible(False)
    bar.set_label(label, fontsize=12 if len(label) < 30 else 9)


def _mesh(axes: Axes, data: FieldData, values: np.ndarray, colours: str, norm: Any) -> Any:
    import matplotlib

    horizontal, vertical = _axes_of_map(data)
    right, up = data.coordinates[horizontal], data.coordinates[vertical]
    masked = not data.inside.all()
    if masked:
        values = filled_across(values, data.inside)
    if next(iter(data.coordinates)) == horizontal:
        values = values.T
    # Values that are not finite are grey.
    colour_map = matplotlib.colormaps[colours].with_extremes(bad=_MISSING)
    drawn = np.ma.masked_invalid(values)
    mesh = axes.pcolormesh(right, up, drawn, cmap=colour_map, norm=norm, shading="nearest")
    axes.set_xlim(right[0], right[-1])
    axes.set_ylim(up[0], up[-1])
    axes.set_xlabel(symbol(horizontal), fontsize=12)
    axes.set_ylabel(symbol(vertical), fontsize=12)
    axes.tick_params(labelsize=10, color=FAINT)
    sparse_ticks(axes.xaxis)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    if masked:
        _cut_out(axes, mesh, data)
    if data.time is None and _FLATTEST <= _height_over_width(data) <= _STEEPEST:
        axes.set_aspect("equal")
    return mesh


def _cut_out(axes: Axes, mesh: Any, data: FieldData) -> None:
    """Draw nothing outside of the domain, and its rim: a hole could be a value in the middle."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    rim = data.rim
    if _axes_of_map(data)[0] != next(iter(data.coordinates)):
        rim = Path(rim.vertices[:, ::-1], rim.codes)
    line = PathPatch(rim, facecolor="none", edgecolor=FAINT, linewidth=0.8, clip_on=False)
    axes.add_patch(line)
    mesh.set_clip_path(rim, axes.transData)
    axes.spines[["top", "right"]].set_visible(False)
