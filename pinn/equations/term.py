"""An equation or a value, given as text, as a number or as a function, ready to be evaluated."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from pinn.equations.combine import combine
from pinn.equations.leaves import Derivative, Laplacian, derivatives_in
from pinn.equations.namespace import Namespace
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.schema.kinds import Formula


class Term:
    """A text, a number or a function of the namespace; `what` names it in messages.

    Raises ExpressionError for a text that means nothing in the scope, DeclarationError for a source
    of another kind.
    """

    def __init__(self, what: str, source: Any, scope: Scope) -> None:
        self.what = what
        self.source = source
        self.scope = scope
        self.tree = None
        if isinstance(source, str):
            self.tree = scope.resolve(source)
        else:
            Formula().check(source)

    @property
    def leaves(self) -> tuple[Derivative | Laplacian, ...] | None:
        """The unknowns and derivatives that are asked for; None where only a run can tell."""
        if self.tree is not None:
            return tuple(derivatives_in(self.tree))
        return None if callable(self.source) else ()

    def combined(self) -> Term | None:
        """Return the term with its sums of derivatives as single leaves; None for functions."""
        if self.tree is None:
            return None if callable(self.source) else self
        term = copy.copy(self)
        term.tree = combine(self.tree, self.scope.constants, self.scope.space)
        return term

    def evaluate(self, values: Any, functions: Mapping[str, Callable]) -> Any:
        """Return the value, given `values[leaf]` for every leaf of the tree."""
        if self.tree is not None:
            return evaluate_resolved(self.tree, values, functions)
        if callable(self.source):
            return self.source(Namespace(values, self.scope, functions))
        return float(self.source)
