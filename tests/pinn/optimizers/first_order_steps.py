"""Closed problems for first-order solvers, and a network of a few tensors beside a coefficient."""

import numpy as np

from pinn.objective import Layout

LAYOUT = Layout.of([
    ("model.weight0", (5, 2), False), ("model.bias0", (5,), False),
    ("model.weight1", (5, 5), False), ("model.bias1", (5,), False),
    ("model.weight2", (5, 5), False), ("model.bias2", (5,), False),
    ("model.weight3", (1, 5), False), ("model.bias3", (1,), False), ("k", (), True),
])  # fmt: skip

# Square matrices: where a side is longer than the other, the first gradient leaves directions out.
SQUARES = Layout.of([
    ("model.weight0", (5, 5), False), ("model.bias0", (5,), False),
    ("model.weight1", (3, 3), False), ("model.bias1", (3,), False),
    ("model.weight2", (5, 5), False), ("k", (), True),
])  # fmt: skip

_rng = np.random.default_rng(0)
_FACTOR = _rng.standard_normal((LAYOUT.size, LAYOUT.size)) / LAYOUT.size**0.5
HESSIAN = _FACTOR @ _FACTOR.T + 0.1 * np.eye(LAYOUT.size)
LOWEST = _rng.standard_normal(LAYOUT.size)
START = _rng.standard_normal(LAYOUT.size)


def quadratic(theta):
    """A bowl in up to so many numbers, whose axes lie across all tensors."""
    away = theta - LOWEST[: theta.size]
    gradient = HESSIAN[: theta.size, : theta.size] @ away
    return 0.5 * float(gradient @ away), gradient


def by_part(vector, layout=LAYOUT):
    """The parts of a vector as copies, by name."""
    return {part.name: part.of(vector).copy() for part in layout.parts}


def together(parts):
    return np.concatenate([np.ravel(part) for part in parts.values()])


def rosenbrock(theta):
    """Rosenbrock's valley in as many numbers as a square matrix has, the lowest at ones."""
    x, y = theta[:-1], theta[1:]
    valley = y - x**2
    gradient = np.zeros_like(theta)
    gradient[:-1] = -400 * x * valley - 2 * (1 - x)
    gradient[1:] += 200 * valley
    return float(np.sum(100 * valley**2 + (1 - x) ** 2)), gradient


SQUARE = Layout.of([("model.weight0", (2, 2), False)])
