"""Models that are linear in families and functions: their Jacobian, from one of the point alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pinn.geometry import Family
from pinn.models.deeponet import DeepONet, OfPlace, middle_and_unit
from pinn.objective import Objective
from pinn.optimizers.least_squares.algebra import Damped, Reduced
from pinn.optimizers.least_squares.span import reduced_by_few
from pinn.sampling import Points
from pinn.schema.errors import DeclarationError, refuse

if TYPE_CHECKING:
    from pinn.training.experiment import Experiment

def is_by_superposition(model: object) -> bool:
    """Return whether a model is trained so: a DeepONet that is linear in all that is trained."""
    return isinstance(model, DeepONet) and model.linear


def check_superposition(experiment: Experiment) -> None:
    """Raise DeclarationError, with the key, for what cannot be solved for one family at a time."""
    problem = experiment.problem
    expected = "expected, with a network of the point for each family and mode,"
    for key in ("parameters", "fields"):
        if getattr(problem, key):
            refuse(f"{expected} a problem without {key}, which all of them would have to share")
    for one in problem.domain.families:
        if one.spacing == "log":
            refuse(f"{expected} families that are linear, got {one.name} with spacing: log")
    columns = _columns(experiment)
    _check_scale(experiment)
    drawn, others = (experiment.collocation.fresh(name) for name in ("fresh", "judging"))
    for name, points in drawn.items():
        own, other = points.coordinates[:, columns], others[name].coordinates[:, columns]
        if len(own) == len(other) and (own == other).any():
            refuse(
                f"{expected} equations and conditions for all of their values, got {name}, which "
                "has values of its own"
            )


def _check_scale(experiment: Experiment) -> None:
    """Refuse scales by which the outputs of a trunk for one unknown differ."""
    trunk, count = experiment.model.trunk, 1 + len(experiment.problem.domain.families)
    if trunk.scale == "data":
        refuse("expected numbers for the outputs of the trunk", "trunk", "scale")
    for unknown in experiment.problem.unknowns:
        names = [f"{unknown}{k}" for k in range(count)]
        same = len({trunk.scale.get(name, 1.0) for name in names}) == 1
        if not same or any(name in trunk.offset for name in names[1:]):
            refuse(
                f"expected one scale for {names[0]} ... {names[-1]}, and an offset of {names[0]} "
                "alone"
            )


def why_not_superposed(experiment: Experiment) -> str:
    """Return why a problem cannot be solved for one family or mode at a time; "" where it can."""
    try:
        check_superposition(experiment)
    except DeclarationError as error:
        return error.mistakes[0].message
    return ""


class Superposition:
    """Rows of a model t_0 + sum c_k t_k, of a problem that is linear in unknowns and c together.

    The residual is R_0 + sum c_k R_k with R_k = A w_k - f_k, w_k the numbers of t_k, and the mean
    of its square over independent c is |R_0|^2 + sum E[c_k^2] |R_k|^2: so many problems of the
    point alone, with one matrix A, which is reduced to a triangle once.

    objective: that of A, of a network of the point. whole: that of the run, whose points and
    weights are taken.
    """

    def __init__(self, experiment: Experiment, whole: Objective) -> None:
        domain, unknowns = experiment.problem.domain, len(experiment.problem.unknowns)
        self._whole, self._columns = whole, _columns(experiment)
        self._middle, self._unit = middle_and_unit(domain)
        self.squares = np.array([1.0, *map(_mean_square, domain.families)])
        self.objective = self._objective(experiment, experiment.model)
        # What the network is zero for needs none of its features.
        small = replace(experiment.model.trunk, width=1)
        self._without = self._objective(experiment, replace(experiment.model, trunk=small))
        parameters = self.objective.parameters
        numbers = whole.parameters.named(np.arange(whole.size))
        shape = unknowns, len(self.squares), -1
        terms = [numbers[part.name].reshape(shape) for part in parameters.layout.parts]
        # Where the numbers of each t_k are among all, (1 + families, numbers of one).
        self.places = np.concatenate(
            [one.transpose(1, 0, 2).reshape(len(self.squares), -1) for one in terms], axis=1
        )
        self._kept: _Kept | None = None

    def reduced(self, theta: np.ndarray, cutoff: float) -> Reduced:
        """Return the Jacobian of all at their theta, reduced; cutoff: see reduced_by_few."""
        points, weights = [block.points for block in self._whole.blocks], self._whole.weights
        kept = self._kept
        if kept is None or not kept.is_of(points, weights) or self._whole.row_weights:
            self._kept = kept = None  # before there is another
            kept = self._kept = _Kept(points, weights, *self._made(cutoff))
        own = self.objective.rows_at([theta[places] for places in self.places])
        rows = [a + b for a, b in zip(own, kept.given, strict=True)]
        return _Superposed(self, kept.triangle, rows)

    def _made(self, cutoff: float) -> tuple[Reduced, list[np.ndarray]]:
        """Return the reduced Jacobian, and what each R_k has besides the rows of R_0 at w_k."""
        nothing = np.zeros(self._without.size)
        found = []
        for k in range(len(self.places)):
            self._place(self._without, k)
            found.append(self._without.weighted_rows(nothing))
        first, *others = found
        self._place(self.objective, 0)
        theta = np.zeros(self.objective.size)
        triangle, _ = reduced_by_few(self.objective, theta, cutoff, keep=True)
        return triangle, [0.0 * first, *(one - 2 * first for one in others)]

    def _place(self, objective: Objective, number: int) -> None:
        """Have an objective at the points and weights of training, with the families of a part."""
        objective.set_points(self._held(number))
        objective.set_weights(self._whole.weights, self._whole.row_weights)

    def _objective(self, experiment: Experiment, model: DeepONet) -> Objective:
        """Return that of the network that a model is for no families.

        It is recorded, also where the run is not: there is an evaluation for each family.
        """
        experiment = replace(experiment, engine="recorded")
        parameters = experiment.initial_parameters(model=OfPlace(model))
        weights = experiment.weighting.initial
        return experiment.objective_of(experiment.problem, parameters, self._held(0), weights)

    def _held(self, number: int) -> dict[str, Points]:
        """Return the points of training at the middle of families, but for one: from 1, or 0."""
        values = self._middle.copy()
        if number:
            values[number - 1] += self._unit[number - 1]
        found = {}
        for block in self._whole.blocks:
            coordinates = block.points.coordinates.copy()
            coordinates[:, self._columns] = values
            found[block.name] = Points(coordinates, block.points.columns)
        return found


class _Kept(NamedTuple):
    """What was reduced, and the points and weights that it is of.

    given: of each part what its rows have besides those of the first at the same numbers.
    """

    points: list[Points]
    weights: Mapping[str, float]
    triangle: Reduced
    given: list[np.ndarray]

    def is_of(self, points: list[Points], weights: Mapping[str, float]) -> bool:
        """Return whether it is of these."""
        same = all(a is b for a, b in zip(points, self.points, strict=True))
        return same and weights == self.weights


class _Superposed(Reduced):
    """The rows of each part by itself, and one triangle."""

    def __init__(
        self, of: Superposition, triangle: Reduced, rows: Sequence[np.ndarray]
    ) -> None:
        self.of, self._triangle, self.rows = of, triangle, rows
        self.slopes = [triangle.again(own).gradient for own in rows]
        self.gradient = self.put([
            q * slope for q, slope in zip(of.squares, self.slopes, strict=True)
        ])

    def damped(self, damping: float, scale: np.ndarray) -> Damped:
        """Return the minimisers; scale: the same for the numbers of each part."""
        return _SuperposedDamped(self, self._triangle, damping, scale[self.of.places[0]])

    def again(self, b: np.ndarray) -> Reduced:
        raise NotImplementedError("other rows come with other parts: Superposition.reduced")

    @property
    def largest(self) -> float:
        return self._triangle.largest

    def put(self, parts: Iterable[np.ndarray]) -> np.ndarray:
        """Return the vector of all numbers, from those of each part."""
        whole = np.empty(self.of.places.size)
        for places, own in zip(self.of.places, parts, strict=True):
            whole[places] = own
        return whole


class _SuperposedDamped(Damped):
    def __init__(
        self, whole: _Superposed, triangle: Reduced, damping: float, scale: np.ndarray
    ) -> None:
        one = triangle.damped(damping, scale)
        steps = [one.minimiser(rows) for rows in whole.rows]
        self.step = whole.put(steps)
        self.promised = sum(
            float(q * (damping * np.sum((scale * step) ** 2) - 0.5 * (slope @ step)))
            for q, step, slope in zip(whole.of.squares, steps, whole.slopes, strict=True)
        )

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        raise NotImplementedError("other rows come with other parts: Superposition.reduced")


def _columns(experiment: Experiment) -> list[int]:
    """Return which columns of points are the families."""
    domain = experiment.problem.domain
    return [domain.coordinates.index(one.name) for one in domain.families]


def _mean_square(family: Family) -> float:
    """Return E[c^2] of a family as a DeepONet takes it: of deviation 1, or even over [-1, 1]."""
    return 1.0 if family.spacing == "normal" else 1 / 3
