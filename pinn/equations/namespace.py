"""What a function that stands for an equation receives: names as attributes."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import autograd as T
from pinn import expressions
from pinn.equations.leaves import Supplied
from pinn.equations.refused import Refused, RefusedName
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope, Vector
from pinn.equations.values import Values
from pinn.equations.vector_value import VectorValue
from pinn.expressions import LETTERS, OPERATORS, Call, Expression, ExpressionError, Name, algebra
from pinn.expressions.errors import ALIASES


class Namespace:
    """What a function that stands for an equation or a value receives: names as attributes.

    Coordinates, unknowns and their derivatives (`s.x`, `s.u`, `s.u_xx`) have shape (n,), constants
    are floats, parameters have shape (); `s.sin`, `s.where` ... are the functions of the texts.

    The operators of the texts are methods: `s.diff(s.u**2, "x")`, `s.laplacian("u")`,
    `s.dn("u")`, `s.at("u_x", x=1)`. They take texts, what was computed with the namespace alone,
    and tuples of these where a vector belongs (`s.div((s.u, s.v))`); a vector is returned as a
    VectorValue, a tuple with the arithmetic of vectors.

    Where a function computes with more than the namespace, such as `autograd.sin(s.u)`, it gets
    values, and operators take texts, names such as `s.u` and numbers; `s.dot` and what replaces a
    coordinate in `s.at` take any value then: `s.at("u", t=s.t - 1)`.

    `s("u_x + v")` is the value of a text.

    owner: tells one function's values from another's where several are evaluated together. Raises
    Refused for what has no meaning here.
    """

    # Else numpy takes `np.sin(s)` for `s.sin()`.
    __array_ufunc__ = None

    def __init__(
        self,
        values: Values,
        scope: Scope,
        functions: Mapping[str, Callable[..., Any]],
        owner: int = 0,
    ) -> None:
        self._values = values
        self._scope = scope
        self._functions = functions
        self._owner = owner
        # Which tree a value that was given out stands for; by identity, so it is kept alive here.
        self._given: dict[int, tuple[Any, int, Expression]] = {}
        self._supplied = 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        named = name in LETTERS and name in self._scope.names
        if name in self._functions and not named:
            return self._functions[name]
        if name in OPERATORS:
            return partial(self._apply, name)
        try:
            return self._evaluate(name)
        except ExpressionError as error:
            message = str(error)
            if name in ALIASES:
                message = f"no function {name!r}; write s.{ALIASES[name]}"
            raise RefusedName(message) from None

    def __call__(self, text: str | Expression) -> Any:
        """Return the value of a text of the expression language; a vector's as a VectorValue.

        A tree is taken as it is, with its names resolved.
        """
        if isinstance(text, Expression):
            return self._value(text)
        try:
            return self._evaluate(text)
        except ExpressionError as error:
            raise Refused(str(error)) from None

    def _apply(self, operator: str, /, *arguments: Any, **replaced: Any) -> Any:
        """Return the value of an operator's call."""
        try:
            trees = [self._tree(value) for value in (*arguments, *replaced.values())]
            call = Call(operator, tuple(trees), tuple(map(Name, replaced)))
            expressions.check_call(call)
            return self._evaluate(call)
        except ExpressionError as error:
            raise Refused(str(error)) from None

    def _tree(self, value: Any) -> Expression:
        """Return what an argument of an operator stands for."""
        if isinstance(value, str):
            return self._scope.parse(value)
        if isinstance(value, numbers.Real):
            return algebra.number(expressions.constant(value), Name("number"))
        if isinstance(value, tuple | list):
            return Call("vec", tuple(self._tree(part) for part in value))
        return self._of_other(value)

    def _of_other(self, value: Any) -> Expression:
        """Return what stands for a value: where it was given out its tree, else a leaf."""
        _, version, tree = self._given.get(id(value), (None, -1, None))
        if tree is not None and version == _version(value):
            return tree
        leaf = Supplied(self._owner, self._supplied)
        self._supplied += 1
        self._values.supply(leaf, value)
        self._given[id(value)] = (value, _version(value), leaf)
        return leaf

    def _evaluate(self, expression: str | Expression) -> Any:
        tree = self._scope.resolve_any(expression)
        if isinstance(tree, Vector):
            return VectorValue(self._value(part) for part in tree)
        return self._value(tree)

    def _value(self, tree: Expression) -> Any:
        value = evaluate_resolved(tree, self._values, self._functions)
        if not isinstance(value, float):
            self._given[id(value)] = (value, _version(value), tree)
        return value


def _version(value: Any) -> int:
    """Return how often a tensor was written to: after `u *= 2` it is no longer what it was."""
    return value._version[0] if isinstance(value, T.Tensor) else 0
