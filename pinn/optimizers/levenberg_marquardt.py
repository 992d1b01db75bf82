"""Levenberg-Marquardt: damped Gauss-Newton steps, continued along the path that they begin."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.ends import converged, no_decrease
from pinn.optimizers.least_squares.damped import DampedLeastSquares, damped_bytes, damped_flops
from pinn.optimizers.least_squares.jacobian_checks import (
    check_memory,
    doubt_few_rows,
    doubt_precision,
)
from pinn.optimizers.least_squares.path import path_terms
from pinn.optimizers.least_squares.workspace import Workspace
from pinn.optimizers.solver import LeastSquares, Redraws, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, NonNegative, Positive, declared

# A step is taken that lowers the loss by this share of what the linear rows promise: long steps
# through bent valleys get there sooner than those that keep to the promise.
_PROMISED = 0.02
# Where all of the path is not good enough, half of it often is: for one evaluation, where another
# damping takes a factor, another path and its evaluations.
_PARTS = (1.0, 0.5)
# The damping falls by the first factor after a step, by the second after one that kept this share
# of the promise; it doubles after one that is half taken or not, and faster after several.
_LOWER, _MUCH_LOWER, _KEPT = 1.5, 5.0, 0.75
_HIGHER = 2.0
# A step by a smaller share of theta is lost in its rounding.
_SHORT = np.finfo(np.float64).eps


@declared(owner="levenberg_marquardt")
class LevenbergMarquardt(Stage):
    """Damped Gauss-Newton steps from the Jacobian of all rows, for up to a few thousand numbers.

    A step minimises |J p + r|^2 + damping |D p|^2, and goes on along the curve that begins with p
    and on which the rows themselves, not only their linear part, fall as J p + r does: `order`
    terms of its power series, 1 for p alone, 2 for geodesic acceleration. Each further term takes a
    few evaluations of the rows, far less than a Jacobian, and makes longer steps good ones. Where
    the whole of it leads too far, half of it is tried before a larger damping.

    steps: most of them. damping: the first one, as a share of the largest square of a column's norm
    (after division by D). scaling: D is 1 ("none"), or the largest norm that a column of J has had
    ("columns"; More's rule). gradient_tolerance: the stage ends when no component of the loss's
    gradient is larger. seconds: limit of the stage's wall time, None for none. redraw: steps after
    which points are drawn anew, at once where they are overfitted, or "never"; None for as the
    sampling says. Damping and D outlast that. hold: fewest steps between two changes of an adaptive
    weighting's weights.

    Takes the Jacobian, 8 size^2 bytes a few times, and rows size^2 operations a step. Rows should
    be at least twice the trainable numbers, better four times: a step fits all that the points let
    it. Raises ValueError for a number outside its range or an unknown scaling.

    Levenberg, Quart. Appl. Math. 2 (1944); Marquardt, J. SIAM 11 (1963); More, Lecture Notes in
    Mathematics 630 (1978); acceleration: Transtrum and Sethna, arXiv 1201.5885.
    """

    name = "levenberg_marquardt"
    takes_jacobian = True

    steps: Count = 500
    order: Count = 4
    damping: Positive = 1e-3
    scaling: Literal["none", "columns"] = "none"
    gradient_tolerance: NonNegative = 0.0
    seconds: Positive | None = None
    redraw: Redraws = 25
    hold: Count = 5

    def working_bytes(self, function: LeastSquares) -> int:
        """Return the bytes of the Jacobian and of what is factored."""
        return damped_bytes(function, self.scaling != "none")

    def algebra_flops(self, function: LeastSquares) -> int:
        """Return the operations of J^T J, or of J J^T, and of its factors."""
        return damped_flops(function)

    def check(self, function: LeastSquares) -> list[str]:
        """Raise ValueError where the Jacobian takes too much memory; doubt few rows and float32."""
        check_memory(self.name, function, self.working_bytes(function), "what is factored")
        return [*doubt_few_rows(self.name, function), *doubt_precision(self.name, function)]

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of D: what a Jacobian takes follows from the number of rows."""
        return 8 * layout.size

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return the state with a damping a thousand times that of the try before."""
        return {**state, "damping": np.array(1e3**tries * float(state["damping"]))}

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        number, damping, scale = 0, math.nan, np.zeros(theta.size)
        if state:
            number, damping = int(state["number"]), float(state["damping"])
            scale = np.array(state["scale"])
        workspace, loss = Workspace.of(function), function.value(theta)
        while number < self.steps:
            linear = DampedLeastSquares.at(function, theta, workspace)
            end = converged(theta, number, linear.gradient, self.gradient_tolerance)
            if end is not None:
                return end
            scale = self._scaled(scale, linear)
            if math.isnan(damping):
                damping = self.damping * float(np.max(linear.norms / scale)) ** 2
            found = _Trials(function, theta, loss, linear, scale, self.order).from_(damping)
            if found is None:
                return no_decrease(theta, number, linear.gradient, loss, "no damping")
            number += 1
            theta, loss, damping = found.theta, found.loss, found.next_damping
            yield Step(number, theta, loss, state={
                "number": np.array(number), "damping": np.array(damping), "scale": scale,
            })  # fmt: skip
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def _scaled(self, scale: np.ndarray, linear: DampedLeastSquares) -> np.ndarray:
        """Return D: it never falls, so that a column that vanishes does not set its number free."""
        if self.scaling == "none":
            return np.ones_like(scale)
        found = np.maximum(scale, linear.norms)
        return np.where(found > 0, found, 1.0)


@dataclass(frozen=True)
class _Found:
    """Where a step leads, the loss there, and the damping to begin the next one with."""

    theta: np.ndarray
    loss: float
    next_damping: float


class _Trials:
    """The dampings that are tried for one Jacobian."""

    def __init__(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        loss: float,
        linear: DampedLeastSquares,
        scale: np.ndarray,
        order: int,
    ) -> None:
        self._function, self._theta, self._loss = function, theta, loss
        self._linear, self._scale, self._order = linear, scale, order

    def from_(self, damping: float) -> _Found | None:
        """Return the first step that is good enough, from a damping upwards; None: there is none.

        A step so short that theta keeps its digits is none.
        """
        factor = _HIGHER
        # No damping is less than what rounding makes of the columns.
        damping = max(damping, (_SHORT * float(np.max(self._linear.norms / self._scale))) ** 2)
        while True:
            path = self._path(damping)
            if path is None:
                return None
            found = self._along(*path, damping)
            if found is not None:
                return found
            damping *= factor
            factor *= _HIGHER

    def _path(self, damping: float) -> tuple[list[np.ndarray], float] | None:
        """Return the terms of the path for a damping, and what the linear rows promise of it.

        None where its step is too short. A method of its own: what is made for one damping goes
        before there is the next.
        """
        damped = self._linear.damped(damping, self._scale)
        if not np.linalg.norm(damped.step) > _SHORT * np.linalg.norm(self._theta):
            return None
        terms = path_terms(
            self._function, self._theta, self._linear, damped, self._scale, self._order
        )
        return terms, damped.promised

    def _along(self, terms: list[np.ndarray], promised: float, damping: float) -> _Found | None:
        """Return the longest part of a path that is good enough; None: there is none."""
        for part in _PARTS:
            theta = self._theta + sum(term * part**k for k, term in enumerate(terms, 1))
            loss = self._function.value(theta)
            # Linear rows that fall to zero promise so much of that part, others some more.
            of_part = part * (2 - part) * promised
            kept = (self._loss - loss) / of_part if math.isfinite(loss) else -math.inf
            if kept >= _PROMISED and loss < self._loss:
                if part < 1:
                    return _Found(theta, loss, damping * _HIGHER)
                return _Found(theta, loss, damping / (_MUCH_LOWER if kept > _KEPT else _LOWER))
        return None
