"""Sums of what a condition is made of, each with a factor that was given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add as plus
from typing import Any

from pinn.equations.namespace import Namespace
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.expressions import Expression
from pinn.expressions.algebra import add, multiply


def combined(what: str, pairs: Sequence[tuple[Term, Expression]], scope: Scope) -> Term:
    """Return the sum of factors times trees as one term: a function where a factor is one."""
    factors = [factor.formula for factor, _ in pairs]
    if None not in factors:
        parts = (multiply(f, tree) for f, (_, tree) in zip(factors, pairs, strict=True))
        return Term(what, reduce(add, parts), scope)

    def total(s: Namespace) -> Any:
        return reduce(plus, (
            (factor.source(s) if formula is None else s(formula)) * s(tree)
            for formula, (factor, tree) in zip(factors, pairs, strict=True)
        ))  # fmt: skip

    return Term(what, total, scope)
