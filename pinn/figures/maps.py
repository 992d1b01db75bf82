"""Figures of a field in two coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
from pinn.figures.field_data import FieldData
from pinn.figures.lines import plot_line, subtitle
from pinn.figures.style import FAINT, new_figure, symbol


def plot_field(data: FieldData) -> Figure:
    """Draw the trained field: a colour map, or lines for one coordinate.

    A problem in one coordinate is drawn whole: the line, the reference dashed over it, and the
    error below.
    """
    if len(data.coordinates) == 1:
        return plot_line(data)
    figure = new_figure(*_map_size(data), layout="compressed")
    axes = figure.add_subplot()
    _draw_map(axes, data, data.values, _limits(data), f"{data._name()},  network")
    return figure


def plot_reference(data: FieldData) -> Figure:
    """Draw the reference in the colours of `plot_field`; ValueError without a reference."""
    need_map(data, "reference")
    figure = new_figure(*_map_size(data), layout="compressed")
    axes = figure.add_subplot()
    _draw_map(axes, data, data.reference, _limits(data), f"{data._name()},  reference")
    return figure


def plot_error(data: FieldData) -> Figure:
    """Draw |field - reference| on a logarithmic colour scale; ValueError without a reference."""
    need_map(data, "error")
    figure = new_figure(*_map_size(data), layout="compressed")
    _draw_error(figure.add_subplot(), data)
    return figure


def plot_panels(data: FieldData) -> Figure:
    """Draw field, reference and error side by side (the field alone without a reference)."""
    if len(data.coordinates) == 1 or data.reference is None:
        return plot_field(data)
    width, height = _map_size(data)
    figure = new_figure(2.7 * width, height, layout="compressed")
    left, middle, right = figure.subplots(1, 3)
    limits = _limits(data)
    _draw_map(left, data, data.values, limits, f"{data._name()},  network")
    _draw_map(middle, data, data.reference, limits, f"{data._name()},  reference")
    _draw_error(right, data)
    return figure


def _axes_of_map(data: FieldData) -> tuple[str, str]:
    """Return (horizontal, vertical): time runs to the right, else the first coordinate does."""
    first, second = data.coordinates
    return (second, first) if data.time == second else (first, second)


def _map_size(data: FieldData) -> tuple[float, float]:
    if data.time is not None:
        return 6.4, 4.2
    # Two coordinates of space are drawn to scale, within reason.
    wide, high = (np.ptp(data.coordinates[name]) for name in _axes_of_map(data))
    ratio = min(max(high / wide, 0.3), 2.0)
    size = 4.6 / math.sqrt(ratio)
    return size + 1.8, size * ratio + 1.1


def need_map(data: FieldData, what: str) -> None:
    if len(data.coordinates) == 1:
        raise ValueError(
            f"field {data.unknown!r} has one coordinate: plot_field draws its {what} as well"
        )
    if data.reference is None:
        raise ValueError(f"field {data.unknown!r} has no reference: there is no {what} to draw")


@dataclass(frozen=True)
class _Limits:
    low: float
    high: float
    colours: str


def _limits(data: FieldData) -> _Limits:
    """Choose one colour scale for field and reference: symmetric about zero when signs mix."""
    drawn = data.values if data.reference is None else data.reference
    drawn = drawn[np.isfinite(drawn)]
    if not drawn.size:
        return _Limits(-1.0, 1.0, "RdBu_r")
    low, high = float(drawn.min()), float(drawn.max())
    # A slight overshoot below zero does not make a positive field one of mixed signs.
    if min(-low, high) > 0.05 * max(-low, high):
        largest = max(-low, high)
        return _Limits(-largest, largest, "RdBu_r")
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        margin = 0.5 * abs(low) or 1.0
        low, high = low - margin, high + margin
    return _Limits(low, high, "viridis")


def _draw_map(axes: Axes, data: FieldData, values: np.ndarray, limits: _Limits, title: str) -> None:
    from matplotlib.colors import Normalize

    mesh = _mesh(axes, data, values, limits.colours, Normalize(limits.low, limits.high))
    finite = values[np.isfinite(values)]
    # Arrows at the ends tell that values lie visibly beyond the scale.
    slack = 0.02 * (limits.high - limits.low)
    beyond_low = finite.size and finite.min() < limits.low - slack
    beyond_high = finite.size and finite.max() > limits.high + slack
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}
    bar = axes.figure.colorbar(
        mesh, ax=axes, extend=extend[bool(beyond_low), bool(beyond_high)], pad=0.02, aspect=26
    )
    bar.ax.tick_params(labelsize=10, color=FAINT)
    bar.outline.set_visible(False)
    bar.set_label(symbol(data.unknown), fontsize=12)
    axes.set_title(title, fontsize=12, loc="left")


def _draw_error(axes: Axes, data: FieldData) -> None:
    from matplotlib.colors import LogNorm

    error = data.error
    finite = error[np.isfinite(error)]
    top = float(finite.max()) if finite.size else 0.0
    top = top or 1e-16  # the field equals the reference
    # Four decades hold all that matters; what is smaller takes the lowest colour.
    mesh = _mesh(axes, data, np.maximum(error, 1e-4 * top), "magma", LogNorm(1e-4 * top, top))
    bar = axes.figure.colorbar(mesh, ax=axes, extend="min", pad=0.02, aspect=26)
    bar.ax.tick_params(labelsize=10, which="both", color=FAINT)
    bar.outline.set_visible(False)
    bar.set_label("absolute error", fontsize=11)
    axes.set_title(f"{data._name()},  error\n", fontsize=12, loc="left")
    subtitle(axes, data)


def _mesh(axes: Axes, data: FieldData, values: np.ndarray, colours: str, norm: Any) -> Any:
    import matplotlib

    horizontal, vertical = _axes_of_map(data)
    right, up = data.coordinates[horizontal], data.coordinates[vertical]
    if next(iter(data.coordinates)) == horizontal:
        values = values.T
    colour_map = matplotlib.colormaps[colours].with_extremes(bad="#b5b5b5")
    mesh = axes.pcolormesh(
        right, up, np.ma.masked_invalid(values), cmap=colour_map, norm=norm, shading="nearest"
    )
    axes.set_xlim(right[0], right[-1])
    axes.set_ylim(up[0], up[-1])
    axes.set_xlabel(symbol(horizontal), fontsize=12)
    axes.set_ylabel(symbol(vertical), fontsize=12)
    axes.tick_params(labelsize=10, color=FAINT)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    if data.time is None and 0.3 <= np.ptp(up) / np.ptp(right) <= 2.0:
        axes.set_aspect("equal")
    return mesh
