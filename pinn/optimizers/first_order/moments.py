"""Running moments of gradients, and the step that Adam makes of them."""

from __future__ import annotations

import numpy as np

from pinn.optimizers.first_order.arrays import functions_of


def running_mean(mean: np.ndarray, now: np.ndarray, beta: float) -> np.ndarray:
    """Return beta * mean + (1 - beta) * now."""
    return beta * mean + (1 - beta) * now


def adam_change(
    first: np.ndarray, second: np.ndarray, rate: float, number: int,
    beta1: float, beta2: float, epsilon: float,
) -> np.ndarray:
    """Return what a step takes away: rate times the first moment over the root of the second.

    first, second: running means, from zero, of `number` gradients and of their squares; of numpy,
    or tensors where the step is recorded.

    Kingma and Ba, ICLR 2015 (arXiv 1412.6980), algorithm 1.
    """  # fmt: skip
    mean = first / (1 - beta1**number)
    spread = functions_of(second).sqrt(second / (1 - beta2**number))
    return rate * mean / (spread + epsilon)
