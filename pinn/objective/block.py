"""One residual on one set of points, with a weight."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import autograd as T
from pinn.equations.combine import Combination
from pinn.equations.jets import JetField, JetPlan
from pinn.equations.leaves import Derivative, Laplacian
from pinn.equations.model_values import coordinate_columns
from pinn.equations.nested import Field, Plan
from pinn.expressions import nodes
from pinn.objective.flat_parameters import FlatParameters
from pinn.problem.problem import Problem
from pinn.residuals import Residual
from pinn.sampling import Points

Derivatives = Literal["jets", "nested"]
DERIVATIVES = ("jets", "nested")

# Rows of the run that finds out what a function asks for, and whether its result has a row a point.
_PROBE_ROWS = 3


class Block:
    """One residual on one set of points: r(theta; X) of n rows, with a weight.

    derivatives: "jets" carries all derivatives in the coordinates forward in one sweep; "nested"
    differentiates again and again in reverse mode.
    """

    def __init__(
        self,
        problem: Problem,
        residual: Residual,
        parameters: FlatParameters,
        points: Points,
        weight: float,
        derivatives: Derivatives,
        dtype: T.dtype,
        device: str,
    ) -> None:
        self.name = residual.name
        self.what = residual.what
        self.weight = weight
        self.points = points
        self.derivatives = derivatives
        self._problem = problem
        self._residual = residual
        self._parameters = parameters
        self._dtype = dtype
        self._device = device
        self.plan: Plan | JetPlan = Plan((), ())
        self._prepare()

    def columns(self, rows: slice = slice(None)) -> list[T.Tensor]:
        """Return the points' coordinates, then what is attached, as leaves of shape (n, 1)."""
        return self.columns_of(self.points[rows])

    def columns_of(self, points: Points) -> list[T.Tensor]:
        """Return other points in the form of `columns`."""
        attached = [points.columns[name][:, None] for name in self._residual.source.columns]
        array = np.concatenate([points.coordinates, *attached], axis=1)
        return coordinate_columns(array, self._dtype, self._device)

    def residual(self, columns: list[T.Tensor]) -> T.Tensor:
        """Return the residual at points given by columns, shape (n,), with its graph."""
        return self._residual.evaluate(self._field(columns))

    def _field(self, columns: list[T.Tensor]) -> Any:
        d = len(self._problem.domain.coordinates)
        arguments = (
            self._parameters.module,
            self._problem.scope,
            columns[:d],
            self._parameters.coefficients(),
            self.plan,
            dict(zip(self._residual.source.columns, columns[d:], strict=True)),
        )
        return JetField(*arguments) if isinstance(self.plan, JetPlan) else Field(*arguments)

    def _prepare(self) -> None:
        """Find the derivatives asked for, on a few points, and check the result's shape."""
        probe = self.columns(slice(0, _PROBE_ROWS))
        field = self._field(probe)
        residual = self._residual.evaluate(field)
        if not residual.requires_grad:
            raise ValueError(
                f"{self.what}: expected a residual that depends on the unknowns, got one "
                "that does not; was it detached, or made by numpy?"
            )
        if self.derivatives == "nested":
            self.plan = Plan(field.asked, self._problem.domain.space)
            return
        scope = self._problem.scope
        self.plan = JetPlan(field.asked, scope)
        combined = self._residual.combined()
        if combined is not None:
            # a leaf that is a sum may save a channel, or cost one: take what is cheaper
            plan = JetPlan(_leaves(combined), scope)
            if plan.channels.count < self.plan.channels.count:
                self.plan, self._residual = plan, combined
        self._residual.evaluate(self._field(probe))  # an op without a Taylor rule shows here


def _leaves(residual: Residual) -> list[Any]:
    kinds = Derivative | Laplacian | Combination
    trees = [term.tree for term in residual.terms if term.tree is not None]
    return [node for tree in trees for node in nodes(tree) if isinstance(node, kinds)]
