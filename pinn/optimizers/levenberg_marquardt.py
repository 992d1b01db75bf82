"""Levenberg-Marquardt: damped Gauss-Newton steps, several dampings tried for each Jacobian."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pinn.optimizers.reduced import Damped, Reduced, reduced, reduced_bytes
from pinn.optimizers.solver import Diverged, LeastSquares, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, NonNegative, Positive, declared

# Dampings that are tried lie so far apart.
_APART = 5.0
# A step whose curvature is a larger share of it than this is too long for its parabola
# (Transtrum and Sethna's alpha).
_BENT = 0.75
# A step by a smaller share of theta is lost in its rounding.
_SHORT = np.finfo(np.float64).eps
# The least damping, relative to the largest squared singular value: below, J's own rounding rules.
_LEAST = np.finfo(np.float64).eps ** 2
# The memory that the Jacobian and what is made of it may take.
_MOST_GIB = 4


@declared
class LevenbergMarquardt(Stage):
    """Damped Gauss-Newton steps from the Jacobian of all rows, for up to a few thousand numbers.

    A step minimises |J p + r|^2 + damping |D p|^2. J is reduced to a triangle once a step, by
    orthogonal transformations; several dampings are then tried with forward evaluations alone, and
    the one of the lowest loss is taken and is where the next step begins.

    steps: most of them. damping: the first one, as a share of the largest square of a column's norm
    (after division by D). scaling: D is 1 ("none"), or the largest norm that a column of J has had
    ("columns"; More's rule). acceleration: adds the second-order correction of the path. trials:
    most dampings tried while there is a lower loss. gradient_tolerance: the stage ends when no
    component of the loss's gradient is larger. seconds: limit of the stage's wall time, None for
    none. redraw: steps after which points are drawn anew, None for as many as the sampling says;
    damping and D outlast that. hold: fewest steps between two changes of an adaptive weighting's
    weights.

    Takes 8 size^2 bytes a few times, and 2 rows size^2 operations a step. Rows should be at least
    twice the trainable numbers, better four times: a step fits all that the points let it.
    Raises ValueError for a number outside its range or an unknown scaling.

    Levenberg, Quart. Appl. Math. 2 (1944); Marquardt, J. SIAM 11 (1963); More, Lecture Notes in
    Mathematics 630 (1978); acceleration: Transtrum and Sethna, arXiv 1201.5885.
    """

    name = "levenberg-marquardt"

    steps: Count = 500
    damping: Positive = 1e-3
    scaling: Literal["none", "columns"] = "none"
    acceleration: bool = True
    trials: Count = 4
    gradient_tolerance: NonNegative = 0.0
    seconds: Positive | None = None
    redraw: Count | None = 20
    hold: Count = 5

    def check(self, function: LeastSquares) -> list[str]:
        """Raise ValueError where the Jacobian takes too much memory; doubt float32."""
        rows, size = function.rows, function.size
        gib = reduced_bytes(rows, size, self.acceleration) / 2**30
        if gib > _MOST_GIB:
            raise ValueError(
                f"{self.name}: a Jacobian of {rows} rows for {size} trainable numbers, with its "
                f"triangle, takes {gib:.1f} GiB; expected at most {_MOST_GIB} GiB. Use a smaller "
                "model, fewer points, or lbfgs"
            )
        return []

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
        loss = function.value(theta)
        while number < self.steps:
            jacobian = reduced(function, theta, self.acceleration)
            largest = float(np.max(np.abs(jacobian.gradient)))
            if largest <= self.gradient_tolerance:
                return StageEnd(theta, StopReason.CONVERGED, (
                    f"after {number} steps the largest component of the gradient, {largest:.1e}, "
                    f"is not above the tolerance {self.gradient_tolerance:.1e}"
                ))  # fmt: skip
            scale = self._scaled(scale, jacobian)
            most = float(np.max(jacobian.norms / scale)) ** 2
            if math.isnan(damping):
                damping = self.damping * most
            search = _Search(self, function, theta, loss, jacobian, scale, _LEAST * most)
            best = search.best(damping)
            if best is None:
                return StageEnd(theta, StopReason.NO_DECREASE, "no lower loss")
            number += 1
            theta, loss, damping = best.theta, best.loss, best.damping
            state = {
                "number": np.array(number), "damping": np.array(damping), "scale": scale,
            }  # fmt: skip
            yield Step(number, theta, loss, damping, state)
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def _scaled(self, scale: np.ndarray, jacobian: Reduced) -> np.ndarray:
        if self.scaling == "none":
            return np.ones_like(scale)
        found = np.maximum(scale, jacobian.norms)
        return np.where(found > 0, found, 1.0)


@dataclass(frozen=True)
class _Trial:
    damping: float
    theta: np.ndarray
    loss: float
    length: float


class _Search:
    """The dampings tried from one Jacobian."""

    def __init__(self, stage, function, theta, loss, jacobian, scale, least) -> None:
        self._stage = stage
        self._function = function
        self._theta = theta
        self._loss = loss
        self._jacobian = jacobian
        self._scale = scale
        self._least = least
        self.trials = 0

    def best(self, damping: float) -> _Trial | None:
        best = self._tried(damping)
        while not best.loss < self._loss:
            if best.length <= _SHORT * np.linalg.norm(self._theta):
                return None
            best = self._tried(best.damping * _APART)
        for direction in (1 / _APART, _APART):
            moved = False
            while self.trials < self._stage.trials:
                other = self._tried(max(best.damping * direction, self._least))
                if not other.loss < best.loss:
                    break
                best, moved = other, True
            if moved:
                break
        return best

    def _tried(self, damping: float) -> _Trial:
        self.trials += 1
        damped = self._jacobian.damped(damping, self._scale)
        step = damped.step
        if self._stage.acceleration:
            step = step + self._bend(damped)
        theta = self._theta + step
        loss = self._function.value(theta)
        return _Trial(damping, theta, loss, float(np.linalg.norm(step)))

    def _bend(self, damped: Damped) -> np.ndarray:
        second = self._function.second_jvp(self._theta, damped.step)
        bend = damped.minimiser(second)
        share = 2 * np.linalg.norm(self._scale * bend) / np.linalg.norm(self._scale * damped.step)
        if not share < _BENT:
            return 0.0
        return 0.5 * bend
