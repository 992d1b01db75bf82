"""An unknown, or an expression, at places, with its reference and which of them lie inside."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pinn.geometry import Shape
from pinn.problem import Problem
from pinn.problem.belonging import region_of

if TYPE_CHECKING:
    from pinn.solution.solution import Solution


class Sampled(NamedTuple):
    """An unknown at places; all arrays have the broadcast shape of these.

    values, reference: float64, nan outside; reference is None where there is none. inside: bool.
    contains: which of any points (n, d), in the order of the coordinates, lie inside, (n,).
    """

    values: np.ndarray
    reference: np.ndarray | None
    inside: np.ndarray
    contains: Callable[[np.ndarray], np.ndarray]


def sampled(solution: Solution, unknown: str, places: Mapping[str, np.ndarray]) -> Sampled:
    """Return an unknown, field or quantity, or an expression of them, at places of its domain.

    places: an array or a number for each coordinate that it depends on; they broadcast. A reference
    that is a table is what lies between its points (pinn.Table.between); an expression has none.
    Inside is the domain or, where some of the places lie there, the part of it that all equations
    of the unknown hold in; of an expression what one of its unknowns has.
    """
    domain = solution.domain_of(unknown)
    names = domain.coordinates
    arrays = np.broadcast_arrays(*(np.asarray(places[n], dtype=np.float64) for n in names))
    points = np.stack([array.reshape(-1) for array in arrays], axis=1)
    inside = lies_inside(solution.problem, domain, points)
    region = _region(solution, unknown, names)
    held_back = region is not None and (inside & region(points)).any()
    if held_back:
        inside &= region(points)

    def contains(others: np.ndarray) -> np.ndarray:
        found = lies_inside(solution.problem, domain, others)
        return found & region(others) if held_back else found

    if not inside.any():
        inside = inside.reshape(arrays[0].shape)
        return Sampled(np.full(inside.shape, np.nan), None, inside, contains)
    there = dict(zip(names, points[inside].T, strict=True))
    if unknown in solution.problem.solved:
        values = solution.evaluate_anywhere(**there)[unknown]
        exact = _exact(solution, unknown, there)
    else:
        values, exact = solution.derivative_anywhere(unknown, **there), None

    def whole(values: np.ndarray) -> np.ndarray:
        found = np.full(len(points), np.nan)
        found[inside] = values
        return found.reshape(arrays[0].shape)

    return Sampled(
        whole(values),
        None if exact is None else whole(exact),
        inside.reshape(arrays[0].shape),
        contains,
    )


def lies_inside(problem: Problem, domain: Shape, points: np.ndarray) -> np.ndarray:
    """Return which points lie in a domain of a problem's, whatever functions are, (n,) of bool."""
    drawn = [j for j, name in enumerate(domain.coordinates) if name in problem.mode_names]
    if drawn:
        points = points.copy()
        points[:, drawn] = [domain.bounds[domain.coordinates[j]][0] for j in drawn]
    return domain.contains(points)


def _exact(solution: Solution, unknown: str, places: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return the reference of an unknown at places, (n,) each; None where there is none."""
    table = solution.problem.reference_tables.get(unknown)
    if table is not None:
        return table.between(np.stack([places[name] for name in table.over], axis=1))
    anywhere = dict.fromkeys(solution.problem.domain.coordinates, np.array(math.nan))
    return (solution.problem.exact({**anywhere, **places}) or {}).get(unknown)


def _region(
    solution: Solution, unknown: str, names: Sequence[str]
) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return what tells which points one of the unknowns belongs to; None for all."""
    regions = [region_of(solution.problem, one, names) for one in solution.made_of(unknown)]
    if not regions or None in regions:
        return None
    return lambda points: np.logical_or.reduce([region(points) for region in regions])
