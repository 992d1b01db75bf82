"""Equations that what is given at the start of time breaks, such as div u = 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from pinn.diagnosis.posed.formulas import Formulas, formula_of
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.equations.leaves import Derivative, parts_of
from pinn.residuals import Start, Within
from pinn.sampling import Points

# Beside the terms of an equation: above what starts with a few digits leave, as of a shooting.
_BROKEN = 1e-2

Given = Mapping[tuple[str, int], Stated]
"""The condition that gives an unknown's derivative of an order in time at the start."""


class StartOf(NamedTuple):
    """What an equation is at the start, (n,), the size of its terms, and what gives its leaves."""

    value: np.ndarray
    size: float
    points: np.ndarray
    conditions: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return bool(np.abs(self.value).max() <= _BROKEN * self.size)


def starts(statement: Statement) -> Iterator[str]:
    """Yield a sentence for each equation that does not hold at the start of time.

    That is told of those all of whose leaves conditions give there by formulas: no derivative in
    time, as in div u = 0, or one that is given as well.
    """
    time = statement.problem.domain.time
    for equation in statement.equations:
        found = start_of(statement, equation)
        if found is None or found.holds:
            continue
        worst = int(np.abs(found.value).argmax())
        several = len(found.conditions) > 1
        low = statement.problem.domain.bounds[time][0]
        yield (
            f"{', '.join(found.conditions)} break{'' if several else 's'} the equation "
            f"{equation.name!r}, which holds at the start as well: at "
            f"{statement.place(found.points[worst])} its two sides are "
            f"{abs(found.value[worst]):.4g} apart, and no solution has "
            f"{'all of them' if several else 'both'}; let what is given at {time} = {low:g} "
            "satisfy it"
        )


def start_of(statement: Statement, equation: Stated) -> StartOf | None:
    """Return an equation where its unknowns have the values given at the start; None if unknown."""
    time = statement.problem.domain.time
    if time is None or not equation.is_finite or not equation.leaves:
        return None
    given = _given(statement, time)
    asked = [
        (leaf.unknown, names.count(time))
        for leaf in equation.leaves for names, _ in parts_of(leaf, statement.problem.domain.space)
    ]  # fmt: skip
    if equation.linear[0].coefficients or any(one not in given for one in asked):
        return None
    points = _at_start(statement, equation, time)
    if not len(points):
        return None
    formulas = {key: formula_of(one) for key, one in given.items()}
    values = Formulas(statement, formulas, points, time)
    there = statement.linear_where(equation, values, points=points)
    if not there.is_finite or any(slope.ndim > 1 for slope in there.slopes.values()):
        return None
    terms = [np.abs(there.slopes[leaf] * there.leaves[leaf]) for leaf in there.slopes]
    size = np.sum([*terms, np.abs(there.rest)], axis=0).max()
    names = tuple(dict.fromkeys(given[one].name for one in asked))
    return StartOf(there.value, float(size), points.coordinates, names)


def _given(statement: Statement, time: str) -> Given:
    """Return what is given once at the start by a formula that asks for no coefficient."""
    found: dict[tuple[str, int], list[Stated]] = {}
    for one in statement.conditions:
        left = one.residual.left.tree
        if isinstance(one.residual.source, Start) and isinstance(left, Derivative):
            if set(left.coordinates) <= {time}:
                found.setdefault((left.unknown, left.order), []).append(one)
    return {
        key: one for key, (one, *others) in found.items()
        if not others and formula_of(one) is not None
    }  # fmt: skip


def _at_start(statement: Statement, equation: Stated, time: str) -> Points:
    array = equation.points.coordinates.copy()
    array[:, statement.coordinates.index(time)] = statement.problem.domain.bounds[time][0]
    source = equation.residual.source
    if isinstance(source, Within):
        array = array[source.region(array)]
    return Points(array)
