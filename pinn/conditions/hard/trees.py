"""What the formula of a hard condition has besides an equation's leaves, and trees on a face."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pinn.equations.calculus import Calculus
from pinn.equations.leaves import Column, Constant, Coordinate
from pinn.expressions import Binary, Call, Expression, algebra, fold

_MOST_FACTORS = 16


@dataclass(frozen=True, eq=False, repr=False)
class Given(Expression):
    """The function of a condition, with the coordinates `fixed` held at their numbers."""

    condition: str
    fixed: tuple[tuple[str, float], ...] = ()

    @property
    def label(self) -> tuple[str, tuple[tuple[str, float], ...]]:
        return (self.condition, self.fixed)

    def text(self) -> str:
        return f"{self.condition}({', '.join(f'{n}={v:g}' for n, v in self.fixed)})"


Place = tuple[tuple[str, float], ...]
"""Coordinates and the numbers that they are held at."""


@dataclass(frozen=True, eq=False, repr=False)
class Network(Expression):
    """The output of the network for one unknown, at a place where one is given."""

    place: Place = ()

    @property
    def label(self) -> tuple[Place]:
        return (self.place,)

    def text(self) -> str:
        held = ", ".join(f"{name}={value:g}" for name, value in self.place)
        return f"N({held})" if held else "N"


def slope(tree: Expression, coordinate: str) -> Expression:
    """Return the derivative of a tree in a coordinate.

    Raises ValueError for a function of a condition: how it changes, only its evaluation tells.
    """

    def own(part: Expression) -> Expression | None:
        if not isinstance(part, Given):
            return None
        if coordinate in dict(part.fixed):
            return algebra.ZERO
        raise ValueError(
            f"{part.condition!r} has a function as its value, whose slope in {coordinate} a "
            "hard condition needs; give it as text, or make one of them soft (leave out hard)"
        )

    called = Call("diff", (tree, Coordinate(coordinate)))
    return Calculus(None).derivative(called, tree, coordinate, own=own)


def with_normal(tree: Expression, normal: Mapping[str, float]) -> Expression:
    """Return a tree with the normal's components as numbers."""

    def rule(part: Expression, children: list[Expression]) -> Expression:
        if isinstance(part, Column):
            return algebra.number(normal[part.name], part)
        return part.with_children(children) if children else part

    return fold(tree, rule)


def freeze(
    tree: Expression,
    held: Mapping[str, float],
    constants: Mapping[str, float],
    given: Callable[[Given], Expression],
) -> Expression:
    """Return a resolved tree with the coordinates of `held` and all constants as numbers.

    The network is taken there as well.

    given(leaf) has the last word on a function that is held there, and may return a number.
    A part that has no value there (1/x at x = 0) stays as it is: a `where` may not choose it.
    """

    def combine(node: Expression, children: list[Expression]) -> Expression:
        if isinstance(node, Coordinate):
            return algebra.number(held[node.name]) if node.name in held else node
        if isinstance(node, Constant):
            return algebra.number(constants[node.name])
        if isinstance(node, Network):
            return Network(tuple(sorted((dict(held) | dict(node.place)).items())))
        if isinstance(node, Given):
            fixed = dict(node.fixed) | dict(held)
            return given(Given(node.condition, tuple(sorted(fixed.items()))))
        if not children:
            return node
        simpler = algebra.simplified(node.with_children(children))
        return _as_product(simpler)

    return fold(tree, combine)


def _as_product(node: Expression) -> Expression:
    """Write a small whole power as products: they end in Taylor mode, a power has all orders."""
    if isinstance(node, Binary) and node.operator == "**":
        exponent = algebra.literal(node.right)
        if exponent in range(2, _MOST_FACTORS + 1):
            return _product(node.left, int(exponent))
    return node


def powered(base: Expression, exponent: float) -> Expression:
    """Return a distance to a power: 0, and not a complex number, where rounding made it negative.

    Small whole powers are products, which stay polynomials.
    """
    if exponent == 1:
        return base
    if exponent in range(2, _MOST_FACTORS + 1):
        return _product(base, int(exponent))
    return algebra.power(algebra.apply("max", base, algebra.ZERO), algebra.number(exponent))


def _product(base: Expression, count: int) -> Expression:
    """Return base**count by squaring."""
    half = base if count < 4 else _product(base, count // 2)
    square = Binary("*", half, half)
    return Binary("*", square, base) if count % 2 else square
