"""Operations along a point's own numbers go through tiles, with the numbers of the operations."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autograd as T
from autograd.plan import chunks
from autograd.plan.lanes.along_numbers import along_numbers
from autograd.plan.trace import trace
from tests.autograd.plan.lanes.functions_of_points import ALONG_NUMBERS, parameters

rng = np.random.default_rng(0)
TOLERANCE = {"float64": 1e-12, "float32": 3e-5}


@pytest.fixture
def compiled(monkeypatch) -> list[bool]:
    """Of each function that was to be compiled for tiles, whether it was."""
    seen, make = [], chunks.tiled_or_none

    def noted(*arguments):
        found = make(*arguments)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(chunks, "tiled_or_none", noted)
    return seen


def same(found: T.Tensor, expected: T.Tensor, tolerance: float) -> None:
    one, other = (t.numpy(force=True) for t in (found, expected))
    assert one.shape == other.shape
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * (np.abs(other).max() + 1e-30))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ALONG_NUMBERS)
def test_they_give_what_the_operations_give(compiled, name, dtype):
    p = parameters(dtype)
    x = T.tensor(rng.normal(size=(300, 2)).astype(dtype), requires_grad=True)

    def loss(x: T.Tensor) -> T.Tensor:
        return (ALONG_NUMBERS[name](p, x) ** 2).mean()

    found, expected = T.compile(loss, points="x", executor="llvm")(x), loss(x)
    same(found, expected, TOLERANCE[dtype])
    wanted = [x, *p]
    pairs = [T.grad(one, wanted, materialize_grads=True) for one in (found, expected)]
    for one, other in zip(*pairs, strict=True):
        same(one, other, TOLERANCE[dtype])
    assert compiled == [True]


EDGES = [
    [0.0, 0.0, 0.0],
    [1.0, 1.0, 1.0],
    [1e200, -1e200, 1.0],
    [1e-200, 1e-200, 0.0],
    [math.inf, 1.0, 2.0],
    [-math.inf, -math.inf, -math.inf],
    [math.inf, -math.inf, 0.0],
    [math.nan, 1.0, 2.0],
]
AT_EDGES = {
    "norm": lambda x: T.linalg.vector_norm(x, 2, 1),
    "largest": lambda x: T.amax(x, 1),
    "smallest": lambda x: T.amin(x, 1),
    "softmax": lambda x: T.softmax(x, 1),
    "log_softmax": lambda x: T.log_softmax(x, 1),
    "logsumexp": lambda x: T.logsumexp(x, 1),
    "prod": lambda x: x.prod(1),
    "cumprod": lambda x: T.cumprod(x, 1),
    "std": lambda x: (x * 1e-100).std(1),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy tells of each
@pytest.mark.parametrize("name", AT_EDGES)
def test_what_is_not_finite_and_what_would_overflow(compiled, name):
    scale = T.ones(1, dtype=T.float64, requires_grad=True)
    x = T.tensor(np.array(EDGES * 10))
    fn = T.compile(lambda x: AT_EDGES[name](x * scale), points="x", executor="llvm")
    with T.no_grad():
        np.testing.assert_allclose(fn(x).numpy(), fn.fn(x).numpy(), rtol=1e-13)
    assert compiled == [True]


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: T.softmax(x, 0),
        lambda x: x.norm(),
        lambda x: x.T @ x,
        lambda x: T.cumsum(x, 0),
        lambda x: T.amax(x, (0, 1)),
    ],
)
def test_what_lets_points_meet_stays_as_it_is(fn):
    program, _ = trace(lambda x: [fn(x)], [T.tensor(rng.normal(size=(7, 3)))])
    assert along_numbers(program, 1).instructions == program.instructions


def test_what_is_long_stays_as_it_is():
    program, _ = trace(lambda x: [T.softmax(x, 1)], [T.tensor(rng.normal(size=(7, 600)))])
    assert along_numbers(program, 1).instructions == program.instructions
