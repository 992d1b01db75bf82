"""Derivatives across a jump: what they have there is left out, and with it a condition."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.equations.axes import Computed
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.jumps import Crossed
from pinn.equations.leaves import At, Column, ParameterRef, Supplied, UnknownLeaf
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.values import Values
from pinn.expressions import Call, Expression, abridge, algebra, nodes
from pinn.geometry.unit_cube import probes
from pinn.problem import Problem
from pinn.sampling import stream

# Lines along the coordinate, places on each, and halvings until two are neighbours.
_LINES, _PLACES, _HALVINGS = 64, 129, 60
# What two sides may differ by and be no jump, of the values a little further away.
_SAME = 1e-6


def jumps(problem: Problem) -> Iterator[str]:
    """Yield a sentence for each derivative of an expression that jumps within the domain.

    Looked at are lines along the derivative's coordinate. Where a part of the expression that
    depends on the place alone changes sides, the whole expression has one value on either side,
    with the same numbers for unknowns and their derivatives, or jumps.
    """
    told = set()
    for crossed in list(problem.scope.crossed):
        text = str(crossed.operator)
        if text in told or any(isinstance(n, Computed | Supplied) for n in nodes(crossed.operand)):
            continue
        place = _jump(problem, crossed)
        if place is not None:
            told.add(text)
            yield (
                f"{abridge(text)} is taken across a jump, at {place}: what the derivative has "
                "there beyond its two sides is left out, so that nothing keeps what is "
                "differentiated continuous; take an unknown and an equation for each side (on: a "
                "region) with an interface between, the most exact, or the flux as an unknown of "
                "its own (q - k*u_x and q_x)"
            )


def _jump(problem: Problem, crossed: Crossed) -> str | None:
    """Return a place where an operand jumps along its coordinate, as text; None where none was."""
    names = problem.domain.coordinates
    lines = problem.domain.from_unit(probes(_LINES, len(names)))
    lines = lines[~np.isnan(lines).any(axis=1)]
    low, high = problem.domain.bounds[crossed.coordinate]
    number = names.index(crossed.coordinate)
    places = low + (high - low) * (np.arange(_PLACES) + 0.5) / _PLACES
    points = np.repeat(lines[:, None], _PLACES, axis=1)
    points[..., number] = places
    inside = problem.domain.contains(points.reshape(-1, len(names))).reshape(points.shape[:2])
    for choice in crossed.choices:
        sides = _side(problem, choice, points.reshape(-1, len(names))).reshape(points.shape[:2])
        change = (sides[:, 1:] != sides[:, :-1]) & inside[:, 1:] & inside[:, :-1]
        line, at = np.nonzero(change)
        before, after = points[line, at], points[line, at + 1]
        around = [np.abs(_values(problem, crossed.operand, where)) for where in (before, after)]
        side = sides[line, at]
        for _ in range(_HALVINGS):
            middle = before + (after - before) / 2
            same = _side(problem, choice, middle) == side
            before = np.where(same[:, None], middle, before)
            after = np.where(same[:, None], after, middle)
        one, other = (_values(problem, crossed.operand, where) for where in (before, after))
        apart = np.abs(one - other) > _SAME * np.maximum(*around)
        if apart.any():
            pairs = zip(names, after[int(apart.argmax())], strict=True)
            return ", ".join(f"{name} = {value:.4g}" for name, value in pairs)
    return None


def _side(problem: Problem, choice: Call, points: np.ndarray) -> np.ndarray:
    """Return a number that tells on which side of a choice points are, (points,)."""
    of_where = choice.function == "where"
    yes_no = (algebra.ONE, algebra.ZERO)
    tree = Call("where", (choice.arguments[0], *yes_no)) if of_where else choice
    return _values(problem, tree, points)


def _values(problem: Problem, tree: Expression, points: np.ndarray) -> np.ndarray:
    columns = dict(zip(problem.domain.coordinates, points.T, strict=True))
    with np.errstate(all="ignore"):
        found = evaluate_resolved(tree, _Fixed(columns, problem.constants), NUMPY_FUNCTIONS)
    return np.broadcast_to(np.asarray(found, dtype=float), (len(points),))


class _Fixed(Values):
    """`values[leaf]` with a number for all that is no function of the place.

    Unknowns have one value, and one for each derivative, whichever of them it is of.
    """

    def __getitem__(self, leaf: Expression) -> object:
        if isinstance(leaf, UnknownLeaf):
            inner = leaf.leaf if isinstance(leaf, At) else leaf
            return _number(str(getattr(inner, "coordinates", type(inner).__name__)))
        if isinstance(leaf, ParameterRef | Column):
            return _number(leaf.name)
        return super().__getitem__(leaf)

    def __contains__(self, leaf: object) -> bool:
        fixed = isinstance(leaf, UnknownLeaf | ParameterRef | Column)
        return fixed or super().__contains__(leaf)


def _number(name: str) -> float:
    return float(stream(0, "jumps", name).uniform(0.2, 0.9))
