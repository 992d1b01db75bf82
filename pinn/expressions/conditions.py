"""What is true or false in an expression: comparisons, and what and, or, not make of them."""

from __future__ import annotations

from typing import Any

from pinn.expressions.language import COMPARISONS, EQUALITY, LOGICAL
from pinn.expressions.trees import Binary, Call, Expression, Number, Unary


def is_condition(node: Any) -> bool:
    """Return whether a tree is true or false rather than a number."""
    if isinstance(node, Binary):
        return node.operator in (*COMPARISONS, *LOGICAL, EQUALITY)
    return isinstance(node, Unary) and node.operator in LOGICAL


def as_number(node: Expression) -> Expression:
    """Return a tree as a number: 1 where a condition holds, 0 elsewhere."""
    if not is_condition(node):
        return node
    place = {"position": node.position, "source": node.source}
    return Call("where", (node, Number(1.0, **place), Number(0.0, **place)), **place)


def typed(node: Expression) -> Expression:
    """Return a node whose operands are numbers or conditions as it wants them.

    A condition where a number belongs is 1 or 0, and the product of two is both. Raises
    ExpressionError for a number where a condition belongs, and for one compared.
    """
    children = node.children
    if isinstance(node, Call) and node.function == "where":
        _check(node, children[:1], "the first argument of where")
        wanted = [children[0], *map(as_number, children[1:])]
    elif isinstance(node, Binary | Unary) and node.operator in LOGICAL:
        _check(node, children, f"what {node.operator!r} joins")
        return node
    elif isinstance(node, Binary) and node.operator == "*" and all(map(is_condition, children)):
        return Binary("and", *children, position=node.position, source=node.source)
    elif isinstance(node, Binary) and node.operator in COMPARISONS:
        for child in children:
            if is_condition(child):
                raise child.error("a comparison is compared; join two with and")
        return node
    else:
        wanted = [as_number(child) for child in children]
    return node.with_children(wanted)


def _check(node: Expression, operands: tuple[Expression, ...], what: str) -> None:
    for operand in operands:
        if not is_condition(operand):
            raise operand.error(f"{what} is a comparison: where(x < 0, -x, x)")
