"""SOAP: Adam in the bases in which Shampoo's statistics of each matrix are diagonal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.first_order.arrays import functions_of
from pinn.optimizers.first_order.base import FirstOrder
from pinn.optimizers.first_order.moments import adam_change, running_mean
from pinn.optimizers.schedules import Memory
from pinn.schema import Count, Fraction, Positive, declared


@declared
class SOAP(FirstOrder):
    """Adam that turns each matrix's gradients into the eigenvectors of their running squares.

    For a matrix of gradients G it averages G G' and G' G with beta2, and runs Adam on what G is in
    the eigenvectors of the two; these follow by one power iteration and a QR decomposition every
    `every` steps. The first step learns them and moves nothing. Sides longer than `longest` keep
    their own basis. Biases and the coefficients of the problem are left to plain Adam. steps,
    learning_rate, schedule, warmup, weight_decay, seconds, beta1, beta2, epsilon: as for Adam.
    Raises ValueError for a number outside its range.

    Vyas et al., ICLR 2025 (arXiv 2409.11321), algorithm 3; for PINNs Wang et al., arXiv 2502.00604.
    """

    name = "soap"
    takes_device_arrays: ClassVar[bool] = True

    beta1: Fraction = 0.95
    beta2: Fraction = 0.999
    epsilon: Positive = 1e-8
    every: Count = 2
    longest: Count = 2048

    def begin(self, layout: Layout) -> Memory:
        count = sum(math.prod(shape) for _, _, shape in self._sides(layout))
        return {
            "first": np.zeros(layout.size), "second": np.zeros(layout.size),
            "squares": np.zeros(count), "bases": np.zeros(count),
        }  # fmt: skip

    def learn(
        self, memory: Memory, gradient: np.ndarray, number: int, layout: Layout
    ) -> Memory:
        found = dict(memory)
        if number > 2 and (number - 2) % self.every == 0:
            found["second"], found["bases"] = self._followed(found, layout)
        if number > 1:
            turned = self._turned(gradient, found["bases"], layout)
            found["first"] = running_mean(found["first"], gradient, self.beta1)
            found["second"] = running_mean(found["second"], turned**2, self.beta2)
        _, stacks = layout.stacked.of(gradient)
        squares = []
        for k, axis, _ in self._sides(layout):
            stack = stacks[k] if axis == 1 else stacks[k].swapaxes(1, 2)
            squares.append(stack @ stack.swapaxes(1, 2))
        squares = _joined(squares, memory["squares"])
        found["squares"] = running_mean(found["squares"], squares, self.beta2)
        if number == 1:
            eigh = functions_of(gradient).linalg.eigh
            bases = [eigh(square)[1] for square in self._parts(found["squares"], layout)]
            found["bases"] = _joined(bases, memory["bases"])
        return found

    def change(self, memory: Memory, rate: float, number: int, layout: Layout) -> np.ndarray:
        if number == 1:
            return functions_of(memory["first"]).zeros_like(memory["first"])
        bases = memory["bases"]
        turned = adam_change(
            self._turned(memory["first"], bases, layout), memory["second"], rate, number - 1,
            self.beta1, self.beta2, self.epsilon,
        )  # fmt: skip
        return self._turned(turned, bases, layout, back=True)

    def _sides(self, layout: Layout) -> list[tuple[int, int, tuple[int, int, int]]]:
        """Return the stack, the axis, and the shape of what is kept for each that has a basis."""
        return [
            (k, axis, (shape[0], shape[axis], shape[axis]))
            for k, shape in enumerate(layout.stacked.shapes)
            for axis in (1, 2)
            if 1 < shape[axis] <= self.longest
        ]

    def _parts(self, flat: np.ndarray, layout: Layout) -> list[np.ndarray]:
        """Return what is kept for each side, (k, side, side), as views."""
        shapes = [shape for _, _, shape in self._sides(layout)]
        ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
        return [
            flat[end - math.prod(shape) : end].reshape(shape)
            for end, shape in zip(ends, shapes, strict=True)
        ]

    def _turned(
        self, vector: np.ndarray, bases: np.ndarray, layout: Layout, back: bool = False
    ) -> np.ndarray:
        """Return a vector like theta with each matrix in its bases, or back from them."""
        rest, stacks = layout.stacked.of(vector)
        sides = zip(self._sides(layout), self._parts(bases, layout), strict=True)
        for (k, axis, _), basis in sides:
            if axis == 1:
                stacks[k] = (basis if back else basis.swapaxes(1, 2)) @ stacks[k]
            else:
                stacks[k] = stacks[k] @ (basis.swapaxes(1, 2) if back else basis)
        return layout.stacked.together(rest, stacks)

    def _followed(self, memory: Memory, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
        """Return the second moments and the bases after a power iteration.

        The vectors are ordered by their squares first, the largest first, as a QR decomposition
        keeps the first ones best; the second moments go with them.
        """
        xp, bases = functions_of(memory["second"]), []
        rest, second = layout.stacked.of(memory["second"])
        each = (self._parts(memory[name], layout) for name in ("squares", "bases"))
        for (k, axis, _), square, old in zip(self._sides(layout), *each, strict=True):
            sizes = xp.einsum("kij,kij->kj", old, square @ old)
            order = xp.argsort(-sizes, axis=1, kind="stable")
            bases.append(xp.linalg.qr(square @ xp.take_along_axis(old, order[:, None, :], 2))[0])
            rows = xp.expand_dims(order, 3 - axis)
            second[k] = xp.take_along_axis(second[k], rows, axis)
        return layout.stacked.together(rest, second), _joined(bases, memory["bases"])


def _joined(arrays: Sequence[np.ndarray], before: np.ndarray) -> np.ndarray:
    """Return arrays one after the other, as those were before that they replace."""
    if not arrays:
        return before
    return functions_of(before).concatenate([array.reshape(-1) for array in arrays])
