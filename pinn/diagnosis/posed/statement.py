"""A problem as the checks see it: residuals with their slopes at a few points."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import autograd as T
from pinn.diagnosis.posed.linear import Leaf, Linear, State, linear
from pinn.diagnosis.posed.planes import Plane, planes_of
from pinn.problem.problem import Problem
from pinn.residuals import Residual, Source
from pinn.sampling import Points, Sampling, stream

# Beyond these the checks would take longer than they are worth.
MOST_RESIDUALS = 100
MOST_COORDINATES = 12

_INSIDE, _ON_A_FACE = 24, 24
_MANY_INSIDE = 2048
_AT_A_BOUND = 3
# Of the states those that all residuals are looked at in, and one in place of the second.
_STATES = 3


@dataclass(frozen=True, eq=False)
class Stated:
    """One residual of a problem: some points, and the residual there in several random states.

    linear is None where the residual takes values from elsewhere, or is a function that only a
    network can run.
    """

    residual: Residual
    points: Points
    linear: tuple[Linear, ...] | None
    planes: tuple[Plane, ...]
    scattered: bool

    @property
    def name(self) -> str:
        return self.residual.name

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """What is asked for, as far as it is known."""
        return () if self.linear is None else tuple(self.linear[0].leaves)

    @property
    def is_finite(self) -> bool:
        """Whether value and slopes are finite in every state."""
        return self.linear is not None and all(one.is_finite for one in self.linear)


class Statement:
    """The equations and conditions of a problem, hard ones too, at points of their own.

    In each of two states every unknown and derivative has random values, related by nothing: what
    holds in both holds for all functions. In the first they are in (0.2, 0.9), where roots and
    logarithms have values, and coefficients stand at their start; in the second values have both
    signs, unless the residual has none there, and coefficients are near their start.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._points: dict[Source, Points] = {}
        self._many_points: dict[Source, Points] = {}
        self._values: dict[tuple[Leaf, int, int], np.ndarray] = {}
        equations = [r for r in problem.residuals if r.name in problem.equations]
        conditions = [residual for own in problem.by_condition for residual in own]
        self.equations = [self._stated(residual) for residual in equations]
        self.conditions = [self._stated(residual) for residual in conditions]

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.problem.domain.coordinates

    def linear(self, residual: Residual, points: Points) -> tuple[Linear, ...] | None:
        """Return a residual in both states, at points; None where nothing is known about it."""
        first = self._linear(residual, points, 0)
        second = self._linear(residual, points, 1)
        if first is None or second is None:
            return None
        if not second.is_finite:
            second = self._linear(residual, points, 2)
        return first, second

    def drawn(self, stated: Stated, points: Points, number: int) -> Linear | None:
        """Return an equation at points in one of any number of further states; None for unknown.

        Values are as in the first state for number 0, and have both signs in all others;
        coefficients are anywhere within their bounds.
        """
        rng = stream(0, "drawn", str(number))
        coefficients = {
            p.name: p.value(
                T.tensor(3 * rng.standard_normal() - (-1) ** number * p.raw_initial)
            ).item()
            for p in self.problem.parameters
        }
        return self._linear(stated.residual, points, _STATES + number, coefficients)

    def value(
        self, stated: Stated, state: int, coefficients: Mapping[str, float]
    ) -> np.ndarray | None:
        """Return a residual, (n,), in a state with other coefficients; None where none is known."""
        found = self._linear(stated.residual, stated.points, state, coefficients)
        return None if found is None else found.value

    def value_where(
        self, stated: Stated, values: State, many: bool = False, points: Points | None = None
    ) -> np.ndarray:
        """Return a residual that is known, (n,), where its leaves have given values.

        many: at many points. points: at others than those of the statement.
        """
        return self.linear_where(stated, values, many, points, sloped=False).value

    def linear_where(
        self, stated: Stated, values: State, many: bool = False, points: Points | None = None,
        sloped: bool = True,
    ) -> Linear:
        """Return the same with its slopes."""
        elsewhere = stated.name not in self.problem.equations
        scope, coefficients = self.problem.scope, self._coefficients[0]
        if points is None:
            points = self._many(stated.residual.source) if many else stated.points
        return linear(
            stated.residual, scope, points, values, coefficients, elsewhere, sloped=sloped
        )

    def _linear(
        self,
        residual: Residual,
        points: Points,
        state: int,
        coefficients: Mapping[str, float] | None = None,
    ) -> Linear | None:
        def values(leaf: Leaf, n: int) -> np.ndarray:
            key = (leaf, state, n)
            if key not in self._values:
                rng = stream(0, "state", str(state), str(leaf))
                both_signs = state == 1 or state > _STATES
                self._values[key] = (
                    2 * rng.standard_normal(n) if both_signs else rng.uniform(0.2, 0.9, n)
                )
            return self._values[key]

        if coefficients is None:
            coefficients = self._coefficients[min(state, 1)]
        elsewhere = residual.name not in self.problem.equations
        return linear(residual, self.problem.scope, points, values, coefficients, elsewhere)

    def on_bounds(self, stated: Stated) -> dict[str, tuple[Linear, ...] | None]:
        """Return an equation at a few points of each coordinate's bounds, by coordinate."""
        few = stated.points[: 2 * _AT_A_BOUND]
        found = {}
        for j, (name, bounds) in enumerate(self.problem.domain.bounds.items()):
            array = few.coordinates.copy()
            array[:, j] = np.repeat(bounds, _AT_A_BOUND)[: len(array)]
            found[name] = self.linear(stated.residual, Points(array, few.columns))
        return found

    def place(self, point: np.ndarray) -> str:
        """Return the text of a point: "x = 1, t = 0"."""
        pairs = zip(self.coordinates, point, strict=True)
        return ", ".join(f"{name} = {value:.6g}" for name, value in pairs)

    def _stated(self, residual: Residual) -> Stated:
        points = self._draw(residual.source)
        planes, scattered = planes_of(points, self.coordinates)
        if residual.whole:
            # A mean fixes a constant: as much as a condition along a line, else no function.
            across = self.problem.domain.space or self.coordinates
            alone = len(across) == 1
            planes = [Plane(across[0], math.nan, points.coordinates)] if alone else []
            scattered = False
        found = self.linear(residual, points)
        return Stated(residual, points, found, tuple(planes), scattered)

    def _many(self, source: Source) -> Points:
        if source not in self._many_points:
            many = Sampling(
                interior=_MANY_INSIDE, initial=_MANY_INSIDE, boundary=_MANY_INSIDE, method="uniform"
            )
            self._many_points[source] = source.draw(many, stream(0, "preflight", "many"))
        return self._many_points[source]

    def _draw(self, source: Source) -> Points:
        # Residuals with equal sources are compared point by point.
        if source not in self._points:
            faces = 2 * len(self.coordinates)
            few = Sampling(
                interior=_INSIDE, initial=_ON_A_FACE, boundary=_ON_A_FACE * faces, method="uniform"
            )
            self._points[source] = source.draw(few, stream(0, "preflight"))
        return self._points[source]

    @cached_property
    def _coefficients(self) -> list[Mapping[str, float]]:
        rng = stream(0, "coefficients")
        states = []
        for number in range(2):
            states.append({})
            for p in self.problem.parameters:
                moved = p.raw_initial + (0.2 * rng.standard_normal() if number else 0.0)
                states[-1][p.name] = p.value(T.tensor(moved, dtype=T.float64)).item()
        return states


@functools.lru_cache(maxsize=2)  # several checks follow each other
def statement_of(problem: Problem) -> Statement | None:
    """Return a problem as the checks see it; None for one that they would take too long for."""
    count = len(problem.residuals) + len(problem.conditions)
    coordinates = set(problem.domain.coordinates) - problem.mode_names
    if count > MOST_RESIDUALS or len(coordinates) > MOST_COORDINATES:
        return None
    return Statement(problem)
