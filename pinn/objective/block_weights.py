"""Weights of blocks as users give them: by name, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pinn.checks import nearest
from pinn.problem.problem import Problem
from pinn.schema.errors import at, refuse
from pinn.schema.kinds import Number


def check_weights(problem: Problem, weights: Mapping[str, float] | None) -> dict[str, float]:
    """Return a weight for every block, 1 where none is given.

    Raises ValueError for a name that is no block (with the nearest one) or a negative weight.
    """
    check_blocks(problem, weights or {})
    for name, weight in (weights or {}).items():
        with at(name):
            Number(low=0.0).check(weight)
    names = [residual.name for residual in problem.residuals]
    return {name: float((weights or {}).get(name, 1.0)) for name in names}


def check_blocks(problem: Problem, given: Iterable[str]) -> None:
    """Raise ValueError for a name that is no block of the problem, with the nearest one."""
    names = [residual.name for residual in problem.residuals]
    for name in given:
        if name not in names:
            refuse(
                f"expected a block out of {', '.join(names)}, got {name!r}{nearest(name, names)}",
                name,
            )
