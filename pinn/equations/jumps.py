"""Functions of the place alone that may jump, and where a derivative was taken of one."""

from __future__ import annotations

from dataclasses import dataclass

from pinn.equations.leaves import Constant, Coordinate, ParameterRef
from pinn.expressions import Call, Expression, Number, nodes

_JUMPING = ("where", "sign", "floor")


@dataclass(frozen=True, eq=False)
class Crossed:
    """A derivative that was taken as if its operand did not jump.

    operator: what the text has, diff, div or another. operand: what it was taken of, in a
    coordinate. choices: the parts of the operand that may jump.
    """

    operator: Call
    operand: Expression
    coordinate: str
    choices: tuple[Call, ...]


def choices(tree: Expression) -> tuple[Call, ...]:
    """Return the parts that may jump from place to place: where, sign and floor of places alone.

    One of unknowns is none: its two sides may meet, as two media do at an interface.
    """
    return tuple(
        node
        for node in nodes(tree)
        if isinstance(node, Call) and node.function in _JUMPING and is_of_place(node, ParameterRef)
    )


def is_of_place(tree: Expression, *also: type[Expression]) -> bool:
    """Whether a tree is made of coordinates and numbers alone; also: other leaves that may be."""
    known = (Coordinate, Constant, Number, *also)
    return all(isinstance(node, known) for node in nodes(tree) if not node.children)
