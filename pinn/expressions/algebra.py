"""Arithmetic on expression trees, which works out what it can, and the rules of differentiation.

A derivative is mostly sums with 0 and products with 0 or 1, and so is a tree with some of its names
held at a number: what vanishes here costs nothing later. Functions take the node, `at` or `f`, that
their result comes from, where there is one: messages point there.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pinn.expressions.conditions import is_condition
from pinn.expressions.errors import ExpressionError
from pinn.expressions.evaluation import evaluate
from pinn.expressions.language import COMPARISONS, LOGICAL
from pinn.expressions.trees import Binary, Call, Expression, Number, Unary, nodes

ZERO = Number(0.0)
ONE = Number(1.0)

_PERIODIC = ("sin", "cos", "tan")


def origin(at: Expression | None) -> dict[str, Any]:
    """Return where a node stands in which text, as keyword arguments of a node."""
    return {} if at is None else {"position": at.position, "source": at.source}


def number(value: float, at: Expression | None = None) -> Expression:
    """Return a number of either sign as a tree."""
    if value == 0:
        return ZERO
    magnitude = Number(abs(value), **origin(at))
    return magnitude if value > 0 else Unary("-", magnitude, **origin(at))


def literal(node: Expression) -> float | None:
    """Return the value of a tree that is a number, else None."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Unary) and isinstance(node.operand, Number):
        return node.operand.value if node.operator == "+" else -node.operand.value
    return None


def is_number(node: Expression, value: float) -> bool:
    """Return whether a tree is this number."""
    return literal(node) == value


def negate(a: Expression, at: Expression | None = None) -> Expression:
    """Return -a."""
    return simplified(Unary("-", a, **origin(at)))


def add(a: Expression, b: Expression, at: Expression | None = None) -> Expression:
    """Return a + b."""
    return simplified(Binary("+", a, b, **origin(at)))


def subtract(a: Expression, b: Expression, at: Expression | None = None) -> Expression:
    """Return a - b."""
    return simplified(Binary("-", a, b, **origin(at)))


def multiply(a: Expression, b: Expression, at: Expression | None = None) -> Expression:
    """Return a * b."""
    return simplified(Binary("*", a, b, **origin(at)))


def divide(a: Expression, b: Expression, at: Expression | None = None) -> Expression:
    """Return a / b."""
    return simplified(Binary("/", a, b, **origin(at)))


def power(base: Expression, exponent: Expression, at: Expression | None = None) -> Expression:
    """Return base ** exponent."""
    return simplified(Binary("**", base, exponent, **origin(at)))


def apply(function: str, *arguments: Expression, at: Expression | None = None) -> Expression:
    """Return a call of a function."""
    return Call(function, arguments, **origin(at))


def where(
    symbol: str,
    left: Expression,
    right: Expression,
    yes: Expression,
    no: Expression,
    at: Expression | None = None,
) -> Expression:
    """Return where(left symbol right, yes, no)."""
    return choose(Binary(symbol, left, right, **origin(at)), yes, no, at)


def choose(
    condition: Expression, yes: Expression, no: Expression, at: Expression | None = None
) -> Expression:
    """Return where(condition, yes, no)."""
    return simplified(apply("where", condition, yes, no, at=at))


def simplified(node: Expression) -> Expression:
    """Return an equal node, simpler where its operands are numbers or alike.

    A node that has no value, such as 1/0, stays as it is: a `where` may not choose it.
    """
    if not isinstance(node, Unary | Binary | Call):
        return node
    values = [literal(child) for child in node.children]
    if is_condition(node):
        return node
    if isinstance(node, Call) and node.function == "where":
        return _chosen(node)
    if None not in values:
        return _computed(node, values)
    if isinstance(node, Unary):
        return _signed(node)
    return _without_neutral(node, *values) if isinstance(node, Binary) else node


def _computed(node: Expression, values: list[float]) -> Expression:
    if isinstance(node, Unary) and isinstance(node.operand, Number):
        return node if node.operator == "-" and values[0] else node.operand
    try:
        value = evaluate(node, {})
    except ExpressionError:
        return node
    if isinstance(node, Call) and node.function in _PERIODIC:
        # sin(pi) is 1.2e-16 only because pi is rounded: an argument known to a relative eps gives
        # a result known to eps * argument, and below that it is zero.
        if abs(value) <= sys.float_info.epsilon * abs(values[0]):
            value = 0.0
    return number(value, node) if math.isfinite(value) else node


def _signed(node: Unary) -> Expression:
    inner = node.operand
    if node.operator == "+":
        return inner
    return inner.operand if isinstance(inner, Unary) and inner.operator == "-" else node


def _chosen(node: Call) -> Expression:
    condition, yes, no = node.arguments
    if yes == no:
        return yes
    if not all(part.children or isinstance(part, Number) for part in nodes(condition)):
        return node
    return yes if evaluate(Call("where", (condition, ONE, ZERO)), {}) else no


def _without_neutral(node: Binary, left: float | None, right: float | None) -> Expression:
    a, b = node.children
    match node.operator:
        case "+" if left == 0:
            return b
        case "+" | "-" if right == 0:
            return a
        case "+" if isinstance(b, Unary) and b.operator == "-":
            return Binary("-", a, b.operand, **origin(node))
        case "-" if isinstance(b, Unary) and b.operator == "-":
            return Binary("+", a, b.operand, **origin(node))
        case "-" if left == 0:
            return _signed(Unary("-", b, **origin(node)))
        case "-" if a == b:
            return ZERO
        case "*" if left == 0 or right == 0:
            return ZERO
        case "/" if left == 0:
            return ZERO
        case "*" if left == 1:
            return b
        case "*" if left == -1:
            return _signed(Unary("-", b, **origin(node)))
        case "*" if right == -1:
            return _signed(Unary("-", a, **origin(node)))
        case "*" | "/" | "**" if right == 1:
            return a
        case "**" if right == 0:
            return ONE
    return node


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
    return choose(operands[0], inner[1], inner[2], f)


def _chain(slope: Callable[[Expression, Expression], Expression]) -> _Rule:
    """Make the rule of a smooth function from its derivative, given the node f and its argument."""

    def rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
        return multiply(slope(f, operands[0]), inner[0], f)

    return rule


def _square(a: Expression, at: Expression) -> Expression:
    return power(a, Number(2.0), at)


def _circle(a: Expression, at: Expression) -> Expression:
    """Return sqrt(1 - a**2)."""
    return apply("sqrt", subtract(ONE, _square(a, at), at), at=at)


def _bell(f: Expression, a: Expression) -> Expression:
    """Return the slope of erf at a."""
    scale = number(2 / math.sqrt(math.pi), f)
    return multiply(scale, apply("exp", negate(_square(a, f), f), at=f), f)


def _angle_rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
    (y, x), (dy, dx) = operands, inner
    turned = subtract(multiply(x, dy, f), multiply(y, dx, f), f)
    return divide(turned, add(_square(x, f), _square(y, f), f), f)


def _polygamma_rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
    order, a = operands
    return multiply(apply("polygamma", add(order, ONE, f), a, at=f), inner[1], f)


def _length_rule(f: Expression, operands: _Operands, inner: _Operands) -> Expression:
    (a, b), (da, db) = operands, inner
    return divide(add(multiply(a, da, f), multiply(b, db, f), f), f, f)


RULES: Mapping[str, _Rule] = {
    "+": lambda f, operands, inner: add(*inner, f),
    "-": lambda f, operands, inner: subtract(*inner, f),
    "*": _product_rule,
    "/": _quotient_rule,
    "**": _power_rule,
    # A comparison is the condition of a where; it has no slope of its own.
    **dict.fromkeys((*COMPARISONS, *LOGICAL), lambda f, operands, inner: ZERO),
    "sin": _chain(lambda f, a: apply("cos", a, at=f)),
    "cos": _chain(lambda f, a: negate(apply("sin", a, at=f), f)),
    "tan": _chain(lambda f, a: add(ONE, _square(f, f), f)),
    "exp": _chain(lambda f, a: f),
    "log": lambda f, operands, inner: divide(inner[0], operands[0], f),
    "sqrt": lambda f, operands, inner: divide(inner[0], multiply(Number(2.0), f, f), f),
    "tanh": _chain(lambda f, a: subtract(ONE, _square(f, f), f)),
    "sinh": _chain(lambda f, a: apply("cosh", a, at=f)),
    "cosh": _chain(lambda f, a: apply("sinh", a, at=f)),
    "sech": _chain(lambda f, a: negate(multiply(f, apply("tanh", a, at=f), f), f)),
    "asin": lambda f, operands, inner: divide(inner[0], _circle(operands[0], f), f),
    "acos": lambda f, operands, inner: negate(divide(inner[0], _circle(operands[0], f), f), f),
    "atan": lambda f, operands, inner: divide(inner[0], add(ONE, _square(operands[0], f), f), f),
    "erf": _chain(_bell),
    "gamma": _chain(lambda f, a: multiply(f, apply("digamma", a, at=f), f)),
    "lgamma": _chain(lambda f, a: apply("digamma", a, at=f)),
    "digamma": _chain(lambda f, a: apply("polygamma", ONE, a, at=f)),
    "polygamma": _polygamma_rule,  # its order is a number
    # Steps: no slope, but for the places where they jump.
    **dict.fromkeys(("sign", "floor"), lambda f, operands, inner: ZERO),
    "atan2": _angle_rule,
    "hypot": _length_rule,
    "abs": _abs_rule,
    "min": _minimum_rule,
    "max": _maximum_rule,
    "where": _where_rule,
}
