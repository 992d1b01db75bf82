"""Conditions that a value, or a derivative, is the same at both ends of a coordinate."""

from __future__ import annotations

from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.diagnosis.posed.systems import System, of_unknowns, order_in
from pinn.equations.leaves import At


def period_order(condition: Stated, coordinate: str) -> int | None:
    """Return of which derivative a condition is a period along a coordinate; None for no period."""
    if len(condition.leaves) != 2:
        return None
    here, there = condition.leaves
    if not isinstance(there, At) or there.names != (coordinate,) or there.leaf != here:
        return None
    return here.order


def whole_period(statement: Statement, system: System, coordinate: str) -> str | None:
    """Return in words the period that is missing; None where no unknown or not all have one."""
    tied = {
        condition.leaves[0].unknown
        for condition in system.conditions
        if period_order(condition, coordinate) is not None
    }
    if tied != set(system.unknowns):
        return None
    order = max(
        order_in(statement, leaf, coordinate)
        for equation in system.equations
        for leaf in of_unknowns(statement, equation)
    )
    if order == 2:
        return "that of the slope (orders=2)"
    return f"those of all derivatives below order {order} (orders={order})"
