"""Sums of derivatives with constant weights, taken together.

In `u_t + u*u_x - nu*u_xx` with a constant nu, u_t and u_xx are only ever needed as u_t - nu*u_xx.
A derivative that no other one is built from enters every rule of Taylor mode linearly, so such a
sum travels through the network as one channel instead of one a term (autograd.jets.channels).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from pinn.equations.leaves import Combination, Constant, Derivative, Laplacian, derivatives_in
from pinn.equations.scope import Scope
from pinn.expressions import (
    FLOAT_FUNCTIONS,
    Binary,
    Expression,
    ExpressionError,
    Number,
    Unary,
    evaluate_leaves,
    fold,
)
from pinn.expressions.algebra import origin


def combine(tree: Expression, scope: Scope, dtype: np.dtype) -> Expression:
    """Return an equal tree whose top-level sums of derivatives are `Combination` leaves.

    Only derivatives with constant weights that appear nowhere else in the tree are taken, and only
    together where a sum of them is as good in the dtype as its terms: see `_alike`.
    """
    varying = _varying(tree)
    linear = [
        (sign, node, _weighted(node, scope.constants, varying)) for sign, node in _summands(tree)
    ]
    elsewhere = {
        leaf
        for _, node, weighted in linear
        if weighted is None
        for leaf in derivatives_in(node)
    }
    sums: dict[str, Counter[tuple[str, ...]]] = {}
    for sign, _, weighted in linear:
        if _taken(weighted, elsewhere):
            weight, leaf = weighted
            total = sums.setdefault(leaf.unknown, Counter())
            for names, factor in _terms(leaf, scope):
                total[names] += sign * weight * factor
    sums = {unknown: total for unknown, total in sums.items() if _alike(total.values(), dtype)}
    if not any(len(total) > 1 for total in sums.values()):
        return tree
    combined: Expression | None = None
    for unknown, total in sums.items():
        kept = tuple(
            (names, weight) for names, weight in sorted(total.items(), key=_by_order) if weight
        )
        if kept:
            leaf = Combination(unknown, kept, **origin(tree))
            combined = leaf if combined is None else Binary("+", combined, leaf, **origin(tree))
    for sign, node, weighted in linear:
        if _taken(weighted, elsewhere) and weighted[1].unknown in sums:
            continue
        if combined is None:
            combined = node if sign > 0 else Unary("-", node, **origin(node))
        else:
            combined = Binary("+" if sign > 0 else "-", combined, node, **origin(tree))
    return tree if combined is None else combined


_Weighted = tuple[float, Derivative | Laplacian]


def _taken(weighted: _Weighted | None, elsewhere: set[Expression]) -> bool:
    """Return whether a term is a weighted derivative that is needed for nothing else."""
    return weighted is not None and weighted[1] not in elsewhere and weighted[1].order > 0


def _alike(weights: Iterable[float], dtype: np.dtype) -> bool:
    """Return whether weights are near enough to each other for one channel to carry their sum.

    The channel is divided by one of the weights (JetPlan.channel), so its terms are as much larger
    or smaller than the derivatives as the weights are apart. A third of the dtype's range of
    exponents for that leaves two thirds for the derivatives, and for their squares in the loss.
    """
    sizes = [abs(weight) for weight in weights if weight]
    if not all(map(math.isfinite, sizes)):
        return False
    return not sizes or max(sizes) / min(sizes) <= float(np.finfo(dtype).max) ** (1 / 3)


def _by_order(item: tuple[tuple[str, ...], float]) -> tuple[int, tuple[str, ...]]:
    return (len(item[0]), item[0])


def _terms(
    leaf: Derivative | Laplacian, scope: Scope
) -> Iterable[tuple[tuple[str, ...], float]]:
    return leaf.terms(scope.space) if isinstance(leaf, Laplacian) else [(leaf.coordinates, 1.0)]


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


def _varying(tree: Expression) -> set[Expression]:
    """Return the parts of a tree that are not made of numbers and constants alone."""
    found: set[Expression] = set()

    def rule(node: Expression, below: list[bool]) -> bool:
        varies = any(below) or not (node.children or isinstance(node, Number | Constant))
        if varies:
            found.add(node)
        return varies

    fold(tree, rule)
    return found


def _weighted(
    node: Expression, constants: Mapping[str, float], varying: set[Expression]
) -> _Weighted | None:
    """Read a term as a constant times a derivative; None for anything else."""
    weight = 1.0
    while not isinstance(node, Derivative | Laplacian):
        if isinstance(node, Unary):
            weight = -weight if node.operator == "-" else weight
            node = node.operand
            continue
        if not isinstance(node, Binary) or node.operator not in ("*", "/"):
            return None
        left, right = (
            None if side in varying else _constant(side, constants)
            for side in (node.left, node.right)
        )
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

    def leaf(part: Expression, *children: object) -> float:
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
