"""Levenberg-Marquardt: damped Gauss-Newton steps, several dampings tried for each Jacobian."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.gauss_newton_checks import check_memory, doubt_few_rows, doubt_precision
from pinn.optimizers.reduced import Damped, Reduced, reduced
from pinn.optimizers.solver import Diverged, LeastSquares, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, NonNegative, Positive, declared

# Dampings that are tried lie so far apart.
_APART = 3.0
# A step whose curvature is a larger share of it than this is too long for its parabola
# (Transtrum and Sethna's alpha).
_BENT = 0.75
# A step by a smaller share of theta is lost in its rounding.
_SHORT = np.finfo(np.float64).eps


@declared(owner="levenberg_marquardt")
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

    Takes 8 size^2 bytes a few times, and 2 rows size^2 operations a step: as fast as ssbroyden up
    to some 150 trainable numbers, slower above. There should be twice as many rows at least, as a
    step fits all that the points let it.
    Raises ValueError for a number outside its range or an unknown scaling.

    Levenberg, Quart. Appl. Math. 2 (1944); Marquardt, J. SIAM 11 (1963); More, Lecture Notes in
    Mathematics 630 (1978); acceleration: Transtrum and Sethna, arXiv 1201.5885.
    """

    name = "levenberg_marquardt"

    steps: Count = 500
    damping: Positive = 1e-3
    scaling: Literal["none", "columns"] = "none"
    acceleration: bool = True
    trials: Count = 3
    gradient_tolerance: NonNegative = 0.0
    seconds: Positive | None = None
    redraw: Count | None = 20
    hold: Count = 5

    def check(self, function: LeastSquares) -> list[str]:
        """Raise ValueError where the Jacobian takes too much memory; doubt few rows and float32."""
        check_memory(self.name, function, self.acceleration)
        return [*doubt_few_rows(self.name, function), *doubt_precision(self.name, function)]

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of D: what a Jacobian takes follows from the number of rows."""
        return 8 * (layout.size + 2)

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
        eps = float(np.finfo(function.dtype).eps)
        loss = function.value(theta)
        while number < self.steps:
            jacobian = reduced(function, theta, keep=self.acceleration)
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
            path = _Path(function, theta, jacobian, scale, self.acceleration)
            best = _search(path, loss, damping, eps**2 * most, self.trials)
            if best is None:
                return StageEnd(theta, StopReason.NO_DECREASE, (
                    f"after {number} steps no damping gives a lower loss than {loss:.3e}, most "
                    f"likely at the limit of rounding; largest component of the gradient "
                    f"{largest:.1e}"
                ))  # fmt: skip
            number += 1
            theta, loss, damping = best.theta, best.loss, best.damping
            yield Step(number, theta, loss, state={
                "number": np.array(number), "damping": np.array(damping), "scale": scale,
            })  # fmt: skip
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def _scaled(self, scale: np.ndarray, jacobian: Reduced) -> np.ndarray:
        """Return D: it never falls, so that a column that vanishes does not set its number free."""
        if self.scaling == "none":
            return np.ones_like(scale)
        found = np.maximum(scale, jacobian.norms)
        return np.where(found > 0, found, 1.0)


@dataclass(frozen=True)
class _Trial:
    """Where one damping leads, and how far that is."""

    damping: float
    theta: np.ndarray
    loss: float
    length: float


class _Path:
    """Where the dampings of one Jacobian lead to from theta."""

    def __init__(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        jacobian: Reduced,
        scale: np.ndarray,
        accelerated: bool,
    ) -> None:
        self.theta = theta
        self._function = function
        self._jacobian = jacobian
        self._scale = scale
        self._accelerated = accelerated

    def at(self, damping: float) -> _Trial:
        """Evaluate the loss where a damping leads: infinite where that is no finite number."""
        damped = self._jacobian.damped(damping, self._scale)
        step = damped.step
        if self._accelerated:
            step = step + self._correction(damped)
        theta = self.theta + step
        loss = self._function.value(theta)
        return _Trial(
            damping, theta, loss if math.isfinite(loss) else math.inf, float(np.linalg.norm(step))
        )

    def _correction(self, damped: Damped) -> np.ndarray | float:
        """Return the second-order term of the path that begins with the step, 0 for a bent one.

        It is half the minimiser for the rows' second derivative along the step (Transtrum and
        Sethna, eq. 15 and 16). A step that it changes by much is beyond what the two terms tell of.
        """
        try:
            bend = damped.minimiser(self._function.second_jvp(self.theta, damped.step))
        except Diverged:
            return 0.0
        share = np.linalg.norm(self._scale * bend) / np.linalg.norm(self._scale * damped.step)
        return 0.5 * bend if 2 * share <= _BENT else 0.0


def _search(
    path: _Path, loss: float, damping: float, least: float, most: int
) -> _Trial | None:
    """Return the best of the dampings around one, or None where no step lowers the loss.

    Upwards until there is a lower loss than `loss`; from there down, or else up, as long as each is
    better than the last and there are fewer than `most`. One takes 2/3 P^3 operations and a forward
    evaluation or, with its correction, some six: a small part of the Jacobian and its triangle.
    """
    best, tried, factor = path.at(damping), 1, _APART
    while not best.loss < loss:
        if best.length <= _SHORT * np.linalg.norm(path.theta):
            return None
        # Further each time: other points may have made far shorter steps the right ones.
        best, tried, factor = path.at(best.damping * factor), tried + 1, factor * _APART
    # Of those that did not lower the loss none is better.
    for factor in (1 / _APART, _APART) if tried == 1 else (_APART,):
        start = best
        while tried < most and best.damping * factor >= least:
            other, tried = path.at(best.damping * factor), tried + 1
            if not other.loss < best.loss:
                break
            best = other
        if best is not start:
            break
    return best
