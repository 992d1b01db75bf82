"""Figures of a solution and of its training, drawn without a display.

Every function makes a `matplotlib.figure.Figure` of its own: nothing here touches pyplot, its
global state or a window, so figures can be drawn in any thread of any process.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.files import write_bytes
from pinn.runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150

_BLUE, _RED, _INK, _FAINT = "#1f5fa8", "#d1495b", "#222222", "#8a8a8a"
_LOSS_COLOURS = (
    "#1f77b4", "#e07b00", "#2ca02c", "#c0392b", "#8e5ea2",
    "#8c564b", "#d65db1", "#17a2b8", "#9a9a00", "#5c6b7a",
)  # fmt: skip
_LOSS_DASHES = ("-", "--", "-.", ":")
_GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega".split()
)


@dataclass(frozen=True, eq=False)
class FieldData:
    """One unknown on a grid, ready to draw.

    unknown      its name
    coordinates  name -> strictly increasing grid, shape (n1,) or (n1,), (n2,): one or two of them
    values       float array of shape (n1,) or (n1, n2), in the order of `coordinates`
    reference    the known solution on the same grid, or None
    time         which coordinate is the time; None takes one called "t", if there is one
    fixed        what the other coordinates of a problem are held at, for the titles

    Raises ValueError where these do not fit together.
    """

    unknown: str
    coordinates: Mapping[str, np.ndarray]
    values: np.ndarray
    reference: np.ndarray | None = None
    time: str | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        grids = {n: np.asarray(g, dtype=np.float64) for n, g in self.coordinates.items()}
        if len(grids) not in (1, 2):
            raise ValueError(
                f"field {self.unknown!r}: expected one or two coordinates, got "
                f"{', '.join(map(repr, grids)) or 'none'}; hold the others fixed and draw a slice"
            )
        for name, grid in grids.items():
            increasing = grid.ndim == 1 and grid.size >= 2 and np.all(np.diff(grid) > 0)
            if not (increasing and np.isfinite(grid).all()):
                raise ValueError(
                    f"field {self.unknown!r}: the grid of {name!r} must be finite, strictly "
                    f"increasing and of two points or more, got shape {grid.shape}"
                )
        shape = tuple(grid.size for grid in grids.values())
        for what in ("values", "reference"):
            given = getattr(self, what)
            if given is None and what == "reference":
                continue
            array = np.asarray(given, dtype=np.float64)
            if array.shape != shape:
                raise ValueError(
                    f"field {self.unknown!r}: {what} must have the grid's shape {shape}, "
                    f"got {array.shape}"
                )
            object.__setattr__(self, what, array)
        if self.time is not None and self.time not in grids:
            raise ValueError(
                f"field {self.unknown!r}: time {self.time!r} is not one of its coordinates "
                f"{', '.join(map(repr, grids))}"
            )
        object.__setattr__(self, "coordinates", grids)
        if self.time is None and "t" in grids:
            object.__setattr__(self, "time", "t")

    @property
    def error(self) -> np.ndarray | None:
        """The absolute error |values - reference|, or None without a reference."""
        if self.reference is None:
            return None
        with np.errstate(invalid="ignore"):  # inf - inf is drawn as missing, like nan
            return np.abs(self.values - self.reference)

    def rel_l2(self) -> float | None:
        """Return ||values - reference|| / ||reference|| over the grid's points, or None."""
        if self.reference is None:
            return None
        scale = float(np.max(np.abs(self.reference)))
        if not scale > 0:
            return math.nan
        # Scaled, so that squares of very large or small fields neither overflow nor vanish.
        with np.errstate(over="ignore"):
            return float(
                np.linalg.norm(self.error / scale) / np.linalg.norm(self.reference / scale)
            )

    def _summary(self) -> str:
        """Return the relative and the largest error in words, over the drawn grid."""
        bad = int(np.count_nonzero(~np.isfinite(self.error)))
        if bad:
            return f"not finite at {bad:,} of {self.error.size:,} points"
        return f"relative L2 {_short(self.rel_l2())},  max {_short(float(np.max(self.error)))}"

    def _name(self, *, fixed: bool = True) -> str:
        held = "".join(f", {_symbol(n)} = {v:.4g}" for n, v in self.fixed.items()) if fixed else ""
        inside = ", ".join(map(_symbol, self.coordinates))
        return f"{_symbol(self.unknown)}({inside}{held})"


# ---- figures of a field


def plot_field(data: FieldData) -> Figure:
    """Draw the trained field: a colour map, or lines for one coordinate.

    A problem in one coordinate is drawn whole: the line, the reference dashed over it, and the
    error below.
    """
    if len(data.coordinates) == 1:
        return _plot_line(data)
    figure = _figure(*_map_size(data), layout="compressed")
    axes = figure.add_subplot()
    _draw_map(axes, data, data.values, _limits(data), f"{data._name()},  network")
    return figure


def plot_reference(data: FieldData) -> Figure:
    """Draw the reference in the colours of `plot_field`; ValueError without a reference."""
    _need_map(data, "reference")
    figure = _figure(*_map_size(data), layout="compressed")
    axes = figure.add_subplot()
    _draw_map(axes, data, data.reference, _limits(data), f"{data._name()},  reference")
    return figure


def plot_error(data: FieldData) -> Figure:
    """Draw |field - reference| on a logarithmic colour scale; ValueError without a reference."""
    _need_map(data, "error")
    figure = _figure(*_map_size(data), layout="compressed")
    _draw_error(figure.add_subplot(), data)
    return figure


def plot_panels(data: FieldData) -> Figure:
    """Draw field, reference and error side by side (the field alone without a reference)."""
    if len(data.coordinates) == 1 or data.reference is None:
        return plot_field(data)
    width, height = _map_size(data)
    figure = _figure(2.7 * width, height, layout="compressed")
    left, middle, right = figure.subplots(1, 3)
    limits = _limits(data)
    _draw_map(left, data, data.values, limits, f"{data._name()},  network")
    _draw_map(middle, data, data.reference, limits, f"{data._name()},  reference")
    _draw_error(right, data)
    return figure


def plot_slices(data: FieldData, at: Sequence[float] | None = None) -> Figure:
    """Draw the field along one coordinate at three values of the other, with the error below.

    at: where to cut the time (or, without a time, the second coordinate); None takes a quarter,
    a half and three quarters of its range. The nearest grid points are drawn and named in the
    titles.
    """
    if len(data.coordinates) == 1:
        raise ValueError(f"field {data.unknown!r} has one coordinate: it has no slices to draw")
    from matplotlib.ticker import MaxNLocator

    along, across = _axes_of_slices(data)
    grid, cuts = data.coordinates[along], data.coordinates[across]
    if at is None:
        at = cuts[0] + (cuts[-1] - cuts[0]) * np.array([0.25, 0.5, 0.75])
    places = [int(np.abs(cuts - value).argmin()) for value in at]
    if not places:
        raise ValueError(f"field {data.unknown!r}: give one place to cut {across!r} or more")
    axis = list(data.coordinates).index(across)
    with_error = data.reference is not None

    columns = len(places)
    figure = _figure(1.2 + 3.1 * columns, 4.9 if with_error else 3.4)
    rows = {"nrows": 2, "height_ratios": (2.4, 1)} if with_error else {"nrows": 1}
    panels = figure.subplots(ncols=columns, sharex=True, sharey="row", squeeze=False, **rows)
    low, high = _padded(data.values, data.reference)
    for column, place in enumerate(places):
        top, bottom = panels[0, column], panels[-1, column]
        top.set_title(f"{_symbol(across)} = {cuts[place]:.4g}", fontsize=12)
        _style(top)
        top.set_xlim(grid[0], grid[-1])
        top.set_ylim(low, high)
        lines = (_cut(array, place, axis) for array in (data.values, data.reference))
        handles = _draw_lines(top, grid, *lines)
        if with_error:
            _draw_line_error(bottom, grid, _cut(data.error, place, axis))
        bottom.set_xlabel(_symbol(along), fontsize=12)
        bottom.xaxis.set_major_locator(MaxNLocator(4))
    panels[0, 0].set_ylabel(_symbol(data.unknown), fontsize=12)
    if with_error:
        _error_limits(panels[1], np.stack([_cut(data.error, p, axis) for p in places]))
        panels[1, 0].set_ylabel("absolute error", fontsize=11)
        figure.legend(
            handles=handles, loc="outside upper center", ncols=2, frameon=False, fontsize=11
        )
    return figure


def plot_history(records: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw every named loss against the step, with the stages marked, and the error below.

    records: the lines of metrics.jsonl in order: `step`, `stage`, `loss`, `losses` (of the blocks,
    by name) and, where a reference exists, `rel_l2` (a number, or a dict by unknown). Values that
    are missing, null, zero or not finite leave a gap. Raises ValueError without a record.
    """
    if not records:
        raise ValueError("no metrics to draw: the run has not logged a step")
    steps = np.array([float(record["step"]) for record in records])
    losses = _columns([record.get("losses") or {} for record in records])
    errors = _errors_by_name(records)

    figure = _figure(9.2, 6.2 if errors else 4.8)
    rows = {"nrows": 2, "height_ratios": (2.4, 1)} if errors else {"nrows": 1}
    panels = figure.subplots(ncols=1, sharex=True, squeeze=False, **rows)[:, 0]
    top = panels[0]
    for index, (name, values) in enumerate(losses.items()):
        colour = _LOSS_COLOURS[index % len(_LOSS_COLOURS)]
        dash = _LOSS_DASHES[index // len(_LOSS_COLOURS) % len(_LOSS_DASHES)]
        _draw_history(top, steps, values, name, color=colour, linestyle=dash, linewidth=1.3)
    total = _column(records, "loss")
    if not any(np.array_equal(total, values) for values in losses.values()):
        _draw_history(top, steps, total, "total", color=_INK, linewidth=2.2, zorder=3)
    top.set_ylabel("loss", fontsize=12)
    handles, labels = top.get_legend_handles_labels()
    top.legend(
        [*handles[-1:], *handles[:-1]], [*labels[-1:], *labels[:-1]],
        title="last value", title_fontsize=10, alignment="left",
        loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False,
        fontsize=10,
    )  # fmt: skip
    if errors:
        bottom = panels[1]
        for index, (name, values) in enumerate(errors.items()):
            colour = _LOSS_COLOURS[index % len(_LOSS_COLOURS)]
            label = _symbol(name) if name else ""
            _draw_history(bottom, steps, values, label, color=colour, linewidth=1.8)
        bottom.set_ylabel("relative L2 error", fontsize=11)
        bottom.legend(
            loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False,
            fontsize=10,
        )  # fmt: skip
    for axes in panels:
        _style(axes)
        axes.set_yscale("log")
        _log_ticks(axes.yaxis)
        if steps[-1] > steps[0]:
            axes.set_xlim(steps[0], steps[-1])
    panels[-1].set_xlabel("step", fontsize=12)
    panels[-1].xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    _mark_stages(panels, steps, [record.get("stage") for record in records])
    return figure


# ---- files


def figure_png(figure: Figure, dpi: int = DPI) -> bytes:
    """Return a figure as the bytes of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def render_figures(
    run: Run | str | Path,
    fields: Sequence[FieldData],
    records: Sequence[Mapping[str, Any]] | None = None,
    dpi: int = DPI,
) -> list[Path]:
    """Write the figures of a run under figures/ and return their paths.

    field_U.png, reference_U.png, error_U.png and slices_U.png for every unknown U with two
    coordinates (reference and error where there is one); field_U.png with everything in it for one
    coordinate; history.png when steps were logged. records: None reads the run's own.
    """
    if not isinstance(run, Run):
        run = Run.open(run)
    figures = {}
    for data in fields:
        figures[f"field_{data.unknown}"] = plot_field(data)
        if len(data.coordinates) == 2:
            if data.reference is not None:
                figures[f"reference_{data.unknown}"] = plot_reference(data)
                figures[f"error_{data.unknown}"] = plot_error(data)
            figures[f"slices_{data.unknown}"] = plot_slices(data)
    if records is None:
        records = run.metrics()
    if records:
        figures["history"] = plot_history(records)
    paths = []
    for name, figure in figures.items():
        path = run.figure_path(name)
        write_bytes(path, figure_png(figure, dpi))
        paths.append(path)
    return paths


# ---- parts of figures


def _figure(width: float, height: float, layout: str = "constrained") -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout, facecolor="white")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1, wspace=0.04, hspace=0.03)
    return figure


def _style(axes: Axes) -> None:
    axes.tick_params(labelsize=10, color=_FAINT)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_FAINT)
    axes.grid(True, color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)


def _symbol(name: str) -> str:
    """Return a name as mathematics: italic letters, Greek ones as such, u_1 with an index."""
    base, _, index = name.partition("_")
    head = rf"\{base}" if base in _GREEK else base if len(base) == 1 else rf"\mathrm{{{base}}}"
    if base[1:].isdigit() and base[:1].isalpha():
        head, index = base[0], base[1:] + index
    index = index.replace("_", r"\_")
    return f"${head}_{{\\mathrm{{{index}}}}}$" if index else f"${head}$"


def _short(value: float) -> str:
    """Return a number like 1.50e-3, without the zeros that pad an exponent."""
    mantissa, exponent = f"{value:.2e}".split("e") if math.isfinite(value) else (str(value), "0")
    return f"{mantissa}e{int(exponent)}" if int(exponent) else mantissa


def _axes_of_map(data: FieldData) -> tuple[str, str]:
    """Return (horizontal, vertical): time runs to the right, else the first coordinate does."""
    first, second = data.coordinates
    return (second, first) if data.time == second else (first, second)


def _axes_of_slices(data: FieldData) -> tuple[str, str]:
    """Return (along, across): cuts are at values of the time, else of the second coordinate."""
    first, second = data.coordinates
    return (second, first) if data.time == first else (first, second)


def _map_size(data: FieldData) -> tuple[float, float]:
    if data.time is not None:
        return 6.4, 4.2
    # Two coordinates of space are drawn to scale, within reason.
    wide, high = (np.ptp(data.coordinates[name]) for name in _axes_of_map(data))
    ratio = min(max(high / wide, 0.3), 2.0)
    size = 4.6 / math.sqrt(ratio)
    return size + 1.8, size * ratio + 1.1


def _need_map(data: FieldData, what: str) -> None:
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
    bar.ax.tick_params(labelsize=10, color=_FAINT)
    bar.outline.set_visible(False)
    bar.set_label(_symbol(data.unknown), fontsize=12)
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
    bar.ax.tick_params(labelsize=10, which="both", color=_FAINT)
    bar.outline.set_visible(False)
    bar.set_label("absolute error", fontsize=11)
    axes.set_title(f"{data._name()},  error\n", fontsize=12, loc="left")
    _subtitle(axes, data)


def _subtitle(axes: Axes, data: FieldData) -> None:
    axes.annotate(
        data._summary(), (0.0, 1.0), xycoords="axes fraction", xytext=(0, 5),
        textcoords="offset points", fontsize=10, color="#555555",
    )  # fmt: skip


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
    axes.set_xlabel(_symbol(horizontal), fontsize=12)
    axes.set_ylabel(_symbol(vertical), fontsize=12)
    axes.tick_params(labelsize=10, color=_FAINT)
    for spine in axes.spines.values():
        spine.set_color(_FAINT)
    if data.time is None and 0.3 <= np.ptp(up) / np.ptp(right) <= 2.0:
        axes.set_aspect("equal")
    return mesh


def _plot_line(data: FieldData) -> Figure:
    ((name, grid),) = data.coordinates.items()
    with_error = data.reference is not None
    figure = _figure(6.8, 5.2 if with_error else 3.8)
    rows = {"nrows": 2, "height_ratios": (2.4, 1)} if with_error else {"nrows": 1}
    panels = figure.subplots(ncols=1, sharex=True, squeeze=False, **rows)[:, 0]
    top = panels[0]
    _style(top)
    handles = _draw_lines(top, grid, data.values, data.reference)
    top.set_xlim(grid[0], grid[-1])
    top.set_ylim(*_padded(data.values, data.reference))
    top.set_ylabel(_symbol(data.unknown), fontsize=12)
    top.set_title(data._name(), fontsize=12, loc="left")
    if with_error:
        top.legend(
            handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2,
            ncols=2, frameon=False, fontsize=11,
        )  # fmt: skip
        _draw_line_error(panels[1], grid, data.error)
        _error_limits(panels[1:], data.error)
        panels[1].set_ylabel("absolute error", fontsize=11)
        _subtitle(panels[1], data)
    panels[-1].set_xlabel(_symbol(name), fontsize=12)
    return figure


def _draw_lines(axes: Axes, grid: np.ndarray, values: np.ndarray, reference: Any) -> list[Any]:
    handles = axes.plot(grid, values, color=_BLUE, linewidth=2.4, label="network")
    if reference is not None:
        handles += axes.plot(
            grid, reference, color=_RED, linewidth=1.6, linestyle=(0, (4, 3)), label="reference"
        )
    return handles


def _draw_line_error(axes: Axes, grid: np.ndarray, error: np.ndarray) -> None:
    _style(axes)
    axes.plot(grid, np.where(error > 0, error, np.nan), color=_INK, linewidth=1.3)
    axes.set_yscale("log")
    _log_ticks(axes.yaxis)


def _error_limits(panels: Sequence[Axes], error: np.ndarray) -> None:
    """Give error panels one scale, which sign changes of the error do not stretch."""
    positive = error[np.isfinite(error) & (error > 0)]
    top = float(positive.max()) if positive.size else 1e-16
    low = max(float(np.quantile(positive, 0.02)), 1e-5 * top) if positive.size else 0.1 * top
    for axes in panels:
        axes.set_ylim(10.0 ** math.floor(math.log10(low)), 2 * top)


def _padded(*arrays: np.ndarray | None) -> tuple[float, float]:
    drawn = np.concatenate([a.ravel() for a in arrays if a is not None])
    drawn = drawn[np.isfinite(drawn)]
    if not drawn.size:
        return -1.0, 1.0
    low, high = float(drawn.min()), float(drawn.max())
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin


def _cut(values: np.ndarray | None, place: int, axis: int) -> np.ndarray | None:
    return None if values is None else np.take(values, place, axis=axis)


def _log_ticks(axis: Any) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(base=10, numticks=8))
    axis.set_minor_formatter(NullFormatter())


def _number(value: Any) -> float:
    """Return a number fit for a logarithmic axis; nan for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return math.nan
    return float(value) if math.isfinite(value) and value > 0 else math.nan


def _column(records: Sequence[Mapping[str, Any]], key: str) -> np.ndarray:
    return np.array([_number(record.get(key)) for record in records])


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Return one column a name, for all names that any of the rows has."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _column(rows, name) for name in names}


def _errors_by_name(records: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    given = [record.get("rel_l2") for record in records]
    columns = _columns([row if isinstance(row, Mapping) else {"": row} for row in given])
    return {name: values for name, values in columns.items() if np.isfinite(values).any()}


def _draw_history(
    axes: Axes, steps: np.ndarray, values: np.ndarray, name: str, **style: Any
) -> None:
    known = values[np.isfinite(values)]
    last = _short(known[-1]) if known.size else "none above zero"
    marker = "o" if known.size == 1 else None  # one value makes no line
    axes.plot(
        steps, values, label=f"{name}  {last}".strip(), marker=marker, markersize=4, **style
    )


def _mark_stages(panels: Sequence[Axes], steps: np.ndarray, stages: Sequence[Any]) -> None:
    """Mark where each training stage begins, and write its name at the top."""
    starts = [i for i, stage in enumerate(stages) if i == 0 or stage != stages[i - 1]]
    if stages[0] is None and len(starts) == 1:
        return
    free_from, level = -math.inf, 0
    for i in starts:
        begin = steps[max(i - 1, 0)]  # a stage began after the last step of the one before it
        if i > 0:
            for axes in panels:
                axes.axvline(begin, color=_FAINT, linewidth=1.0, linestyle=(0, (2, 2)))
        # The names of short stages would run into each other: the next one goes a line higher.
        if stages[i] is not None:
            level = level + 1 if begin < free_from else 0
            free_from = begin + 0.014 * (len(str(stages[i])) + 1) * (steps[-1] - steps[0])
            panels[0].annotate(
                str(stages[i]), (begin, 1.0), xycoords=("data", "axes fraction"),
                xytext=(3, 4 + 12 * (level % 3)), textcoords="offset points",
                fontsize=10, color="#555555",
            )  # fmt: skip
