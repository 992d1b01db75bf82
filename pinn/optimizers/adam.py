"""Adam: gradient steps scaled by running moments of the gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pinn.optimizers.stage import Evaluate, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, Fraction, Positive, declared


@declared
class Adam(Stage):
    """Adam with a learning rate that falls geometrically from `learning_rate` to `final_rate`.

    final_rate: None keeps the rate constant. beta1, beta2, epsilon: as in the paper. seconds: limit
    of the stage's wall time, None for none. Raises ValueError for a number outside its range.

    Kingma and Ba, ICLR 2015 (arXiv 1412.6980), algorithm 1.
    """

    name = "adam"
    needs_fixed_points = False

    steps: Count = 2000
    learning_rate: Positive = 1e-3
    final_rate: Positive | None = None
    beta1: Fraction = 0.9
    beta2: Fraction = 0.999
    epsilon: Positive = 1e-8
    seconds: Positive | None = None

    def rate(self, number: int) -> float:
        """Return the learning rate of a step, counted from 1."""
        if self.final_rate is None or self.steps == 1:
            return self.learning_rate
        share = (number - 1) / (self.steps - 1)
        return self.learning_rate * (self.final_rate / self.learning_rate) ** share

    def minimize(
        self,
        evaluate: Evaluate,
        theta: np.ndarray,
        on_step: Callable[[Step], None],
        done: int = 0,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> StageEnd:
        first = np.zeros_like(theta)
        second = np.zeros_like(theta)
        for number in range(done + 1, self.steps + 1):
            loss, gradient = evaluate(theta)
            rate = self.rate(number)
            # The step of this number starts at theta, whose loss is known; its end is not yet.
            on_step(Step(number, theta, loss, rate, {"first": first, "second": second}))
            first = self.beta1 * first + (1 - self.beta1) * gradient
            second = self.beta2 * second + (1 - self.beta2) * gradient**2
            mean = first / (1 - self.beta1 ** (number - done))
            spread = np.sqrt(second / (1 - self.beta2 ** (number - done)))
            theta = theta - rate * mean / (spread + self.epsilon)
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")
