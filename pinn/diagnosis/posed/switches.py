"""Where conditions change along a wall from values to slopes: solutions go like a root there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pinn.geometry import Part, Shape
from pinn.geometry.corners import Corner, corner_at, ends_of
from pinn.problem import Problem
from pinn.problem.singularity import orders_of
from pinn.residuals import Boundary, Residual

# Ends of parts that are nearer to each other, as a share of the domain, are one place.
_SAME = 1e-5


def switches(problem: Problem, together: bool = False) -> tuple[Corner, ...]:
    """Return the places of a domain in a plane where an unknown's values end and slopes begin.

    together: where values of all unknowns end, and as many conditions on slopes of any begin, as
    where an elastic plate is clamped up to there.
    """
    domain, found = problem.domain, np.empty((0, 2))
    if len(domain.space) != 2 or len(domain.coordinates) != 2:
        return ()
    every = problem.unknowns
    for group in [every] if together else [(unknown,) for unknown in every]:
        for place in _changes(problem, group):
            if not _is_among(place, found, domain):
                found = np.vstack([found, place])
    corners = (corner_at(domain, place) for place in found)
    return tuple(one for one in corners if one is not None)


def _changes(problem: Problem, group: Sequence[str]) -> Iterator[np.ndarray]:
    """Yield where values of each of some unknowns end, and as many conditions on slopes begin."""
    domain = problem.domain
    values = [_ends(problem, lambda orders, u=unknown: orders == {u: 0}) for unknown in group]
    slopes = _ends(
        problem, lambda orders: orders.keys() <= set(group) and max(orders.values(), default=0) == 1
    )

    def reaching(pairs: Sequence[_Ends], place: np.ndarray) -> list[_Ends]:
        return [one for one in pairs if _is_among(place, one.places, domain)]

    for place in (place for one in values[0] for place in one.places):
        held = [reaching(pairs, place) for pairs in values]
        parts = [one.part for pairs in held for one in pairs]
        begun = {one.what for one in reaching(slopes, place) if one.part not in parts}
        if all(held) and len(begun) >= len(group):
            yield place


def _is_among(place: np.ndarray, others: np.ndarray, domain: Shape) -> bool:
    if not len(others):
        return False
    return bool(np.abs(others - place).max(axis=1).min() <= _SAME * domain.size)


class _Ends(NamedTuple):
    """A part of the boundary on which a condition holds, and where it ends, (n, 2)."""

    what: str
    part: Part
    places: np.ndarray


def _ends(problem: Problem, is_meant: Callable[[Mapping[str, int]], bool]) -> list[_Ends]:
    """Return the parts on which conditions hold whose orders, by unknown, are meant."""
    return [
        _Ends(one.name, part, ends_of(problem.domain, [part]))
        for one in _on_walls(problem) if is_meant(orders_of(one, problem.domain.space))
        for part in one.source.parts
    ]  # fmt: skip


def _on_walls(problem: Problem) -> Iterator[Residual]:
    for own in problem.by_condition:
        yield from (one for one in own if isinstance(one.source, Boundary))
