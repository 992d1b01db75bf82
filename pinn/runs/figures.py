"""The figures of a run directory."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pinn.figures.animation import animation
from pinn.figures.coefficients import plot_coefficients
from pinn.figures.field_data import FieldData
from pinn.figures.history import plot_history
from pinn.figures.lines import plot_overlay
from pinn.figures.maps import plot_error, plot_field, plot_maps, plot_reference
from pinn.figures.points import plot_points
from pinn.figures.slices import plot_slices
from pinn.figures.style import DPI, figure_bytes, headline
from pinn.figures.vectors import plot_vectors
from pinn.files import write_bytes
from pinn.runs.claim import HISTORY
from pinn.runs.forms import RECORD, wrong_key
from pinn.runs.run import Run
from pinn.solution.pictured import (
    frames,
    instants,
    planes,
    points_data,
    vector_data,
    window_of,
)
from pinn.solution.solution import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# An animation that nobody asked for has so many frames, and all of a run take so long at most.
_UNASKED_FRAMES, _UNASKED_SECONDS = 24, 3.0
# One that is asked for has so many.
_FRAMES = 48
# Of the lines of metrics so many are drawn, or up to twice as many: a long run has more than a
# figure can show, and each takes some 4 KiB.
_LINES = 500

Values = Mapping[str, float | str | Path | Sequence[float | str | Path]]
"""What coordinates are held at, some of them at several values; functions as texts or files."""

Place = Callable[[str, str], Path]
"""(name, suffix) of a figure -> where it goes."""

# Of an expression in the name of a file, where no system takes its signs.
_SIGNS = {"**": "^", "*": "-times-", "/": "-over-", "<": "-below-", ">": "-above-", " ": ""}


@dataclass(frozen=True)
class Look:
    """How the figures of a run look: what `python -m pinn plot` takes.

    format: "png", "pdf" or "svg". dpi: pixels an inch. log: whether fields are on a logarithmic
    scale. absolute: whether errors are drawn without their sign; None as reads best, see
    pinn.figures.
    """

    format: Literal["png", "pdf", "svg"] = "png"
    dpi: int = DPI
    log: bool = False
    absolute: bool | None = None


def draw_run(
    run: Run,
    solution: Solution,
    look: Look | None = None,
    only: Sequence[str] | None = None,
    place: Place | None = None,
) -> list[Path]:
    """Draw all that a solution has values for, and the run's own history, into figures/.

    field_U, reference_U, error_U and slices_U for every unknown U with two coordinates (reference
    and error where there is one), planes_U where space has three; field_U with everything in it for
    one coordinate, and field with all of these where there are several; vector_U_V for velocities
    and the like (problem.vectors); points with the residual where the equations were trained;
    history when steps were logged, and coefficients where there are some; animation_U.gif of two
    coordinates of space and time, where that takes no longer than a few seconds. only: the
    unknowns, or expressions of them, to draw, without the figures of the run as a whole. place:
    where they go instead. Returns the paths. Raises OSError from the disk, DamagedFile for metrics
    that cannot be read.
    """
    look, place = look or Look(), place or run.figure_path
    unknowns = solution.problem.solved if only is None else tuple(only)
    paths = [
        _write_figure(place, solution, name, figure, look)
        for name, figure in _of_fields(solution, unknowns, look)
    ]
    if look.format == "png":
        paths += _unasked(place, solution, unknowns, look)
    return paths if only is not None else paths + draw_training(run, solution, look, place)


def draw_training(
    run: Run, solution: Solution, look: Look | None = None, place: Place | None = None
) -> list[Path]:
    """Draw how training went: points, coefficients and history; as `draw_run` does."""
    look, place = look or Look(), place or run.figure_path
    return [
        _write_figure(place, solution, name, figure, look)
        for name, figure in _of_training(run, solution)
    ]


def draw_at(
    run: Run,
    solution: Solution,
    unknown: str,
    at: Values,
    look: Look | None = None,
    place: Place | None = None,
) -> Path:
    """Draw an unknown where coordinates are held, into figures/U_at_t=0.5.png or the like.

    place: where it goes instead. Raises as Solution.plot does, and OSError from the disk.
    """
    look = look or Look()
    figure = solution.plot(unknown, log=look.log, absolute=look.absolute, **at)
    data = figure_bytes(figure, look.format, look.dpi)
    name = f"{_in_a_name(unknown)}_at_{_places(at)}"
    return _write(place or run.figure_path, name, look.format, data)


def draw_animation(
    run: Run,
    solution: Solution,
    unknown: str,
    kind: Literal["gif", "mp4"] = "gif",
    at: Mapping[str, float] | None = None,
    look: Look | None = None,
    place: Place | None = None,
) -> Path:
    """Draw an unknown moving through time, into figures/animation_U.gif or .mp4.

    at: where other coordinates are held. place: where it goes instead. Raises ValueError for an
    unknown that does not move, pinn.figures.NoFilm where an mp4 cannot be written, OSError from the
    disk.
    """
    look = look or Look()
    fields = list(frames(solution, unknown, _FRAMES, at or {}))
    moving = animation(fields, log=look.log, absolute=look.absolute)
    name = f"animation_{_in_a_name(unknown)}{f'_at_{_places(at)}' if at else ''}"
    data = moving.gif() if kind == "gif" else moving.mp4()
    return _write(place or run.figure_path, name, kind, data)


def _unasked(
    place: Place, solution: Solution, unknowns: Sequence[str], look: Look
) -> Iterator[Path]:
    """Write animations of what moves in a plane, as far as the time for that goes."""
    domain = solution.problem.domain
    if domain.time is None or len(domain.space) != 2:
        return
    # Of this thread's own work: what a run leaves should not depend on what else the machine does.
    end = time.thread_time() + _UNASKED_SECONDS
    for unknown in unknowns:
        fields = []
        with contextlib.suppress(ValueError):  # a field that does not depend on the time
            began = time.thread_time()
            for data in frames(solution, unknown, _UNASKED_FRAMES, {}):
                fields.append(data)
                each = (time.thread_time() - began) / len(fields)
                # the first ones take longer
                if len(fields) > 2 and began + each * _UNASKED_FRAMES > end:
                    return
        if not fields:
            continue
        moving = animation(fields, log=look.log, absolute=look.absolute)
        data = moving.gif(end - time.thread_time())
        if data is None:
            return
        yield _write(place, f"animation_{_in_a_name(unknown)}", "gif", data)


def _write_figure(place: Place, solution: Solution, name: str, figure: Figure, look: Look) -> Path:
    if solution.warning_of_figures:
        headline(figure, solution.warning_of_figures)
    return _write(place, name, look.format, figure_bytes(figure, look.format, look.dpi))


def _write(place: Place, name: str, suffix: str, data: bytes) -> Path:
    path = place(name, suffix)
    write_bytes(path, data)
    return path


def _in_a_name(unknown: str) -> str:
    """Return an unknown, or an expression, for the name of a file: u-times-u_x for u*u_x."""
    for sign, word in _SIGNS.items():
        unknown = unknown.replace(sign, word)
    return unknown


def _places(at: Values) -> str:
    """Return what coordinates are held at for the name of a file, as in t=0,0.5_z=1."""

    def said(value: float | str | Path | Sequence[float | str | Path]) -> str:
        each = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        return ",".join(map(said_of, each))

    def said_of(one: float | str | Path) -> str:
        if isinstance(one, Path):
            return one.stem
        return _in_a_name(one) if isinstance(one, str) else f"{one:.6g}"

    return "_".join(f"{name}={said(value)}" for name, value in at.items())


def _of_fields(
    solution: Solution, unknowns: Sequence[str], look: Look
) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of unknowns by name, one at a time: only one of them is in memory."""
    curves = []
    for unknown in unknowns:
        data = solution.field_data(unknown)
        yield from _of_field(solution, data, look)
        if len(data.coordinates) == 1:
            curves.append(data)
    if len(curves) > 1 and len({tuple(data.coordinates) for data in curves}) == 1:
        yield "field", plot_overlay(curves, log=look.log, absolute=look.absolute is not False)
    for vector in solution.problem.vectors:
        panels = vector_data(solution, vector) if set(vector) & set(unknowns) else []
        if panels:
            yield f"vector_{'_'.join(vector)}", plot_vectors(panels)


def _of_field(solution: Solution, data: FieldData, look: Look) -> Iterator[tuple[str, Figure]]:
    unknown, absolute = data.unknown, bool(look.absolute)
    named = _in_a_name(unknown)
    yield f"field_{named}", plot_field(data, log=look.log, absolute=look.absolute)
    if len(data.coordinates) == 1:
        return
    if data.reference is not None:
        yield f"reference_{named}", plot_reference(data, log=look.log)
        yield f"error_{named}", plot_error(data, absolute=look.absolute)
    at_times = instants(solution, unknown)
    if at_times:
        yield f"slices_{named}", plot_maps(at_times, log=look.log, absolute=absolute)
    else:
        lines = look.absolute is not False
        yield f"slices_{named}", plot_slices(data, log=look.log, absolute=lines)
    across = planes(solution, unknown)
    if across:
        yield f"planes_{named}", plot_maps(across, log=look.log, absolute=absolute)


def _of_training(run: Run, solution: Solution) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of how training went; the history is the last: it ends a run."""
    last = solution.last or run.last_step()
    points = points_data(solution, last.points) if last is not None else []
    if points:
        figure = plot_points(points)
        window = window_of(solution, points[0])
        if window:
            headline(figure, window)
        if last.draw:
            headline(figure, f"points drawn anew {_times(last.draw)}, as at step {last.step:,}")
        yield "points", figure
    records = run.metrics(_LINES)
    if any(record.get("parameters") for record in records):
        report = solution.report
        # Those of an unsolved problem are no band about the true value.
        errors = {} if report.unsolved else report.recovery.standard_errors
        # A short run has more steps there; that of a file may be of anybody's making.
        history = [one for one in report.history if wrong_key(one, RECORD) is None]
        closest = max(records, history, key=len)
        yield "coefficients", plot_coefficients(closest, errors, solution.problem.units)
    if records:
        yield HISTORY, plot_history(records)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
