"""Figures of a field in two coordinates: colour maps of field, reference and error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.figures.field_data import FieldData
from pinn.figures.lines import plot_line, plot_line_error
from pinn.figures.rim import filled_across
from pinn.figures.scales import Scale, error_scale, scale_of
from pinn.figures.style import FAINT, draw_measured, new_figure, sparse_ticks, subtitle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MISSING = "#b5b5b5"
# Other colours than those of a field, which a reader would compare it with.
_ERROR, _ABSOLUTE_ERROR = "PuOr_r", "magma"
# Two coordinates of space are drawn to scale where height over width lies in between.
_FLATTEST, _STEEPEST = 0.12, 5.0


def plot_field(
    data: FieldData,
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
    absolute: bool | None = None,
) -> Figure:
    """Draw the trained field: a colour map, or lines for one coordinate.

    A problem in one coordinate is drawn whole: the line, the reference dashed over it, and the
    error below (absolute: as in `plot_line`). vmin, vmax: the ends of the colours; None takes those
    of the values, without the spikes that singular corners make: the colour bar says where they
    were cut off. log: whether the colours are logarithmic, on both sides of zero where signs mix.
    """
    if len(data.coordinates) == 1:
        return plot_line(data, vmin=vmin, vmax=vmax, log=log, absolute=absolute is not False)
    figure = _single_map(data, data.values, "network", field_scale([data], vmin, vmax, log))
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
    if data.reference is None:
        raise _without_reference(data, "reference")
    if len(data.coordinates) == 1:
        raise ValueError(
            f"field {data.unknown!r} has one coordinate: plot_field draws its reference as well"
        )
    return _single_map(data, data.reference, "reference", field_scale([data], vmin, vmax, log))


def plot_error(data: FieldData, *, absolute: bool | None = None, name: str = "error") -> Figure:
    """Draw field - reference: in colours centred at zero, or a line; ValueError without one.

    Colours are logarithmic on both sides, so that sign and size are seen over decades. absolute:
    draw the size alone, as of a line where left out. name: what the title calls it.
    """
    if data.reference is None:
        raise _without_reference(data, "error")
    if len(data.coordinates) == 1:
        return plot_line_error(data, absolute=absolute is not False, name=name)
    figure = new_figure(*map_size(data), layout="compressed")
    scale = error_scale(data.error, absolute=bool(absolute))
    _draw_error(figure.add_subplot(), data, scale, name)
    return figure


def plot_panels(
    data: FieldData,
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
    absolute: bool | None = None,
) -> Figure:
    """Draw field, reference and error side by side (the field alone without a reference).

    Flat domains have them one above the other. vmin, vmax, log: as in `plot_field`, absolute: as in
    `plot_error`.
    """
    if len(data.coordinates) == 1 or data.reference is None:
        return plot_field(data, vmin=vmin, vmax=vmax, log=log, absolute=absolute)
    scales = field_scale([data], vmin, vmax, log), error_scale(data.error, absolute=bool(absolute))
    figure, _ = draw_panels(data, *scales)
    return figure


def draw_panels(data: FieldData, scale: Scale, errors: Scale | None) -> tuple[Figure, list[Any]]:
    """Return a figure of a field, and of its reference and error, on given scales; and its maps.

    errors: None for a field without a reference.
    """
    width, height = map_size(data)
    count = 1 if errors is None else 3
    if height < 0.5 * width:
        figure = new_figure(width, (1 if count == 1 else 2.8) * height, layout="compressed")
        panels = figure.subplots(count, 1, squeeze=False)[:, 0]
    else:
        figure = new_figure((1 if count == 1 else 2.7) * width, height, layout="compressed")
        panels = figure.subplots(1, count, squeeze=False)[0]
    title = data.title()
    maps = [_draw_map(panels[0], data, data.values, scale, f"{title},  network")]
    _draw_measured(panels[0], data)
    if errors is not None:
        maps.append(_draw_map(panels[1], data, data.reference, scale, f"{title},  reference"))
        maps.append(_draw_error(panels[2], data, errors))
    return figure, maps


def plot_maps(
    fields: Sequence[FieldData],
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
    absolute: bool = False,
) -> Figure:
    """Draw an unknown on several planes on one scale: at several times, or across each other.

    A column for each of the fields, with the reference and the error below where all have one; of
    flat domains a row each, with these beside it. vmin, vmax, log: as in `plot_field`, absolute: as
    in `plot_error`. Raises ValueError for no field, and for fields of several unknowns or in one
    coordinate.
    """
    if not fields or len({data.unknown for data in fields}) > 1:
        raise ValueError("expected a field or more of one unknown to draw beside each other")
    if any(len(data.coordinates) != 2 for data in fields):
        raise ValueError(f"field {fields[0].unknown!r} has one coordinate: draw it as lines")
    compared = all(data.reference is not None for data in fields)
    kinds = ("network", "reference", "error")[: 3 if compared else 1]
    sizes = np.array([map_size(data) for data in fields])
    width, height = sizes.mean(axis=0)
    flat = bool(np.all(sizes[:, 1] < 0.5 * sizes[:, 0]))
    rows, columns = (len(fields), len(kinds)) if flat else (len(kinds), len(fields))
    size = (0.55 if flat else 0.75) * columns * width + 1.2, 0.8 * rows * height + 0.6
    figure = new_figure(*size, layout="compressed")
    panels = figure.subplots(rows, columns, squeeze=False)
    panels = panels.T if flat else panels  # a kind each, then a field each
    scale = field_scale(fields, vmin, vmax, log)
    for kind, line in zip(kinds, panels, strict=True):
        _draw_row(line, fields, kind, scale, "bottom" if flat else "right", absolute)
    for axes, data in zip(panels[0], fields, strict=True):
        axes.set_title(", ".join(data.held()), fontsize=12, loc="left")
    shared = len({tuple(data.coordinates) for data in fields}) == 1
    for axes in panels.flat if shared else ():
        axes.label_outer()
    return figure


def _draw_row(
    panels: Sequence[Axes],
    fields: Sequence[FieldData],
    kind: str,
    scale: Scale,
    bar_at: str,
    absolute: bool,
) -> None:
    """Draw the values, the references or the errors of fields, with one colour bar."""
    if kind == "error":
        scale = error_scale(*(data.error for data in fields), absolute=absolute)
        drawn = [error_drawn(data, scale) for data in fields]
        label, colours = fields[0].error_label(absolute), _colours_of_error(scale)
        for axes, data in zip(panels, fields, strict=True):
            subtitle(axes, data.summary())
    else:
        drawn = [data.values if kind == "network" else data.reference for data in fields]
        note = f"   ({scale.note})" if scale.note else ""
        label, colours = f"{fields[0].label()},  {kind}{note}", scale.colours
    meshes = [
        draw_mesh(axes, data, values, scale, colours)
        for axes, data, values in zip(panels, fields, drawn, strict=True)
    ]
    extend = scale.beyond(np.concatenate([values.ravel() for values in drawn]))
    colour_bar(list(panels), meshes[0], label, scale, extend, bar_at)


def field_scale(
    fields: Sequence[FieldData],
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
) -> Scale:
    """Return one scale for fields and their references: that of the references, if all have one."""
    compared = all(data.reference is not None for data in fields)
    drawn = [data.reference if compared else data.values for data in fields]
    return scale_of(*drawn, vmin=vmin, vmax=vmax, log=log, centred=True, robust=True)


def axes_of_map(data: FieldData) -> tuple[str, str]:
    """Return (horizontal, vertical): time runs to the right, else the first coordinate does."""
    first, second = data.coordinates
    return (second, first) if data.time == second else (first, second)


def map_size(data: FieldData) -> tuple[float, float]:
    """Return the width and height of a figure of one map, in inches."""
    if data.time is not None or not data.to_scale:
        return 6.4, 4.2
    ratio = min(max(_height_over_width(data), _FLATTEST), 2.0)
    size = min(4.6 / math.sqrt(ratio), 9.0)
    return size + 1.8, size * ratio + 1.1


def _height_over_width(data: FieldData) -> float:
    wide, high = (np.ptp(data.coordinates[name]) for name in axes_of_map(data))
    return float(high / wide)


def _is_to_scale(data: FieldData) -> bool:
    """Whether a length is as long in both directions: of ribbons hardly anything would be seen."""
    lengths = data.time is None and data.to_scale
    return lengths and _FLATTEST <= _height_over_width(data) <= _STEEPEST


def _without_reference(data: FieldData, what: str) -> ValueError:
    return ValueError(f"field {data.unknown!r} has no reference: there is no {what} to draw")


def _single_map(data: FieldData, values: np.ndarray, what: str, scale: Scale) -> Figure:
    figure = new_figure(*map_size(data), layout="compressed")
    _draw_map(figure.add_subplot(), data, values, scale, f"{data.title()},  {what}")
    return figure


def _draw_map(axes: Axes, data: FieldData, values: np.ndarray, scale: Scale, title: str) -> Any:
    mesh = draw_mesh(axes, data, values, scale)
    # Arrows at the ends tell that values lie visibly beyond the scale.
    # An expression fills a line of its own, and both ends of what was cut off another.
    note = f"\n({scale.note})".replace("; ", ";\n") if scale.note else ""
    colour_bar(axes, mesh, f"{data.label()}{note}", scale, scale.beyond(values))
    axes.set_title(title, fontsize=12, loc="left")
    return mesh


def _draw_measured(axes: Axes, data: FieldData) -> None:
    """Draw where the unknown was measured."""
    if data.measured is not None:
        columns = dict(zip(data.coordinates, data.measured.T, strict=True))
        draw_measured(axes, *(columns[name] for name in axes_of_map(data)))


def _draw_error(axes: Axes, data: FieldData, scale: Scale, name: str = "error") -> Any:
    drawn = error_drawn(data, scale)
    mesh = draw_mesh(axes, data, drawn, scale, _colours_of_error(scale))
    label = data.error_label(absolute=scale.kind == "log")
    colour_bar(axes, mesh, label, scale, scale.beyond(drawn))
    axes.set_title(f"{data.title()},  {name}\n", fontsize=12, loc="left")
    subtitle(axes, data.summary())
    return mesh


def error_drawn(data: FieldData, scale: Scale) -> np.ndarray:
    """Return the error of a field, without its sign on a logarithmic scale."""
    return np.abs(data.error) if scale.kind == "log" else data.error


def _colours_of_error(scale: Scale) -> str:
    return _ABSOLUTE_ERROR if scale.kind == "log" else _ERROR


def colour_bar(
    axes: Axes | list[Axes],
    mesh: Any,
    label: str,
    scale: Scale,
    extend: str,
    location: str = "right",
) -> None:
    """Draw a colour bar beside panels, or below them (location: "bottom")."""
    bar = mesh.figure.colorbar(
        mesh, ax=axes, extend=extend, pad=0.02, aspect=26, location=location, ticks=scale.ticks()
    )
    bar.ax.tick_params(labelsize=10, which="both", color=FAINT)
    if scale.ticks() is not None:
        bar.ax.minorticks_off()
    bar.outline.set_visible(False)
    bar.set_label(label, fontsize=12 if len(label) < 30 else 9)


def draw_mesh(
    axes: Axes, data: FieldData, values: np.ndarray, scale: Scale, colours: str | None = None
) -> Any:
    """Draw values, of the shape of a field's grid, as a map that ends at the domain's rim."""
    import matplotlib

    horizontal, vertical = axes_of_map(data)
    right, up = data.coordinates[horizontal], data.coordinates[vertical]
    # Values that are not finite are grey.
    colour_map = matplotlib.colormaps[colours or scale.colours].with_extremes(bad=_MISSING)
    mesh = axes.pcolormesh(
        right, up, mesh_values(data, values, scale), cmap=colour_map, norm=scale.norm(),
        shading="nearest", rasterized=True,
    )  # fmt: skip
    frame_map(axes, data)
    if not data.inside.all():
        _cut_out(axes, mesh, data)
    return mesh


def mesh_values(data: FieldData, values: np.ndarray, scale: Scale) -> np.ma.MaskedArray:
    """Return values of the shape of a field's grid as its mesh takes them."""
    values = scale.shown(values)
    if not data.inside.all():
        values = filled_across(values, data.inside)
    if next(iter(data.coordinates)) == axes_of_map(data)[0]:
        values = values.T
    return np.ma.masked_invalid(values)


def frame_map(axes: Axes, data: FieldData) -> None:
    """Give a panel the limits, labels and proportions of a field's two coordinates."""
    horizontal, vertical = axes_of_map(data)
    right, up = data.coordinates[horizontal], data.coordinates[vertical]
    axes.set_xlim(right[0], right[-1])
    axes.set_ylim(up[0], up[-1])
    axes.set_xlabel(data.label(horizontal), fontsize=12)
    axes.set_ylabel(data.label(vertical), fontsize=12)
    axes.tick_params(labelsize=10, color=FAINT)
    sparse_ticks(axes.xaxis)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    if _is_to_scale(data):
        axes.set_aspect("equal")


def _cut_out(axes: Axes, mesh: Any, data: FieldData) -> None:
    """Draw nothing outside of the domain, and its rim: a hole could be a value in the middle."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    rim = data.rim
    if axes_of_map(data)[0] != next(iter(data.coordinates)):
        rim = Path(rim.vertices[:, ::-1], rim.codes)
    line = PathPatch(rim, facecolor="none", edgecolor=FAINT, linewidth=0.8, clip_on=False)
    axes.add_patch(line)
    mesh.set_clip_path(rim, axes.transData)
    axes.spines[["top", "right"]].set_visible(False)
