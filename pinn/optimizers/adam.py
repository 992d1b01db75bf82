"""Adam: gradient steps scaled by running moments of the gradient."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.first_order.base import FirstOrder
from pinn.optimizers.first_order.moments import adam_change, running_mean
from pinn.optimizers.schedules import Memory
from pinn.schema import Fraction, Positive, declared


@declared
class Adam(FirstOrder):
    """Adam: each number's step is its mean gradient over the root of its mean squared gradient.

    steps: how many. learning_rate: the highest rate of a step, which `schedule` lowers. warmup:
    steps in which the rate rises linearly to it, before the schedule begins. weight_decay: above 0
    it is AdamW: each step also shrinks the weights of the networks' layers by this share of its
    rate; biases and the coefficients of the problem never shrink. seconds: limit of the stage's
    wall time, None for none. beta1, beta2, epsilon: as in the paper. Raises ValueError for a number
    outside its range.

    Kingma and Ba, ICLR 2015 (arXiv 1412.6980), algorithm 1; Loshchilov and Hutter, ICLR 2019 (arXiv
    1711.05101), algorithm 2.
    """

    name = "adam"
    recordable: ClassVar[bool] = True

    beta1: Fraction = 0.9
    beta2: Fraction = 0.999
    epsilon: Positive = 1e-8

    def begin(self, layout: Layout) -> Memory:
        return {"first": np.zeros(layout.size), "second": np.zeros(layout.size)}

    def learn(
        self, memory: Memory, gradient: np.ndarray, number: int, layout: Layout
    ) -> Memory:
        return {
            "first": running_mean(memory["first"], gradient, self.beta1),
            "second": running_mean(memory["second"], gradient**2, self.beta2),
        }

    def change(self, memory: Memory, rate: float, number: int, layout: Layout) -> np.ndarray:
        first, second = memory["first"], memory["second"]
        return adam_change(first, second, rate, number, self.beta1, self.beta2, self.epsilon)
