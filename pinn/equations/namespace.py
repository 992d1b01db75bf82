"""What a function that stands for an equation receives: names as attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pinn import expressions
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope


class Namespace:
    """What a function that stands for an equation or a value receives: names as attributes.

    Coordinates, unknowns and their derivatives (`s.x`, `s.u`, `s.u_xx`) have shape (n,), constants
    are floats, parameters have shape (); `s.sin`, `s.where` ... are the functions of the texts.
    """

    def __init__(self, values: Any, scope: Scope, functions: Mapping[str, Callable]) -> None:
        self._values = values
        self._scope = scope
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._functions:
            return self._functions[name]
        try:
            return self._evaluate(name)
        except expressions.ExpressionError as error:
            raise AttributeError(str(error)) from None

    def diff(self, expression: str, coordinate: str, order: int = 1) -> Any:
        """Return a derivative of a text in one coordinate, as diff(u, x, 2) does in a text."""
        return self._evaluate(f"diff({expression}, {coordinate}, {order})")

    def laplacian(self, expression: str) -> Any:
        """Return the sum of the second derivatives of a text in the space coordinates."""
        return self._evaluate(f"laplacian({expression})")

    def _evaluate(self, text: str) -> Any:
        tree = self._scope.resolve(text)
        return evaluate_resolved(tree, self._values, self._functions)
