"""Figures of collocation points, coloured by what is left of the equations there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.figures.scales import error_scale
from pinn.figures.style import (
    FAINT,
    INK,
    label,
    log_ticks,
    new_figure,
    short,
    sparse_ticks,
    style_axes,
    subtitle,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More points than these hide each other.
_MOST_DRAWN = 10_000
_COLUMNS = 3
# Pictures that are so many times as wide as high stand below each other.
_FLAT = 2.0


@dataclass(frozen=True, eq=False)
class PointsData:
    """The collocation points of an equation with its residual there, ready to draw.

    equation   its name
    points     (n, d), columns in the order of `bounds`
    residual   (n,), what is left of the equation
    bounds     coordinate -> (low, high)
    time       which coordinate is the time; None for none
    others     (m, d): where conditions hold; drawn without a colour
    units      coordinate -> unit
    lengths    the coordinates that are lengths in one unit, drawn to scale
    count      how many points there are in all, where these are some of them

    Raises ValueError where these do not fit together.
    """

    equation: str
    points: np.ndarray
    residual: np.ndarray
    bounds: Mapping[str, tuple[float, float]]
    time: str | None = None
    others: np.ndarray | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    lengths: Sequence[str] = ()
    count: int | None = None

    def __post_init__(self) -> None:
        n, d = np.shape(self.residual)[:1], len(self.bounds)
        others = np.empty((0, d)) if self.others is None else np.asarray(self.others, float)
        for what, array, shape in (
            ("points", self.points, (*n, d)), ("residual", self.residual, n),
            ("others", others, (len(others), d)),
        ):  # fmt: skip
            if np.shape(array) != shape or (what == "residual" and not shape):
                raise ValueError(
                    f"points of {self.equation!r}: {what} must have shape {shape}, got "
                    f"{np.shape(array)}"
                )
        object.__setattr__(self, "points", np.asarray(self.points, dtype=np.float64))
        object.__setattr__(self, "residual", np.asarray(self.residual, dtype=np.float64))
        object.__setattr__(self, "others", others)

    @property
    def views(self) -> list[tuple[str, ...]]:
        """The coordinates of each picture: one or two of them, or pairs that show all in turn.

        Of three coordinates every pair, of more those that follow each other, three pairs at most.
        """
        names = list(self.bounds)
        if len(names) < 3:
            return [self._upright(names)]
        if len(names) == 3:
            return [self._upright(pair) for pair in combinations(names, 2)]
        pairs = [names[i : i + 2] for i in range(0, len(names) - 1, 2)]
        if len(names) % 2:
            pairs.append(names[-2:])
        return [self._upright(pair) for pair in (pairs[:2] + pairs[-1:] if pairs[3:] else pairs)]

    def _upright(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return coordinates as a map has them: time runs to the right."""
        return tuple(sorted(names, key=lambda name: name != self.time))

    def column(self, name: str, of: np.ndarray | None = None) -> np.ndarray:
        """Return a coordinate of the points, or of other points (n, d)."""
        return (self.points if of is None else of)[:, list(self.bounds).index(name)]

    def summary(self) -> str:
        """Return how many points there are, and how large the residual is, in words."""
        known = self.residual[np.isfinite(self.residual)]
        points = f"{self.count or self.residual.size:,} points"
        if known.size < self.residual.size:
            return f"{points},  not finite at {self.residual.size - known.size:,}"
        rms = float(np.sqrt(np.mean(np.square(known)))) if known.size else 0.0
        return f"{points},  rms {short(rms)},  max {short(float(np.abs(known).max(initial=0.0)))}"

    def drawn(self) -> np.ndarray:
        """Return which points are drawn, the largest residuals last: over all others.

        Evenly many of them where there are too many, and the largest of these in any case.
        """
        order = np.argsort(np.abs(self.residual), kind="stable")  # nan comes last
        if len(order) <= _MOST_DRAWN:
            return order
        top = order[-_MOST_DRAWN // 100 :]
        rest = order[: -_MOST_DRAWN // 100]
        even = np.linspace(0, len(rest) - 1, _MOST_DRAWN - len(top)).astype(int)
        return np.concatenate([rest[even], top])


def plot_points(data: Sequence[PointsData]) -> Figure:
    """Draw the points of equations coloured by |residual|, each equation on a scale of its own.

    In one coordinate |residual| is drawn over it. Three coordinates and more are seen from several
    sides: a column each. Where points were drawn adaptively their density shows. Small grey points
    are those of conditions. Raises ValueError for no equation.
    """
    if not data:
        raise ValueError("expected the points of an equation or more to draw, got none")
    views = data[0].views
    if len(views) > 1:
        rows, columns = len(data), len(views)
    else:
        columns = min(len(data), _COLUMNS)
        rows = -(-len(data) // columns)
    one = len(views[0]) == 1
    wide, high = (6.8, 3.0) if one else _panel_size(data[0], views[0])
    if one or len(views) == 1 and wide > _FLAT * high:
        rows, columns = len(data), 1
    figure = new_figure(
        wide * columns + 0.3, high * rows + 0.3, layout="constrained" if one else "compressed"
    )
    panels = figure.subplots(rows, columns, squeeze=False, sharex=one)
    for number, each in enumerate(data):
        if one:
            _draw_over(panels[number, 0], each)
        elif len(views) > 1:
            _draw_views(panels[number], each)
        else:
            _draw_views([panels.flat[number]], each)
    for axes in panels.flat[len(data) * len(views) :]:
        axes.remove()
    return figure


def _panel_size(data: PointsData, view: tuple[str, ...]) -> tuple[float, float]:
    if set(view) <= set(data.lengths):
        wide, high = (data.bounds[name][1] - data.bounds[name][0] for name in view)
        ratio = min(max(high / wide, 0.4), 1.6)
        return 3.6 / ratio**0.5 + 1.4, 3.6 * ratio**0.5 + 0.9
    return 5.2, 3.7


def _draw_over(axes: Axes, data: PointsData) -> None:
    ((name, (low, high)),) = data.bounds.items()
    size = np.abs(data.residual)
    size = np.where(size > 0, size, np.nan)  # a logarithmic axis has no place for zero
    drawn = data.drawn()
    style_axes(axes)
    axes.plot(data.column(name)[drawn], size[drawn], ".", color=INK, markersize=3.5)
    if np.isfinite(size).any():
        axes.set_yscale("log")
        log_ticks(axes.yaxis)
    # Where conditions hold, at the bottom.
    places = np.unique(data.column(name, data.others))
    if places.size:  # nothing at all would stand at the figure's corner, in the layout's eyes
        axes.plot(
            places, np.full(len(places), 0.02), "|", color=FAINT, markersize=7, clip_on=False,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    axes.set_xlim(low, high)
    axes.set_xlabel(label(name, data.units), fontsize=12)
    axes.label_outer()
    axes.set_ylabel("|residual|", fontsize=11)
    _title(axes, data)


def _draw_views(panels: Sequence[Axes], data: PointsData) -> None:
    """Draw points from one or more sides, with one colour bar."""
    scale = error_scale(data.residual, absolute=True)
    drawn = data.drawn()
    colours = _colours()
    shown = np.ma.masked_invalid(scale.shown(np.abs(data.residual[drawn])))
    for axes, view in zip(panels, data.views, strict=True):
        others = [data.column(name, data.others) for name in view]
        if len(data.others):
            axes.scatter(*others, s=3, color=FAINT, linewidths=0, clip_on=False, rasterized=True)
        dots = axes.scatter(
            *(data.column(name)[drawn] for name in view), c=shown, cmap=colours, norm=scale.norm(),
            s=_dot(len(drawn)), linewidths=0, plotnonfinite=True, rasterized=True,
        )  # fmt: skip
        across, upwards = view
        axes.set_xlim(*data.bounds[across])
        axes.set_ylim(*data.bounds[upwards])
        axes.set_xlabel(label(across, data.units), fontsize=12)
        axes.set_ylabel(label(upwards, data.units), fontsize=12)
        axes.tick_params(labelsize=10, color=FAINT)
        sparse_ticks(axes.xaxis)
        for spine in axes.spines.values():
            spine.set_color(FAINT)
        if set(view) <= set(data.lengths):
            axes.set_aspect("equal")
    _title(panels[0], data)
    _bar(list(panels), dots)


def _colours() -> Any:
    """Return colours that are all seen on white, the large ones best; green is not finite."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    shown = matplotlib.colormaps["plasma"](np.linspace(0.0, 0.83, 256))
    return ListedColormap(shown).with_extremes(bad="#009e73")


def _dot(count: int) -> float:
    """Return the area of a dot, in points squared: few points are seen, many leave gaps."""
    return float(np.clip(12_000 / max(count, 1), 3.0, 14.0))


def _bar(panels: list[Axes], dots: Any) -> None:
    bar = dots.figure.colorbar(dots, ax=panels, extend="min", pad=0.02, aspect=26)
    bar.ax.tick_params(labelsize=10, which="both", color=FAINT)
    bar.outline.set_visible(False)
    bar.set_label("|residual|", fontsize=11)


def _title(axes: Axes, data: PointsData) -> None:
    axes.set_title(f"{data.equation}\n", fontsize=12, loc="left")
    subtitle(axes, data.summary())
