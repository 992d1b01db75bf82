"""Which condition holds exactly where, and the formula of each unknown that makes it so."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

import autograd as T
from pinn.conditions.condition import Condition, Exact, ExactAt, Repeats, Value
from pinn.conditions.hard.compatibility import check_data, check_formulas, check_repeats
from pinn.conditions.hard.data import Data, check_faces, is_face
from pinn.conditions.hard.formula import MAX_NODES, formula
from pinn.conditions.hard.functions import Functions, plain
from pinn.conditions.hard.periods import with_periods
from pinn.conditions.hard.pinned import Pinned
from pinn.conditions.hard.points import columns_of
from pinn.conditions.hard.trees import Given, Network, Place, freeze, with_normal
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.leaves import ParameterRef
from pinn.equations.names import normal_name
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import Values
from pinn.expressions import Expression, ExpressionError, nodes
from pinn.expressions.algebra import divide, literal, number
from pinn.geometry import Box, Interval, Shape, Time
from pinn.sampling import NO_LAYERS, Layers


class Bounds(Protocol):
    """A map from all numbers to values inside of bounds; its text is such as "between 0 and 1"."""

    def holds(self, value: float) -> bool:
        """Return whether a number is strictly inside."""

    def raw_tree(self, value: Expression) -> Expression:
        """Return the number that stands for a value, nan or infinite for one that is not inside."""


class Ansatz:
    """The formula of each unknown in terms of the network's output N; printing it shows them.

    formulas: unknown -> tree of coordinates, numbers, functions given by conditions, and N. data:
    unknown -> what holds exactly, face by face; points: the same at points. scope: the names of the
    problem, those of domain, constants and parameters where left out; what a condition asks of its
    other unknowns is left to their ansatz. bounds: of values that a map behind the formula keeps
    inside of them; the formula is then that of the raw numbers. layers: see Problem.

    Raises ValueError, naming the conditions, for what cannot hold exactly: slopes on a domain that
    is no box, or beside other parts; u_t(0) without u(0); a value with a trainable parameter in it;
    two conditions on one face; values that are not finite or that disagree where faces meet; a
    function without derivatives; an interval too short or too long for float64.
    """

    def __init__(
        self,
        domain: Shape,
        unknowns: Iterable[str],
        conditions: Iterable[Condition],
        constants: Mapping[str, float],
        parameters: Iterable[str] = (),
        scope: Scope | None = None,
        bounds: Bounds | None = None,
        layers: Layers = NO_LAYERS,
    ) -> None:
        self.domain = domain
        self.bounds = bounds
        self._layers = layers
        self.unknowns = tuple(unknowns)
        self._constants = dict(constants)
        self._functions = Functions(self._constants)
        # A function gets no parameters: the formula has no place for them.
        if scope is None:
            scope = Scope(
                (), domain.coordinates, domain.space, self._constants, tuple(parameters)
            )
        self._others = scope.unknowns
        self._scope = scope.of_values(parameters=False)
        self._text_scope = scope.of_values()
        found: dict[str, list[Data]] = {unknown: [] for unknown in self.unknowns}
        points: dict[str, list[Pinned]] = {unknown: [] for unknown in self.unknowns}
        repeats: list[Repeats] = []
        for condition in conditions:
            if condition.hard:
                for unknown, data in self._data(condition, repeats):
                    (found if isinstance(data, Data) else points)[unknown].append(data)
        self.data = MappingProxyType(found)
        self.points = MappingProxyType(points)
        for unknown, data in found.items():
            check_faces(domain, unknown, data)
        check_data(self)
        self.repeats = check_repeats(self, repeats)
        self.formulas = MappingProxyType(
            {unknown: self._formula(unknown) for unknown in self.unknowns}
        )
        check_formulas(self)

    @property
    def places(self) -> tuple[Place, ...]:
        """Where the formulas take the network's outputs: () for the points themselves."""
        trees = self.formulas.values()
        leaves = (node for tree in trees for node in nodes(tree) if isinstance(node, Network))
        return tuple(dict.fromkeys(leaf.place for leaf in leaves))

    @property
    def periodic(self) -> tuple[str, ...]:
        """The coordinates in which everything repeats."""
        return tuple(dict.fromkeys(repeat.coordinate for repeat in self.repeats))

    @property
    def inputs(self) -> Shape:
        """The domain that the network is built for."""
        return with_periods(self.domain, self.periodic) if self.periodic else self.domain

    @classmethod
    def of(
        cls,
        domain: Shape,
        unknowns: Iterable[str],
        conditions: Iterable[Condition],
        constants: Mapping[str, float],
        parameters: Iterable[str] = (),
        scope: Scope | None = None,
        bounds: Bounds | None = None,
        layers: Layers = NO_LAYERS,
    ) -> Ansatz | None:
        """Return the ansatz of a problem's hard conditions, or None where no condition is hard."""
        conditions = tuple(conditions)
        if not any(condition.hard for condition in conditions):
            return None
        return cls(domain, unknowns, conditions, constants, parameters, scope, bounds, layers)

    def __str__(self) -> str:
        return "\n".join(f"{unknown} = {tree}" for unknown, tree in self.formulas.items())

    def evaluate(
        self,
        tree: Expression,
        values: Mapping[str, T.Tensor],
        network: Mapping[Place, T.Tensor] | None = None,
    ) -> T.Tensor | float:
        """Return the value of a tree of this ansatz, by operations on tensors.

        values: coordinate -> (n, 1) tensor. network: what N stands for at each of `places`, (n, 1).
        Returns a tensor (n, 1), or a number for a tree of numbers. The result can be differentiated
        in everything that is given.
        """
        return evaluate_resolved(tree, _FormulaValues(self, values, network), TENSOR_FUNCTIONS)

    def _data(
        self, condition: Condition, repeats: list[Repeats]
    ) -> Iterator[tuple[str, Data | Pinned]]:
        """Give the unknowns and the data of one condition, face by face; add what repeats."""
        domain = self.domain
        sources: list[tuple[Value, Expression]] = []
        for exact in condition.exact(domain):
            if exact.unknown not in self.unknowns:
                if exact.unknown in self._others:
                    continue
                raise ValueError(
                    f"{exact.condition!r}: expected one of the unknowns "
                    f"{', '.join(self.unknowns)}, got {exact.unknown!r}"
                )
            if isinstance(exact, Repeats):
                repeats.append(exact)
                continue
            if isinstance(exact, ExactAt):
                scope = self._text_scope.of_values(held=tuple(exact.place))
                source = self._source(exact.condition, exact.value, scope)
                yield exact.unknown, self._pinned(exact, source)
                continue
            if self.bounds is not None and (exact.ratio is not None or exact.order):
                raise ValueError(
                    f"{exact.condition!r} cannot be hard: {exact.unknown!r} has bounds, inside of "
                    "which values are held and no slopes; leave out hard"
                )
            if exact.ratio is not None:
                if not isinstance(domain, Box | Interval | Time):
                    raise ValueError(
                        f"{exact.condition!r} cannot be hard on a {type(domain).__name__}: slopes "
                        "are held on faces of a box, a product of Interval and Time; leave out hard"
                    )
                yield exact.unknown, self._slope_data(exact)
                continue
            # The faces of one condition mostly share one value, which is then one tree.
            source = next((tree for value, tree in sources if value is exact.value), None)
            if source is None:
                scope = self._text_scope.of_values(held=tuple(exact.face.fixed))
                source = self._source(exact.condition, exact.value, scope)
                sources.append((exact.value, source))
            face = exact.face
            wall = not is_face(domain, face)
            tree = self._held(source, {} if wall else dict(face.fixed))
            yield exact.unknown, Data(
                exact.condition, face, source, tree, exact.order, is_wall=wall,
                power=self._power(exact),
            )

    def _power(self, exact: Exact) -> float:
        """Return a condition's power as a number."""
        term = Term(f"condition {exact.condition!r}: power", exact.power, self._text_scope)
        found = literal(self._held(term.formula, {}))
        if found is None or not found > 0:
            raise ValueError(
                f"{exact.condition!r}: power: expected a number > 0, or a text of constants that "
                f"is one, got {exact.power!r}"
            )
        return found

    def _pinned(self, exact: ExactAt, source: Expression) -> Pinned:
        tree = self._held(source, exact.place)
        point = [exact.place.get(name, low) for name, (low, _) in self.domain.bounds.items()]
        (value,) = self.values(tree, np.array([point]))
        if not math.isfinite(value):
            raise ValueError(
                f"the value of {exact.condition!r}, which is hard, is {value}{self.unfit}"
            )
        return Pinned(exact.condition, exact.place, tree)

    def values(self, tree: Expression, points: np.ndarray) -> np.ndarray:
        """Return the values of a tree without N at points (n, d), (n,).

        Raises ExpressionError for a number that has none, such as 1/0.
        """
        try:
            with T.no_grad():
                return plain(self.evaluate(tree, columns_of(self.domain, points)), len(points))
        except ExpressionError:
            if self.bounds is None:
                raise
            return np.full(len(points), math.nan)  # the logarithm of a negative number

    @property
    def unfit(self) -> str:
        """What a message says behind a value that is not finite."""
        if self.bounds is None:
            return "; expected a finite number"
        return f" as a raw number; expected values {self.bounds}, strictly"

    def _slope_data(self, exact: Exact) -> Data:
        """Return a*u + b*dn(u) = g as dn(u) + (a/b) u = g/b on one face."""
        face, name = exact.face, exact.condition
        outward = 1.0 if face.side == "high" else -1.0
        normal = {normal_name(x): outward * (x == face.coordinate) for x in self.domain.space}
        scope = self._text_scope.with_columns(tuple(normal))
        a, b, g = (
            with_normal(self._source(name, value, scope), normal)
            for value in (*exact.ratio, exact.value)
        )
        if literal(b) == 0:
            raise ValueError(
                f"{name!r} cannot be hard at {face}, where b is 0 and no slope is left in it; use "
                "a Dirichlet condition there"
            )
        place = {face.coordinate: face.value}
        kappa, source = divide(a, b), divide(g, b)
        tree = self._held(source, place)
        return Data(name, face, source, tree, kappa=self._held(kappa, place))

    def _source(self, condition: str, value: Value, scope: Scope) -> Expression:
        what = f"condition {condition!r}"
        if callable(value):
            return self._raw(what, self._functions.add(condition, Term(what, value, self._scope)))
        term = Term(what, value, scope)
        if term.tree is None:
            return self._raw(what, number(float(value)))
        trained = [node.name for node in nodes(term.tree) if isinstance(node, ParameterRef)]
        if trained:
            raise ValueError(
                f"{condition!r} cannot be hard, since its value depends on the trainable "
                f"parameter {trained[0]!r}; leave out hard"
            )
        return self._raw(what, term.tree)

    def _raw(self, what: str, tree: Expression) -> Expression:
        """Return the tree of what the formula has to give, where bounds come behind it."""
        if self.bounds is None:
            return tree
        value = literal(self._held(tree, {}))
        if value is not None and not self.bounds.holds(value):
            raise ValueError(
                f"{what} cannot be hard: expected a value {self.bounds}, strictly, got {value:g}"
            )
        return self.bounds.raw_tree(tree)

    def _held(self, tree: Expression, place: Mapping[str, float]) -> Expression:
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

    def _formula(self, unknown: str) -> Expression:
        data = self.data[unknown]
        points = self.points[unknown]
        tree = formula(
            self.domain, data, points, self._held, self._scope.resolve, self._layers
        )
        found = nodes(tree)
        if len(found) > MAX_NODES:
            names = ", ".join(dict.fromkeys(item.condition for item in [*data, *points]))
            raise ValueError(
                f"the formula of {unknown!r} with {names} hard has more than {MAX_NODES} "
                "operations: its terms grow as 3^d with the coordinates; give the data of all "
                "faces as one expression of smooth functions (without where, min, max, abs, sqrt, "
                "log), or make some of them soft (leave out hard)"
            )
        for leaf in {node for node in found if isinstance(node, Given)}:
            self._functions.check_derivatives(leaf, self.domain)
        return tree


class _FormulaValues(Values):
    """The values of the leaves of a formula at n points given by columns (n, 1)."""

    def __init__(self, ansatz: Ansatz, columns: Mapping[str, T.Tensor], network: Any) -> None:
        super().__init__(columns, {})
        self._ansatz = ansatz
        self._columns = columns
        self._network = network

    def __getitem__(self, leaf: Expression) -> Any:
        if isinstance(leaf, Network):
            return self._network[leaf.place]
        if isinstance(leaf, Given):
            return self._ansatz._functions.value(leaf, self._columns)
        return super().__getitem__(leaf)

    def __contains__(self, leaf: object) -> bool:
        return isinstance(leaf, Network | Given) or super().__contains__(leaf)
