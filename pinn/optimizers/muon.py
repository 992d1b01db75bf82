"""Muon: momentum whose matrices are made orthogonal before each step."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.first_order.arrays import chosen, functions_of
from pinn.optimizers.first_order.base import FirstOrder
from pinn.optimizers.first_order.moments import adam_change, running_mean
from pinn.optimizers.schedules import Memory
from pinn.schema import Count, Fraction, Positive, declared

# The quintic of Jordan 2024: it takes singular values from (0, 1] to about 1 fastest.
_QUINTIC = (3.4445, -4.7750, 2.0315)
# The root of the mean square of Adam's steps, as shares of the rate (Liu et al., section 2.2).
_LIKE_ADAM = 0.2


@declared
class Muon(FirstOrder):
    """Steps along Nesterov's momentum, in which each matrix U S V' is replaced by about U V'.

    So all directions of a matrix move alike. momentum: share of the mean gradient that is kept from
    step to step. iterations: of Newton and Schulz, which bring the singular values to about 1. The
    step of a matrix (m, n) is 0.2 sqrt(max(m, n)) times the rate, as long as one of Adam, whose
    rates will do. Biases, matrices of one row or column and the coefficients of the problem are
    left to plain Adam, with beta1, beta2 and epsilon. steps, learning_rate, schedule, warmup,
    weight_decay, seconds: as for Adam. Raises ValueError for a number outside its range.

    Jordan et al., Muon: an optimizer for hidden layers in neural networks (2024); the lengths of
    steps by Liu et al., arXiv 2502.16982, equation 4.
    """

    name = "muon"
    recordable: ClassVar[bool] = True

    momentum: Fraction = 0.95
    iterations: Count = 5
    beta1: Fraction = 0.9
    beta2: Fraction = 0.999
    epsilon: Positive = 1e-8

    def begin(self, layout: Layout) -> Memory:
        rest = layout.broad.rest.shape[0]
        return {
            "first": np.zeros(layout.size), "second": np.zeros(rest),
            "ahead": np.zeros(layout.size - rest),
        }  # fmt: skip

    def learn(
        self, memory: Memory, gradient: np.ndarray, number: int, layout: Layout
    ) -> Memory:
        broad = layout.broad
        first = chosen(
            broad.apart,
            running_mean(memory["first"], gradient, self.beta1),
            running_mean(memory["first"], gradient, self.momentum),
        )
        return {
            "first": first,
            "second": running_mean(memory["second"], gradient[broad.rest] ** 2, self.beta2),
            # Where the mean will be if the next gradient is this one: Nesterov's place.
            "ahead": running_mean(first, gradient, self.momentum)[broad.taken],
        }

    def change(self, memory: Memory, rate: float, number: int, layout: Layout) -> np.ndarray:
        broad = layout.broad
        rest = adam_change(
            memory["first"][broad.rest], memory["second"], rate, number,
            self.beta1, self.beta2, self.epsilon,
        )  # fmt: skip
        stacks = []
        for places, shape in zip(broad.within, broad.shapes, strict=True):
            length = rate * _LIKE_ADAM * math.sqrt(max(shape[1:]))
            stacks.append(length * orthogonalised(memory["ahead"][places], self.iterations))
        return broad.together(rest, stacks)


def orthogonalised(stack: np.ndarray, iterations: int) -> np.ndarray:
    """Return U V' of matrices U S V', (k, m, n), roughly: singular values between 0.7 and 1.2.

    A matrix of zeros stays one. Newton and Schulz's iteration with the quintic of Jordan et al.
    """
    a, b, c = _QUINTIC
    tall = stack.shape[1] > stack.shape[2]
    x = stack.swapaxes(1, 2) if tall else stack
    functions = functions_of(x)
    sizes = functions.sqrt((x * x).sum((1, 2), keepdims=True))
    x = x / functions.where(sizes > 0, sizes, 1.0)
    for _ in range(iterations):
        square = x @ x.swapaxes(1, 2)
        x = a * x + (b * square + c * square @ square) @ x
    return x.swapaxes(1, 2) if tall else x
