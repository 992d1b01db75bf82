"""Values of expression trees: floats, arrays, or any objects with Python's operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from pinn.expressions.errors import TOO_LARGE, ExpressionError, abridge, suggest
from pinn.expressions.language import (
    BINARY,
    CONSTANTS,
    FLOAT_FUNCTIONS,
    FUNCTIONS,
    OPERATORS,
    UNARY,
)
from pinn.expressions.trees import Binary, Call, Expression, Name, Number, Unary, fold


def number_or_none(node: Expression, values: list[Any]) -> Any:
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return CONSTANTS.get(node.name)
    if isinstance(node, Call) and node.function not in FUNCTIONS:
        return None
    return None if None in values else _apply(node, values, FLOAT_FUNCTIONS)


def _apply(node: Expression, values: list[Any], functions: Mapping[str, Any]) -> Any:
    plain = all(type(value) is float or type(value) is bool for value in values)
    try:
        if isinstance(node, Binary):
            result = BINARY[node.operator](*values)
        elif isinstance(node, Unary):
            result = UNARY[node.operator](*values)
        else:
            result = _call(node, values, FLOAT_FUNCTIONS if plain else functions)
    except (ArithmeticError, ValueError) as error:
        if not plain or isinstance(error, ExpressionError):
            raise
        reason = {
            OverflowError: TOO_LARGE,
            ZeroDivisionError: "divides by zero",
        }.get(type(error), "has no real value")
    else:
        if not plain or type(result) is bool:
            return result
        if type(result) is float and (
            math.isfinite(result) or not all(math.isfinite(value) for value in values)
        ):
            return result
        reason = TOO_LARGE if type(result) is float else "has no real value"
    raise node.error(f"{_operation(node, values)} {reason}") from None


def _operation(node: Expression, values: list[Any]) -> str:
    shown = [f"{value:.6g}" for value in values]
    if isinstance(node, Binary):
        left, right = (f"({text})" if text.startswith("-") else text for text in shown)
        return f"{left} {node.operator} {right}"
    return f"{node.label[0]}({', '.join(shown)})"


def _call(node: Expression, values: list[Any], functions: Mapping[str, Any]) -> Any:
    name = node.label[0]
    if name in OPERATORS:
        raise node.error(f"{name} has no meaning here; it belongs in an equation of a problem")
    if name == "where" and type(values[0]) is bool:
        return values[1] if values[0] else values[2]
    if name not in functions:
        raise node.error(
            f"the function {name!r} is not available here{suggest(name, functions, 'functions')}"
        )
    return functions[name](*values)


def evaluate_leaves(
    expression: Expression,
    leaf: Callable[..., Any],
    functions: Mapping[str, Callable[..., Any]],
) -> Any:
    """Evaluate a tree whose leaves, other than numbers, get their values from `leaf(node)`.

    A node that is neither arithmetic nor a call but has children is asked for as
    `leaf(node, *values of its children)`. Numbers are Python floats. Scalars that `leaf` returns
    become Python floats too, so no power of integers can grow without bound. See `evaluate` for
    functions and errors.
    """

    def combine(node: Expression, values: list[Any]) -> Any:
        if isinstance(node, Number):
            return node.value
        if isinstance(node, Call | Unary | Binary):
            return _apply(node, values, functions)
        value = leaf(node, *values)
        if not isinstance(value, int | float):
            return value
        try:
            return float(value)
        except OverflowError:
            raise node.error(f"the value of {node} is beyond the largest float64") from None

    return fold(expression, combine)


def evaluate(
    expression: Expression,
    names: Mapping[str, Any],
    functions: Mapping[str, Callable[..., Any]] = FLOAT_FUNCTIONS,
) -> Any:
    """Evaluate a parsed tree.

    Values may be floats, numpy arrays or any objects with Python's arithmetic operators; shapes
    broadcast as those operators do. Each distinct subexpression is computed once. Calls whose
    arguments are all Python floats use Python's math; others use `functions`, which must accept a
    float beside an array (``where(x < 0, 0, x)``). `pi` and `e` are known.

    Raises:
        ExpressionError: a name or function that is not there, or an operation on Python floats
            that overflows, divides by zero or has no real value.
    """

    def leaf(node: Expression) -> Any:
        name = node.label[0]
        if name in names:
            return names[name]
        if name in CONSTANTS:
            return CONSTANTS[name]
        raise node.error(f"unknown name {abridge(name)!r}{suggest(name, [*names, *CONSTANTS])}")

    return evaluate_leaves(expression, leaf, functions)
