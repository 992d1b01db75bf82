"""Adam: gradient steps scaled by running moments of the gradient."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import ClassVar

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.solver import LeastSquares, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, Fraction, Positive, declared


@declared
class Adam(Stage):
    """Adam with a learning rate that falls geometrically from `learning_rate` to `final_rate`.

    final_rate: None keeps the rate constant. beta1, beta2, epsilon: as in the paper. seconds: limit
    of the stage's wall time, None for none. Raises ValueError for a number outside its range.

    Kingma and Ba, ICLR 2015 (arXiv 1412.6980), algorithm 1.
    """

    name = "adam"
    takes_batches: ClassVar[bool] = True

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

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        number, first, second, share = 0, np.zeros_like(theta), np.zeros_like(theta), 1.0
        if state:
            # The gradient at theta is in the moments: new points are met at the next theta.
            number, first, second = int(state["number"]), state["first"], state["second"]
            share = float(state["share"])
            theta = self._next(theta, share * self.rate(number), number, first, second)
        while number < self.steps:
            found = function.value_and_gradient(theta)
            number += 1
            first = self.beta1 * first + (1 - self.beta1) * found.gradient
            second = self.beta2 * second + (1 - self.beta2) * found.gradient**2
            rate = share * self.rate(number)
            memory = {
                "number": np.array(number), "first": first, "second": second,
                "share": np.array(share),
            }  # fmt: skip
            # The step of this number starts at theta, whose loss is known; its end is not yet.
            yield Step(number, theta, found.loss, rate, memory)
            theta = self._next(theta, rate, number, first, second)
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of two vectors."""
        return 2 * 8 * layout.size

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return the state with half the rate of the try before."""
        return {**state, "share": np.array(0.5**tries)}

    def _next(
        self, theta: np.ndarray, rate: float, number: int, first: np.ndarray, second: np.ndarray
    ) -> np.ndarray:
        mean = first / (1 - self.beta1**number)
        spread = np.sqrt(second / (1 - self.beta2**number))
        return theta - rate * mean / (spread + self.epsilon)
