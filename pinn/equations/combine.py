"""Sums of derivatives with constant weights, taken together.

In `u_t + u*u_x - nu*u_xx` with a constant nu, u_t and u_xx are only ever needed as u_t - nu*u_xx.
A derivative that no other one is built from enters every rule of Taylor mode linearly, so such a
sum travels through the network as one channel instead of one a term (autograd.jets.channels).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from pinn.equations.leaves import Constant, Derivative, Laplacian, derivatives_in
from pinn.expressions import (
    FLOAT_FUNCTIONS,
    Binary,
    Expression,
    ExpressionError,
    Number,
    Unary,
    evaluate_leaves,
)


@dataclass(frozen=True, eq=False, repr=False)
class Combination(Expression):
    """A weighted sum of derivatives of one unknown: terms `(coordinates, weight)`."""

    unknown: str
    terms: tuple[tuple[tuple[str, ...], float], ...]

    @property
    def label(self) -> tuple:
        return (self.unknown, self.terms)

    def text(self) -> str:
        parts = [f"{weight:g}*{Derivative(self.unknown, names)}" for names, weight in self.terms]
        return "(" + " + ".join(parts) + ")"


def laplacian_terms(
    leaf: Laplacian, space: Sequence[str]
) -> tuple[tuple[tuple[str, ...], float], ...]:
    """Return the derivatives that a Laplacian is the sum of, with their weights."""
    counts: Counter[tuple[str, ...]] = Counter()
    for names in product(space, repeat=leaf.times):
        in_order = sorted(names, key=list(space).index)
        counts[tuple(name for name in in_order for _ in range(2))] += 1
    return tuple((names, float(count)) for names, count in counts.items())


def combine(
    tree: Expression, constants: Mapping[str, float], space: Sequence[str]
) -> Expression:
    """Return an equal tree whose top-level sums of derivatives are `Combination` leaves.

    Only derivatives with constant weights that appear nowhere else in the tree are taken.
    """
    terms = _summands(tree)
    linear = [(sign, node, _weighted(node, constants)) for sign, node in terms]
    elsewhere = {
        leaf
        for _, node, weighted in linear
        if weighted is None
        for leaf in derivatives_in(node)
    }
    sums: dict[str, Counter] = {}
    members: dict[str, int] = Counter()
    rest: list[tuple[float, Expression]] = []
    for sign, node, weighted in linear:
        if weighted is None or weighted[1] in elsewhere or _order(weighted[1]) == 0:
            rest.append((sign, node))
            continue
        weight, leaf = weighted
        total = sums.setdefault(leaf.unknown, Counter())
        members[leaf.unknown] += 1
        for names, factor in _terms_of(leaf, space):
            total[names] += sign * weight * factor
    if not any(len(total) > 1 for total in sums.values()):
        return tree
    combined: Expression | None = None
    for unknown, total in sums.items():
        kept = tuple(
            (names, weight) for names, weight in sorted(total.items(), key=_by_order) if weight
        )
        if kept:
            leaf = Combination(unknown, kept, position=tree.position, source=tree.source)
            combined = leaf if combined is None else _joined("+", combined, leaf, tree)
    for sign, node in rest:
        if combined is None:
            combined = node if sign > 0 else Unary("-", node, position=node.position,
                                                   source=node.source)
        else:
            combined = _joined("+" if sign > 0 else "-", combined, node, tree)
    return tree if combined is None else combined


def _by_order(item: tuple[tuple[str, ...], float]) -> tuple[int, tuple[str, ...]]:
    return (len(item[0]), item[0])


def _joined(operator: str, left: Expression, right: Expression, at: Expression) -> Expression:
    return Binary(operator, left, right, position=at.position, source=at.source)


def _order(leaf: Derivative | Laplacian) -> int:
    return 2 * leaf.times if isinstance(leaf, Laplacian) else leaf.order


def _terms_of(
    leaf: Derivative | Laplacian, space: Sequence[str]
) -> tuple[tuple[tuple[str, ...], float], ...]:
    if isinstance(leaf, Laplacian):
        return laplacian_terms(leaf, space)
    return ((leaf.coordinates, 1.0),)


def _summands(tree: Expression) -> list[tuple[float, Expression]]:
    """Return the signed terms of the outermost sum, in order."""
    found: list[tuple[float, Expression]] = []
    stack = [(1.0, tree)]
    while stack:
        sign, node = stack.pop()
        if isinstance(node, Binary) and node.operator in "+-" and len(node.operator) == 1:
            stack.append((sign if node.operator == "+" else -sign, node.right))
            stack.append((sign, node.left))
        elif isinstance(node, Unary):
            stack.append((sign if node.operator == "+" else -sign, node.operand))
        else:
            found.append((sign, node))
    return found


def _weighted(
    node: Expression, constants: Mapping[str, float]
) -> tuple[float, Derivative | Laplacian] | None:
    """Read a term as a constant times a derivative; None for anything else."""
    weight = 1.0
    while not isinstance(node, Derivative | Laplacian):
        if isinstance(node, Unary):
            weight = -weight if node.operator == "-" else weight
            node = node.operand
            continue
        if not isinstance(node, Binary) or node.operator not in ("*", "/"):
            return None
        left, right = _constant(node.left, constants), _constant(node.right, constants)
        if right is not None and (node.operator == "*" or right != 0):
            weight = weight * right if node.operator == "*" else weight / right
            node = node.left
        elif left is not None and node.operator == "*":
            weight *= left
            node = node.right
        else:
            return None
    return weight, node


def _constant(node: Expression, constants: Mapping[str, float]) -> float | None:
    """Return the value of a part made of numbers and constants, or None."""

    class _NotConstant(Exception):
        pass

    def leaf(part: Expression) -> float:
        if isinstance(part, Constant):
            return constants[part.name]
        raise _NotConstant

    if isinstance(node, Number):
        return node.value
    try:
        value = evaluate_leaves(node, leaf, FLOAT_FUNCTIONS)
    except (_NotConstant, ExpressionError):
        return None
    return float(value) if isinstance(value, int | float) else None
