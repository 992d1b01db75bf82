"""Where conditions change along a wall from values to slopes: solutions go like a root there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.geometry.corners import Corner, corner_at, ends_of
from pinn.problem import Problem
from pinn.problem.singularity import orders_of
from pinn.residuals import Boundary, Residual

# Ends of parts that are nearer to each other, as a share of the domain, are one place.
_SAME = 1e-5


def switches(problem: Problem) -> tuple[Corner, ...]:
    """Return the places of a domain in a plane where an unknown's values end and slopes begin."""
    domain = problem.domain
    if len(domain.space) != 2 or len(domain.coordinates) != 2:
        return ()
    found: list[np.ndarray] = []
    for unknown in problem.unknowns:
        values, slopes = (_ends(problem, unknown, order) for order in (0, 1))
        for place in values:
            near = np.abs(slopes - place).max(axis=1, initial=0.0) <= _SAME * domain.size
            known = any(np.abs(place - one).max() <= _SAME * domain.size for one in found)
            if near.any() and not known:
                found.append(place)
    corners = (corner_at(domain, place) for place in found)
    return tuple(one for one in corners if one is not None)


def _ends(problem: Problem, unknown: str, order: int) -> np.ndarray:
    """Return where conditions of an order on an unknown alone begin and end, (n, 2)."""
    ends = [
        ends_of(problem.domain, one.source.parts)
        for one in _on_walls(problem)
        if orders_of(one, problem.domain.space) == {unknown: order}
    ]
    return np.vstack([np.empty((0, 2)), *ends])


def _on_walls(problem: Problem) -> Iterator[Residual]:
    for own in problem.by_condition:
        yield from (one for one in own if isinstance(one.source, Boundary))
