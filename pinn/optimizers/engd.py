"""ENGD: energy natural gradient steps with a line search over a grid."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import numpy as np

from pinn.optimizers.damped import DampedLeastSquares
from pinn.optimizers.solver import LeastSquares, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, Positive, declared

# The shortest step that is tried is this many halvings of the direction.
_HALVINGS = 30
# How much shorter the longest step is after each try that ended in numbers that are not finite.
_SHORTER = 0.1


@declared
class ENGD(Stage):
    """Energy natural gradient: damped Gauss-Newton steps whose length a grid is searched for.

    steps: most steps. damping: what is added to the Gram matrix of the weighted residuals is this
    share of the loss, where that is below one: with it, steps become those of Gauss and Newton as
    the loss falls. seconds: limit of the stage's wall time, None for none.

    The step is -eta d, d = (J^T J + damping)^-1 J^T r, in whichever of parameter and kernel form is
    cheaper for the number of rows (pinn.optimizers.damped); eta is 1, 1/2, 1/4 ... 2^-30, of which
    the best is taken: the search ends with the first that is worse than the one before it after a
    lower loss was found. The stage ends where none lowers the loss.

    A step forms J, (rows, size) float64 numbers, and is meant for up to a few thousand of the
    fewer. Raises ValueError for a number outside its range.

    Mueller and Zeinhofer, ICML 2023 (arXiv 2302.13163); kernel form: Guzman-Cordero, Dangel,
    Goldshlager and Zeinhofer, NeurIPS 2025 (arXiv 2505.12149), ENGD-W.
    """

    name = "engd"

    steps: Count = 500
    damping: Positive = 1e-6
    seconds: Positive | None = None

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        number, reach = 0, 1.0
        if state:
            number, reach = int(state["number"]), float(state["reach"])
        loss = function.value(theta)
        while number < self.steps:
            rows, jacobian = function.jacobian(theta)
            damped = DampedLeastSquares(jacobian, self.damping * min(1.0, loss))
            direction = damped.solve(rows)
            eta, lower = grid_search(function, theta, direction, loss, reach)
            if eta == 0:
                return StageEnd(theta, StopReason.NO_DECREASE, (
                    f"after {number} steps none along the natural gradient, down to "
                    f"{reach * 2.0**-_HALVINGS:.0e} of it, lowers the loss"
                ))  # fmt: skip
            # After numbers that were not finite: back to full steps one by one.
            reach = min(1.0, 2 * reach) if eta == reach else reach
            theta, loss, number = theta - eta * direction, lower, number + 1
            memory = {"number": np.array(number), "reach": np.array(reach)}
            yield Step(number, theta, loss, eta, memory)
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def state_bytes(self, size: int) -> int:
        """Return the bytes of two numbers."""
        return 16

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return a state whose longest step is a tenth of the try before."""
        return {"number": np.array(number), "reach": np.array(_SHORTER**tries)}


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
