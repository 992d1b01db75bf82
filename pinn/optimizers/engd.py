"""ENGD: energy natural gradient steps with a line search over a grid."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.least_squares.damped import DampedLeastSquares, damped_bytes, damped_flops
from pinn.optimizers.least_squares.jacobian_checks import (
    check_memory,
    doubt_few_rows,
    doubt_precision,
)
from pinn.optimizers.least_squares.workspace import Workspace
from pinn.optimizers.solver import LeastSquares, Redraws, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, NonNegative, Positive, declared

# The shortest step that is tried is this many halvings of the direction.
_HALVINGS = 30
# How much shorter the longest step is after each try that ended in numbers that are not finite.
_SHORTER = 0.1
# What the damping is multiplied by where no step lowers the loss.
_RAISED = 1e3


@declared
class ENGD(Stage):
    """Energy natural gradient: damped Gauss-Newton steps whose length a grid is searched for.

    steps: most steps. damping: what is added to the diagonal of J^T J, J being the Jacobian of the
    weighted residual vector r. relative_damping: so many times the loss is added as well, which
    keeps the first steps short; 0 as in the papers. redraw: steps after which points are drawn
    anew, at once where they are overfitted, or "never"; None for as the sampling says. seconds:
    limit of the stage's wall time, None for none.

    The step is -eta d, d = (J^T J + damping)^-1 J^T r, in whichever of parameter and kernel form is
    cheaper for the number of rows (least_squares/damped.py); eta is 1, 1/2, 1/4 ... 2^-30, of which
    the best is taken: the search ends with the first that is worse than the one before it after a
    lower loss was found. Where none lowers the loss that step is tried again with a thousand times
    the damping, up to the size of J^T J, where d is the gradient; the stage ends if that does not
    help. A step takes one Jacobian, (rows, size) float64 numbers, and a few evaluations.

    Raises ValueError for a number outside its range, and where J would take too much memory.

    Mueller and Zeinhofer, ICML 2023 (arXiv 2302.13163); kernel form: Guzman-Cordero, Dangel,
    Goldshlager and Zeinhofer, NeurIPS 2025 (arXiv 2505.12149), ENGD-W.
    """

    name = "engd"
    takes_jacobian = True

    steps: Count = 500
    damping: Positive = 1e-7
    relative_damping: NonNegative = 1e-3
    redraw: Redraws = 20
    seconds: Positive | None = None

    def working_bytes(self, function: LeastSquares) -> int:
        """Return the bytes of the Jacobian and of what is factored."""
        return damped_bytes(function)

    def algebra_flops(self, function: LeastSquares) -> int:
        """Return the operations of J^T J, or of J J^T, and of its factors."""
        return damped_flops(function)

    def check(self, function: LeastSquares) -> list[str]:
        """Raise ValueError for a Jacobian beyond the memory; doubt few rows and float32."""
        check_memory(self.name, function, self.working_bytes(function), "what is factored")
        return [*doubt_few_rows(self.name, function), *doubt_precision(self.name, function)]

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        number, reach = 0, 1.0
        if state:
            number, reach = int(state["number"]), float(state["reach"])
        loss, workspace = function.value(theta), Workspace.of(function)
        while number < self.steps:
            direction, eta, lower = self._found(function, theta, loss, reach, workspace)
            if eta == 0:
                return StageEnd(theta, StopReason.NO_DECREASE, (
                    f"after {number} steps no step along the natural gradient lowers the loss, "
                    f"down to {reach * 2.0**-_HALVINGS:.0e} of it and with any damping"
                ))  # fmt: skip
            # After numbers that were not finite: back to full steps one by one.
            reach = min(1.0, 2 * reach) if eta == reach else reach
            theta, loss, number = theta - eta * direction, lower, number + 1
            memory = {"number": np.array(number), "reach": np.array(reach)}
            yield Step(number, theta, loss, eta, memory)
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def _found(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        loss: float,
        reach: float,
        workspace: Workspace,
    ) -> tuple[np.ndarray, float, float]:
        """Return the direction, eta and the loss there; eta is 0 where no damping helps."""
        linear = DampedLeastSquares.at(function, theta, workspace)
        damping = self.damping + self.relative_damping * loss
        most = float(linear.norms @ linear.norms)
        while True:
            direction = -linear.damped(damping).step
            eta, lower = grid_search(function, theta, direction, loss, reach)
            if eta > 0 or damping > most:
                return direction, eta, lower
            damping *= _RAISED

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of two numbers."""
        return 16

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return the state with a longest step of a tenth of the try before."""
        return {**state, "reach": np.array(_SHORTER**tries)}


def grid_search(
    function: LeastSquares,
    theta: np.ndarray,
    direction: np.ndarray,
    loss: float,
    reach: float = 1.0,
) -> tuple[float, float]:
    """Return the best eta of reach 2^-k, k = 0 ... 30, and the loss at theta - eta direction.

    loss: that at theta. Losses that are not finite are no better than any. Where all are at least
    `loss`, eta is 0. Longer steps are tried first, up to the first that is no better than the best
    so far.
    """
    best = (0.0, loss)
    for k in range(_HALVINGS + 1):
        eta = reach * 2.0**-k
        value = function.value(theta - eta * direction)
        if value < best[1]:
            best = (eta, value)
        elif best[0]:
            break
    return best
