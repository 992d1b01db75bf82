"""The formula u = A + B*N that makes data hold on faces, for any network N.

A interpolates the data. With P_k the interpolation in coordinate k alone (linear between two faces,
constant from one; the Taylor polynomial at the start of time),

    A <- A + P_k (data on the faces of k - A there),   one coordinate after the other,

is the boolean sum of the P_k (Gordon and Hall, Numer. Math. 21, 1973; in two coordinates a Coons
patch). Each step repairs the faces of one coordinate and, where the data agree in the corners,
leaves the others as they are. Time comes first, so that no derivative of the data is needed. Its
terms grow as 3^d; where one smooth expression gives the data of all faces, it is A itself.

B vanishes on the same faces and is of size one elsewhere: 4 (x - a)(b - x) / (b - a)^2 for two
faces, (x - a) / (b - a) for one, and 2 (x - a) / (b - a) to its power where a face has one. But for
powers these are polynomials, whose derivatives end: u_xx needs three channels of B and u_xxx no
fourth. Time is pinn.conditions.hard.start, a coordinate with slopes pinn.conditions.hard.edges:
there N is not only multiplied, but its values at the faces stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from pinn.conditions.hard.data import Data, has_walls
from pinn.conditions.hard.edges import Edge
from pinn.conditions.hard.pinned import Pinned, with_points
from pinn.conditions.hard.start import Start
from pinn.conditions.hard.trees import Given, Network, powered
from pinn.conditions.hard.walls import vanishing_on, wall_formula
from pinn.equations.leaves import Coordinate
from pinn.expressions import Binary, Call, Expression, Number, Unary, nodes
from pinn.expressions.algebra import add, divide, literal, multiply, negate, number, subtract
from pinn.geometry import Shape
from pinn.sampling import Layers

# Beyond this, evaluating A costs more than a network.
MAX_NODES = 4000

Held = Callable[[Expression, Mapping[str, float]], Expression]
"""(tree, place) -> the tree with the coordinates of the place, and all constants, as numbers."""

_SMOOTH = ("sin", "cos", "exp", "tanh", "sinh", "cosh")


def formula(
    domain: Shape,
    data: Sequence[Data],
    points: Sequence[Pinned],
    held: Held,
    resolve: Callable[[Expression], Expression],
    layers: Layers,
) -> Expression:
    """Return the tree of u = A + B*N, of at most MAX_NODES nodes where one can be found.

    resolve: gives the names of a tree their meaning. layers: in those along a face with values B
    rises to 1, so that N is of size one in them too.
    """
    tree = _on_faces(domain, data, held, resolve, layers) if data else Network()
    if not points:
        return tree
    vanishing = _with_slopes(domain, data, len(points), resolve, layers)
    return with_points(domain, tree, points, vanishing, data, held)


def _on_faces(
    domain: Shape, data: Sequence[Data], held: Held, resolve: Callable[[Expression], Expression],
    layers: Layers,
) -> Expression:  # fmt: skip
    """Return the tree with the data of faces and walls."""
    if has_walls(data):
        walls = [item for item in data if domain.time not in item.face.fixed]
        return wall_formula(domain, walls, _start(domain, data), held, resolve)
    edges = _edges(domain, data)

    def network(place: Mapping[str, float], rest: tuple[Edge, ...] = edges) -> Expression:
        """Return N with the homogeneous slopes of the edges that are left, at a place."""
        if not rest:
            return Network(tuple(place.items()))
        first, *others = rest
        return first.homogeneous(lambda more: network({**place, **more}, tuple(others)))

    inside = multiply(_vanishing(domain, data, layers), network({}))
    return add(_interpolant(domain, data, held), inside)


def _with_slopes(
    domain: Shape,
    data: Sequence[Data],
    count: int,
    resolve: Callable[[Expression], Expression],
    layers: Layers,
) -> Expression:
    """Return what vanishes wherever data are held, and its slope where slopes are, for points.

    A constant has no slope: of one point, it does where dn(u) alone is held.
    """
    if has_walls(data):
        walls = [item for item in data if domain.time not in item.face.fixed]
        return multiply(
            vanishing_on(domain, walls, resolve), _start(domain, data).vanishing()
        )
    tree = _vanishing(domain, data, layers)
    for edge in _edges(domain, data):
        tree = multiply(tree, edge.vanishing(constants=count == 1))
    return tree


def _is_sloped(data: Sequence[Data], coordinate: str) -> bool:
    return any(item.kappa is not None and item.face.coordinate == coordinate for item in data)


def _edges(domain: Shape, data: Sequence[Data]) -> tuple[Edge, ...]:
    """Return the coordinates in which slopes are given."""
    names = dict.fromkeys(item.face.coordinate for item in data if item.kappa is not None)
    return tuple(Edge(name, domain.bounds[name], data) for name in names)


def _interpolant(domain: Shape, data: Sequence[Data], held: Held) -> Expression:
    """Return A: the shorter of the boolean sum and of an expression that gives the data anyway."""
    start = _start(domain, data)
    walls = [item for item in data if item.face.coordinate != domain.time]
    sloped = any(item.kappa is not None for item in walls)
    extended = None if sloped else _extended(domain, walls, held, start)
    smooth = extended is not None and _smooth(extended, functions=False)
    limit = min(len(nodes(extended)), MAX_NODES) if smooth else MAX_NODES
    blended = _blended(domain, walls, held, start.interpolant(), limit)
    if len(nodes(blended)) <= limit or extended is None:
        return blended
    # Nobody knows what a function does inside the domain, so it is the last resort.
    return extended if _smooth(extended, functions=True) else blended


def _start(domain: Shape, data: Sequence[Data]) -> Start:
    """Return the interpolation in time."""
    mine = {item.order: item for item in data if domain.time in item.face.fixed}
    if not mine:
        return Start()
    low, high = domain.bounds[domain.time]
    trees = tuple(mine[order].tree for order in sorted(mine))
    return Start(trees, domain.time, low, high, at_end=mine[0].face.side == "high")


def _blended(
    domain: Shape, walls: Sequence[Data], held: Held, tree: Expression, limit: int
) -> Expression:
    """Return the boolean sum; one of more than `limit` nodes is not finished."""
    edges = {edge.coordinate: edge for edge in _edges(domain, walls)}
    for coordinate in domain.space:
        if coordinate in edges:
            tree = edges[coordinate].repaired(tree, held)
            continue
        low, high = domain.bounds[coordinate]
        x, width = Coordinate(coordinate), number(high - low)
        misses = {
            item.face.side: subtract(item.tree, held(tree, item.place))
            for item in walls
            if item.face.coordinate == coordinate
        }
        if len(misses) == 2 and misses["low"] != misses["high"]:
            from_low, from_high = subtract(number(high), x), subtract(x, number(low))
            tree = add(tree, multiply(divide(from_low, width), misses["low"]))
            tree = add(tree, multiply(divide(from_high, width), misses["high"]))
        elif misses:
            tree = add(tree, next(iter(misses.values())))
        if len(nodes(tree)) > limit:
            break
    return tree


def _extended(
    domain: Shape, walls: Sequence[Data], held: Held, start: Start
) -> Expression | None:
    """Return E + P_t (data at the start - E there), where one expression E serves all walls."""
    values = {held(item.source, {}) for item in walls}
    if len(values) != 1:
        return None
    (value,) = values
    if not start.trees:
        return value
    changes = any(_depends(node, domain.time) for node in nodes(value))
    if changes and len(start.trees) > 1:
        return None  # the rate of change of E would be needed
    first, *rates = start.trees
    corrected = Start(
        (subtract(first, held(value, start.place)), *rates),
        start.time, start.low, start.high, start.at_end,
    )  # fmt: skip
    return add(value, corrected.interpolant())


def _depends(node: Expression, time: str) -> bool:
    return node == Coordinate(time) or isinstance(node, Given)


def _smooth(tree: Expression, functions: bool) -> bool:
    """Return whether a tree is smooth wherever its coordinates go.

    functions: whether to take that for granted of the functions of conditions.
    """
    return all(_smooth_node(node, functions) for node in nodes(tree))


def _smooth_node(node: Expression, functions: bool) -> bool:
    match node:
        case Given():
            return functions
        case Call():
            return node.function in _SMOOTH
        case Binary(operator="/"):
            return literal(node.children[1]) is not None
        case Binary(operator="**"):
            power = literal(node.children[1])
            return power is not None and power >= 0 and power.is_integer()
        case Binary():
            return node.operator in "+-*"
        case Unary() | Number() | Coordinate():
            return True
    return False


def _vanishing(domain: Shape, data: Sequence[Data], layers: Layers) -> Expression:
    """Return B.

    A product of d factors 4 s (1 - s) has a root mean square of (8/15)^(d/2) on the cube. It is
    brought to that of one factor, so that N has to be of size one in ten coordinates too. In a
    layer of width w a factor is 1 - exp(-d/w), with the smallest w.
    """
    scale, pairs = 1.0, 0
    widest_first = sorted(layers, key=lambda one: -one.width)
    widths = {(one.coordinate, one.side): one.width for one in widest_first}  # the thinnest counts
    factors: list[Expression] = []
    singular: list[Expression] = []
    for coordinate, (low, high) in domain.bounds.items():
        if coordinate == domain.time or _is_sloped(data, coordinate):
            continue
        sides = {
            item.face.side: item.power for item in data if item.face.coordinate == coordinate
        }
        thin = {side for side in sides if (coordinate, side) in widths}
        if set(sides) == {"low", "high"} and set(sides.values()) == {1.0} and not thin:
            scale *= 4
            pairs += 1
        x = Coordinate(coordinate)
        for side, power in sides.items():
            distance = subtract(x, number(low)) if side == "low" else subtract(number(high), x)
            if power == 1 and side in thin:
                lengths = divide(distance, number(widths[coordinate, side]))
                factors.append(subtract(Number(1), Call("exp", (negate(lengths),))))
            elif power == 1:
                scale /= high - low
                factors.append(distance)
            else:
                share = divide(distance, number((high - low) / 2))
                singular.append(powered(share, power))
    if pairs > 1:
        scale *= math.sqrt(15 / 8) ** (pairs - 1)
    if not 0 < scale < math.inf:
        names = ", ".join(dict.fromkeys(item.condition for item in data))
        raise ValueError(
            f"{names} cannot be hard: the product of the lengths of the domain leaves the range of "
            "float64; measure the coordinates in other units"
        )
    start = _start(domain, data).vanishing()
    return multiply(reduce(multiply, [*factors, *singular], number(scale)), start)
