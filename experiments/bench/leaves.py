"""Which derivatives the peers take, and in what order they are nested."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pinn.equations.leaves import Derivative, Laplacian
from pinn.expressions import Expression, nodes

Leaf = Derivative | Laplacian


@dataclass
class Node:
    """A quantity and those that are derivatives of it.

    leaf       the name by which a residual asks for it, if one does.
    children   coordinate -> the derivative in it.
    laplacian  the Laplacian of it, over the coordinates `laplacian_over`.
    """

    leaf: Leaf | None = None
    children: dict[str, Node] = field(default_factory=dict)
    laplacian: Node | None = None
    laplacian_over: tuple[str, ...] = ()


def needed_leaves(trees: Iterable[Expression]) -> tuple[Leaf, ...]:
    """Return the distinct unknowns and derivatives in resolved residuals."""
    found = [n for tree in trees for n in nodes(tree) if isinstance(n, Derivative | Laplacian)]
    return tuple(dict.fromkeys(found))


def derivative_tree(leaves: Sequence[Leaf], unknown: str, space: Sequence[str]) -> Node:
    """Return the tree of what is asked for of one unknown: shared prefixes are taken once."""
    root = Node()
    for leaf in leaves:
        if leaf.unknown != unknown:
            continue
        node = root
        if isinstance(leaf, Laplacian):
            for _ in range(leaf.times):
                node.laplacian_over = tuple(space)
                node.laplacian = node.laplacian or Node()
                node = node.laplacian
        else:
            for name in leaf.coordinates:
                node = node.children.setdefault(name, Node())
        node.leaf = leaf
    return root
