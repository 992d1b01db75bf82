"""Problems that zero solves, so that nothing makes a solution other than zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.statement import Stated, Statement, statement_of
from pinn.diagnosis.posed.systems import System, systems_of
from pinn.equations.leaves import Derivative, parts_of
from pinn.problem import Problem
from pinn.residuals import narrow
from pinn.sampling import Points

# A field, of which nothing is asked here, has such values.
_OF_FIELDS = 0.5


def solved_by_zero(problem: Problem) -> list[str]:
    """Return what `homogeneous` says of a problem; nothing where that would take too long."""
    statement = statement_of(problem)
    return [] if statement is None else list(homogeneous(statement))


def homogeneous(statement: Statement) -> Iterator[str]:
    """Yield a sentence for each system of equations that zero solves, with all its conditions.

    Looked at are 2048 points of each equation and condition, and others where its text says that
    something is (pinn.residuals.narrow); the residual of zero has to vanish there to the last bit.
    Nothing is said where a residual takes values from a network, or where
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


def branching(statement: Statement) -> Iterator[str]:
    """Yield a sentence for each nonlinear equation that zero solves, and others beside it.

    Of c laplacian(u) + f(u) = 0 in space alone, f(0) = 0, others branch off zero where f'(0)/c is
    an eigenvalue of -laplacian: on a box whose edges have u = 0 the first is the sum of (pi/L)^2.
    Above it zero is a solution, and hardly the one that is meant.
    """
    problem = statement.problem
    if problem.domain.time is not None:
        return
    for system in systems_of(statement):
        if len(system.equations) != 1 or len(system.unknowns) != 1 or not system.conditions:
            continue
        if not _zero_solves(statement, system) or not _is_held(system):
            continue
        (equation,), (unknown,) = system.equations, system.unknowns
        ratio = _reaction(statement, equation)
        lowest = sum((np.pi / (high - low)) ** 2 for low, high in problem.domain.bounds.values())
        if ratio is not None and ratio > lowest:
            yield (
                f"{unknown} = 0 solves the equation {equation.name!r} and all conditions, and "
                f"other solutions branch off it: beside it the equation is that of waves, whose "
                f"{ratio:.3g} is above the {lowest:.3g} of the longest one that the domain holds; "
                "which one training finds is chance; where another than zero is meant, begin near "
                "it (start=), or add what tells it apart, such as its value at a place"
            )


def _is_held(system: System) -> bool:
    """Return whether the conditions are on values alone, as those of a mode with u = 0 around."""
    (unknown,) = system.unknowns
    return all(one.leaves == (Derivative(unknown),) for one in system.conditions)


def _reaction(statement: Statement, equation: Stated) -> float | None:
    """Return f'(0)/c of an equation c laplacian(u) + f(u) = 0 that is not linear; None of others.

    The least of it, where it depends on the place.
    """
    here = statement.linear_where(equation, lambda leaf, n: np.zeros(n))
    space, unknowns = statement.problem.domain.space, {leaf.unknown for leaf in here.leaves}
    if len(unknowns) != 1:
        return None
    (unknown,) = unknowns
    value = here.slopes.get(Derivative(unknown))
    if value is None or not here.is_finite or not equation.is_finite or here.coefficients:
        return None
    seconds: dict[tuple[str, ...], np.ndarray] = {}
    for leaf in here.leaves:
        for names, count in () if leaf == Derivative(unknown) else parts_of(leaf, space):
            seconds[names] = seconds.get(names, 0.0) + count * here.slopes[leaf]
    every = {names for names, slope in seconds.items() if np.any(slope)}
    if every != {(name, name) for name in space}:
        return None
    factor = next(iter(seconds.values()))
    if not all(np.allclose(one, factor[0]) for one in seconds.values()):
        return None
    if all(np.allclose(one.slopes[Derivative(unknown)], value) for one in equation.linear):
        return None
    return float((value / factor).min())


def _zero_solves(statement: Statement, system: System) -> bool:
    stated = (*system.equations, *system.conditions)
    return all(one.linear is not None for one in stated) and all(
        vanishes_at_zero(statement, one) for one in stated
    )


def vanishes_at_zero(statement: Statement, one: Stated) -> bool:
    """Return whether a residual of which all is known vanishes where all unknowns are zero."""
    unknowns: Sequence[str] = statement.problem.unknowns

    def values(leaf: Leaf, n: int) -> np.ndarray:
        return np.full(n, 0.0 if leaf.unknown in unknowns else _OF_FIELDS)

    small = [Points(of.points) for of in narrow(one.residual, statement.problem.constants)]
    with np.errstate(all="ignore"):
        return not np.any(statement.value_where(one, values, many=True)) and not any(
            np.any(statement.value_where(one, values, points=points)) for points in small
        )
