"""What and, or, not make of names of parts and comparisons: "x=0 and y < 0.4", "not hole"."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from pinn.expressions import CONSTANTS, Binary, Expression, Name, Unary, fold, nodes
from pinn.expressions.conditions import is_condition
from pinn.expressions.language import LOGICAL
from pinn.geometry.parts import Level, Part, is_equality

# What is left of a condition on one part: everywhere, nowhere, or where a condition holds.
Remainder = bool | Expression


def atoms_of(
    tree: Expression, known: Collection[str], named: Callable[[str], Sequence[Part]]
) -> dict[Expression, Sequence[Part]]:
    """Return the parts that the names and faces of a condition stand for.

    tree: of `parse_condition` with equality. known: the names that have values at points. named:
    what gives the parts of a text such as "x=0" or "hole", raising ValueError for another. Raises
    ExpressionError for a part where a number belongs, and a number where a part does.
    """
    found: dict[Expression, Sequence[Part]] = {}
    values = {*known, *CONSTANTS}
    for node in [tree, *nodes(tree)]:
        if is_equality(node):
            found[node] = named(f"{node.left}={node.right}")
            continue
        truths = isinstance(node, Binary | Unary) and node.operator in LOGICAL
        for child in node.children:
            if truths and isinstance(child, Name) and child.name in values:
                raise child.error(
                    f"expected a comparison or a part of the boundary, got {child.name!r} alone"
                )
            if truths and isinstance(child, Name):
                found[child] = named(child.name)
    for node in nodes(tree):
        truths = isinstance(node, Binary | Unary) and node.operator in LOGICAL
        for child in () if truths else node.children:
            if child in found and isinstance(child, Name):
                raise child.error(f"{child.name!r} is a part of the boundary, and no number")
    return found


def remainder(
    tree: Expression, atoms: Mapping[Expression, Sequence[Part]], part: Part
) -> Remainder:
    """Return what is left of a condition on one part, where names of parts are decided."""
    return fold(tree, partial(_left, atoms=atoms, part=part))


def _left(
    node: Expression,
    children: list[Remainder],
    atoms: Mapping[Expression, Sequence[Part]],
    part: Part,
) -> Remainder:
    if node in atoms:
        cut = any(isinstance(one, Level) and one.part == part for one in atoms[node])
        return node if cut else part in atoms[node]
    if not is_condition(node) or node.operator not in LOGICAL:
        return node.with_children(children)
    decided = [child for child in children if isinstance(child, bool)]
    if not decided:
        return node.with_children(children)
    if node.operator == "not":
        return not decided[0]
    # What decides the whole: False for and, True for or.
    ruling = node.operator == "or"
    if ruling in decided or len(decided) == len(children):
        return ruling if ruling in decided else not ruling
    return next(child for child in children if not isinstance(child, bool))
