"""Where what the text compares or subtracts changes its sign: there things happen that are known.

A comparison of the place with a number, t > 4, and a difference such as that in
exp(-(t - 5.37)**2/s) say in the text where something is, however narrow it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from pinn.equations.axes import Computed
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.jumps import is_of_place
from pinn.equations.leaves import At, Coordinate
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.values import Values
from pinn.expressions import Binary, Call, Expression, algebra, nodes
from pinn.expressions.conditions import as_number
from pinn.expressions.language import COMPARISONS

# Places along a coordinate at which a sign is looked at, and halvings until two are neighbours.
_PLACES, _HALVINGS = 2**11, 60
# What changes its sign more often is not narrow, but all over the place.
_MOST = 32
# How often the distance from a place that is known is halved.
CLOSER = 46
# So near to each other, as a share of what they are, places are told apart by rounding.
_ROUNDING = 1e-12


def values_of(
    tree: Expression, names: Sequence[str], points: np.ndarray, constants: Mapping[str, float]
) -> np.ndarray:
    """Return a function of the place, (n,), at points (n, d); a condition is 1 or 0."""
    columns = dict(zip(names, points.T, strict=True))
    with np.errstate(all="ignore"):
        found = evaluate_resolved(as_number(tree), Values(columns, constants), NUMPY_FUNCTIONS)
    return np.broadcast_to(np.asarray(found, dtype=np.float64), (len(points),))


def operands(node: Expression) -> tuple[Expression, ...]:
    """Return the operands that are taken at the same place: no integrand, no value elsewhere."""
    return () if isinstance(node, Computed | At) else node.children


def parts_in(tree: Expression) -> Iterator[Expression]:
    """Yield a tree and all that is in it at the same place."""
    rest = [tree]
    while rest:
        node = rest.pop()
        yield node
        rest += operands(node)


def switched(tree: Expression) -> list[Expression]:
    """Return what changes its sign where a tree jumps or has a kink, as far as that is known.

    That is, the difference of the sides of a comparison, of max and of min, and what sign and abs
    are of.
    """
    found = []
    for node in parts_in(tree):
        if not is_of_place(node):
            continue
        if isinstance(node, Binary) and node.operator in COMPARISONS:
            found.append(algebra.subtract(node.left, node.right))
        elif isinstance(node, Call) and node.function in ("max", "min"):
            found += [algebra.subtract(node.arguments[0], one) for one in node.arguments[1:]]
        elif isinstance(node, Call) and node.function in ("sign", "abs"):
            found.append(node.arguments[0])
    return list(dict.fromkeys(one for one in found if coordinates_of(one)))


def differences(tree: Expression) -> list[Expression]:
    """Return those, all differences and sums that a tree has, and its coordinates themselves."""
    found = [*switched(tree)]
    for node in parts_in(tree):
        of_sum = isinstance(node, Binary) and node.operator in ("+", "-")
        if (of_sum or isinstance(node, Coordinate)) and is_of_place(node):
            found.append(node)
    return list(dict.fromkeys(one for one in found if coordinates_of(one)))


def coordinates_of(tree: Expression) -> tuple[str, ...]:
    """Return the names of the coordinates that a tree depends on."""
    return tuple(dict.fromkeys(one.name for one in nodes(tree) if isinstance(one, Coordinate)))


def crossings(
    trees: Iterable[Expression],
    name: str,
    bounds: tuple[float, float],
    constants: Mapping[str, float],
) -> np.ndarray:
    """Return where functions of one coordinate alone change their signs between its bounds, sorted.

    Looked at are even places and, once a place is known, others around it, ever closer: of
    abs(t - 4) < 1e-6 the 4 is found first.
    """
    low, high = bounds
    mine = [tree for tree in trees if coordinates_of(tree) == (name,)]
    found = np.empty(0)
    for _ in range(2):
        places = graded(bounds, found, _PLACES)
        roots = [_of_one(tree, name, places, constants) for tree in mine]
        found = np.unique(np.concatenate([np.empty(0), *(r for r in roots if len(r) <= _MOST)]))
    return found[(found > low) & (found < high)]


def graded(bounds: tuple[float, float], around: np.ndarray, count: int) -> np.ndarray:
    """Return places between bounds, sorted, both included: even ones, and others around some.

    Around each of these and the bounds they are ever closer, by quarters.
    """
    low, high = bounds
    steps = (high - low) * 0.5 ** np.arange(1, CLOSER, 2)
    steps = steps[steps > _ROUNDING * max(abs(low), abs(high))]
    centres = np.concatenate([[low, high], around])
    near = (centres[:, None] + np.concatenate([-steps, [0.0], steps])).ravel()
    every = np.concatenate([np.linspace(low, high, count), near])
    return np.unique(every[(every >= low) & (every <= high)])


def _of_one(
    tree: Expression, name: str, places: np.ndarray, constants: Mapping[str, float]
) -> np.ndarray:
    signs = np.sign(values_of(tree, (name,), places[:, None], constants))
    changes = np.flatnonzero(signs[1:] * signs[:-1] < 0)
    zeros = places[signs == 0]
    if len(changes) + len(zeros) > _MOST:
        return np.concatenate([places[changes], zeros])
    before, after = places[changes], places[changes + 1]
    if not len(changes):
        return zeros
    for _ in range(_HALVINGS):
        middle = before + (after - before) / 2
        same = np.sign(values_of(tree, (name,), middle[:, None], constants)) == signs[changes]
        before, after = np.where(same, middle, before), np.where(same, after, middle)
    return np.concatenate([after, zeros])
