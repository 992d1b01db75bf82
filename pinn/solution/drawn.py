"""Figures of a solution: its unknowns as fields, lines and arrows, and its estimated error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.figures import (
    plot_error,
    plot_field,
    plot_maps,
    plot_overlay,
    plot_panels,
    plot_vectors,
)
from pinn.figures.style import headline, symbol
from pinn.figures.style import held as held_at
from pinn.solution.pictured import along_plane, field_data, function_said, middles_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pinn.functions import Expansion
    from pinn.problem import Problem
    from pinn.solution.solution import Solution


def drawn(
    solution: Solution,
    unknown: str | Sequence[str] | None,
    held: Mapping[str, Any],
    absolute: bool | None,
    **ends: Any,
) -> Figure:
    """Return the figure of `Solution.plot`; ends: vmin, vmax and log, as there."""
    functions = solution.problem.functions
    varied, cuts = _cuts(held, functions)
    unknowns = _unknowns(solution, unknown, cuts[0])
    fields = [field_data(solution, name, at) for name in unknowns for at in cuts]
    problem, axes = solution.problem, list(fields[0].coordinates)
    space, in_a_plane = problem.domain.space, len(axes) == 2
    if tuple(unknowns) in problem.vectors and in_a_plane and set(axes) <= set(space):
        panels = (fields[number :: len(cuts)] for number in range(len(cuts)))
        figure = plot_vectors([along_plane(one, space) for one in panels], vmax=ends["vmax"])
    elif in_a_plane and len(unknowns) == 1 and varied:
        figure = plot_maps(fields, absolute=bool(absolute), **ends)
    elif len(fields) > 1:
        names = [[symbol(name)] if len(unknowns) > 1 else [] for name in unknowns]
        places = [_place(varied, at, k, problem) for k, at in enumerate(cuts)]
        labels = [", ".join(name + place) for name in names for place in places]
        figure = plot_overlay(fields, labels, absolute=absolute is not False, **ends)
    else:
        plot = plot_panels if in_a_plane else plot_field
        figure = plot(fields[0], absolute=absolute, **ends)
    return _with_warning(figure, solution)


def _place(varied: str | None, at: Mapping[str, Any], number: int, problem: Problem) -> list[str]:
    """Return how one of several lines is called, by what it alone is held at."""
    if varied is None:
        return []
    if varied not in problem.functions:
        return held_at({varied: at[varied]}, problem.units)
    return [function_said(varied, at[varied], number)]


def error_drawn(
    solution: Solution, unknown: str | None, held: Mapping[str, float], absolute: bool | None
) -> Figure:
    """Return the figure of `Solution.plot_error`."""
    name = solution.problem.unknowns[0] if unknown is None else unknown
    data = field_data(solution, name, held)
    axes = np.meshgrid(*data.coordinates.values(), indexing="ij")
    grid = dict(zip(data.coordinates, axes, strict=True))
    places = {**middles_of(solution.problem.domain), **data.fixed, **data.unnamed, **grid}
    estimate = solution.error_estimate()
    if name in solution.problem.solved:
        error = estimate.evaluate(**places)[name]
    else:
        error = estimate.derivative(name, **places)
    better = replace(data, reference=data.values + error, errors=None)
    figure = plot_error(better, absolute=absolute, name="estimated error")
    if name in estimate.noise:
        headline(
            figure, f"of the equations alone: noise in the data may have moved {name} by "
            f"{estimate.noise[name]:.1e}",
        )  # fmt: skip
    return _with_warning(figure, solution)


def _with_warning(figure: Figure, solution: Solution) -> Figure:
    if solution.warning_of_figures:
        headline(figure, solution.warning_of_figures)
    return figure


def _cuts(
    held: Mapping[str, Any], functions: Mapping[str, Expansion]
) -> tuple[str | None, list[dict[str, Any]]]:
    """Return the coordinate that is held at a list of values, and all that is held for each.

    functions: what stands for a function, and may be a list of them.
    """
    lists = [
        name for name, value in held.items()
        if (functions[name].several(value) is not None if name in functions else np.ndim(value))
    ]  # fmt: skip
    if len(lists) > 1:
        raise ValueError(
            f"lines are drawn for the values of one coordinate, got lists for "
            f"{', '.join(lists)}; hold the others at one value"
        )
    if not lists:
        return None, [dict(held)]
    (name,) = lists
    values = held[name] if name in functions else np.asarray(held[name]).tolist()
    cuts = [{**held, name: value} for value in values]
    if not cuts:
        raise ValueError(f"expected a value of {name} or more to draw, got none")
    return name, cuts


def _unknowns(
    solution: Solution, asked: str | Sequence[str] | None, held: Mapping[str, float]
) -> list[str]:
    """Return what is drawn: where none is asked for, all curves of the first one's coordinate."""
    if asked is not None:
        return [asked] if isinstance(asked, str) else list(asked)
    first, *others = solution.problem.unknowns
    drawn = list(field_data(solution, first, held).coordinates)
    if len(drawn) > 1:
        return [first]
    return [first, *(
        name for name in others
        if solution.domain_of(name).bounds.keys() >= held.keys()
        and list(field_data(solution, name, held).coordinates) == drawn
    )]  # fmt: skip
