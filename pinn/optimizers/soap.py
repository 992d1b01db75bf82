"""SOAP: Adam in the bases in which Shampoo's statistics of each matrix are diagonal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.first_order import FirstOrder
from pinn.optimizers.moments import adam_change, running_mean
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

    beta1: Fraction = 0.95
    beta2: Fraction = 0.999
    epsilon: Positive = 1e-8
    every: Count = 2
    longest: Count = 2048

    def begin(self, layout: Layout) -> Memory:
        shapes = [places.shape for places in layout.stacks]
        count = sum(k * s**2 for k, m, n in shapes for s in (m, n) if self._has_basis(s))
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
        squares = np.empty_like(memory["squares"])
        for places, axis, into in self._factors(layout, squares):
            stack = gradient[places] if axis == 1 else gradient[places].swapaxes(1, 2)
            into[...] = stack @ stack.swapaxes(1, 2)
        found["squares"] = running_mean(found["squares"], squares, self.beta2)
        if number == 1:
            found["bases"] = bases = np.empty_like(squares)
            both = (self._factors(layout, flat) for flat in (found["squares"], bases))
            for (_, _, square), (_, _, basis) in zip(*both, strict=True):
                basis[...] = np.linalg.eigh(square).eigenvectors
        return found

    def change(self, memory: Memory, rate: float, number: int, layout: Layout) -> np.ndarray:
        if number == 1:
            return np.zeros(layout.size)
        bases = memory["bases"]
        turned = adam_change(
            self._turned(memory["first"], bases, layout), memory["second"], rate, number - 1,
            self.beta1, self.beta2, self.epsilon,
        )  # fmt: skip
        return self._turned(turned, bases, layout, back=True)

    def _has_basis(self, side: int) -> bool:
        return 1 < side <= self.longest

    def _factors(
        self, layout: Layout, flat: np.ndarray
    ) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
        """Give the places of the matrices, the axis, and what is kept for it, (k, side, side)."""
        start = 0
        for places in layout.stacks:
            for axis in (1, 2):
                k, side = len(places), places.shape[axis]
                if self._has_basis(side):
                    yield places, axis, flat[start : start + k * side**2].reshape(k, side, side)
                    start += k * side**2

    def _turned(
        self, vector: np.ndarray, bases: np.ndarray, layout: Layout, back: bool = False
    ) -> np.ndarray:
        """Return a vector like theta with each matrix in its bases, or back from them."""
        found = vector.copy()
        for places, axis, basis in self._factors(layout, bases):
            if axis == 1:
                found[places] = (basis if back else basis.swapaxes(1, 2)) @ found[places]
            else:
                found[places] = found[places] @ (basis.swapaxes(1, 2) if back else basis)
        return found

    def _followed(self, memory: Memory, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
        """Return the second moments and the bases after a power iteration.

        The vectors are ordered by their squares first, the largest first, as a QR decomposition
        keeps the first ones best; the second moments go with them.
        """
        second, bases = memory["second"].copy(), np.empty_like(memory["bases"])
        each = (self._factors(layout, flat) for flat in (memory["squares"], memory["bases"], bases))
        for (places, axis, square), (_, _, old), (_, _, new) in zip(*each, strict=True):
            sizes = np.einsum("kij,kij->kj", old, square @ old)
            order = np.argsort(-sizes, axis=1, kind="stable")
            new[...] = np.linalg.qr(square @ np.take_along_axis(old, order[:, None, :], 2)).Q
            rows = np.expand_dims(order, 3 - axis)
            second[places] = np.take_along_axis(second[places], rows, axis)
        return second, bases
