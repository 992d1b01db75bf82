"""Functions that stand for an equation, read as what they write: by a call with symbols."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pinn import expressions
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.leaves import Constant
from pinn.equations.namespace import Namespace
from pinn.equations.refused import Refused
from pinn.equations.scope import Scope
from pinn.equations.vector_value import VectorValue
from pinn.expressions import Binary, Call, Expression, ExpressionError, Name, Unary, algebra
from pinn.expressions.conditions import as_number, is_condition, typed


class Unwritten(TypeError):
    """What a function does with a symbol that the language has no word for."""


class Symbol:
    """Stands for the value of a resolved tree: arithmetic with it makes trees.

    It has what texts have: + - * / ** and comparisons with numbers and symbols, & | ~ of
    comparisons, abs. Everything else raises Unwritten or is not there.
    """

    __slots__ = ("tree",)
    # Else numpy's numbers and arrays take it for an array of one object.
    __array_ufunc__ = None

    def __init__(self, tree: Expression) -> None:
        self.tree = tree

    def __repr__(self) -> str:
        return f"<symbol {self.tree}>"

    def __getattr__(self, name: str) -> Any:
        raise Unwritten(f"a symbol has no {name}")

    def __bool__(self) -> bool:
        raise Unwritten("a symbol is neither true nor false")

    def __eq__(self, other: object) -> Any:
        raise Unwritten("a symbol is not compared by ==")

    def __add__(self, other: Any) -> Any:
        return _joined("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return _joined("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return _joined("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _joined("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return _joined("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _joined("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _joined("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _joined("/", other, self)

    def __pow__(self, other: Any) -> Any:
        return _joined("**", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _joined("**", other, self)

    def __lt__(self, other: Any) -> Any:
        return _joined("<", self, other)

    def __le__(self, other: Any) -> Any:
        return _joined("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return _joined(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return _joined(">=", self, other)

    def __and__(self, other: Any) -> Any:
        return _joined("and", self, other)

    def __or__(self, other: Any) -> Any:
        return _joined("or", self, other)

    def __invert__(self) -> Symbol:
        return _made(Unary("not", self.tree))

    def __neg__(self) -> Symbol:
        return _signed("-", self.tree)

    def __pos__(self) -> Symbol:
        return _signed("+", self.tree)

    def __abs__(self) -> Symbol:
        return _made(Call("abs", (self.tree,)))


class CalledSymbol(Symbol):
    """Stands for a known function at the point, and called for it elsewhere: s.v, s.v(s.x - 1)."""

    __slots__ = ("_elsewhere",)

    def __init__(self, tree: Expression, elsewhere: Callable[..., Any]) -> None:
        super().__init__(tree)
        self._elsewhere = elsewhere

    def __call__(self, *places: Any) -> Any:
        return self._elsewhere(*places)


class Symbols(Namespace):
    """A namespace whose names are symbols; numbers and constants are floats, as with values."""

    def __init__(self, scope: Scope) -> None:
        super().__init__({}, scope, _FUNCTIONS)

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if isinstance(value, Symbol) and name in self._scope.called:
            return CalledSymbol(value.tree, partial(self._elsewhere, name))
        return value

    def _elsewhere(self, name: str, *places: Any) -> Any:
        """Return a known function at other places."""
        try:
            return self._evaluate(Call(name, tuple(map(self._tree, places))))
        except ExpressionError as error:
            raise Refused(str(error)) from None

    def _value(self, tree: Expression) -> Any:
        if isinstance(tree, Constant):
            return float(self._scope.constants[tree.name])
        number = algebra.literal(tree)
        return Symbol(tree) if number is None else number

    def _of_other(self, value: Any) -> Expression:
        if isinstance(value, Symbol):
            return value.tree
        raise Unwritten(f"{type(value).__name__} is no symbol")


def written(function: Callable[[Namespace], Any], scope: Scope) -> Expression | None:
    """Return the resolved tree of what a function writes; None where only values can tell.

    The function is called once. Raises Refused for a name that means nothing in the scope and for
    an operator that has no meaning for what it was given; what else goes wrong is left to a call
    with values, which can say it better.
    """
    try:
        result = function(Symbols(scope))
    except Refused:
        raise
    except Exception:
        return None
    if isinstance(result, VectorValue):
        raise Refused(
            f"the function returns a vector of {len(result)} components, but a scalar belongs "
            "here; use s.dot(...) or s.div(...), or write one equation a component"
        )
    return as_number(result.tree) if isinstance(result, Symbol) else None


def _tree(value: Any) -> Expression:
    if isinstance(value, Symbol):
        return value.tree
    if isinstance(value, numbers.Real):
        return algebra.number(expressions.constant(value), Name("number"))
    raise Unwritten(f"{type(value).__name__} is no symbol")


def _made(tree: Expression) -> Symbol:
    try:
        return Symbol(typed(tree))
    except ExpressionError as error:
        raise Unwritten(str(error)) from None


def _joined(operator: str, a: Any, b: Any) -> Any:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return NotImplemented  # a vector's matter
    left, right = _tree(a), _tree(b)
    if operator in ("+", "-", "/", "**") and is_condition(left) and is_condition(right):
        raise Unwritten("arithmetic of truth values")  # tensors' True + True is True
    return _made(Binary(operator, left, right))


def _signed(sign: str, tree: Expression) -> Symbol:
    if is_condition(tree):
        raise Unwritten("the sign of a truth value")
    return _made(Unary(sign, tree))


def _called(name: str, *arguments: Any) -> Any:
    """Return a function's call; that of numbers alone is a number."""
    if not any(isinstance(value, Symbol) for value in arguments):
        return TENSOR_FUNCTIONS[name](*arguments)
    if name == "where" and len(arguments) == 3 and not isinstance(arguments[0], Symbol):
        return arguments[1] if arguments[0] else arguments[2]
    call = Call(name, tuple(map(_tree, arguments)))
    try:
        expressions.check_call(call)
    except ExpressionError as error:
        raise Unwritten(str(error)) from None
    return _made(call)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    name: partial(_called, name) for name in TENSOR_FUNCTIONS
}
