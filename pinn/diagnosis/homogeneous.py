"""Problems that zero solves, so that nothing makes a solution other than zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pinn.diagnosis.linear import Leaf
from pinn.diagnosis.statement import Stated, Statement, statement_of
from pinn.diagnosis.systems import System, systems_of
from pinn.problem import Problem

# A field, of which nothing is asked here, has such values.
_OF_FIELDS = 0.5


def solved_by_zero(problem: Problem) -> list[str]:
    """Return what `homogeneous` says of a problem; nothing where that would take too long."""
    statement = statement_of(problem)
    return [] if statement is None else list(homogeneous(statement))


def homogeneous(statement: Statement) -> Iterator[str]:
    """Yield a sentence for each system of equations that zero solves, with all its conditions.

    Looked at are 2048 points of each equation and condition, at which the residual of zero has to
    vanish to the last bit. Nothing is said where a residual takes values from a network, or where
    there are no conditions.
    """
    for system in systems_of(statement):
        if system.conditions and _zero_solves(statement, system):
            several = len(system.unknowns) > 1
            yield (
                f"{' = '.join(system.unknowns)} = 0 solves the {system.named} and "
                f"{'all conditions' if several else f'all conditions on {system.unknowns[0]!r}'}, "
                "and nothing makes it other than zero: a homogeneous problem; where another "
                "solution is meant, as a mode of vibration, add what tells how large it is, such "
                "as its value at a place"
            )


def _zero_solves(statement: Statement, system: System) -> bool:
    stated = (*system.equations, *system.conditions)
    return all(one.linear is not None for one in stated) and all(
        _vanishes(statement, one) for one in stated
    )


def _vanishes(statement: Statement, one: Stated) -> bool:
    unknowns: Sequence[str] = statement.problem.unknowns

    def values(leaf: Leaf, n: int) -> np.ndarray:
        return np.full(n, 0.0 if leaf.unknown in unknowns else _OF_FIELDS)

    with np.errstate(all="ignore"):
        return not np.any(statement.value_where(one, values, many=True))
