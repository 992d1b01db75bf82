"""How many conditions the equations of a problem take in each coordinate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pinn.diagnosis.posed.linear import Linear
from pinn.diagnosis.posed.orders import conditions_taken
from pinn.diagnosis.posed.statement import Statement
from pinn.diagnosis.posed.systems import System, of_unknowns, order_in
from pinn.residuals import Boundary

# Slopes are the same below this share of their size.
_ROUNDING = 1e-9


def taken_by(
    statement: Statement, system: System, at_bounds: bool = True
) -> dict[str, int] | None:
    """Return how many conditions a system takes in each coordinate; None where unknown.

    at_bounds: as many as at the bounds too, where the order of a singular equation is lower.
    """
    if len(system.equations) != len(system.unknowns):
        return None
    if any(
        one.scattered and not isinstance(one.residual.source, Boundary)
        for one in system.conditions
    ):
        return None
    inside = [equation.linear for equation in system.equations]
    if not at_bounds:
        return {name: _order(statement, system, name, inside) for name in statement.coordinates}
    bounds = [statement.on_bounds(equation) for equation in system.equations]
    return {
        name: min(
            _order(statement, system, name, inside),
            _order(statement, system, name, [found[name] for found in bounds]),
        )
        for name in statement.coordinates
    }


def _order(
    statement: Statement,
    system: System,
    coordinate: str,
    equations: Sequence[tuple[Linear, ...] | None],
) -> int:
    """Return the lowest order that the equations have at some points.

    Where a coefficient vanishes or is not finite, that is lower, or 0: nothing is asked for.
    """
    if any(found is None or not all(one.is_finite for one in found) for found in equations):
        return 0
    rows = (0, len(equations[0][0].value) - 1)
    orders = [
        conditions_taken(
            [
                {leaf: float(slope[row]) for leaf, slope in found[state].slopes.items()}
                for found in equations
            ],
            system.unknowns,
            {coordinate: 1.0},
            statement.coordinates,
            statement.problem.domain.space,
        )
        for state in (0, 1)
        for row in rows
    ]
    return 0 if None in orders else min(orders)


def says_where(statement: Statement, system: System, coordinate: str) -> bool:
    """Whether the count holds whatever the directions in which information travels.

    First-order equations take a condition where a characteristic enters. With constant
    coefficients each enters through one bound; with others it may enter through both, or none.
    """
    orders = {
        leaf: order_in(statement, leaf, coordinate)
        for equation in system.equations
        for leaf in of_unknowns(statement, equation)
    }
    if max(orders.values()) > 1:
        return True
    slopes = [
        np.concatenate([state.slopes[leaf] for state in equation.linear])
        for equation in system.equations
        for leaf in of_unknowns(statement, equation)
        if orders[leaf] == 1
    ]
    return all(np.ptp(slope) <= _ROUNDING * np.abs(slope).max() for slope in slopes)
