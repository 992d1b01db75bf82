"""Least-squares functions in a few lines of numpy, and a way to run a stage on them."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from autograd.ranks import ALONE
from pinn.objective import Layout
from pinn.optimizers import Diverged


class Rows:
    """What pinn.optimizers.LeastSquares asks for, of plain functions theta -> rows and Jacobian.

    calls: how often each method was called.
    """

    dtype = np.dtype(np.float64)
    threads = 2
    ranks = ALONE
    on_device = None
    is_linear = False
    superposition = None

    def __init__(self, rows, jacobian, size):
        self._rows, self._jacobian = rows, jacobian
        self.size, self.calls = size, {}
        self.layout = Layout.of_vector(size)

    @property
    def rows(self):
        with np.errstate(all="ignore"):
            return len(self._rows(np.zeros(self.size)))

    def _count(self, name):
        self.calls[name] = self.calls.get(name, 0) + 1

    def weighted_rows(self, theta):
        return self._rows(theta)

    def value(self, theta):
        self._count("value")
        with np.errstate(all="ignore"):
            rows = self._rows(theta)
            return float(rows @ rows)

    def rows_at(self, thetas):
        return [self.weighted_rows(theta) for theta in thetas]

    def values(self, thetas):
        return [self.value(theta) for theta in thetas]

    def value_and_gradient(self, theta):
        rows, jacobian = self.jacobian(theta)
        return SimpleNamespace(loss=float(rows @ rows), gradient=2 * jacobian.T @ rows, losses={})

    def jacobian(self, theta, out=None):
        self._count("jacobian")
        rows, jacobian = self._rows(theta), self._jacobian(theta)
        if not (np.isfinite(rows).all() and np.isfinite(jacobian).all()):
            raise Diverged("not finite")
        return rows, np.array(jacobian)

    def jacobian_chunks(self, theta, rows=3):
        residual, jacobian = self.jacobian(theta)
        for start in range(0, len(residual), rows or len(residual)):
            yield residual[start : start + rows], jacobian[start : start + rows]

    def second_jvp(self, theta, direction):
        """The second derivative along a direction, by differences of the Jacobian."""
        self._count("second_jvp")
        h = 1e-4 / max(1e-300, float(np.linalg.norm(direction)))
        there, back = self._jacobian(theta + h * direction), self._jacobian(theta - h * direction)
        return (np.array(there) - np.array(back)) @ direction / (2 * h)


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


@pytest.fixture
def most_bytes():
    """A function that runs another, and returns how many bytes of arrays there were at most."""

    def most_bytes(work):
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            work()
            return tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()

    return most_bytes


def rosenbrock():
    def rows(t):
        return np.array([10 * (t[1] - t[0] ** 2), 1 - t[0]])

    def jacobian(t):
        return np.array([[-20 * t[0], 10.0], [-1.0, 0.0]])

    return Rows(rows, jacobian, 2), np.array([-1.2, 1.0])


def powell_singular():
    def rows(t):
        return np.array([
            t[0] + 10 * t[1], np.sqrt(5) * (t[2] - t[3]), (t[1] - 2 * t[2]) ** 2,
            np.sqrt(10) * (t[0] - t[3]) ** 2,
        ])  # fmt: skip

    def jacobian(t):
        a, b = 2 * (t[1] - 2 * t[2]), 2 * np.sqrt(10) * (t[0] - t[3])
        return np.array([
            [1, 10, 0, 0], [0, 0, np.sqrt(5), -np.sqrt(5)], [0, a, -2 * a, 0], [b, 0, 0, -b],
        ])  # fmt: skip

    return Rows(rows, jacobian, 4), np.array([3.0, -1.0, 0.0, 1.0])


def freudenstein_roth():
    def rows(t):
        return np.array([
            -13 + t[0] + ((5 - t[1]) * t[1] - 2) * t[1],
            -29 + t[0] + ((t[1] + 1) * t[1] - 14) * t[1],
        ])

    def jacobian(t):
        return np.array([
            [1, 10 * t[1] - 3 * t[1] ** 2 - 2], [1, 3 * t[1] ** 2 + 2 * t[1] - 14]
        ])

    return Rows(rows, jacobian, 2), np.array([0.5, -2.0])


def brown_badly_scaled():
    def rows(t):
        return np.array([t[0] - 1e6, t[1] - 2e-6, t[0] * t[1] - 2])

    def jacobian(t):
        return np.array([[1.0, 0.0], [0.0, 1.0], [t[1], t[0]]])

    return Rows(rows, jacobian, 2), np.array([1.0, 1.0])


def bard():
    y = np.array([0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34,
                  2.10, 4.39])  # fmt: skip
    u = np.arange(1.0, 16)
    v = 16 - u
    w = np.minimum(u, v)

    def rows(t):
        return y - (t[0] + u / (v * t[1] + w * t[2]))

    def jacobian(t):
        below = (v * t[1] + w * t[2]) ** 2
        return np.stack([-np.ones(15), u * v / below, u * w / below], axis=1)

    return Rows(rows, jacobian, 3), np.array([1.0, 1.0, 1.0])


def osborne():
    """Osborne's first function: 33 values of two exponentials and a constant."""
    y = np.array([
        0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751, 0.718, 0.685,
        0.658, 0.628, 0.603, 0.580, 0.558, 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448,
        0.438, 0.431, 0.424, 0.420, 0.414, 0.411, 0.406,
    ])  # fmt: skip
    t = 10 * np.arange(33.0)

    def rows(x):
        with np.errstate(over="ignore"):
            return y - (x[0] + x[1] * np.exp(-t * x[3]) + x[2] * np.exp(-t * x[4]))

    def jacobian(x):
        a, b = np.exp(-t * x[3]), np.exp(-t * x[4])
        return -np.stack([np.ones(33), a, b, -x[1] * t * a, -x[2] * t * b], axis=1)

    return Rows(rows, jacobian, 5), np.array([0.5, 1.5, -1.0, 0.01, 0.02])


def meyer():
    y = np.array([34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147,
                  4427, 3820, 3307, 2872.0])  # fmt: skip
    t = 45 + 5 * np.arange(1.0, 17)

    def rows(x):
        with np.errstate(over="ignore"):
            return x[0] * np.exp(x[1] / (t + x[2])) - y

    def jacobian(x):
        e = np.exp(x[1] / (t + x[2]))
        return np.stack([e, x[0] * e / (t + x[2]), -x[0] * e * x[1] / (t + x[2]) ** 2], axis=1)

    return Rows(rows, jacobian, 3), np.array([0.02, 4000.0, 250.0])


@pytest.fixture
def closed():
    """Return name -> function that makes a closed problem: its LeastSquares and a start."""
    made = (
        rosenbrock, powell_singular, freudenstein_roth, brown_badly_scaled, bard, osborne, meyer,
    )  # fmt: skip
    return {one.__name__: one for one in made}
