"""Adam's constants, and the in-place numpy form that ours uses."""

from __future__ import annotations

import numpy as np

LEARNING_RATE = 1e-3
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Adam over one flat vector, in place (Kingma and Ba, ICLR 2015, algorithm 1).

    theta: the vector that `update` changes.
    """

    def __init__(self, theta: np.ndarray) -> None:
        self.theta = theta
        self.first = np.zeros_like(theta)
        self.second = np.zeros_like(theta)
        self._work = np.empty_like(theta)
        self.steps = 0

    def update(self, gradient: np.ndarray) -> None:
        """Take one step."""
        self.steps += 1
        work = self._work
        self.first *= BETA1
        np.multiply(gradient, 1 - BETA1, out=work)
        self.first += work
        np.square(gradient, out=work)
        work *= 1 - BETA2
        self.second *= BETA2
        self.second += work
        np.sqrt(self.second, out=work)
        work /= np.sqrt(1 - BETA2**self.steps)
        work += EPSILON
        np.divide(self.first, work, out=work)
        work *= LEARNING_RATE / (1 - BETA1**self.steps)
        self.theta -= work
