"""What pictures of a solution show: an unknown on planes and at times, vectors, and points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.checks import nearest
from pinn.equations.leaves import Column
from pinn.figures.field_data import MOST_MEASURED, FieldData, within_reach
from pinn.figures.points import PointsData
from pinn.geometry import Shape
from pinn.models import Windows
from pinn.problem import Problem
from pinn.residuals import Measured, Residual
from pinn.sampling import Points
from pinn.schema.kinds import NotSaved
from pinn.solution.accuracy import errors_at_own_points
from pinn.solution.sampled import sampled

if TYPE_CHECKING:
    from pinn.solution.solution import Solution

# Points of a grid in one coordinate, and in each of two: of a figure, of one of several panels and
# of a frame of an animation.
_WHOLE, _PANEL, _FRAME = (1001, 257), (401, 161), (401, 97)
# Of more collocation points than these some are left out, evenly.
_MOST_EVALUATED = 20_000


class NothingThere(ValueError):
    """No point of the domain has the values that coordinates are held at."""


# ---- one unknown


def field_data(
    solution: Solution,
    unknown: str,
    held: Mapping[str, float],
    *,
    counts: tuple[int, int] = _WHOLE,
) -> FieldData:
    """Return an unknown or an expression on an even grid; see Solution.field_data.

    counts: of its points in one coordinate, and in each of two.
    """
    problem = solution.problem
    said = [_said(name, held) for name in problem.functions]
    held, _ = problem.with_functions(held)
    domain = solution.domain_of(unknown)
    bounds = domain.bounds
    for name in held:
        if name not in bounds:
            raise ValueError(
                f"expected coordinates out of {', '.join(bounds)}, got {name!r}"
                f"{nearest(name, bounds)}; hold one at a value as {next(iter(bounds))}=0.5"
            )
    families = {family.name: family.middle for family in domain.families}
    free = [name for name in bounds if name not in held]
    drawn = [name for name in free if name not in families][:2] or free[:2]
    if not drawn:
        raise ValueError("every coordinate is held; leave one or two of them to draw")
    middles = middles_of(domain)
    fixed = {name: held.get(name, middles[name]) for name in bounds if name not in drawn}
    each = _counts({n: bounds[n] for n in drawn}, domain.time, *counts)
    grids = {name: np.linspace(*bounds[name], each[name]) for name in drawn}
    meshed = dict(zip(drawn, np.meshgrid(*grids.values(), indexing="ij"), strict=True))
    found = sampled(solution, unknown, fixed | meshed)
    if not found.inside.any():
        places = ", ".join(f"{name} = {value:.6g}" for name, value in fixed.items())
        beyond = ", ".join(
            f"{name} goes from {bounds[name][0]:.6g} to {bounds[name][1]:.6g}"
            for name, value in fixed.items()
            if not bounds[name][0] <= value <= bounds[name][1]
        )
        remedy = beyond or "hold them elsewhere"
        raise NothingThere(f"no point of the domain has {places}; {remedy}")

    def contains(places: np.ndarray) -> np.ndarray:
        at = {**fixed, **dict(zip(drawn, places.T, strict=True))}
        columns = [np.broadcast_to(at[name], len(places)) for name in bounds]
        return found.contains(np.stack(columns, axis=-1))

    # of a map for its slices, which panels and frames have none of
    has_band = len(drawn) == 1 or counts == _WHOLE
    table = problem.reference_tables.get(unknown)
    errors = None
    if table is not None and not fixed:
        whole = errors_at_own_points({unknown: table}, solution.evaluate_anywhere)
        errors = whole.rel_l2[unknown], whole.max_error[unknown]
    return FieldData(
        unknown=unknown,
        coordinates=grids,
        values=found.values,
        reference=found.reference,
        time=domain.time if domain.time in drawn else None,
        fixed={name: value for name, value in fixed.items() if name not in problem.mode_names},
        unnamed={name: value for name, value in fixed.items() if name in problem.mode_names},
        said=[one for one, modes in zip(said, problem.functions.values(), strict=True)
              if set(modes.names) <= set(fixed)],
        inside=found.inside & _is_solved(solution, meshed),
        contains=contains if len(drawn) == 2 else None,
        errors=errors,
        **_data_beside(problem, unknown, drawn, fixed),
        band=_band(solution, unknown, {**fixed, **meshed}) if has_band else None,
        units=problem.units,
        to_scale=problem.to_scale(drawn),
    )


def instants(solution: Solution, unknown: str) -> list[FieldData]:
    """Return a map at the start, the middle and the end of time; none where time is drawn itself.

    None either of an unknown that does not see the time, and where a moving shape is elsewhere.
    """
    domain = solution.domain_of(unknown)
    if domain.time is None or len(domain.space) < 2:
        return []
    low, high = domain.bounds[domain.time]
    at = ({domain.time: value} for value in (low, (low + high) / 2, high))
    return list(_maps(solution, unknown, at))


def planes(solution: Solution, unknown: str) -> list[FieldData]:
    """Return maps on three orthogonal planes through the middle of three coordinates of space.

    Of more than three coordinates of space the first three; none where there are fewer.
    """
    domain = solution.domain_of(unknown)
    held = middles_of(domain)
    across = list(combinations(domain.space[:3], 2)) if len(domain.space) > 2 else []
    at = ({n: value for n, value in held.items() if n not in plane} for plane in across)
    return list(_maps(solution, unknown, at))


def frames(
    solution: Solution, unknown: str, count: int, held: Mapping[str, float]
) -> Iterator[FieldData]:
    """Yield a map, or a line, of an unknown at `count` times; ValueError where it has no time.

    held: where other coordinates are held, as in `field_data`.
    """
    domain = solution.domain_of(unknown)
    if domain.time is None or not domain.space:
        raise ValueError(f"{unknown!r} does not move: it needs a coordinate of space and the time")
    if domain.time in held:
        raise ValueError(f"{domain.time!r} moves on; hold another coordinate")
    for value in np.linspace(*domain.bounds[domain.time], count):
        yield field_data(solution, unknown, {**held, domain.time: float(value)}, counts=_FRAME)


def middles_of(domain: Shape) -> dict[str, float]:
    """Return the middle of the bounds of each coordinate, of families that of their spacing."""
    families = {family.name: family.middle for family in domain.families}
    return {
        name: families.get(name, (low + high) / 2) for name, (low, high) in domain.bounds.items()
    }


# ---- vectors


def vector_data(solution: Solution, vector: Sequence[str]) -> list[list[FieldData]]:
    """Return the components of a vector for each panel of its figure, see plot_vectors.

    In two coordinates of space at the start, the middle and the end of time, if there is one; in
    three on three orthogonal planes.
    """
    space = solution.problem.domain.space
    by_component = [
        planes(solution, name) if len(space) > 2
        else instants(solution, name) or [field_data(solution, name, {})]
        for name in vector
    ]  # fmt: skip
    return [along_plane(components, space) for components in zip(*by_component, strict=True)]


def along_plane(components: Sequence[FieldData], space: Sequence[str]) -> list[FieldData]:
    """Return the components of a vector, those along the plane that they are drawn on first.

    components: one for each coordinate of space, in their order.
    """
    drawn = set(components[0].coordinates)
    across = [name not in drawn for name in space]
    pairs = zip(across, components, strict=True)
    return [component for _, component in sorted(pairs, key=lambda pair: pair[0])]


# ---- points


def is_local(problem: Problem, residual: Residual) -> bool:
    """Return whether a residual is an equation that has a value at any point by itself."""
    equation = residual.name in problem.equations
    return equation and not residual.whole and not residual.source.columns


def points_data(solution: Solution, points: Mapping[str, Points]) -> list[PointsData]:
    """Return the points of each equation with what is left of it there, those of others beside.

    points: by block, as training had them. Left out are equations that take their points as a whole
    or have normals in them, and those that were functions, which no file holds.
    """
    problem = solution.problem
    drawn = [
        residual for residual in problem.residuals
        if residual.name in points and is_local(problem, residual)
        and not isinstance(residual.left.source, NotSaved)
    ]  # fmt: skip
    others = [p.coordinates for name, p in points.items() if name not in problem.equations]
    others = np.unique(np.concatenate(others), axis=0) if others else None
    lengths = problem.domain.space if problem.to_scale(problem.domain.space) else ()
    by_points: dict[int, dict[str, np.ndarray]] = {}  # equations that share them are evaluated once
    found = []
    for residual in drawn:
        own = points[residual.name]
        places = own.coordinates[:: -(-len(own) // _MOST_EVALUATED)]
        if id(own) not in by_points:
            columns = dict(zip(problem.domain.coordinates, places.T, strict=True))
            by_points[id(own)] = solution.residuals(**columns)
        found.append(PointsData(
            residual.name, places, by_points[id(own)][residual.name], problem.domain.bounds,
            problem.domain.time, others, problem.units, lengths, len(own),
        ))  # fmt: skip
    return found


def window_of(solution: Solution, data: PointsData) -> str:
    """Return in words which window of time points are of; "" of a model without windows."""
    model, domain = solution.experiment.model, solution.problem.domain
    if not isinstance(model, Windows):
        return ""
    edges = model.edges(domain)
    middle = np.median(data.column(domain.time))
    number = int(np.clip(np.searchsorted(edges, middle), 1, model.count))
    low, high = edges[number - 1 : number + 1]
    return (
        f"points of window {number} of {model.count}, {domain.time} from {low:.6g} to {high:.6g}: "
        "each has its own"
    )


# ---- helpers


def _said(name: str, held: Mapping[str, Any]) -> str:
    """Return which function of a space a picture shows."""
    return function_said(name, held[name]) if name in held else f"{name} drawn at random"


def function_said(name: str, given: Any, number: int | None = None) -> str:
    """Return what a function is called: its text, or that it was given; number: of several."""
    if isinstance(given, str | Path):
        return f"{name} = {given.name if isinstance(given, Path) else given}"
    return f"{name} given" if number is None else f"{name} number {number + 1}"


def _is_solved(solution: Solution, at: Mapping[str, np.ndarray]) -> np.ndarray | bool:
    """Return where windows of time are trained: what is after them is not drawn."""
    model, time = solution.experiment.model, solution.problem.domain.time
    if not isinstance(model, Windows) or model.until is None or time not in at:
        return True
    return at[time] <= model.until


def _maps(
    solution: Solution, unknown: str, each: Iterator[Mapping[str, float]]
) -> Iterator[FieldData]:
    for held in each:
        try:
            yield field_data(solution, unknown, held, counts=_PANEL)
        except NothingThere:
            continue


def measured_at(
    problem: Problem, unknown: str, drawn: Sequence[str], fixed: Mapping[str, float]
) -> np.ndarray | None:
    """Return the places (n, 2) of the data of a map; None for none, and for too many.

    fixed: the coordinates that are held, and where; data elsewhere do not belong to the picture.
    """
    return _data_beside(problem, unknown, drawn, fixed)["measured"]


def _data_beside(
    problem: Problem, unknown: str, drawn: Sequence[str], fixed: Mapping[str, float]
) -> dict[str, Any]:
    """Return what FieldData has of data: measured, readings and near.

    Beside a line those near it, on a map those there; neither for none, and for too many.
    """
    bounds = problem.domain.bounds
    places, readings = _readings(problem, unknown)
    if not drawn[1:]:  # where the measured values are no column there is nothing beside a line
        places, readings = places[~np.isnan(readings)], readings[~np.isnan(readings)]
    columns, near = dict(zip(problem.domain.coordinates, places.T, strict=True)), {}
    kept = np.ones(len(places), dtype=bool)
    for name, value in fixed.items():
        low, high = bounds[name]
        off = np.abs(columns[name] - value)
        there, far = within_reach(off[kept], high - low)
        if drawn[1:] and far:
            there = np.zeros_like(there)
        kept[kept] = there
        if far:
            near[name] = far
    shown = np.stack([columns[name] for name in drawn], axis=1)[kept]
    rows = np.column_stack([shown, readings[kept]])
    few = 0 < len(rows) <= MOST_MEASURED
    if drawn[1:]:
        known = rows[~np.isnan(rows[:, -1])]
        return {"measured": shown if few else None, "readings": known if len(known) else None}
    return {"measured": rows if few else None, "near": near if few else {}}


def _readings(problem: Problem, unknown: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the places (n, d) of the data of what is drawn, and what was measured there, (n,).

    nan where that is no column of the data.
    """
    names = problem.domain.coordinates
    tree = problem.scope.resolve(unknown)
    found, readings = [np.zeros((0, len(names)))], [np.zeros(0)]
    for residual in problem.residuals:
        if not isinstance(residual.source, Measured) or residual.left.tree != tree:
            continue
        try:
            points = residual.source.points
        except FileNotFoundError:
            continue  # of a solution that was loaded where its data are not
        right = residual.right and residual.right.tree
        known = isinstance(right, Column)
        found.append(points)
        readings.append(
            residual.source.measured(right.name) if known else np.full(len(points), np.nan)
        )
    return np.concatenate(found), np.concatenate(readings)


def _band(
    solution: Solution, unknown: str, at: Mapping[str, np.ndarray]
) -> np.ndarray | None:
    """Return two standard errors of an unknown or field, as noise leaves it; None: not known.

    What was found where the error was estimated; nothing is estimated here. Those of an unsolved
    problem are no band about the true value.
    """
    report = solution.report
    known = None if report is None or report.unsolved else report.error_estimate.band
    if known is None:
        return None
    places = {**middles_of(solution.problem.domain), **at}
    found = known.at(unknown, places)
    return None if found is None else 2 * found


def _counts(
    bounds: Mapping[str, tuple[float, float]], time: str | None, line: int, most: int
) -> dict[str, int]:
    """Return how many points the grid of a figure has along each coordinate drawn."""
    if len(bounds) == 1:
        return dict.fromkeys(bounds, line)
    if time in bounds:
        return dict.fromkeys(bounds, most)
    # Lengths are drawn to scale, so the cells are squares, and as many as of a square.
    widths = {name: high - low for name, (low, high) in bounds.items()}
    mean = math.sqrt(math.prod(widths.values()))
    return {
        name: int(min(max(most * width / mean, most // 4 + 1), 4 * most - 3))
        for name, width in widths.items()
    }
