"""Values held on any parts of the boundary of any shape: u = E + B*N with a formula for B.

B is the shape's formula that vanishes on the parts (Shape.distance_function), scaled to size one,
to the power of the condition. E gives the data: their own expression where all parts have one,
else, for the data g_i on parts where B_i vanishes,

    E = sum_i g_i W_i / sum_i W_i,   W_i = product of B_j with j != i,

which is g_i where B_i is zero (Rvachev, Sheiko, Shapiro and Tsukanov, Comput. Mech. 27 (2001) 57).
Time is pinn.conditions.hard.start, as in a box: what E lacks at the start is added there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np

from pinn.conditions.hard.data import Data
from pinn.conditions.hard.start import Start
from pinn.conditions.hard.trees import Network, powered, slope
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.leaves import Coordinate
from pinn.equations.resolve import evaluate_resolved
from pinn.expressions import Expression
from pinn.expressions.algebra import add, divide, multiply, number, subtract
from pinn.geometry import Part, Shape
from pinn.geometry.unit_cube import probes

Held = Callable[[Expression, Mapping[str, float]], Expression]
Resolve = Callable[[Expression], Expression]

# Parts that come nearer to each other, as a share of the domain's size, are taken to meet.
_APART = 1e-3


def wall_formula(
    domain: Shape, walls: Sequence[Data], start: Start, held: Held, resolve: Resolve
) -> Expression:
    """Return the tree of u = E + P_t(data at the start - E there) + B*N.

    resolve: gives the names of a tree their meaning. Raises ValueError, naming the conditions, for
    parts with different values that meet, and what the shape's formula raises.
    """
    groups: dict[Expression, list[Data]] = {}
    for item in walls:
        groups.setdefault(held(item.source, {}), []).append(item)
    value = _extension(domain, groups, resolve)
    tree = value
    if start.trees:
        first, *rates = start.trees
        changes = (held(slope(value, start.time), start.place) for _ in rates)
        corrected = Start(
            (
                subtract(first, held(value, start.place)),
                *(subtract(rate, change) for rate, change in zip(rates, changes, strict=True)),
            ),
            start.time, start.low, start.high, start.at_end,
        )  # fmt: skip
        tree = add(value, corrected.interpolant())
    vanishing = vanishing_on(domain, walls, resolve)
    return add(tree, multiply(multiply(vanishing, start.vanishing()), Network()))


def _extension(
    domain: Shape, groups: Mapping[Expression, Sequence[Data]], resolve: Resolve
) -> Expression:
    """Return E."""
    if len(groups) == 1:
        return next(iter(groups))
    functions = [vanishing_on(domain, group, resolve) for group in groups.values()]
    _check_apart(domain, list(groups.values()), functions)
    weights = [
        reduce(multiply, [f for j, f in enumerate(functions) if j != i])
        for i in range(len(functions))
    ]
    weighted = [multiply(value, weight) for value, weight in zip(groups, weights, strict=True)]
    return divide(reduce(add, weighted), reduce(add, weights))


def vanishing_on(domain: Shape, walls: Sequence[Data], resolve: Resolve) -> Expression:
    """Return the shape's formula that vanishes on some walls, of size one inside, to their power.

    Walls of several powers are several formulas, multiplied.
    """
    powers: dict[float, list[Data]] = {}
    for item in walls:
        powers.setdefault(item.power, []).append(item)
    return reduce(multiply, [
        powered(_of_size_one(domain, group, resolve), power) for power, group in powers.items()
    ])  # fmt: skip


def _of_size_one(domain: Shape, walls: Sequence[Data], resolve: Resolve) -> Expression:
    """Return the shape's formula that vanishes on some walls, of size one inside."""
    try:
        tree = resolve(domain.distance_function(list(dict.fromkeys(item.face for item in walls))))
    except (TypeError, ValueError) as error:  # a shape without such a formula
        names = ", ".join(dict.fromkeys(repr(item.condition) for item in walls))
        raise ValueError(f"{names} cannot be hard: {error}") from None
    inside = domain.from_unit(probes(1024, len(domain.coordinates)))
    inside = inside[~np.isnan(inside).any(axis=1)]
    return multiply(number(1 / float(np.abs(_evaluated(domain, tree, inside)).max())), tree)


def _check_apart(
    domain: Shape, groups: Sequence[Sequence[Data]], functions: Sequence[Expression]
) -> None:
    for i, group in enumerate(groups):
        points = part_points(domain, [item.face for item in group])
        for j, function in enumerate(functions):
            if i != j and np.abs(_evaluated(domain, function, points)).min() < _APART:
                one, other = group[0], groups[j][0]
                raise ValueError(
                    f"{one.condition!r} on {one.face} and {other.condition!r} on {other.face} "
                    "cannot both be hard: these parts meet and their values are different "
                    "expressions; give one expression for both, or make one of them soft (leave "
                    "out hard)"
                )


def part_points(domain: Shape, parts: Sequence[Part]) -> np.ndarray:
    """Return points of parts of the boundary, (n, d), the same ones each time."""
    return np.concatenate([
        domain.sample_part(part, 256, lambda n, d, rng: probes(n, d), np.random.default_rng(0))[0]
        for part in parts
    ])  # fmt: skip


def _evaluated(domain: Shape, tree: Expression, points: np.ndarray) -> np.ndarray:
    columns = zip(domain.coordinates, points.T, strict=True)
    values = {Coordinate(name): column for name, column in columns}
    found = evaluate_resolved(tree, values, NUMPY_FUNCTIONS)
    return np.broadcast_to(np.asarray(found, dtype=np.float64), (len(points),))
