"""Regions that no point of the domain is in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.jumps import is_of_place
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.values import Values
from pinn.expressions import Expression
from pinn.geometry.unit_cube import probes
from pinn.problem import Problem

_TRIED = 1 << 14


def empty_regions(problem: Problem) -> Iterator[str]:
    """Yield a sentence for each region without a point of the domain, and each that others cover.

    Looked at are 16384 points that are spread evenly over the domain's bounding box. Nothing is
    said of a region that depends on more than coordinates and constants.
    """
    if not problem.regions:
        return
    points = problem.domain.from_unit(probes(_TRIED, len(problem.domain.coordinates)))
    points = points[~np.isnan(points).any(axis=1)]
    trees = {name: problem.scope.definitions[name] for name in problem.regions}
    within = {n: _within(problem, tree, points) for n, tree in trees.items() if is_of_place(tree)}
    bounds = ", ".join(f"{n} in [{a:g}, {b:g}]" for n, (a, b) in problem.domain.bounds.items())
    for name, inside in within.items():
        if not inside.any():
            yield (
                f"the region {name!r} has no point of the domain ({bounds}), of {len(points)} "
                "that were tried; what it stands for never counts"
            )
    for name, pieces in problem.piecewise.items():
        yield from _covered(name, list(pieces), within)


def _covered(constant: str, order: list[str], within: Mapping[str, np.ndarray]) -> Iterator[str]:
    """Name the regions of a piecewise constant that those before them leave nothing of."""
    taken: np.ndarray | np.bool_ = np.False_
    before: list[str] = []
    for region in order:
        if region not in within:
            continue
        inside = within[region]
        if inside.any() and not (inside & ~taken).any():
            yield (
                f"of {constant!r} the value for the region {region!r} never counts: it lies in "
                f"{' or '.join(map(repr, before))}, which comes first; put the smaller region first"
            )
        taken = taken | inside
        before.append(region)


def _within(problem: Problem, tree: Expression, points: np.ndarray) -> np.ndarray:
    columns = dict(zip(problem.domain.coordinates, points.T, strict=True))
    with np.errstate(all="ignore"):
        found = evaluate_resolved(tree, Values(columns, problem.constants), NUMPY_FUNCTIONS)
    return np.broadcast_to(np.asarray(found, dtype=bool), (len(points),))
