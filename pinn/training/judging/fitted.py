"""What of a residual training has fitted in place of it, and how more of that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pinn.equations.axes import MOST_NODES, Integral
from pinn.equations.jumps import is_of_place
from pinn.equations.scope import Scope
from pinn.expressions import Binary, Call, Expression, Unary, algebra, fold, nodes
from pinn.residuals import Nodes, Residual
from pinn.residuals.crossings import values_of
from pinn.sampling import stream


@dataclass(frozen=True)
class Fitted:
    """What a residual is small at alone: its "points", its "times" or the "nodes" of its sums.

    setting: what asks for more of them, with a number, "times=20 in place of 10"; "" for points.
    singular: whether no number of nodes will do, as an integrand is infinite at an end.
    """

    kind: str
    setting: str = ""
    singular: bool = False

    @property
    def remedy(self) -> str:
        """What helps, said of the block that comes after it: "take more nodes in ... of "."""
        if self.singular:
            return (
                "an integrand is infinite at an end, as 1/sqrt(t - s) at s = t, which no number of "
                "nodes resolves: substitute it away, as s = t*(1 - z**2) does "
                "(docs/howto/memory.md), in "
            )
        return _MORE.get(self.kind, "")


POINTS = Fitted("points")
_MORE = {"times": "take more times in ", "nodes": "take more nodes in the sums and integrals of "}
_ROUNDING = 1e-12


def fitted_in(residual: Residual, by_nodes: bool) -> Fitted:
    """Return what is fitted of an overfitted residual.

    by_nodes: whether it is far larger with more nodes in its sums at the points of training too.
    """
    if by_nodes:
        singular = any(_is_singular(*one) for one in _integrals(residual))
        return Fitted("nodes", "" if singular else _more_nodes(residual), singular)
    source = residual.source
    if isinstance(source, Nodes):
        return Fitted("times", f"times={2 * source.times} in place of {source.times}")
    return POINTS


def _integrals(residual: Residual) -> Iterator[tuple[Integral, Scope]]:
    for term in residual.terms:
        for one in () if term.tree is None else nodes(term.tree):
            if isinstance(one, Integral):
                yield one, term.scope


def _is_singular(integral: Integral, scope: Scope) -> bool:
    """Return whether an integrand is over the root, or a power, of what vanishes at a limit."""
    bases = [base for node in nodes(integral.integrand) for base in _below(node)]
    ends = (integral.lower, integral.upper)
    return any(
        _vanishes(_with(base, integral.variable, end), scope)
        for base in bases if integral.variable in nodes(base) for end in ends
    )  # fmt: skip


def _below(node: Expression) -> Iterator[Expression]:
    """Yield what a node divides by the root or another power of that is no whole number."""
    if not isinstance(node, Binary):
        return
    if node.operator == "/":
        for one in nodes(node.right):
            if isinstance(one, Call) and one.function == "sqrt":
                yield one.arguments[0]
            elif isinstance(one, Binary) and one.operator == "**" and _is_part(one.right):
                yield one.left
    elif node.operator == "**" and isinstance(node.right, Unary) and _is_part(node.right.operand):
        yield node.left


def _is_part(power: Expression) -> bool:
    value = algebra.literal(power)
    return value is None or value != round(value)


def _with(tree: Expression, variable: Expression, limit: Expression) -> Expression:
    """Return a tree with a limit for the variable of an integral."""

    def replaced(node: Expression, children: list[Expression]) -> Expression:
        return limit if node == variable else node.with_children(children)

    return fold(tree, replaced)


def _vanishes(tree: Expression, scope: Scope) -> bool:
    """Return whether a function of the place is 0 at some places, up to rounding."""
    if not is_of_place(tree):
        return False
    places = stream(0, "singular").uniform(0.2, 0.9, (4, len(scope.coordinates)))
    found = values_of(tree, scope.coordinates, places, scope.constants)
    return bool(np.all(np.abs(found) < _ROUNDING))


def _more_nodes(residual: Residual) -> str:
    counts = [one.count for one, _ in _integrals(residual)]
    if not counts:
        return "nodes= or steps= in it"
    return f"nodes={min(MOST_NODES, 2 * max(counts))} in place of {max(counts)}"
