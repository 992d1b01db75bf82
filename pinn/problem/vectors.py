"""Which unknowns of a problem are the components of a vector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pinn.equations.calculus import Calculus
from pinn.equations.leaves import Derivative, UnknownLeaf, derivatives_in
from pinn.expressions import Call, Expression, algebra


def vectors_of(
    space: Sequence[str], unknowns: Sequence[str], equations: Iterable[Expression | None]
) -> tuple[tuple[str, ...], ...]:
    """Return the unknowns that are components of one vector, in the order of the coordinates.

    Those are a vector that are named after the coordinates, ux and uy, and those whose divergence
    is all that an equation has of derivatives in space: u_x + v_y, also with one factor, with a
    source and with derivatives in time, where u comes before v among the unknowns: the shear
    u_y + v_x is none. Unknowns that are in two of them are components of a tensor, and none of a
    vector. equations: resolved trees, None for functions, of which nothing is known.
    """
    if len(space) not in (2, 3):
        return ()
    named = _named(space, unknowns)
    found = dict.fromkeys(_divergence(tree, space) for tree in equations if tree is not None)
    found.pop(None, None)
    counts = Counter(name for vector in found for name in vector)
    number = {name: i for i, name in enumerate(unknowns)}
    return named + tuple(
        vector for vector in found
        if vector not in named and number.keys() >= set(vector)
        and sorted(vector, key=number.__getitem__) == list(vector)
        and all(counts[name] == 1 for name in vector)
    )  # fmt: skip


def _named(space: Sequence[str], unknowns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the vectors whose components end in the coordinates."""
    stems = [name.removesuffix(space[0]) for name in unknowns if name.endswith(space[0])]
    vectors = (tuple(stem + name for name in space) for stem in stems if stem)
    return tuple(vector for vector in vectors if set(vector) <= set(unknowns))


def _divergence(tree: Expression, space: Sequence[str]) -> tuple[str, ...] | None:
    """Return the unknowns whose divergence is in an equation; None where it is no such equation."""
    by_coordinate: dict[str, Derivative] = {}
    for leaf in derivatives_in(tree):
        if not isinstance(leaf, Derivative):
            return None
        if not set(leaf.coordinates) & set(space):
            continue
        if leaf.order > 1 or leaf.coordinates[0] in by_coordinate:
            return None
        by_coordinate[leaf.coordinates[0]] = leaf
    if by_coordinate.keys() != set(space):
        return None
    slopes = [_slope(tree, leaf) for leaf in by_coordinate.values()]
    names = tuple(by_coordinate[name].unknown for name in space)
    return names if len(set(slopes)) == 1 and len(set(names)) == len(names) else None


def _slope(tree: Expression, leaf: Derivative) -> Expression:
    """Return the slope of an equation in one of its leaves."""

    def own(part: Expression) -> Expression | None:
        if isinstance(part, UnknownLeaf):
            return algebra.ONE if part == leaf else algebra.ZERO
        return None

    # No coordinate has this name, so all else is constant.
    return Calculus(None).derivative(Call("diff", ()), tree, "", hold_columns=True, own=own)
