"""Arithmetic on expression trees, and trees with some of their coordinates held at a number.

A tree on a face or in a corner is mostly numbers, so sums with 0 and products with 0 or 1 are
worked out: what vanishes there costs nothing later.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pinn.equations.leaves import Constant, Coordinate
from pinn.expressions import (
    Binary,
    Call,
    Expression,
    ExpressionError,
    Number,
    Unary,
    evaluate,
    fold,
)
from pinn.expressions.algebra import literal

_COMPARISONS = ("<", "<=", ">", ">=")
_PERIODIC = ("sin", "cos", "tan")
_MOST_FACTORS = 16


@dataclass(frozen=True, eq=False, repr=False)
class Given(Expression):
    """The function of a condition, with the coordinates `fixed` held at their numbers."""

    condition: str
    fixed: tuple[tuple[str, float], ...] = ()

    @property
    def label(self) -> tuple[str, tuple[tuple[str, float], ...]]:
        return (self.condition, self.fixed)

    def text(self) -> str:
        return f"{self.condition}({', '.join(f'{n}={v:g}' for n, v in self.fixed)})"


@dataclass(frozen=True, eq=False, repr=False)
class Network(Expression):
    """The output of the network for one unknown."""

    @property
    def label(self) -> tuple[()]:
        return ()

    def text(self) -> str:
        return "N"


def number(value: float) -> Expression:
    """Return a number as a tree."""
    return Unary("-", Number(-value)) if value < 0 else Number(abs(value))


def plus(a: Expression, b: Expression) -> Expression:
    """Return a + b."""
    return simplified(Binary("+", a, b))


def minus(a: Expression, b: Expression) -> Expression:
    """Return a - b."""
    return simplified(Binary("-", a, b))


def times(a: Expression, b: Expression) -> Expression:
    """Return a * b."""
    return simplified(Binary("*", a, b))


def over(a: Expression, b: Expression) -> Expression:
    """Return a / b."""
    return simplified(Binary("/", a, b))


def freeze(
    tree: Expression,
    place: Mapping[str, float],
    constants: Mapping[str, float],
    given: Callable[[Given], Expression],
) -> Expression:
    """Return a resolved tree with the coordinates of `place` and all constants as numbers.

    given(leaf) has the last word on a function that is held at the place, and may return a number.
    A part that has no value there (1/x at x = 0) stays as it is: a `where` may not choose it.
    """

    def combine(node: Expression, children: list[Expression]) -> Expression:
        if isinstance(node, Coordinate):
            return number(place[node.name]) if node.name in place else node
        if isinstance(node, Constant):
            return number(constants[node.name])
        if isinstance(node, Given):
            fixed = dict(node.fixed) | dict(place)
            return given(Given(node.condition, tuple(sorted(fixed.items()))))
        return simplified(node.with_children(children)) if children else node

    return fold(tree, combine)


def simplified(node: Expression) -> Expression:
    """Return an equal node, simpler where its operands are numbers or alike."""
    values = [literal(child) for child in node.children]
    if isinstance(node, Binary) and node.operator in _COMPARISONS:
        return node
    if isinstance(node, Call) and node.function == "where":
        return _chosen(node)
    if None not in values:
        return _computed(node, values)
    if isinstance(node, Unary):
        return _signed(node)
    return _without_neutral(node, *values) if isinstance(node, Binary) else node


def _computed(node: Expression, values: list[float]) -> Expression:
    if isinstance(node, Unary) and node.operator == "-" and isinstance(node.operand, Number):
        return node if values[0] else node.operand
    try:
        value = evaluate(node, {})
    except ExpressionError:
        return node
    if isinstance(node, Call) and node.function in _PERIODIC:
        # sin(pi) is 1.2e-16 only because pi is rounded: an argument known to a relative eps gives
        # a result known to eps * argument, and below that it is zero.
        if abs(value) <= sys.float_info.epsilon * abs(values[0]):
            value = 0.0
    return number(value)


def _signed(node: Unary) -> Expression:
    inner = node.operand
    if node.operator == "+":
        return inner
    return inner.operand if isinstance(inner, Unary) and inner.operator == "-" else node


def _chosen(node: Call) -> Expression:
    condition, yes, no = node.arguments
    if yes == no:
        return yes
    if None in (literal(child) for child in condition.children):
        return node
    return yes if evaluate(Call("where", (condition, Number(1), Number(0))), {}) else no


def _without_neutral(node: Binary, left: float | None, right: float | None) -> Expression:
    a, b = node.children
    match node.operator:
        case "+" if left == 0:
            return b
        case "+" | "-" if right == 0:
            return a
        case "+" if right is not None and right < 0:
            return Binary("-", a, number(-right))
        case "-" if right is not None and right < 0:
            return Binary("+", a, number(-right))
        case "-" if a == b:
            return Number(0)
        case "-" if left == 0:
            return _signed(Unary("-", b))
        case "+" if isinstance(b, Unary):
            return Binary("-", a, b.operand)
        case "*" if left == 0 or right == 0:
            return Number(0)
        case "/" if left == 0:
            return Number(0)
        case "*" if left == 1:
            return b
        case "*" | "/" | "**" if right == 1:
            return a
        case "**" if right == 0:
            return Number(1)
        case "**" if right is not None and right in range(2, _MOST_FACTORS + 1):
            return _product(a, int(right))
    return node


def _product(base: Expression, count: int) -> Expression:
    """Return base**count by squaring: products end in Taylor mode where a power has all orders."""
    half = base if count < 4 else _product(base, count // 2)
    square = Binary("*", half, half)
    return Binary("*", square, base) if count % 2 else square
