"""Regions that no point of the domain is in, and shapes that are taken away from elsewhere."""

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

# Points, and as many more where none of these is in a region.
_TRIED, _MANY_TRIED = 1 << 14, 1 << 20


def empty_regions(problem: Problem) -> Iterator[str]:
    """Yield a sentence for each region without a point of the domain, and each that others cover.

    And for each of which next to none is. Looked at are 16384 points that are spread evenly over
    the domain's bounding box, and for a region that none of these is in a million more. Nothing is
    said of a region that depends on more than coordinates and constants.
    """
    if not problem.regions:
        return
    points = _points(problem, _TRIED)
    trees = {name: problem.scope.definitions[name] for name in problem.regions}
    within = {n: _within(problem, tree, points) for n, tree in trees.items() if is_of_place(tree)}
    bounds = ", ".join(f"{n} in [{a:g}, {b:g}]" for n, (a, b) in problem.domain.bounds.items())
    missed = [name for name, inside in within.items() if not inside.any()]
    many = _points(problem, _MANY_TRIED) if missed else points
    for name in missed:
        share = float(np.mean(_within(problem, trees[name], many)))
        if share:
            yield (
                f"the region {name!r} is {share:.1g} of the domain: so few points fall into it, of "
                f"10000 about {1e4 * share:.1g}, that what it stands for hardly counts; make it "
                "larger, or take many more points"
            )
        else:
            yield (
                f"the region {name!r} has no point of the domain ({bounds}), of {len(many)} "
                "that were tried; unless it is smaller than they tell, it is empty, and what it "
                "stands for never counts"
            )
    for name, pieces in problem.piecewise.items():
        yield from _covered(name, list(pieces), within)


def idle_shapes(problem: Problem) -> Iterator[str]:
    """Yield a sentence for each shape that is taken away from where it is not."""
    for shape in problem.domain.idle:
        kind, name = type(shape).__name__.lower(), getattr(shape, "name", None)
        called = f"the {kind} {name!r}" if name else f"{shape!r}"
        yield (
            f"{called} takes nothing away: it lies outside of what it is taken from; move it, or "
            "leave it out"
        )


def _points(problem: Problem, count: int) -> np.ndarray:
    points = problem.domain.from_unit(probes(count, len(problem.domain.coordinates)))
    return points[~np.isnan(points).any(axis=1)]


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
