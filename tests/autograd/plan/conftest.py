"""Fixtures of the tests of recorded steps: random programs, for executors to agree on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd as T
from autograd.plan import Program, optimize, trace
from autograd.plan.chunks import Chunked

_ROWS, _COLUMNS = 7, 5


@pytest.fixture(scope="session")
def random_program():
    """A function `(seed, dtype name) -> (program, inputs)`."""
    return _random_program


def _random_program(seed: int, dtype: str) -> tuple[Program, list[np.ndarray]]:
    """Return an optimized program of about thirty operations, and inputs for it.

    Arithmetic and transcendental functions on full, row, column and scalar operands, products of
    matrices, stacks, parts and sums.
    """
    rng = np.random.default_rng(seed)
    shapes = [(_ROWS, _COLUMNS)] * 3 + [(_COLUMNS,), (_ROWS, 1), (1,), (_COLUMNS, _COLUMNS)]
    arrays = [rng.uniform(0.5, 1.5, shape).astype(dtype) for shape in shapes]

    def fn(*inputs: T.Tensor) -> list[T.Tensor]:
        full: list[Any] = list(inputs[:3])
        for _ in range(30):
            a, b = (full[k] for k in rng.integers(len(full), size=2))
            full.append(_random_operation(rng, a, b, inputs))
        total = full[-1] + full[-2]
        return [total, full[int(rng.integers(3, len(full)))], total.sum(dim=0), total.mean()]

    return optimize(trace(fn, [T.tensor(a) for a in arrays])[0]), arrays


def _random_operation(rng: np.random.Generator, a: Any, b: Any, inputs: tuple) -> Any:
    row, column, scalar, matrix = inputs[3:]
    choices = [
        lambda: (a + b) * 0.5,
        lambda: a - b * 0.37,
        lambda: a * b * 0.25,
        lambda: a / (b * b + 1.0),
        lambda: -a,
        lambda: T.tanh(a) * b,
        lambda: T.sqrt(a * a + 0.1),
        lambda: T.maximum(a, b),
        lambda: T.minimum(a, 0.8 - b),
        lambda: T.abs(a - 1.0),
        lambda: a * row + b,
        lambda: a - column,
        lambda: (a + column) * row,
        lambda: a * scalar,
        lambda: T.tanh(a @ matrix) + b,
        lambda: T.sin(a) - 2.0 * b,
        lambda: T.stack([a, b, a - b]).sum(dim=0) * 0.3,
        lambda: T.cat([a[:3], b[3:]], dim=0),
        lambda: a - b.sum(dim=0) * 0.05,
    ]
    return choices[int(rng.integers(len(choices)))]()


@pytest.fixture
def short_chunks(monkeypatch):
    """Makes chunks of whole arrays so short that a hundred points are several."""
    monkeypatch.setattr(Chunked, "_choose_chunk", lambda self, rows, count: 13)
