"""Least-squares functions in a few lines of numpy, and a way to run a stage on them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pinn.optimizers import Diverged


class Rows:
    """What pinn.optimizers.LeastSquares asks for, of plain functions theta -> rows and Jacobian.

    calls: how often each method was called.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, rows, jacobian, size):
        self._rows, self._jacobian = rows, jacobian
        self.size, self.calls = size, {}

    @property
    def rows(self):
        with np.errstate(all="ignore"):
            return len(self._rows(np.zeros(self.size)))

    def _count(self, name):
        self.calls[name] = self.calls.get(name, 0) + 1

    def value(self, theta):
        self._count("value")
        with np.errstate(all="ignore"):
            rows = self._rows(theta)
            return float(rows @ rows)

    def value_and_gradient(self, theta):
        rows, jacobian = self.jacobian(theta)
        return SimpleNamespace(loss=float(rows @ rows), gradient=2 * jacobian.T @ rows, losses={})

    def jacobian(self, theta):
        self._count("jacobian")
        rows, jacobian = self._rows(theta), self._jacobian(theta)
        if not (np.isfinite(rows).all() and np.isfinite(jacobian).all()):
            raise Diverged("not finite")
        return rows, np.array(jacobian)

    def jacobian_chunks(self, theta, rows=3):
        residual, jacobian = self.jacobian(theta)
        for start in range(0, len(residual), rows or len(residual)):
            yield residual[start : start + rows], jacobian[start : start + rows]


def follow(stage, function, theta, state=None):
    """Run a stage to its end; returns its steps, with their states copied, and the end."""
    steps, kept = stage.run(function, np.array(theta, dtype=float), state), []
    while True:
        try:
            step = next(steps)
        except StopIteration as stopped:
            return kept, stopped.value
        state = {name: np.array(array) for name, array in step.state.items()}
        kept.append(SimpleNamespace(
            number=step.number, theta=step.theta, loss=step.loss, rate=step.learning_rate,
            state=state,
        ))  # fmt: skip


@pytest.fixture
def dense():
    """The class of least-squares functions, and how to run a stage on one."""
    return SimpleNamespace(Rows=Rows, follow=follow)
