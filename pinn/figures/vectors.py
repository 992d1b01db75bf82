"""Figures of a vector field in two coordinates: its lines over its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.figures.field_data import FieldData
from pinn.figures.maps import axes_of_map, colour_bar, draw_mesh, map_size
from pinn.figures.scales import scale_of
from pinn.figures.style import new_figure, symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Lines are followed on a grid of at most so many points each way.
_LINE_GRID = 65
# Where the size is this share of the largest the direction is that of the rest of a condition, such
# as no flow at a wall, and no line is drawn.
_STILL = 0.01


def plot_vectors(fields: Sequence[Sequence[FieldData]], *, vmax: float | None = None) -> Figure:
    """Draw a vector's lines over its size, in a panel for each time or place, on one scale.

    fields: for each panel the components in one plane, first those along its two coordinates, in
    their order; a component across it, which may follow, counts for the size. vmax: the end of the
    colours. Raises ValueError for components that are not in the same two coordinates.
    """
    for components in fields:
        planes = {tuple(data.coordinates) for data in components}
        if len(components) < 2 or len(planes) != 1 or len(next(iter(planes))) != 2:
            names = ", ".join(data.unknown for data in components)
            raise ValueError(
                f"a vector is drawn of two components or more in the same two coordinates, got "
                f"{names or 'none'}"
            )
    if not fields:
        raise ValueError("expected a panel or more to draw vectors in, got none")
    sizes = [_size_of(components) for components in fields]
    name = f"|({', '.join(sorted(symbol(data.unknown) for data in fields[0]))})|"
    scale = scale_of(*(one.values for one in sizes), vmin=0.0, vmax=vmax, robust=True)
    width, height = map_size(sizes[0])
    flat, count = height < 0.5 * width, len(fields)
    shape = (count, 1) if flat else (1, count)
    small = 1.0 if count == 1 else 0.75
    figure = new_figure(
        small * width * shape[1] + 0.4, small * height * shape[0] + 0.3, layout="compressed"
    )
    panels = figure.subplots(*shape, squeeze=False).ravel()
    for axes, components, size in zip(panels, fields, sizes, strict=True):
        mesh = draw_mesh(axes, size, size.values, scale)
        _draw_lines(axes, mesh, components)
        held = ", ".join(size.held())
        alone = size.title().replace(symbol(size.unknown), name, 1)
        axes.set_title(alone if count == 1 else held, fontsize=12, loc="left", pad=9)
        if len({tuple(one.coordinates) for one in sizes}) == 1:
            axes.label_outer()
    extend = scale.beyond(np.concatenate([one.values.ravel() for one in sizes]))
    unit = sizes[0].label().removeprefix(symbol(sizes[0].unknown))
    place = "bottom" if flat and count > 1 else "right"
    colour_bar(list(panels), mesh, f"{name}{unit}", scale, extend, place)
    return figure


def _size_of(components: Sequence[FieldData]) -> FieldData:
    """Return the length of a vector as a field, under the name of its first component."""
    with np.errstate(over="ignore"):
        length = np.sqrt(sum(data.values**2 for data in components))
    return replace(components[0], values=length, reference=None, errors=None, measured=None)


def _thinned(components: Sequence[FieldData]) -> tuple[np.ndarray, ...]:
    """Return even places to the right and up, and the components along them, a row each place up.

    What is not finite, and what is outside, is masked.
    """
    first, second = components[:2]
    picks = [
        np.linspace(0, grid.size - 1, min(_LINE_GRID, grid.size)).round().astype(int)
        for grid in first.coordinates.values()
    ]
    # Lines are followed on grids that are even to the last digit.
    grids = [np.linspace(g[0], g[-1], p.size) for g, p in zip(
        first.coordinates.values(), picks, strict=True
    )]  # fmt: skip
    along = [np.ma.masked_invalid(data.values[np.ix_(*picks)]) for data in (first, second)]
    if axes_of_map(first)[0] == next(iter(first.coordinates)):
        return *grids, *(values.T for values in along)
    return *grids[::-1], *along[::-1]


def _draw_lines(axes: Axes, mesh: Any, components: Sequence[FieldData]) -> None:
    right, up, across, upwards = _thinned(components)
    size = np.ma.hypot(across, upwards)
    if not size.any():
        return  # nothing flows
    across = np.ma.masked_where(size < _STILL * size.max(), across)
    lines = axes.streamplot(
        right, up, across, upwards, color="white", linewidth=0.9, density=0.7, arrowsize=0.9,
        broken_streamlines=False,
    )
    rim = mesh.get_clip_path()
    if rim is not None:
        lines.lines.set_clip_path(rim)
    # What it draws has moved the limits.
    axes.set(xlim=(right[0], right[-1]), ylim=(up[0], up[-1]))
