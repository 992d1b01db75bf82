"""An integral or a mean that has a known value."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pinn.conditions.condition import Condition, Value
from pinn.conditions.sums import combined
from pinn.equations.leaves import At, Coordinate, Derivative, Laplacian
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.expressions import Call, Expression, nodes, parse
from pinn.expressions.algebra import number
from pinn.geometry import On, Shape
from pinn.residuals import WEIGHT, Nodes, Residual, Section, space_of
from pinn.schema import Count, Name, declared
from pinn.schema.errors import at, refuse
from pinn.schema.kinds import Formula

_EXPRESSION = Formula("an expression such as u**2, or integral(u, x, 0, 1)", number=False)


@declared
class Integral(Condition):
    """The integral of an expression over the domain in space, or parts of its boundary, is value.

    expression: text, or a function of the namespace. A text with `integral(...)` in it says itself
    what it integrates over, as in "integral(p, x, 0, 1) - q"; it holds wherever the coordinates
    that are left lead, on `Sampling.initial` points. Any other is integrated over the domain in
    space, at each of `times` times where there is time. on: parts of the boundary instead; the
    expression may then use the normal: "dn(u)". mean: the mean instead of the integral. value:
    text, number or callable, of time where there is time. name: what the block is called.

    Nodes in boxes, on faces and, in up to three coordinates, along lines through other shapes are
    Gauss-Legendre's, `nodes` along each coordinate: exact to rounding for smooth functions, to some
    1e-5 where a shape has slanted sides or boundaries that cross. In more coordinates, and
    on parts of boundaries that others cut off, they are `nodes`^d even points of a box, of which
    those inside count, with an error of about 1 in their number.
    """

    expression: Annotated[str | Callable[[Any], Any], _EXPRESSION]
    value: Value = 0.0
    on: On = None
    mean: bool = False
    nodes: Count | None = None
    times: Count = 10
    name: Name | None = None

    def label(self, domain: Shape) -> str:
        if self.name is not None:
            return self.name
        told = self.expression if isinstance(self.expression, str) else ""
        words = "_".join(re.findall(r"[A-Za-z0-9]+", told))[:40].strip("_")
        kind = "mean" if self.mean else "integral"
        if words.startswith("integral"):
            words = words.removeprefix("integral").lstrip("_")
        place = [] if self.on is None else [domain.label(self.on)]
        return "_".join([kind, *[words] * bool(words), *place])

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        told = self._says_where()
        parts = None
        if self.on is not None and not told:
            with at("on"):
                parts = space_of(domain).select(self.on)
        what = f"condition {self.label(domain)!r}"
        if told:
            return [self._as_told(what, domain, scope)]
        source = Nodes(domain, parts, self.nodes, self.times, self.mean)
        normals = source.columns[1:]
        with at("expression"):
            left = Term(what, self.expression, scope.with_columns(normals))
            _need_unknown(left, scope)
        with at("value"):
            # The sum over the nodes adds it up again.
            share = [(Term(what, self.value, scope.of_values()), number(1 / source.measure))]
            right = combined(what, share, scope.of_values())
        return [
            Residual(
                self.label(domain), what, left, source, right, factor=WEIGHT, nodes=source.each
            )
        ]

    def _says_where(self) -> bool:
        if not isinstance(self.expression, str):
            return False
        with at("expression"):
            tree = parse(self.expression)
        return any(isinstance(n, Call) and n.function == "integral" for n in nodes(tree))

    def _as_told(self, what: str, domain: Shape, scope: Scope) -> Residual:
        """Return the residual of a text that integrates by itself, where what is left leads."""
        if self.on is not None or self.mean:
            refuse(
                "leave it out: a text with integral(...) says itself what it integrates over",
                "mean" if self.on is None else "on",
            )
        with at("expression"):
            left = Term(what, self.expression, scope)
            _need_unknown(left, scope)
        free = _coordinates_of(left.tree, domain.coordinates)
        fixed = tuple((n, low) for n, (low, _) in domain.bounds.items() if n not in free)
        with at("value"):
            right = Term(what, self.value, scope.of_values())
        return Residual(
            self.label(domain), what, left, Section(domain, fixed, kind="initial"), right
        )


def _need_unknown(left: Term, scope: Scope) -> None:
    if left.leaves == ():
        refuse(
            f"expected at least one of the unknowns {', '.join(scope.unknowns)} in it, got "
            f"{left.source!r}"
        )


def _coordinates_of(tree: Expression, coordinates: Sequence[str]) -> set[str]:
    """Return the coordinates that the value of a resolved tree changes with."""
    found: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, Coordinate):
            found.add(node.name)
        elif isinstance(node, Derivative | Laplacian):
            found.update(coordinates)
        elif isinstance(node, At):
            found.update(set(coordinates) - set(node.names))
    return found
