"""Which condition holds exactly where, and the formula u = A + B*N that makes it so.

A interpolates the data. With P_k the interpolation in coordinate k alone (linear between two faces,
constant from one; the Taylor polynomial u0 + (t - t0) v0 in time),

    A <- A + P_k (data on the faces of k - A there),   one coordinate after the other,

is the boolean sum of the P_k (Gordon and Hall, Numer. Math. 21, 1973; in two coordinates a Coons
patch). Each step repairs the faces of one coordinate and, where the data agree in the corners,
leaves the others as they are. Time comes first, so that no derivative of the data is needed.

B is a polynomial that vanishes on the same faces and is at most about 1 inside: 4 (x - a)(b - x) /
(b - a)^2 for two faces, (x - a) / (b - a) for one, ((t - t0) / (T - t0))^(1 + order) in time. A
polynomial because its derivatives end: u_xx needs three channels of B and u_xxx no fourth. Time is
scaled by its length as the inputs of a network are, which makes its slope no steeper than theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any

import autograd as T
from pinn.conditions.condition import Condition, Value
from pinn.conditions.hard.compatibility import check_data
from pinn.conditions.hard.trees import Given, Network, freeze, minus, number, over, plus, times
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.leaves import Coordinate, ParameterRef
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.expressions import Expression, Number, nodes
from pinn.geometry import Box, Face, Interval, Shape, Time

# 3^d terms for d coordinates with data on both faces; beyond this, evaluating A costs more than a
# network.
MAX_NODES = 4000

Place = tuple[str, float]


@dataclass(frozen=True)
class Data:
    """The data of one hard condition on one face: the tree of its value, with the face's number.

    condition: the condition's name. face: a Face, where time has a low one too. order: 1 for u_t.
    """

    condition: str
    face: Face
    tree: Expression
    order: int = 0

    @property
    def place(self) -> dict[str, float]:
        """The coordinate of the face at its number."""
        return {self.face.coordinate: self.face.value}


class Ansatz:
    """The formula of each unknown in terms of the network's output N; printing it shows them.

    formulas: unknown -> tree of coordinates, numbers, functions given by conditions, and N. data:
    unknown -> what holds exactly, face by face.

    Raises ValueError, naming the conditions, for what cannot hold exactly: on a domain that is no
    box; u_t(0) without u(0); a value with a trainable parameter in it; two conditions on one face;
    values that are not finite or that disagree where faces meet.
    """

    def __init__(
        self,
        domain: Shape,
        unknowns: Iterable[str],
        conditions: Iterable[Condition],
        constants: Mapping[str, float],
        parameters: Iterable[str] = (),
    ) -> None:
        self.domain = domain
        self.unknowns = tuple(unknowns)
        self._constants = dict(constants)
        self._terms: dict[str, Term] = {}
        self._scope = Scope((), domain.coordinates, domain.space, self._constants, ())
        self._parameters = tuple(parameters)
        found: dict[str, list[Data]] = {unknown: [] for unknown in self.unknowns}
        for condition in conditions:
            if condition.hard:
                found[condition.unknown] += self._data(condition)
        self.data = MappingProxyType(found)
        for unknown, data in found.items():
            _check_faces(unknown, data)
        check_data(self)
        self.formulas = MappingProxyType(
            {unknown: self._formula(unknown) for unknown in self.unknowns}
        )

    @classmethod
    def of(
        cls,
        domain: Shape,
        unknowns: Iterable[str],
        conditions: Iterable[Condition],
        constants: Mapping[str, float],
        parameters: Iterable[str] = (),
    ) -> Ansatz | None:
        """Return the ansatz of a problem's hard conditions, or None where no condition is hard."""
        conditions = tuple(conditions)
        if not any(condition.hard for condition in conditions):
            return None
        return cls(domain, unknowns, conditions, constants, parameters)

    def __str__(self) -> str:
        return "\n".join(f"{unknown} = {tree}" for unknown, tree in self.formulas.items())

    def evaluate(
        self, tree: Expression, values: Mapping[str, T.Tensor], network: T.Tensor | None = None
    ) -> T.Tensor | float:
        """Return the value of a tree of this ansatz, by operations on tensors.

        values: coordinate -> (n, 1) tensor. network: what N stands for, (n, 1). Returns a tensor
        (n, 1), or a number for a tree of numbers. The result can be differentiated in everything
        that is given.
        """
        return evaluate_resolved(tree, _Values(self, values, network), TENSOR_FUNCTIONS)

    def _data(self, condition: Condition) -> list[Data]:
        """Return the data of one condition, face by face."""
        domain = self.domain
        name = condition.name(domain)
        if not isinstance(domain, Box | Interval | Time):
            raise ValueError(
                f"{name!r} cannot be hard on a {type(domain).__name__}; exact "
                "conditions are made for a box, a product of Interval and Time; leave out hard"
            )
        tree = None
        data = []
        for exact in condition.exact(domain):
            tree = self._tree(name, exact.value) if tree is None else tree
            place = {exact.face.coordinate: exact.face.value}
            data.append(Data(name, exact.face, self._frozen(tree, place), exact.order))
        return data

    def _frozen(self, tree: Expression, place: Mapping[str, float]) -> Expression:
        return freeze(tree, place, self._constants, self._in_corner)

    def _in_corner(self, given: Given) -> Expression:
        """Return a condition's function as a number where it is held in every coordinate."""
        if len(given.fixed) < len(self.domain.coordinates):
            return given
        columns = {
            name: T.tensor([[value]], dtype=T.float64) for name, value in given.fixed
        }
        with T.no_grad():
            value = float(self.evaluate(given, columns))
        # One that is not finite is left for the check that names its place.
        return number(value) if math.isfinite(value) else given

    def _tree(self, name: str, value: Value) -> Expression:
        scope = Scope(
            (), self.domain.coordinates, self.domain.space, self._constants, self._parameters
        )
        if callable(value):
            # The function gets no parameters: the formula has no place for them.
            self._terms[name] = Term(f"condition {name!r}", value, self._scope)
            return Given(name)
        term = Term(f"condition {name!r}", value, scope)
        if term.tree is None:
            return number(float(value))
        trained = [node.name for node in nodes(term.tree) if isinstance(node, ParameterRef)]
        if trained:
            raise ValueError(
                f"{name!r} cannot be hard, since its value depends on the trainable "
                f"parameter {trained[0]!r}; leave out hard"
            )
        return term.tree

    def _formula(self, unknown: str) -> Expression:
        data = self.data[unknown]
        network = Network()
        if not data:
            return network
        formula = plus(self._interpolant(data), times(self._vanishing(data), network))
        size = len(nodes(formula))
        if size > MAX_NODES:
            names = ", ".join(dict.fromkeys(item.condition for item in data))
            raise ValueError(
                f"the formula of {unknown!r} with {names} hard has {size} operations, "
                f"more than {MAX_NODES}: its terms grow as 3^d with the coordinates; make some of "
                "them soft (leave out hard), or give data that vanish on most faces"
            )
        return formula

    def _interpolant(self, data: list[Data]) -> Expression:
        tree: Expression = Number(0)
        start = sorted((d for d in data if d.face.coordinate == self.domain.time), key=_order)
        for item in start:
            elapsed = minus(Coordinate(item.face.coordinate), number(item.face.value))
            tree = plus(tree, times(elapsed, item.tree) if item.order else item.tree)
        for coordinate in self.domain.space:
            low, high = self.domain.bounds[coordinate]
            x, width = Coordinate(coordinate), number(high - low)
            misses = {
                item.face.side: minus(item.tree, self._frozen(tree, item.place))
                for item in data
                if item.face.coordinate == coordinate
            }
            if len(misses) == 2 and misses["low"] != misses["high"]:
                from_low, from_high = minus(number(high), x), minus(x, number(low))
                tree = plus(tree, times(over(from_low, width), misses["low"]))
                tree = plus(tree, times(over(from_high, width), misses["high"]))
            elif misses:
                tree = plus(tree, next(iter(misses.values())))
            if len(nodes(tree)) > MAX_NODES:
                break
        return tree

    def _vanishing(self, data: list[Data]) -> Expression:
        scale = 1.0
        factors: list[Expression] = []
        for coordinate, (low, high) in self.domain.bounds.items():
            sides = [item.face.side for item in data if item.face.coordinate == coordinate]
            if set(sides) == {"low", "high"}:
                scale *= 4
            for side in sides:
                scale /= high - low
                x = Coordinate(coordinate)
                factors.append(
                    minus(x, number(low)) if side == "low" else minus(number(high), x)
                )
        return reduce(times, factors, number(scale))


class _Values:
    """The values of the leaves of a formula at n points."""

    def __init__(self, ansatz: Ansatz, columns: Mapping[str, T.Tensor], network: Any) -> None:
        self._ansatz = ansatz
        self._columns = columns
        self._network = network

    def __contains__(self, leaf: Any) -> bool:
        return isinstance(leaf, Coordinate | Given | Network)

    def __getitem__(self, leaf: Any) -> Any:
        if isinstance(leaf, Coordinate):
            return self._columns[leaf.name]
        if isinstance(leaf, Network):
            return self._network
        return self._given(leaf)

    def _given(self, leaf: Given) -> Any:
        like = next(iter(self._columns.values()))
        n = like.shape[0]
        fixed = dict(leaf.fixed)
        points = {
            Coordinate(name): T.full((n,), fixed[name], dtype=like.dtype, device=like.device)
            if name in fixed
            else column.reshape(-1)
            for name, column in self._columns.items()
        }
        term = self._ansatz._terms[leaf.condition]
        value = term.evaluate(_Points(points, self._ansatz._constants), TENSOR_FUNCTIONS)
        if isinstance(value, int | float):
            return float(value)
        if not isinstance(value, T.Tensor) or tuple(value.shape) not in ((), (n,), (n, 1)):
            got = tuple(value.shape) if isinstance(value, T.Tensor) else type(value).__name__
            raise ValueError(
                f"{term.what}: expected a number or a tensor of shape ({n},), one number a point, "
                f"from the function, got {got}"
            )
        return value if value.ndim == 0 else value.reshape(-1, 1)


class _Points(dict):
    """Coordinates and constants by leaf, for the function of a condition."""

    def __init__(self, points: Mapping[Coordinate, T.Tensor], constants: Mapping[str, float]):
        super().__init__(points)
        self._constants = constants

    def __missing__(self, leaf: Any) -> float:
        return self._constants[leaf.name]

    def __contains__(self, leaf: Any) -> bool:
        return True


def _order(item: Data) -> int:
    return item.order


def _check_faces(unknown: str, data: list[Data]) -> None:
    taken: dict[tuple[str, str, int], str] = {}
    for item in data:
        key = (item.face.coordinate, item.face.side, item.order)
        if key in taken:
            raise ValueError(
                f"{taken[key]!r} and {item.condition!r} of {unknown!r} are both hard "
                f"at {item.face}; leave out hard in one of them"
            )
        taken[key] = item.condition
    for item in data:
        if item.order and (item.face.coordinate, item.face.side, 0) not in taken:
            raise ValueError(
                f"{item.condition!r} cannot be hard without a hard initial value of "
                f"{unknown!r} itself (order 0); make that one hard too, or leave out hard here"
            )
