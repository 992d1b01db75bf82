"""Where L-BFGS keeps its pairs, and the product with the H that they make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd.devices import CPU, put
from pinn.objective import OnDevice
from pinn.optimizers.quasi_newton.vectors import inner


class PairRows(ABC):
    """Pairs of a step s and a change y of the gradient, (size,), as rows of two arrays.

    H is what BFGS makes of gamma I and some of them.
    """

    @abstractmethod
    def write(self, row: int, s: Any, y: Any) -> None:
        """Write a pair into a row."""

    @abstractmethod
    def direction(
        self, gradient: Any, rows: Sequence[int], inverses: np.ndarray, gamma: float
    ) -> tuple[Any, float]:
        """Return -H times a gradient, and its inner product with the gradient.

        rows: of the pairs, the oldest first; inverses: 1 / y's, by row.
        """

    @abstractmethod
    def on_host(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the steps and the changes, (memory, size); they are not to be written to."""

    @abstractmethod
    def fill(self, steps: np.ndarray, changes: np.ndarray) -> None:
        """Take over copies of all rows."""

    @abstractmethod
    def copy(self, other: PairRows) -> bool:
        """Become a copy of others of the same device; False for any other."""


class HostRows(PairRows):
    """Rows on the host, and the recursion of two loops over the pairs."""

    def __init__(self, size: int, memory: int) -> None:
        self._steps = np.zeros((memory, size))
        self._changes = np.zeros((memory, size))

    def write(self, row: int, s: np.ndarray, y: np.ndarray) -> None:
        self._steps[row], self._changes[row] = s, y

    def direction(
        self, gradient: np.ndarray, rows: Sequence[int], inverses: np.ndarray, gamma: float
    ) -> tuple[np.ndarray, float]:
        direction = -self.times(gradient, rows, inverses, gamma)
        (slope,) = inner((direction, gradient))
        return direction, slope

    def times(
        self, vector: np.ndarray, rows: Sequence[int], inverses: np.ndarray, gamma: float
    ) -> np.ndarray:
        """Return H times a vector."""
        result = vector.copy()
        weights = {}
        for k in reversed(rows):
            weights[k] = float(self._steps[k] @ result) * inverses[k]
            result -= weights[k] * self._changes[k]
        result *= gamma
        for k in rows:
            back = float(self._changes[k] @ result) * inverses[k]
            result += (weights[k] - back) * self._steps[k]
        return result

    def on_host(self) -> tuple[np.ndarray, np.ndarray]:
        return self._steps, self._changes

    def fill(self, steps: np.ndarray, changes: np.ndarray) -> None:
        self._steps[...], self._changes[...] = steps, changes

    def copy(self, other: PairRows) -> bool:
        return False


class DeviceRows(PairRows):
    """Rows on a device, and the compact form of H, by two products with all of them.

    The recursion has two inner products a pair, each of which the next line waits for. The compact
    form asks for those of all rows with the changes and the gradient, which come home in one copy;
    with triangles of at most (memory, memory) the host makes of them what each row is taken by.

    Byrd, Nocedal and Schnabel, Math. Program. 63 (1994) 129, theorem 2.2.
    """

    def __init__(self, size: int, memory: int, there: OnDevice) -> None:
        self._device, self._xp, self._memory = there.device, there.xp, memory
        # The steps, the changes, and the gradient in use.
        self._rows = self._xp.zeros((2 * memory + 1, size), np.float64)

    def write(self, row: int, s: Any, y: Any) -> None:
        self._xp.copyto(self._rows[row], s)
        self._xp.copyto(self._rows[self._memory + row], y)

    def direction(
        self, gradient: Any, rows: Sequence[int], inverses: np.ndarray, gamma: float
    ) -> tuple[Any, float]:
        from scipy.linalg import solve_triangular

        memory, all_of = self._memory, np.array(rows)
        self._xp.copyto(self._rows[-1], gradient)
        with np.errstate(over="ignore", invalid="ignore"):
            products = put(self._rows @ self._rows[memory:].T, CPU)
            by_steps, by_changes = products[all_of], products[memory + all_of]
            # In the paper's words: R' has s'y for pairs in order, D its diagonal.
            diagonal = 1 / inverses[all_of]
            upper = np.triu(by_steps[:, all_of], 1) + np.diag(diagonal)
            inside = gamma * by_changes[:, all_of] + np.diag(diagonal)
            first = solve_triangular(upper, by_steps[:, -1], check_finite=False)
            second = inside @ first - gamma * by_changes[:, -1]
            weights = np.zeros(2 * memory + 1)
            weights[all_of] = -solve_triangular(upper, second, trans="T", check_finite=False)
            weights[memory + all_of] = gamma * first
            weights[-1] = -gamma
            return put(weights, self._device) @ self._rows, float(weights @ products[:, -1])

    def on_host(self) -> tuple[np.ndarray, np.ndarray]:
        held = put(self._rows[:-1], CPU)
        return held[: self._memory], held[self._memory :]

    def fill(self, steps: np.ndarray, changes: np.ndarray) -> None:
        both = np.concatenate([steps, changes]).astype(np.float64, copy=False)
        self._xp.copyto(self._rows[:-1], put(both, self._device))

    def copy(self, other: PairRows) -> bool:
        same = isinstance(other, DeviceRows) and self._place == other._place
        if same:
            self._xp.copyto(self._rows, other._rows)
        return same

    @property
    def _place(self) -> tuple:
        return self._device, self._rows.shape
