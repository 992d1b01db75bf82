"""Differentiation of expression trees: arithmetic that folds numbers, and the rule of each node.

Every function takes the node, `at` or `f`, that its result comes from: messages point there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pinn.expressions import Binary, Call, Expression, Number, Unary, evaluate

ZERO = Number(0.0)
ONE = Number(1.0)


def place(at: Expression) -> dict[str, Any]:
    """Return where a node stands, as keyword arguments of a node."""
    return {"position": at.position, "source": at.source}


def number(value: float, at: Expression) -> Expression:
    """Return a number of either sign as a tree."""
    if value == 0:
        return ZERO
    magnitude = Number(abs(value), **place(at))
    return magnitude if value > 0 else Unary("-", magnitude, **place(at))


def literal(node: Expression) -> float | None:
    """Return the value of a tree that is a number, else None."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Unary) and isinstance(node.operand, Number):
        return node.operand.value if node.operator == "+" else -node.operand.value
    return None


def _folded(
    operator: Callable[[float, float], float], a: Expression, b: Expression, at: Expression
) -> Expression | None:
    left, right = literal(a), literal(b)
    if left is None or right is None:
        return None
    value = operator(left, right)
    return number(value, at) if math.isfinite(value) else None


def is_number(node: Expression, value: float) -> bool:
    """Return whether a tree is this number."""
    return literal(node) == value


def negate(a: Expression, at: Expression) -> Expression:
    """Return -a."""
    if is_number(a, 0):
        return ZERO
    if isinstance(a, Unary) and a.operator == "-":
        return a.operand
    return Unary("-", a, **place(at))


def add(a: Expression, b: Expression, at: Expression) -> Expression:
    """Return a + b."""
    if is_number(a, 0):
        return b
    if is_number(b, 0):
        return a
    folded = _folded(lambda x, y: x + y, a, b, at)
    return folded if folded is not None else Binary("+", a, b, **place(at))


def subtract(a: Expression, b: Expression, at: Expression) -> Expression:
    """Return a - b."""
    if is_number(b, 0):
        return a
    if is_number(a, 0):
        return negate(b, at)
    folded = _folded(lambda x, y: x - y, a, b, at)
    return folded if folded is not None else Binary("-", a, b, **place(at))


def multiply(a: Expression, b: Expression, at: Expression) -> Expression:
    """Return a * b."""
    if is_number(a, 0) or is_number(b, 0):
        return ZERO
    for factor, other in ((a, b), (b, a)):
        if is_number(factor, 1):
            return other
        if is_number(factor, -1):
            return negate(other, at)
    folded = _folded(lambda x, y: x * y, a, b, at)
    return folded if folded is not None else Binary("*", a, b, **place(at))


def divide(a: Expression, b: Expression, at: Expression) -> Expression:
    """Return a / b."""
    if is_number(a, 0):
        return ZERO
    return a if is_number(b, 1) else Binary("/", a, b, **place(at))


def power(base: Expression, exponent: Expression, at: Expression) -> Expression:
    """Return base ** exponent."""
    if is_number(exponent, 0):
        return ONE
    return base if is_number(exponent, 1) else Binary("**", base, exponent, **place(at))


def apply(function: str, *arguments: Expression, at: Expression) -> Expression:
    """Return a call of a function."""
    return Call(function, arguments, **place(at))


def where(
    symbol: str,
    left: Expression,
    right: Expression,
    yes: Expression,
    no: Expression,
    at: Expression,
) -> Expression:
    """Return where(left symbol right, yes, no)."""
    if yes == no:
        return yes
    return apply("where", Binary(symbol, left, right, **place(at)), yes, no, at=at)


# ------------------------------------------------------------------------- rules of differentiation
# Each takes the node f, its operands, and the derivatives of the operands.

_Operands = Sequence[Expression]
_Rule = Callable[[Expression, _Operands, _Operands], Expression]


def _product_rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
    (a, b), (da, db) = operands, inner
    return add(multiply(da, b, f), multiply(a, db, f), f)


def _quotient_rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
    (_, b), (da, db) = operands, inner
    return divide(subtract(da, multiply(f, db, f), f), b, f)


def _power_rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
    (a, b), (da, db) = operands, inner
    fixed = _number_value(b)
    exponent = b if fixed is None else number(fixed, b)
    slope = multiply(exponent, power(a, subtract(exponent, ONE, f), f), f)
    total = multiply(slope, da, f)
    if not is_number(db, 0):
        total = add(total, multiply(multiply(f, apply("log", a, at=f), f), db, f), f)
    return total


def _number_value(node: Expression) -> float | None:
    """Return the value of a literal or of one operation between two, such as -1/2."""
    if isinstance(node, Binary) and None not in map(literal, node.children):
        return evaluate(node, {})
    return literal(node)


def _abs_rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
    (a,), (da,) = operands, inner
    below = where("<", a, ZERO, negate(da, f), ZERO, f)
    return where(">", a, ZERO, da, below, f)


def _minimum_rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
    return where("<=", *operands, *inner, f)


def _maximum_rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
    return where(">=", *operands, *inner, f)


def _where_rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
    condition = operands[0]
    return where(condition.operator, condition.left, condition.right, inner[1], inner[2], f)


def _chain(slope: Callable[[Expression, Expression], Expression]) -> _Rule:
    """Make the rule of a smooth function from its derivative, given the node f and its argument."""

    def rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
        return multiply(slope(f, operands[0]), inner[0], f)

    return rule


def _square(a: Expression, at: Expression) -> Expression:
    return power(a, Number(2.0), at)


RULES: Mapping[str, _Rule] = {
    "+": lambda f, operands, inner: add(*inner, f),
    "-": lambda f, operands, inner: subtract(*inner, f),
    "*": _product_rule,
    "/": _quotient_rule,
    "**": _power_rule,
    # A comparison is the condition of a where; it has no slope of its own.
    **dict.fromkeys(("<", "<=", ">", ">="), lambda f, operands, inner: ZERO),
    "sin": _chain(lambda f, a: apply("cos", a, at=f)),
    "cos": _chain(lambda f, a: negate(apply("sin", a, at=f), f)),
    "tan": _chain(lambda f, a: add(ONE, _square(f, f), f)),
    "exp": _chain(lambda f, a: f),
    "log": lambda f, operands, inner: divide(inner[0], operands[0], f),
    "sqrt": lambda f, operands, inner: divide(inner[0], multiply(Number(2.0), f, f), f),
    "tanh": _chain(lambda f, a: subtract(ONE, _square(f, f), f)),
    "sinh": _chain(lambda f, a: apply("cosh", a, at=f)),
    "cosh": _chain(lambda f, a: apply("sinh", a, at=f)),
    "abs": _abs_rule,
    "min": _minimum_rule,
    "max": _maximum_rule,
    "where": _where_rule,
}
