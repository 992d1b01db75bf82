"""Differentiation of resolved trees, and their evaluation elsewhere, worked out symbolically."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pinn.equations.axes import Integral, Nodes, Sum, substituted
from pinn.equations.fractional import OfOrder
from pinn.equations.leaves import (
    At,
    Column,
    Coordinate,
    Derivative,
    Laplacian,
    Supplied,
    in_domain_order,
)
from pinn.equations.names import MAX_ORDER
from pinn.equations.tabulated import Tabulated
from pinn.expressions import Binary, Call, Expression, Unary, algebra, fold, nodes

if TYPE_CHECKING:
    from pinn.equations.scope import Scope

# Nodes that the symbolic rules may visit for one equation: under a second of work.
MAX_EXPANSION = 40_000


class Calculus:
    """The rules for one expression; `node` is the operator that they serve, for errors' places.

    scope: None for trees without unknowns. visited counts the nodes that the rules have been
    applied to: the work done so far.
    """

    def __init__(self, scope: Scope | None) -> None:
        self._scope = scope
        self.visited = 0

    def derivative(
        self,
        node: Call,
        operand: Expression,
        coordinate: str,
        *,
        hold_columns: bool = False,
        own: Callable[[Expression], Expression | None] = lambda part: None,
    ) -> Expression:
        """Differentiate a resolved tree once in a coordinate.

        hold_columns: whether what is attached to the points counts as constant, as the normal
        does along itself; otherwise it has no derivative. own: gives the derivatives of leaves that
        only who asks knows of, None for others. A jump has no derivative here: the scope notes it.
        """
        if self._scope is not None:
            self._scope.note_derivative(node, operand, coordinate)

        def rule(part: Expression, inner: list[Expression]) -> Expression:
            self.visit(node)
            found = own(part)
            if found is not None:
                return found
            if isinstance(part, Binary | Call | Unary):  # as most are
                return self._of_function(node, part, inner)
            if isinstance(part, Derivative | Laplacian):
                return self._of_unknown(node, part, coordinate)
            if isinstance(part, At):
                return self._of_elsewhere(node, part, inner, coordinate)
            if isinstance(part, Coordinate):
                return algebra.ONE if part.name == coordinate else algebra.ZERO
            if isinstance(part, Integral):
                return self._of_integral(node, part, inner)
            if isinstance(part, Sum):
                return part.with_children(inner) if inner[0] is not algebra.ZERO else algebra.ZERO
            if isinstance(part, OfOrder):
                if inner[0] is not algebra.ZERO:
                    raise node.error("the order of a fractional derivative that varies in space")
                return part.slope(inner)
            if isinstance(part, Nodes):
                return algebra.ZERO  # as variables; what their limits do is the integral's matter
            if isinstance(part, Column) and not hold_columns:
                raise node.error(
                    f"{part} belongs to the points themselves, so it has no derivative in "
                    f"{coordinate}; take it out of {node.function}(...)"
                )
            return self._of_function(node, part, inner)

        return fold(operand, rule)

    def partial(
        self, node: Call, operand: Expression, leaf: Derivative | Laplacian
    ) -> Expression:
        """Differentiate a resolved tree in a leaf, an unknown or a derivative of one, alone.

        All other leaves count as constant. Raises ExpressionError where the leaf's unknown is asked
        for elsewhere, or in an integral.
        """

        def rule(part: Expression, inner: list[Expression]) -> Expression:
            self.visit(node)
            if part == leaf:
                return algebra.ONE
            if isinstance(part, At | Integral | Sum | OfOrder):
                if any(_unknown_of(one) == leaf.unknown for one in nodes(part)):
                    raise node.error(
                        f"{node.function} takes {leaf.unknown!r} and its derivatives at the point "
                        f"itself; here it is asked for elsewhere, in {part}"
                    )
                return algebra.ZERO
            return self._of_function(node, part, inner)

        return fold(operand, rule)

    def elsewhere(
        self, node: Call, operand: Expression, replaced: Mapping[str, Expression]
    ) -> Expression:
        """Replace coordinates by expressions: the operand's value at another point."""

        def rule(part: Expression, children: list[Expression]) -> Expression:
            self.visit(node)
            if isinstance(part, Coordinate):
                return replaced.get(part.name, part)
            if isinstance(part, Derivative | Laplacian):
                inputs = self._scope.inputs_of(part.unknown)
                seen = {name: value for name, value in replaced.items() if name in inputs}
                return At.moved(part, seen, self._scope.coordinate_number)
            if isinstance(part, At):
                # The outer point first: at(at(u, t=t - 1), x=0, t=2) is u at x = 0, t = 1.
                inner = dict(zip(part.names, children, strict=True))
                return At.moved(part.leaf, {**replaced, **inner}, self._scope.coordinate_number)
            if isinstance(part, Column | Supplied):
                raise node.error(
                    f"{part} belongs to the points themselves, so it has no value elsewhere; take "
                    f"it out of {node.function}(...)"
                )
            return part.with_children(children)

        return fold(operand, rule)

    def check_order(self, node: Expression, order: int) -> None:
        """Raise ExpressionError for a derivative of too high an order."""
        if order > MAX_ORDER:
            raise node.error(f"a derivative of order {order}; orders go up to {MAX_ORDER}")

    def visit(self, node: Call, count: int = 1) -> None:
        """Count work; ExpressionError where it grows beyond any use."""
        self.visited += count
        if self.visited > MAX_EXPANSION:
            raise node.error(
                f"{node.function} expands to too many terms; introduce an unknown for a part of "
                "it, or lower the order"
            )

    def _of_function(
        self, node: Call, part: Expression, inner: list[Expression]
    ) -> Expression:
        """The chain rule of a function, a sum, a product or a table; 0 for what is a constant."""
        if isinstance(part, Supplied):
            raise node.error(
                f"{node.function}: a value that a function has computed does not know what it "
                "was made of, so it has no derivative here; compute the whole equation with s "
                "alone (s.sin for autograd.sin), or give text, such as s.diff('u**2', 'x')"
            )
        if isinstance(part, Tabulated):
            return self._of_table(part, inner)
        if not part.children or all(value is algebra.ZERO for value in inner):
            return algebra.ZERO
        if isinstance(part, Unary):
            return inner[0] if part.operator == "+" else algebra.negate(inner[0], part)
        return algebra.RULES[part.label[0]](part, part.children, inner)

    def _of_unknown(
        self, node: Call, leaf: Derivative | Laplacian, coordinate: str
    ) -> Expression:
        scope = self._scope
        if coordinate not in scope.inputs_of(leaf.unknown):
            return algebra.ZERO
        self.check_order(node, leaf.order + 1)
        if isinstance(leaf, Laplacian):
            self.visit(node, leaf.term_count(len(scope.space)))
            terms = leaf.terms(scope.space)
        else:
            terms = [(leaf.coordinates, 1.0)]
        total: Expression = algebra.ZERO
        for coordinates, count in terms:
            ordered = in_domain_order((*coordinates, coordinate), scope.coordinate_number)
            term = Derivative(leaf.unknown, ordered, position=leaf.position, source=leaf.source)
            times = algebra.number(count, leaf)
            total = algebra.add(total, algebra.multiply(times, term, leaf), leaf)
        return total

    def _of_elsewhere(
        self, node: Call, part: At, inner: list[Expression], coordinate: str
    ) -> Expression:
        """The chain rule: u(g(x), t) has the slope u_x(g(x), t) g'(x) in x, u_t(g(x), t) in t."""
        slopes = dict(zip(part.names, inner, strict=True))
        slopes.setdefault(coordinate, algebra.ONE)
        total: Expression = algebra.ZERO
        for name, slope in slopes.items():
            if algebra.is_number(slope, 0):
                continue
            there = self.elsewhere(
                node, self._of_unknown(node, part.leaf, name), dict(part.location)
            )
            total = algebra.add(total, algebra.multiply(there, slope, part), part)
        return total

    @staticmethod
    def _of_table(part: Tabulated, inner: list[Expression]) -> Expression:
        """The chain rule, with the table's own slopes."""
        total: Expression = algebra.ZERO
        for variable, slope in enumerate(inner):
            if not algebra.is_number(slope, 0):
                term = algebra.multiply(part.differentiated(variable), slope, part)
                total = algebra.add(total, term, part)
        return total

    def _of_integral(
        self, node: Call, part: Integral, inner: list[Expression]
    ) -> Expression:
        """Leibniz's rule: the integrand's slope, and the integrand at the limits that move."""
        slope, lower, upper = inner
        total: Expression = algebra.ZERO
        if not algebra.is_number(slope, 0):
            total = part.with_children([slope, part.lower, part.upper])
        for limit, rate, join in (
            (part.upper, upper, algebra.add), (part.lower, lower, algebra.subtract)
        ):  # fmt: skip
            if algebra.is_number(rate, 0):
                continue
            self.visit(node, len(nodes(part.integrand)))
            there = substituted(part.integrand, {part.variable: limit})
            total = join(total, algebra.multiply(there, rate, part), part)
        return total


def _unknown_of(part: Expression) -> str | None:
    """Return the unknown that a leaf belongs to; None for what is none."""
    return part.unknown if isinstance(part, Derivative | Laplacian | At) else None
