"""The figures of a run directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pinn.figures.coefficients import plot_coefficients
from pinn.figures.field_data import FieldData
from pinn.figures.history import plot_history
from pinn.figures.lines import plot_overlay
from pinn.figures.maps import plot_error, plot_field, plot_maps, plot_reference
from pinn.figures.slices import plot_slices
from pinn.figures.style import DPI, figure_png, headline
from pinn.files import write_bytes
from pinn.runs.claim import HISTORY
from pinn.runs.run import Run
from pinn.solution.solution import Solution


def draw_run(run: Run, solution: Solution) -> list[Path]:
    """Draw all that a solution has values for, and the run's own history, into figures/."""
    fields = [solution.field_data(unknown) for unknown in solution.problem.solved]
    time = solution.problem.domain.time
    instants = {}
    for data in fields:
        if len(data.coordinates) == 2 and time in data.fixed:
            low, high = solution.problem.domain.bounds[time]
            instants[data.unknown] = [
                solution.field_data(data.unknown, **{time: value})
                for value in (low, (low + high) / 2, high)
            ]
    return render_figures(
        run,
        fields,
        errors=solution.report.recovery.standard_errors,
        instants=instants,
        warning=solution.warning_of_figures,
    )


def render_figures(
    run: Run | str | Path,
    fields: Sequence[FieldData],
    records: Sequence[Mapping[str, Any]] | None = None,
    dpi: int = DPI,
    errors: Mapping[str, float] | None = None,
    instants: Mapping[str, Sequence[FieldData]] | None = None,
    warning: str = "",
) -> list[Path]:
    """Write the figures of a run under figures/ and return their paths.

    field_U.png, reference_U.png, error_U.png and slices_U.png for every unknown U with two
    coordinates (reference and error where there is one); field_U.png with everything in it for one
    coordinate, and field.png with all of these where there are several; history.png when steps were
    logged, and coefficients.png where there are some. records: None reads the run's own. errors:
    the standard errors of coefficients. instants: by unknown, its field at several times; slices
    are then these. warning: a line at the top of every figure. Raises OSError from the disk,
    DamagedFile for metrics that cannot be read.
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
            at_times = (instants or {}).get(data.unknown)
            slices = plot_maps(at_times) if at_times else plot_slices(data)
            figures[f"slices_{data.unknown}"] = slices
    curves = [data for data in fields if len(data.coordinates) == 1]
    if len(curves) > 1 and len({tuple(data.coordinates) for data in curves}) == 1:
        figures["field"] = plot_overlay(curves)
    if records is None:
        records = run.metrics()
    if any(record.get("parameters") for record in records):
        figures["coefficients"] = plot_coefficients(records, errors)
    if records:  # the last, by which is known that a run has drawn all
        figures[HISTORY] = plot_history(records)
    paths = []
    for name, figure in figures.items():
        if warning:
            headline(figure, warning)
        path = run.figure_path(name)
        write_bytes(path, figure_png(figure, dpi))
        paths.append(path)
    return paths
