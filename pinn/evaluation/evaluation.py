"""The unknowns of a problem as networks have them, and expressions of them, at points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import autograd as T
from autograd.plan import Program, trace
from pinn.equations.axes import Computed
from pinn.equations.functions import NUMPY_FUNCTIONS, TENSOR_FUNCTIONS
from pinn.equations.leaves import Coordinate, Derivative, UnknownLeaf, derivatives_in
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.term import Term
from pinn.equations.values import Values, coordinate_columns
from pinn.evaluation.extrapolation import warn_outside, warn_unlike
from pinn.evaluation.places import points_of
from pinn.expressions import Expression, nodes
from pinn.objective.flat_parameters import FlatParameters
from pinn.training.experiment import Experiment
from pinn.training.resources import one_blas_thread

# Points that go through the network at once.
_CHUNK = 8192


class Recorded(NamedTuple):
    """Names at points as a program: (n, d) in float64 -> (n, 1) for each of `outputs`.

    arrays: the parameters and buffers that it has as constants, by name.
    """

    program: Program
    outputs: list[str]
    arrays: dict[str, np.ndarray]


class Evaluation:
    """The unknowns, fields and quantities of a run's problem, by some networks and coefficients.

    parameters: the networks of the run, or others that stand for them, and the coefficients. What
    they hold when something is asked for counts.
    """

    def __init__(self, experiment: Experiment, parameters: FlatParameters) -> None:
        self._experiment = experiment
        self._problem = experiment.problem
        self._parameters = parameters

    def sees(self, name: str) -> set[str]:
        """Return the coordinates that an unknown, field or quantity, or an expression, depends on.

        Raises ExpressionError for a text without a meaning.
        """
        if name in self._problem.solved:
            return set(self._problem.scope.inputs_of(name))
        return self._needed(self._term(name))

    def made_of(self, name: str) -> set[str]:
        """Return the unknowns in an expression; of a name that has values of its own, that name."""
        if name in self._problem.solved:
            return {name}
        return {leaf.unknown for leaf in self._term(name).leaves}

    def evaluate(
        self, coordinates: Mapping[str, Any], stacklevel: int | None = None
    ) -> dict[str, np.ndarray]:
        """Return all there are at points that are given by name; see `Solution.evaluate`.

        stacklevel: whom to warn of points outside of the domain, 1 the caller; no one where left
        out.
        """
        given = coordinates
        coordinates = self._with_functions(given, stacklevel and stacklevel + 1)
        names = [name for name in self._problem.solved if self.sees(name) <= coordinates.keys()]
        needed = set().union(*map(self.sees, names)) if names else None
        points, shape = points_of(self._problem.domain, coordinates, needed, self._modes)
        if stacklevel is not None:
            self._warn_outside(points, given, coordinates, stacklevel + 1)
        found = self.at(points, names)
        return {name: values.reshape(shape) for name, values in found.items()}

    def at(self, points: np.ndarray, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
        """Return unknowns, fields and quantities at points (n, d), each (n,).

        names: all where left out.
        """
        problem = self._problem
        with one_blas_thread():
            outputs = np.concatenate([np.asarray(chunk) for chunk in self._run(points)])
        by_name = dict(zip(problem.outputs, outputs.T, strict=True))
        found = {}
        for name in problem.solved if names is None else names:
            tree = problem.quantities.get(name)
            if tree is None:
                found[name] = by_name[name]
            elif all(leaf == Derivative(leaf.unknown) for leaf in derivatives_in(tree)):
                found[name] = self._made(tree, points, by_name)
            else:
                (found[name],) = self._terms([Term(name, tree, problem.scope)], points)
        return found

    def expressions(
        self,
        expressions: Iterable[str],
        coordinates: Mapping[str, Any],
        stacklevel: int | None = None,
    ) -> list[np.ndarray]:
        """Return several expressions at points, from one run of the networks.

        Those coordinates that nothing depends on may be left out. stacklevel: as in `evaluate`.
        """
        terms = list(map(self._term, expressions))
        return self.terms(terms, coordinates, stacklevel and stacklevel + 1)

    def terms(
        self, terms: Sequence[Term], coordinates: Mapping[str, Any], stacklevel: int | None = None
    ) -> list[np.ndarray]:
        """Return several terms at points, as `expressions` does; functions need all coordinates."""
        problem = self._problem
        given = coordinates
        coordinates = self._with_functions(given, stacklevel and stacklevel + 1)
        needed = set().union(*map(self._needed, terms))
        points, shape = points_of(problem.domain, coordinates, needed, self._modes)
        if stacklevel is not None:
            self._warn_outside(points, given, coordinates, stacklevel + 1)
        return [array.reshape(shape) for array in self._terms(terms, points)]

    def values(self, points: np.ndarray, plan: NestedPlan | None = None) -> NestedValues:
        """Return what equations are made of at points (n, d), computed when it is asked for."""
        run, scope = self._experiment, self._problem.scope
        columns = coordinate_columns(points, run.dtype, run.device)
        coefficients = self._parameters.coefficients()
        module = self._parameters.module
        return NestedValues(module, scope, columns, coefficients, plan or NestedPlan((), scope))

    def recorded(self, rows: int) -> Recorded:
        """Return what `at` does at so many points as a program.

        What is made of derivatives of unknowns is left out. Raises autograd.plan.TraceError for a
        network that looks at values.
        """
        problem = self._problem
        middle = [(low + high) / 2 for low, high in problem.domain.bounds.values()]
        names = [
            name for name in problem.solved
            if all(leaf == Derivative(leaf.unknown)
                   for leaf in derivatives_in(problem.quantities.get(name, Derivative(name))))
        ]  # fmt: skip

        def values(points: T.Tensor) -> list[T.Tensor]:
            outputs = self._parameters.module(points.to(self._experiment.dtype))
            found = {name: outputs[:, k : k + 1] for k, name in enumerate(problem.outputs)}
            columns = {n: points[:, k : k + 1] for k, n in enumerate(problem.domain.coordinates)}
            for name in names[len(found) :]:
                tree = problem.quantities[name]
                known = self._known(columns)
                known |= {Derivative(n): found[n].to(T.float64) for n in problem.outputs}
                made = evaluate_resolved(tree, known, TENSOR_FUNCTIONS)
                found[name] = T.as_tensor(made).expand(rows, 1)
            return [found[name] for name in names]

        with T.no_grad():
            given = T.tensor(np.tile(middle, (rows, 1)), dtype=T.float64)
            program, _ = trace(values, [given], ["points"])
        held = {f"model.{n}": array for n, array in self._parameters.module.named_buffers()}
        named = zip(self._parameters.layout.parts, self._parameters.tensors, strict=True)
        held |= {part.name: tensor for part, tensor in named}
        return Recorded(program, names, {name: tensor._data for name, tensor in held.items()})

    @property
    def _modes(self) -> dict[str, tuple[str, ...]]:
        return {name: one.names for name, one in self._problem.functions.items()}

    def _with_functions(
        self, coordinates: Mapping[str, Any], stacklevel: int | None
    ) -> dict[str, Any]:
        """Return coordinates with the numbers of its modes in a function's place."""
        found, left = self._problem.with_functions(coordinates, lists=True)
        if stacklevel is not None:
            farthest = self._problem.farthest_modes(left, found)
            warn_unlike(left, farthest, stacklevel=stacklevel + 1)
        return found

    def _warn_outside(
        self,
        points: np.ndarray,
        given: Mapping[str, Any],
        coordinates: Mapping[str, Any],
        stacklevel: int,
    ) -> None:
        """Warn of points outside of the domain; modes of functions that are given have been told.

        given, coordinates: what was given, and that with the modes of functions.
        """
        domain = self._problem.domain
        told = [j for j, name in enumerate(domain.coordinates)
                if name in coordinates and name not in given]  # fmt: skip
        if told:
            points = points.copy()
            low, high = np.array([domain.bounds[domain.coordinates[j]] for j in told]).T
            points[:, told] = np.clip(points[:, told], low, high)
        warn_outside(domain, points, coordinates, stacklevel=stacklevel + 1)

    def _term(self, expression: str) -> Term:
        return Term("derivative", expression, self._problem.scope)

    def _terms(self, terms: Sequence[Term], points: np.ndarray) -> list[np.ndarray]:
        scope = self._problem.scope
        plan = NestedPlan([leaf for term in terms for leaf in term.leaves or ()], scope)
        results: list[list[np.ndarray]] = [[] for _ in terms]
        start, size = 0, _CHUNK
        trees = [term.tree for term in terms if term.tree is not None]
        if any(isinstance(node, Computed) for tree in trees for node in nodes(tree)):
            size = 1  # the first tells how many points of the model one of these stands for
        with one_blas_thread():
            # At least one pass, so that no points at all have a result as well.
            while start < max(len(points), 1):
                values = self.values(points[start : start + size], plan)
                for term, chunks in zip(terms, results, strict=True):
                    value = term.evaluate(values, TENSOR_FUNCTIONS)
                    if isinstance(value, T.Tensor):
                        value = value.detach().cpu().numpy()
                    chunks.append(np.broadcast_to(value, (values.n,)))
                start += size
                size = max(1, int(_CHUNK / values.spread))
        return [np.concatenate(chunks) for chunks in results]

    def _made(
        self, tree: Expression, points: np.ndarray, outputs: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """Return what is made of outputs (n,) at points (n, d), in float64."""
        values = self._known(dict(zip(self._problem.domain.coordinates, points.T, strict=True)))
        values |= {Derivative(name): array for name, array in outputs.items()}
        with np.errstate(all="ignore"):
            found = evaluate_resolved(tree, values, NUMPY_FUNCTIONS)
        return np.broadcast_to(np.asarray(found, dtype=np.float64), (len(points),)).copy()

    def _known(self, columns: Mapping[str, Any]) -> dict[Any, Any]:
        """Return the leaves of trees that are coordinates, given as columns, or coefficients."""
        trained = {name: c.item() for name, c in self._parameters.coefficients().items()}
        return dict(Values(columns, {**self._problem.constants, **trained}, trained))

    def _needed(self, term: Term) -> set[str]:
        """Return the coordinates that the value of a text depends on; all of a function."""
        if term.formula is None:
            return set(self._problem.domain.coordinates)
        needed = set()
        for node in nodes(term.formula):
            if isinstance(node, Coordinate):
                needed.add(node.name)
            elif isinstance(node, UnknownLeaf):
                needed |= self.sees(node.unknown) - set(getattr(node, "names", ()))
        return needed

    def _run(self, points: np.ndarray) -> Iterator[np.ndarray]:
        run = self._experiment
        with T.no_grad():
            # At least one pass, so that no points at all have a result of the right width.
            for start in range(0, max(len(points), 1), _CHUNK):
                chunk = T.tensor(points[start : start + _CHUNK], dtype=run.dtype, device=run.device)
                yield self._parameters.module(chunk).detach().cpu().numpy()
