"""Values held at single points: u = F + sum_j (g_j - F(P_j)) W_j, F the formula of all other data.

W_j is 1 at P_j, and 0 at the other points and, to the order that is held there, wherever something
else holds: with B the function that vanishes there and |x| in widths of the domain,

    W_j = B / B(P_j) * S_j,   S_j = s_j / sum_i s_i,   s_j = product of |x - P_i|^2 with i != j

(Shepard, Proc. 23rd ACM Nat. Conf., 1968). F(P_j) has the network's output at P_j in it. Nothing is
left out: of any u with these values F = u is one way to write it. A factor |x - P| before the
network would leave a kink at P, and |x - P|^2 no slope there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from pinn.conditions.hard.data import Data
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.leaves import Coordinate
from pinn.equations.resolve import evaluate_resolved
from pinn.expressions import Expression
from pinn.expressions.algebra import add, divide, multiply, number, subtract
from pinn.geometry import Shape

Held = Callable[[Expression, Mapping[str, float]], Expression]

# Nearer to what else is held, as a share of the domain, W would be large elsewhere.
_APART = 1e-3


@dataclass(frozen=True)
class Pinned:
    """The value of one hard condition at one point.

    place: coordinate -> number, of all but families. tree: the value there.
    """

    condition: str
    place: Mapping[str, float]
    tree: Expression

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value:g}" for name, value in self.place.items())


def with_points(
    domain: Shape,
    tree: Expression,
    points: Sequence[Pinned],
    vanishing: Expression,
    data: Sequence[Data],
    held: Held,
) -> Expression:
    """Return the tree of u with its points held as well.

    vanishing: B, of size one. Raises ValueError, naming the conditions, for a point where, or next
    to where, something else holds.
    """
    there = [_at(vanishing, point.place) for point in points]
    for point, size in zip(points, there, strict=True):
        if not abs(size) > _APART:
            _refuse(point, [item.condition for item in data])
    shares = _shares(domain, points)
    formula = tree
    for point, size, share in zip(points, there, shares, strict=True):
        weight = multiply(multiply(number(1 / size), vanishing), share)
        missing = subtract(point.tree, held(formula, point.place))
        tree = add(tree, multiply(missing, weight))
    return tree


def _shares(domain: Shape, points: Sequence[Pinned]) -> list[Expression]:
    """Return S_j for each point."""
    squares = [_square(domain, point) for point in points]
    for j, point in enumerate(points):
        for other, square in list(zip(points, squares, strict=True))[:j]:
            if _at(square, point.place) < _APART**2:
                _refuse(point, [other.condition])
    products = [
        reduce(multiply, [s for i, s in enumerate(squares) if i != j], number(1.0))
        for j in range(len(points))
    ]
    return [divide(one, reduce(add, products)) for one in products]


def _square(domain: Shape, point: Pinned) -> Expression:
    """Return |x - P|^2."""
    total = number(0.0)
    for name, value in point.place.items():
        low, high = domain.bounds[name]
        step = multiply(number(1 / (high - low)), subtract(Coordinate(name), number(value)))
        total = add(total, multiply(step, step))
    return total


def _at(tree: Expression, place: Mapping[str, float]) -> float:
    values = {Coordinate(name): np.float64(value) for name, value in place.items()}
    return float(evaluate_resolved(tree, values, NUMPY_FUNCTIONS))


def _refuse(point: Pinned, others: Sequence[str]) -> None:
    names = ", ".join(map(repr, dict.fromkeys(others)))
    raise ValueError(
        f"{point.condition!r} and {names} cannot both be hard: the point {point} lies where the "
        f"second holds, or next to it; leave out hard in {point.condition!r}, which is then "
        "trained, or leave it out altogether where the other gives its value"
    )
