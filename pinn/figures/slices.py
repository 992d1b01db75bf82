"""Slices of a field in two coordinates: lines along one at some values of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pinn.figures.field_data import MOST_MEASURED, FieldData, within_reach
from pinn.figures.lines import (
    draw_error,
    draw_line_of,
    error_limits,
    line_panels,
    plot_overlay,
    set_range,
)
from pinn.figures.style import headline, held

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_slices(
    data: FieldData,
    at: Sequence[float] | None = None,
    *,
    overlay: bool = False,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
    absolute: bool = True,
) -> Figure:
    """Draw the field along one coordinate at three values of the other, with the error below.

    at: where to cut the time (or, without a time, the second coordinate); None takes the start, the
    middle and the end of time, a quarter, a half and three quarters of space. What else is held is
    in the title. The nearest grid points with values there are drawn and
    named, and the data that lie no further from them than a twentieth of the range. overlay: all in
    one panel. vmin, vmax: the ends of the vertical axis. log: whether it is
    logarithmic. absolute: whether errors are drawn without their sign, on a logarithmic axis.
    """
    if len(data.coordinates) == 1:
        raise ValueError(f"field {data.unknown!r} has one coordinate: it has no slices to draw")
    from matplotlib.ticker import MaxNLocator

    along, across = _axes_of_slices(data)
    slices = _slices(data, along, across, at)
    names = [held({across: one.fixed[across]}, data.units)[0] for one in slices]
    if overlay:
        return plot_overlay(slices, names, vmin=vmin, vmax=vmax, log=log, absolute=absolute)
    grid = data.coordinates[along]
    with_error = data.reference is not None
    beside = {}
    figure, panels = line_panels(with_error, columns=len(slices))
    for column, (one, name) in enumerate(zip(slices, names, strict=True)):
        top, bottom = panels[0, column], panels[-1, column]
        top.set_title(name, fontsize=12)
        top.set_xlim(grid[0], grid[-1])
        beside |= {handle.get_label(): handle for handle in draw_line_of(top, one)}
        if with_error:
            draw_error(bottom, grid, one.error, absolute=absolute)
        bottom.set_xlabel(data.label(along), fontsize=12)
        bottom.xaxis.set_major_locator(MaxNLocator(4))
    shown = [array for one in slices for array in one.drawn_values]
    set_range(panels[0, 0], *shown, vmin=vmin, vmax=vmax, log=log)
    panels[0, 0].set_ylabel(data.label(), fontsize=12)
    if with_error:
        error_limits(panels[1], np.stack([one.error for one in slices]), absolute)
        panels[1, 0].set_ylabel(data.error_label(absolute), fontsize=11)
    if len(beside) > 1:
        figure.legend(
            handles=list(beside.values()), loc="outside upper right", ncols=len(beside),
            frameon=False, fontsize=11,
        )  # fmt: skip
    if data.held():
        headline(figure, ", ".join(data.held()))
    return figure


def _axes_of_slices(data: FieldData) -> tuple[str, str]:
    """Return (along, across): cuts are at values of the time, else of the second coordinate."""
    first, second = data.coordinates
    return (second, first) if data.time == first else (first, second)


def _slices(
    data: FieldData, along: str, across: str, at: Sequence[float] | None
) -> list[FieldData]:
    axis = list(data.coordinates).index(across)
    cuts = data.coordinates[across]
    crossed = np.flatnonzero(data.inside.any(axis=1 - axis))
    low, high = cuts[crossed[0]], cuts[crossed[-1]]
    if at is None:
        shares = [0.0, 0.5, 1.0] if across == data.time else [0.25, 0.5, 0.75]
        at = low + (high - low) * np.array(shares)
    places = [int(crossed[np.abs(cuts[crossed] - value).argmin()]) for value in at]
    if not places:
        raise ValueError(f"field {data.unknown!r}: give one place to cut {across!r} or more")

    def cut(array: np.ndarray | None, place: int) -> np.ndarray | None:
        return None if array is None else np.take(array, place, axis)

    found = []
    for place in places:
        at_cut = float(cuts[place])
        measured, near = _beside(data, axis, at_cut, float(np.ptp(cuts)))
        found.append(FieldData(
            unknown=data.unknown,
            coordinates={along: data.coordinates[along]},
            values=cut(data.values, place),
            reference=cut(data.reference, place),
            time=data.time if along == data.time else None,
            fixed={**data.fixed, across: at_cut},
            inside=cut(data.inside, place),
            measured=measured,
            near={across: near} if near else {},
            band=cut(data.band, place),
            units=data.units,
        ))  # fmt: skip
    return found


def _beside(
    data: FieldData, axis: int, at_cut: float, reach: float
) -> tuple[np.ndarray | None, float]:
    """Return places along a cut and what was measured there, and how far from it that may lie.

    axis: which of the coordinates is cut, of that reach.
    """
    if data.readings is None:
        return None, 0.0
    kept, near = within_reach(np.abs(data.readings[:, axis] - at_cut), reach)
    if not 0 < np.count_nonzero(kept) <= MOST_MEASURED:
        return None, 0.0
    return data.readings[kept][:, [1 - axis, 2]], near
