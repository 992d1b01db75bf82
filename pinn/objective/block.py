"""One residual on one set of points, with its weights."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd as T
from pinn.equations.nested import NestedPlan
from pinn.equations.values import ModelValues
from pinn.objective.evaluator import Evaluator
from pinn.residuals import Residual
from pinn.sampling import Points

# Rows of the run that finds out what a function asks for, and whether its result has a row a point.
_PROBE_ROWS = 3


class Block:
    """One residual on one set of points: r(theta; X), `rows` numbers, with a weight.

    Its loss is mean(v * r^2) with `row_weights` v (rows,), 1 where None. A row a point, unless the
    residual takes its points as a whole.

    Raises ValueError, naming the block, for a residual that does not depend on the unknowns or has
    another number of rows.
    """

    def __init__(
        self, number: int, residual: Residual, evaluator: Evaluator, points: Points, weight: float
    ) -> None:
        self.number = number
        self.name = residual.name
        self.what = residual.what
        self.residual = residual
        self.weight = weight
        self._evaluator = evaluator
        self.place(points)

    @property
    def whole(self) -> bool:
        """Whether a row may depend on all points, which then are evaluated together."""
        return self.residual.whole

    def place(self, points: Points) -> None:
        """Take other points, where every row weighs 1."""
        self.points = points
        self.row_weights: np.ndarray | None
        self.row_weights_array: Any  # on the device, (rows, 1)
        self.weigh_rows(None)
        self.rows = len(points)
        if self.whole:
            self.rows = len(self._probed()[0])

    def checked_row_weights(self, weights: np.ndarray) -> np.ndarray:
        """Return a copy of weights for the rows, (rows,) numbers >= 0; ValueError for others."""
        taken = np.array(weights, dtype=np.float64)
        if taken.shape != (self.rows,):
            raise ValueError(
                f"row weights of block {self.name!r}: expected shape ({self.rows},), one number a "
                f"row, got {taken.shape}"
            )
        bad = np.flatnonzero(~(np.isfinite(taken) & (taken >= 0)))
        if bad.size:
            raise ValueError(
                f"row weights of block {self.name!r}: expected finite numbers >= 0, got "
                f"{taken[bad[0]]} in row {bad[0]}"
            )
        return taken

    def weigh_rows(self, weights: np.ndarray | None) -> None:
        """Take checked weights for the rows, or 1 for all of them."""
        self.row_weights = weights
        self.row_weights_array = None if weights is None else self._evaluator.array(weights)

    def probe(self) -> Points:
        """Return the points that show what the residual is made of: a few, or the whole set."""
        return self.points if self.whole else self.points[:_PROBE_ROWS]

    def asked(self) -> tuple[Any, ...]:
        """Return the leaves that the residual asks for."""
        if self.residual.leaves is not None:
            return self.residual.leaves
        # only a run can tell what a function asks for
        residual, leaves = self._probed()
        self.check_trains(residual)
        return leaves

    def check_trains(self, residual: T.Tensor) -> None:
        """Raise ValueError for a residual that does not depend on the unknowns."""
        if not residual.requires_grad:
            raise ValueError(
                f"{self.what}: expected a residual that depends on the unknowns, got one "
                "that does not; was it detached, or made by numpy?"
            )

    def row_scale(self) -> np.ndarray | float:
        """Return what a row of the weighted residual vector is multiplied by: () or (rows,)."""
        scale = float(np.sqrt(self.weight / self.rows))
        return scale if self.row_weights is None else scale * np.sqrt(self.row_weights)

    def _probed(self) -> tuple[T.Tensor, tuple[Any, ...]]:
        values = self.values_at(self.probe())
        return self.residual.evaluate(values), tuple(values.asked)

    def residual_at(self, points: Points) -> T.Tensor:
        """Return the residual at some points by nested derivatives, with its graph, (rows,)."""
        return self.residual.evaluate(self.values_at(points))

    def values_at(self, points: Points) -> ModelValues:
        """Return the values of any names at some points, by nested derivatives."""
        columns = self.residual.source.columns
        arrays = self._evaluator.arrays(points, columns)
        nothing = NestedPlan((), self._evaluator.problem.scope)
        return self._evaluator.values([T.Tensor(a) for a in arrays], columns, nothing)
