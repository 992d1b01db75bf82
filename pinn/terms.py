"""An equation or a value, given as text, as a number or as a function, ready to be evaluated."""

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import autograd as T
from pinn import derivatives, expressions
from pinn.combinations import combine
from pinn.derivatives import Derivative, Laplacian


@dataclass(frozen=True)
class Scope:
    """The names that a text or a function may use."""

    unknowns: tuple[str, ...]
    coordinates: tuple[str, ...]
    space: tuple[str, ...]
    constants: Mapping[str, float]
    parameters: tuple[str, ...]
    # A function names the same things at every step; each is parsed once.
    _resolved: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def resolve(self, text: str) -> Any:
        """Return the resolved tree of a text; ExpressionError for what it cannot mean."""
        if text not in self._resolved:
            self._resolved[text] = derivatives.resolve(
                expressions.parse(text),
                unknowns=self.unknowns,
                coordinates=self.coordinates,
                space=self.space,
                constants=tuple(self.constants),
                parameters=self.parameters,
            )
        return self._resolved[text]


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
        return derivatives.evaluate_resolved(tree, self._values, self._functions)


class Term:
    """A text, a number or a function of the namespace; `what` names it in messages.

    Raises ValueError for a text that means nothing in the scope, TypeError for anything else.
    """

    def __init__(self, what: str, source: Any, scope: Scope) -> None:
        self.what = what
        self.source = source
        self.scope = scope
        self.tree = None
        if isinstance(source, str):
            try:
                self.tree = scope.resolve(source)
            except expressions.ExpressionError as error:
                raise ValueError(f"{what}: {error}") from error
        elif isinstance(source, numbers.Real) and not isinstance(source, bool):
            if not math.isfinite(source):
                raise ValueError(f"{what}: expected a finite number, got {source!r}")
        elif not callable(source):
            raise TypeError(f"{what}: expected text, a number or a function, got {source!r}")

    @property
    def leaves(self) -> tuple[Derivative | Laplacian, ...] | None:
        """The unknowns and derivatives that are asked for; None where only a run can tell."""
        if self.tree is not None:
            return tuple(derivatives.derivatives_in(self.tree))
        return None if callable(self.source) else ()

    def combined(self) -> Term | None:
        """Return the term with its sums of derivatives as single leaves; None for functions."""
        if self.tree is None:
            return None
        term = copy.copy(self)
        term.tree = combine(self.tree, self.scope.constants, self.scope.space)
        return term

    def evaluate(self, values: Any, functions: Mapping[str, Callable]) -> Any:
        """Return the value, given `values[leaf]` for every leaf of the tree."""
        if self.tree is not None:
            return derivatives.evaluate_resolved(self.tree, values, functions)
        if callable(self.source):
            return self.source(Namespace(values, self.scope, functions))
        return float(self.source)


def _of_tensors(tensor_function: Callable, plain_function: Callable) -> Callable:
    """Return a function of tensors and floats; without a tensor the result is a plain number."""

    def function(*arguments: Any) -> Any:
        like = next((a for a in arguments if isinstance(a, T.Tensor)), None)
        if like is None:
            return plain_function(*arguments)
        return tensor_function(
            *(
                a
                if isinstance(a, T.Tensor)
                else T.tensor(a, dtype=like.dtype, device=like.device)
                for a in arguments
            )
        )

    return function


def _where(condition: Any, yes: Any, no: Any) -> Any:
    if not isinstance(condition, T.Tensor):
        return yes if condition else no
    like = next((a for a in (yes, no) if isinstance(a, T.Tensor)), None)
    dtype = T.get_default_dtype() if like is None else like.dtype
    branches = (
        a if isinstance(a, T.Tensor) else T.tensor(a, dtype=dtype, device=condition.device)
        for a in (yes, no)
    )
    return T.where(condition, *branches)


_ELEMENTWISE = ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "abs")

NUMPY_FUNCTIONS: dict[str, Callable] = {
    **{name: getattr(np, name) for name in _ELEMENTWISE},
    "min": np.minimum,
    "max": np.maximum,
    "where": np.where,
}
"""The functions of the texts on floats and numpy arrays."""

TENSOR_FUNCTIONS: dict[str, Callable] = {
    **{name: _of_tensors(getattr(T, name), NUMPY_FUNCTIONS[name]) for name in _ELEMENTWISE},
    "min": _of_tensors(T.minimum, min),
    "max": _of_tensors(T.maximum, max),
    "where": _where,
}
"""The functions of the texts on floats and tensors."""
