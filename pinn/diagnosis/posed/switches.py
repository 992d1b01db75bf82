"""Where conditions change along a wall from values to slopes: solutions go like a root there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.geometry import Part, Shape
from pinn.geometry.corners import Corner, corner_at, ends_of
from pinn.problem import Problem
from pinn.problem.singularity import orders_of
from pinn.residuals import Boundary, Residual

# Ends of parts that are nearer to each other, as a share of the domain, are one place.
_SAME = 1e-5


def switches(problem: Problem) -> tuple[Corner, ...]:
    """Return the places of a domain in a plane where an unknown's values end and slopes begin."""
    domain, found = problem.domain, []
    if len(domain.space) != 2 or len(domain.coordinates) != 2:
        return ()
    for unknown in problem.unknowns:
        values, slopes = (dict(_ends(problem, unknown, order)) for order in (0, 1))
        for one, places in values.items():
            others = np.vstack(
                [np.empty((0, 2)), *(ends for part, ends in slopes.items() if part != one)]
            )
            found += [place for place in places if _is_among(place, others, domain)]
    different = [
        place for k, place in enumerate(found) if not _is_among(place, np.array(found[:k]), domain)
    ]
    corners = (corner_at(domain, place) for place in different)
    return tuple(one for one in corners if one is not None)


def _is_among(place: np.ndarray, others: np.ndarray, domain: Shape) -> bool:
    if not len(others):
        return False
    return bool(np.abs(others - place).max(axis=1).min() <= _SAME * domain.size)


def _ends(problem: Problem, unknown: str, order: int) -> Iterator[tuple[Part, np.ndarray]]:
    """Yield the parts on which conditions of an order on an unknown alone hold, and their ends."""
    for one in _on_walls(problem):
        if orders_of(one, problem.domain.space) == {unknown: order}:
            for part in one.source.parts:
                yield part, ends_of(problem.domain, [part])


def _on_walls(problem: Problem) -> Iterator[Residual]:
    for own in problem.by_condition:
        yield from (one for one in own if isinstance(one.source, Boundary))
