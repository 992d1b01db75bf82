"""L-BFGS: quasi-Newton steps from the last few gradients, by scipy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from pinn.optimizers.stage import Evaluate, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, NonNegative, Positive, declared


@declared
class LBFGS(Stage):
    """scipy's L-BFGS-B without bounds, on float64 numbers whatever the model's precision.

    steps: most iterations; one takes one evaluation, now and then a few more. memory: pairs kept.
    gradient_tolerance: the stage ends when no component of the gradient is larger. line_search:
    most evaluations of one line search. seconds: limit of the stage's wall time, None for none.
    There is no tolerance on the decrease of the loss: PINN losses creep for long stretches and then
    fall again. Raises ValueError for a number outside its range.

    Byrd, Lu, Nocedal and Zhu, SIAM J. Sci. Comput. 16 (1995) 1190; version 3.0 as in scipy.
    """

    name = "lbfgs"
    needs_fixed_points = True

    steps: Count = 10_000
    memory: Count = 50
    gradient_tolerance: NonNegative = 1e-10
    line_search: Count = 50
    seconds: Positive | None = None

    def minimize(
        self,
        evaluate: Evaluate,
        theta: np.ndarray,
        on_step: Callable[[Step], None],
        done: int = 0,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> StageEnd:
        # scipy.optimize takes a good part of a second to import.
        from scipy.optimize import OptimizeResult, minimize

        number = done
        best, lowest = theta, math.inf

        def first_noted(theta: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal lowest
            loss, gradient = evaluate(theta)
            if lowest == math.inf:
                lowest = loss
            return loss, gradient

        def after_iteration(intermediate_result: OptimizeResult) -> None:
            nonlocal number, best, lowest
            # A line search at its end may hand back a minute step that raises the loss.
            if intermediate_result.fun < lowest:
                number += 1
                # A copy: scipy goes on to write into its x.
                best, lowest = intermediate_result.x.copy(), float(intermediate_result.fun)
                on_step(Step(number, best, lowest))

        # scipy ends by dividing by s.y of all kept pairs, which may be zero after a failed search.
        with np.errstate(divide="ignore", invalid="ignore"):
            result = minimize(
                first_noted,
                theta,
                method="L-BFGS-B",
                jac=True,
                callback=after_iteration,
                options={
                    "maxiter": self.steps - done,
                    "maxfun": np.iinfo(np.int64).max,
                    "maxcor": self.memory,
                    "maxls": self.line_search,
                    "gtol": self.gradient_tolerance,
                    "ftol": 0.0,
                },
            )
        reason, message = self._why(str(result.message), number, result.jac)
        return StageEnd(best, reason, message)

    def _why(self, said: str, steps: int, gradient: np.ndarray) -> tuple[StopReason, str]:
        """Translate scipy's last words."""
        largest = float(np.max(np.abs(gradient)))
        if "PROJECTED GRADIENT" in said:
            return StopReason.CONVERGED, (
                f"after {steps} steps the largest component of the gradient, {largest:.1e}, is "
                f"below the tolerance {self.gradient_tolerance:.1e}"
            )
        if "RELATIVE REDUCTION" in said:
            # With ftol = 0 scipy says this when the loss stayed exactly as it was, or rose.
            return StopReason.NO_DECREASE, (
                f"after {steps} steps a line search ended without a lower loss, most likely at the "
                f"limit of rounding; largest component of the gradient {largest:.1e}"
            )
        if "ITERATIONS REACHED LIMIT" in said:
            return StopReason.STEPS, f"all {self.steps} steps done"
        if "ABNORMAL" in said:
            return StopReason.LINE_SEARCH, (
                f"after {steps} steps {self.line_search} evaluations along the gradient found no "
                f"lower loss; largest component of the gradient {largest:.1e}"
            )
        raise RuntimeError(f"scipy's L-BFGS-B stopped for a reason not known here: {said!r}")
