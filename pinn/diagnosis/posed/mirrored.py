"""Conditions in the middle of a domain that its symmetry brings about, as u_x = 0 there."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.diagnosis.posed.systems import System
from pinn.equations.leaves import At, parts_of
from pinn.equations.names import normal_name
from pinn.sampling import Points, stream

# Numbers are the same below this share of their size, and places of the domain's width.
_ROUNDING = 1e-9
# With more unknowns there are too many ways to be even or odd.
_MOST = 4

Parities = Mapping[str, int]
"""1 for an unknown that is even about the middle, -1 for one that is odd."""


def is_of_symmetry(
    statement: Statement, system: System, condition: Stated, coordinate: str
) -> bool:
    """Return whether a condition in the middle of a coordinate holds by the problem's symmetry.

    That is so where all equations and conditions are the same, or their negatives, mirrored at the
    middle, with each unknown even or odd, and all that the condition asks for is odd: a slope
    u_x = 0, or the value of an odd unknown.
    """
    low, high = statement.problem.domain.bounds[coordinate]
    column = statement.coordinates.index(coordinate)
    places = condition.points.coordinates[:, column]
    if np.abs(2 * places - low - high).max() > _ROUNDING * (high - low):
        return False
    others = [one for one in system.conditions if one is not condition]
    everything = [*system.equations, *others, condition]
    if len(system.unknowns) > _MOST or any(
        not one.is_finite or one.residual.whole or any(isinstance(leaf, At) for leaf in one.leaves)
        for one in everything
    ):
        return False
    return any(
        _is_odd(statement, condition, parities, coordinate)
        and all(_repeats(statement, one, one, parities, coordinate) for one in system.equations)
        and all(_has_twin(statement, one, others, parities, coordinate) for one in others)
        for signs in product((1, -1), repeat=len(system.unknowns))
        for parities in [dict(zip(system.unknowns, signs, strict=True))]
    )


def _is_odd(
    statement: Statement, condition: Stated, parities: Parities, coordinate: str
) -> bool:
    """Return whether a condition asks for odd leaves alone, and holds where they vanish."""
    if any(_parity(statement, leaf, parities, coordinate) > 0 for leaf in condition.leaves):
        return False
    return not np.any(statement.value_where(condition, lambda leaf, n: np.zeros(n)))


def _parity(statement: Statement, leaf: Leaf, parities: Parities, coordinate: str) -> int:
    ((names, _), *_) = parts_of(leaf, statement.problem.domain.space)
    return parities.get(leaf.unknown, 1) * (-1) ** names.count(coordinate)


def _has_twin(
    statement: Statement, one: Stated, others: list[Stated], parities: Parities, coordinate: str
) -> bool:
    """Return whether what a condition asks for is asked for on the other side as well."""
    low, high = statement.problem.domain.bounds[coordinate]
    at = {plane.value for plane in one.planes if plane.coordinate == coordinate}
    if not at:  # across other coordinates it is on both sides
        return _repeats(statement, one, one, parities, coordinate)
    return all(
        any(
            any(plane.coordinate == coordinate and np.isclose(plane.value, low + high - value)
                for plane in twin.planes)
            and _repeats(statement, one, twin, parities, coordinate, value)
            for twin in others
        )
        for value in at
    )  # fmt: skip


def _repeats(
    statement: Statement,
    one: Stated,
    twin: Stated,
    parities: Parities,
    coordinate: str,
    value: float | None = None,
) -> bool:
    """Return whether a residual has another's values, or their negatives, at mirrored points.

    value: the plane across the coordinate that is looked at; None for all points.
    """
    column = statement.coordinates.index(coordinate)
    low, high = statement.problem.domain.bounds[coordinate]
    places = one.points.coordinates[:, column]
    rows = np.ones(len(places), bool) if value is None else np.isclose(places, value)
    here = Points(
        one.points.coordinates[rows],
        {name: numbers[rows] for name, numbers in one.points.columns.items()},
    )
    there = here.coordinates.copy()
    there[:, column] = low + high - there[:, column]
    columns = dict(here.columns)
    if normal_name(coordinate) in columns:
        columns[normal_name(coordinate)] = -columns[normal_name(coordinate)]
    if set(columns) != set(twin.points.columns):
        return False

    def values(leaf: Leaf, n: int) -> np.ndarray:
        return stream(0, "mirrored", str(leaf)).uniform(0.2, 0.9, n)

    def mirrored(leaf: Leaf, n: int) -> np.ndarray:
        return _parity(statement, leaf, parities, coordinate) * values(leaf, n)

    first = statement.value_where(one, values, points=here)
    second = statement.value_where(twin, mirrored, points=Points(there, columns))
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return False
    least = _ROUNDING * max(np.abs(first).max(), np.abs(second).max())
    return bool(min(np.abs(first - second).max(), np.abs(first + second).max()) <= least)
