"""JAX under jit: nested reverse, nested forward, forward over reverse, and Taylor mode (jet).

All values and derivatives of one level come out of one differentiated function, so that no way
computes, or differentiates, anything twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.experimental.jet import jet

from experiments.bench.adam import BETA1, BETA2, EPSILON, LEARNING_RATE
from experiments.bench.engines import CannotRun, flat
from experiments.bench.leaves import Leaf, Node, derivative_tree, needed_leaves
from experiments.bench.workloads import Workload
from pinn.equations.leaves import Constant, Coordinate, Laplacian
from pinn.equations.resolve import evaluate_resolved


class _Arrays:
    tanh, sin, cos = staticmethod(jnp.tanh), staticmethod(jnp.sin), staticmethod(jnp.cos)

    @staticmethod
    def linear(x: Any, weight: Any, bias: Any) -> Any:
        product = jax.lax.dot_general(x, weight, (((1,), (1,)), ((), ())))
        return product if bias is None else product + bias

    @staticmethod
    def join(parts: list[Any]) -> Any:
        return jnp.concatenate(parts, axis=1)


_FUNCTIONS = {
    name: getattr(jnp, name)
    for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "abs")
}

Columns = dict[str, Any]
Path = tuple[str, ...]  # unknown, then coordinates and "laplacian"
Values = dict[Path, Any]


class _Schedule:
    """What each level of nesting differentiates, and which paths are the leaves asked for.

    levels  for each level the (path, coordinate) pairs; the result is at path + (coordinate,).
    sums    for each level, after it, Laplacians: path -> the paths that it is the sum of.
    """

    def __init__(self, workload: Workload) -> None:
        self.leaves: dict[Leaf, Path] = {}
        self.levels: list[dict[tuple[Path, str], None]] = []
        self.sums: list[dict[Path, list[Path]]] = []
        leaves, space = needed_leaves(workload.trees()), workload.scope.space
        for unknown in workload.unknowns:
            self._visit(derivative_tree(leaves, unknown, space), (unknown,), 0)

    def _visit(self, node: Node, path: Path, depth: int) -> None:
        if node.leaf is not None:
            self.leaves[node.leaf] = path
        for name in dict.fromkeys([*node.children, *node.laplacian_over]):
            self._ask(path, name, depth)
        for name, child in node.children.items():
            self._visit(child, (*path, name), depth + 1)
        if node.laplacian is not None:
            over = node.laplacian_over
            for name in over:
                self._ask((*path, name), name, depth + 1)
            inner = (*path, "laplacian")
            self.sums[depth + 1][inner] = [(*path, name, name) for name in over]
            self._visit(node.laplacian, inner, depth + 2)

    def _ask(self, path: Path, name: str, depth: int) -> None:
        while len(self.levels) <= depth:
            self.levels.append({})
            self.sums.append({})
        self.levels[depth][path, name] = None


def _joined(columns: Columns, names: tuple[str, ...]) -> Any:
    """Return points (n, d); under jit a dict comes back sorted, so the order is given."""
    return jnp.concatenate([columns[name] for name in names], axis=1)


def _nested(network: Callable[[Columns], dict], schedule: _Schedule, way: str) -> Callable:
    """Return columns -> values of all paths, by levels of reverse or forward mode."""

    def values(columns: Columns) -> Values:
        output = network(columns)
        return {(unknown,): one for unknown, one in output.items()}

    for number, (asked, sums) in enumerate(zip(schedule.levels, schedule.sums, strict=True)):
        reverse = way == "reverse" or (way == "hybrid" and number == 0)
        values = _level(values, list(asked), sums, _reverse if reverse else _forward)
    return values


def _level(before: Callable, asked: list, sums: dict, differentiate: Callable) -> Callable:
    sources = list(dict.fromkeys(path for path, _ in asked))

    def split(columns: Columns) -> tuple[tuple, Values]:
        known = before(columns)
        return tuple(known[path] for path in sources), known

    def values(columns: Columns) -> Values:
        slopes, known = differentiate(split, columns, sources, asked)
        known = {**known, **{(*path, name): slopes[path, name] for path, name in asked}}
        for path, terms in sums.items():
            known[path] = sum((known[term] for term in terms[1:]), known[terms[0]])
        return known

    return values


def _reverse(split: Callable, columns: Columns, sources: list, asked: list) -> tuple[dict, Values]:
    outputs, pull, known = jax.vjp(split, columns, has_aux=True)
    slopes = {}
    for k, path in enumerate(sources):
        seeds = tuple(
            jnp.ones_like(o) if j == k else jnp.zeros_like(o) for j, o in enumerate(outputs)
        )
        (gradient,) = pull(seeds)
        slopes |= {(path, name): gradient[name] for source, name in asked if source == path}
    return slopes, known


def _forward(split: Callable, columns: Columns, sources: list, asked: list) -> tuple[dict, Values]:
    def along(name: str) -> Columns:
        return {n: (jnp.ones_like if n == name else jnp.zeros_like)(c) for n, c in columns.items()}

    names = list(dict.fromkeys(name for _, name in asked))
    if len(names) == 1:
        _, tangents, known = jax.jvp(split, (columns,), (along(names[0]),), has_aux=True)
        return {(p, names[0]): s for p, s in zip(sources, tangents, strict=True)}, known
    _, push, known = jax.linearize(split, columns, has_aux=True)
    slopes = {}
    for name in names:
        slopes |= {(p, name): s for p, s in zip(sources, push(along(name)), strict=True)}
    return slopes, known


# ---- Taylor mode


Direction = tuple[int, ...]


def _directions(leaves: dict[Leaf, Path], coordinates: tuple, space: tuple) -> tuple[dict, dict]:
    """Return direction -> order, and leaf -> [(weight, direction, order)].

    The biharmonic operator in two dimensions comes by polarisation from four directions.
    """

    def axis(*signed: tuple[str, int]) -> Direction:
        return tuple(sum(s for n, s in signed if n == name) for name in coordinates)

    orders: dict[Direction, int] = {}
    recipes: dict[Leaf, list[tuple[float, Direction, int]]] = {}
    for leaf in leaves:
        if isinstance(leaf, Laplacian) and leaf.times == 1:
            terms = [(1.0, axis((name, 1)), 2) for name in space]
        elif isinstance(leaf, Laplacian) and leaf.times == 2 and len(space) == 2:
            a, b = space
            terms = [(2 / 3, axis((a, 1)), 4), (2 / 3, axis((b, 1)), 4)]
            terms += [(1 / 6, axis((a, 1), (b, sign)), 4) for sign in (1, -1)]
        elif not isinstance(leaf, Laplacian) and len(set(leaf.coordinates)) <= 1:
            terms = [(1.0, axis((leaf.coordinates[0], 1)), leaf.order)] if leaf.order else []
        else:
            raise CannotRun(f"jet takes derivatives along one direction; {leaf} is not one")
        recipes[leaf] = terms
        for _, direction, order in terms:
            orders[direction] = max(order, orders.get(direction, 0))
    return orders, recipes


def _taylor(network: Callable, workload: Workload, schedule: _Schedule, batched: bool) -> Callable:
    """Return columns -> value of each leaf, by one jet a direction (or one batch an order)."""
    orders, recipes = _directions(
        schedule.leaves, workload.coordinates, workload.scope.space
    )
    by_order: dict[int, list[Direction]] = {}
    for direction, order in orders.items():
        by_order.setdefault(order, []).append(direction)
    if batched and all(len(group) == 1 for group in by_order.values()):
        raise CannotRun("one direction of each order: the same as jet")

    def expand(points: Any, direction: Any, order: int) -> tuple[Any, list]:
        tangent = jnp.broadcast_to(direction, points.shape).astype(points.dtype)
        zeros = jnp.zeros_like(points)
        return jet(network, (points,), ((tangent, *[zeros] * (order - 1)),))

    def values(columns: Columns) -> dict[Leaf, Any]:
        points = _joined(columns, workload.coordinates)
        output = network(points)
        slopes: dict[tuple[Direction, int], dict[str, Any]] = {}
        for order, group in by_order.items():
            if batched and len(group) > 1:
                stacked = jnp.asarray(group, points.dtype)
                push = jax.vmap(lambda d, k=order: expand(points, d, k)[1])
                series = push(stacked)
                each = [jax.tree.map(lambda s, i=i: s[i], series) for i in range(len(group))]
            else:
                each = []
                for direction in group:
                    output, one = expand(points, jnp.asarray(direction, points.dtype), order)
                    each.append(one)
            for direction, series in zip(group, each, strict=True):
                for k in range(order):
                    slopes[direction, k + 1] = {n: s[k] for n, s in series.items()}
        found = {}
        for leaf, terms in recipes.items():
            parts = [w * slopes[d, k][leaf.unknown] for w, d, k in terms]
            found[leaf] = sum(parts[1:], parts[0]) if parts else output[leaf.unknown]
        return found

    return values


class _Step:
    def __init__(self, workload: Workload, way: str, seed: int) -> None:
        schedule, trees = _Schedule(workload), workload.trees()
        frozen = workload.frozen(seed)

        def residual_loss(parameters: dict, columns: Columns) -> Any:
            def network(points: Any) -> dict[str, Any]:
                out = workload.network({**parameters, **frozen}, points, _Arrays)
                return {u: out[:, k : k + 1] for k, u in enumerate(workload.unknowns)}

            if way in ("jet", "jet-vmap"):
                leaves = _taylor(network, workload, schedule, way == "jet-vmap")(columns)
            else:
                known = _nested(
                    lambda c: network(_joined(c, workload.coordinates)), schedule, way
                )(columns)
                leaves = {leaf: known[path] for leaf, path in schedule.leaves.items()}
            values: dict[Any, Any] = {
                **leaves,
                **{Coordinate(name): column for name, column in columns.items()},
                **{Constant(name): value for name, value in workload.constants.items()},
            }
            residuals = [evaluate_resolved(tree, values, _FUNCTIONS) for tree in trees]
            return sum(jnp.mean(r * r) for r in residuals)

        optimizer = optax.adam(LEARNING_RATE, b1=BETA1, b2=BETA2, eps=EPSILON)

        def step(parameters: dict, state: Any, columns: Columns) -> tuple:
            loss, gradient = jax.value_and_grad(residual_loss)(parameters, columns)
            updates, state = optimizer.update(gradient, state)
            return loss, optax.apply_updates(parameters, updates), state

        self._step = jax.jit(step, donate_argnums=(0, 1))
        initial = workload.parameters(seed)
        self._names = list(initial)
        self._parameters = {name: jnp.asarray(array) for name, array in initial.items()}
        self._state = optimizer.init(self._parameters)
        self._columns = {
            name: jnp.asarray(column[:, None])
            for name, column in zip(
                workload.coordinates, workload.draw_points(seed).T, strict=True
            )
        }

    def step(self) -> float:
        loss = self._begun()
        jax.block_until_ready((loss, self._parameters, self._state))
        return float(loss)

    def steps(self, count: int) -> None:
        for _ in range(count):
            self._begun()
        jax.block_until_ready((self._parameters, self._state))

    def _begun(self) -> Any:
        """Begin a step, and return its loss, which need not be there yet."""
        result = self._step(self._parameters, self._state, self._columns)
        loss, self._parameters, self._state = result
        return loss

    def first_moment(self) -> np.ndarray:
        moment = self._state[0].mu
        return flat([moment[name] for name in self._names])


def prepare(workload: Workload, way: str, seed: int, threads: int) -> _Step:
    """Return the step of a workload; CannotRun for a derivative that a way cannot take."""
    if way in ("jet", "jet-vmap"):
        _taylor(lambda points: {}, workload, _Schedule(workload), way == "jet-vmap")
    return _Step(workload, way, seed)
