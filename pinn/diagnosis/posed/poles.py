"""Equations without a value at zero, where networks begin, and the value to begin at instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.sizes import level_of
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.equations.leaves import parts_of

# Values that nothing tells, and derivatives.
_OTHER = 0.5


class Beginning(NamedTuple):
    """The value that an unknown may begin at, the equation with none at zero, what gives it."""

    value: float
    equation: str
    by: str


def beginnings(statement: Statement) -> dict[str, Beginning]:
    """Return where to begin with the unknowns that are zero at a pole, or a root, of an equation.

    That is the mean of the values that soft conditions give, if the equation has a value and slopes
    there, as u_xx = 1/u^3 has at u = 1. Nothing for an unknown that is zero on the way to them:
    that conditions give values of both signs.
    """
    soft = {one.name for one in statement.problem.residuals}
    hard = {one.residual.gives for one in statement.conditions if one.name not in soft}
    given: dict[str, list[tuple[str, np.ndarray]]] = {}
    for condition in statement.conditions:
        found = level_of(condition) if condition.name in soft else None
        if found is not None and found[0] not in hard:
            given.setdefault(found[0], []).append((condition.name, found[1]))
    means = {}
    for name, levels in given.items():
        values = np.concatenate([values for _, values in levels])
        if np.isfinite(values).all() and np.ptp(np.sign(values)) == 0 and values[0]:
            means[name] = float(values.mean())
    beginning = {}
    for equation in statement.equations:
        asked = {leaf.unknown for leaf in equation.leaves} - set(beginning)
        for name in filter(asked.__contains__, means):
            at_zero = _has_value(statement, equation, {**means, name: 0.0})
            if not at_zero and _has_value(statement, equation, means):
                beginning[name] = Beginning(means[name], equation.name, given[name][0][0])
    return beginning


def _has_value(statement: Statement, equation: Stated, values: Mapping[str, float]) -> bool:
    space = statement.problem.domain.space

    def state(leaf: Leaf, n: int) -> np.ndarray:
        is_value = parts_of(leaf, space) == (((), 1.0),)
        return np.full(n, values.get(leaf.unknown, _OTHER) if is_value else _OTHER)

    return equation.linear is None or statement.linear_where(equation, state).is_finite
