"""Values of a problem's unknowns at points: what goes in, and how derivatives are taken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

import autograd as T
from autograd.devices import as_device, put, put_together
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.values import ModelValues
from pinn.objective.flat_parameters import FlatParameters
from pinn.problem.problem import Problem
from pinn.sampling import Points

Derivatives = Literal["jets", "nested"]
DERIVATIVES = ("jets", "nested")


class Evaluator:
    """The unknowns of a problem by a model, in one precision, on one device.

    derivatives: "jets" carries all derivatives in the coordinates forward in one sweep; "nested"
    differentiates again and again in reverse mode.
    """

    def __init__(
        self,
        problem: Problem,
        parameters: FlatParameters,
        derivatives: Derivatives,
        dtype: T.dtype,
        device: str,
    ) -> None:
        self.problem = problem
        self.parameters = parameters
        self.derivatives = derivatives
        self.dtype = dtype
        self._device = as_device(device)

    def arrays(self, points: Points, attached: Sequence[str]) -> list[Any]:
        """Return an array (n, 1) on the device for each coordinate, then each attached column."""
        (found,) = self.arrays_of([(points, attached)])
        return found

    def arrays_of(self, sets: Iterable[tuple[Points, Sequence[str]]]) -> list[list[Any]]:
        """Return the same for several sets of points, which go to the device in one copy."""
        columns = [
            [*points.coordinates.T, *(points.columns[name] for name in attached)]
            for points, attached in sets
        ]
        host = [self._on_host(one) for own in columns for one in own]
        found = iter(put_together(host, self._device))
        return [[next(found) for _ in own] for own in columns]

    def array(self, numbers: np.ndarray) -> Any:
        """Return numbers (n,) as an array (n, 1) on the device."""
        return put(self._on_host(numbers), self._device)

    def each(self, vectors: np.ndarray) -> list[Any]:
        """Return the rows of (k, n) as arrays (n, 1) on the device, in one copy."""
        return put_together([self._on_host(row) for row in vectors], self._device)

    def _on_host(self, numbers: np.ndarray) -> np.ndarray:
        return np.array(numbers[:, None], self.dtype, order="C")

    def plan(self, leaves: Iterable[Any]) -> NestedPlan | JetPlan:
        """Return how a set of leaves is found together."""
        if self.derivatives == "jets":
            return JetPlan(leaves, self.problem.scope)
        return NestedPlan(leaves, self.problem.scope)

    def values(
        self, columns: Sequence[T.Tensor], attached: Sequence[str], plan: NestedPlan | JetPlan
    ) -> ModelValues:
        """Return the values of names at points given by leaves of shape (n, 1), as in `arrays`."""
        d = len(self.problem.domain.coordinates)
        coordinates = list(columns[:d])
        arguments = (
            self.parameters.module,
            self.problem.scope,
            coordinates,
            self.parameters.coefficients(),
            plan,
            dict(zip(attached, columns[d:], strict=True)),
        )
        if isinstance(plan, JetPlan):
            return JetValues(*arguments)
        for column in coordinates:
            column.requires_grad_()
        return NestedValues(*arguments)
