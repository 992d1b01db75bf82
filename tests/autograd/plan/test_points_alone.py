"""What points alone make is computed once for the same points, and changes no bit."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.plan import chunks
from autograd.plan.chunks import Chunked
from autograd.plan.executors.numpy_executor import NumpyExecutor
from autograd.plan.points_alone import kept_bytes, points_first
from autograd.plan.trace import trace

rng = np.random.default_rng(0)
FEATURES = T.tensor(rng.normal(size=(2, 40)))
N = 300


def points(count: int = N) -> np.ndarray:
    return rng.uniform(size=(count, 2))


def basis(x: T.Tensor) -> T.Tensor:
    """Of frozen features, with a joined value and views between."""
    hidden = T.tanh(x @ FEATURES)
    return T.stack([hidden, hidden * hidden]).reshape(2 * x.shape[0], 40)


def residual(weights: T.Tensor, x: T.Tensor) -> T.Tensor:
    value, square = (basis(x) @ weights).reshape(2, x.shape[0], 1)
    return value * square - T.sin(x[:, :1])


def made(executor: str = "numpy", **options) -> tuple[T.Tensor, Chunked]:
    weights = T.tensor(rng.normal(size=(40, 1)), requires_grad=True)

    def function(rows: list[T.Tensor]) -> list[T.Tensor]:
        found = residual(weights, rows[0])
        loss = (found**2).sum()
        return [loss, T.grad(loss, weights, create_graph=True)[0].detach(), found]

    kinds = ["sum", "sum", "rows"]
    return weights, Chunked(function, [weights], kinds, executor=executor, **options)


def runs(monkeypatch) -> list[bool]:
    """Note of each run whether the points were known."""
    seen: list[bool] = []
    run = NumpyExecutor.run

    def noted(self, known: bool = False) -> None:
        seen.append(known)
        run(self, known)

    monkeypatch.setattr(NumpyExecutor, "run", noted)
    return seen


@pytest.mark.parametrize("executor", ["numpy", "numba"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_other_weights_at_the_same_points_have_the_bits_of_a_first_call(executor, threads):
    x, y = points(), points()
    weights, known = made(executor, threads=threads, chunk=70)
    for given in (x, x, y, x, x):
        weights._data[...] = rng.normal(size=(40, 1))
        fresh = Chunked(known.fn, [weights], known.kinds, executor=executor, threads=1, chunk=70)
        for one, other in zip(known([given]), fresh([given]), strict=True):
            assert np.array_equal(one, other)


def test_it_is_computed_again_for_other_points_alone(monkeypatch):
    seen = runs(monkeypatch)
    weights, step = made(threads=1, chunk=N)
    x, zero = points(), np.zeros((N, 2))
    for given in (x, x.copy(), points(), zero, zero, -zero):
        step([given])
    assert seen == [False, True, False, False, True, False]
    x[3, 1] = np.nan
    assert np.isnan(step([x])[0])
    assert np.isnan(step([x])[0])
    assert seen[-2:] == [False, True]


@pytest.mark.parametrize("executor", ["numpy", "numba"])
@pytest.mark.parametrize("threads", [1, 2])
def test_what_changes_as_rarely_as_points_do_is_theirs(executor, threads, monkeypatch):
    """Features that are exchanged: what is kept is of those that were there, to the bit."""
    seen = runs(monkeypatch)
    features = T.tensor(rng.normal(size=(2, 40)))
    weights = T.tensor(rng.normal(size=(40, 1)), requires_grad=True)

    def function(rows: list[T.Tensor]) -> list[T.Tensor]:
        return [((T.tanh(rows[0] @ features) @ weights) ** 2).sum()]

    def chunked(**options) -> Chunked:
        return Chunked(
            function, [features, weights], ["sum"], executor=executor, chunk=N // 2, **options
        )

    step, x, known = chunked(threads=threads, steady=1), points(), []
    for change in (False, False, True, False):
        weights._data[...] = rng.normal(size=(40, 1))
        if change:
            with T.no_grad():
                features.mul_(2.0)
        before = len(seen)
        (found,) = step([x])
        known.append(seen[before:])
        assert np.array_equal(found, chunked(threads=1)([x])[0])
    assert known == [[False] * 2, [True] * 2, [False] * 2, [True] * 2]


def test_what_was_not_computed_to_its_end_is_computed_again(monkeypatch):
    weights, step = made(threads=1, chunk=N)
    x, y = points(), points()
    expected = step([y])[0]
    step([x])
    (executor,) = step._bound.values()
    steps = executor.steps

    def interrupted() -> None:
        raise KeyboardInterrupt

    executor.steps = [interrupted, *steps]
    with pytest.raises(KeyboardInterrupt):
        step([y])
    executor.steps = steps
    assert step([y])[0] == expected


def test_much_memory_is_not_kept(monkeypatch):
    seen = runs(monkeypatch)
    monkeypatch.setattr(chunks, "_MOST_KEPT", N * 80 * 8 - 1)  # value and square of 40 features
    _, step = made(chunk=N // 2)
    x = points()
    step([x])
    step([x])
    assert not any(seen)


def test_a_network_whose_first_layer_is_trained_keeps_nothing():
    first, last = T.tensor(rng.normal(size=(2, 40))), T.tensor(rng.normal(size=(40, 1)))

    def function(x: T.Tensor, first: T.Tensor, last: T.Tensor) -> list[T.Tensor]:
        return [(T.tanh(x @ first) @ last - T.sin(x[:, :1])).sum()]

    program, _ = trace(function, [T.tensor(points(7)), first, last])
    assert kept_bytes(program, 1) == points_first(program, 1)[1] == 0
    assert kept_bytes(program, 2) > 0  # were the first layer's weights points as well


@pytest.mark.parametrize("threads", [1, 2])
def test_its_memory_is_counted(threads):
    _, step = made(threads=threads, chunk=100)
    cost = step.cost([points()])
    step([points()])
    executors = list(step._bound.values())
    arenas = {id(one._arena): len(one._arena) for one in executors}
    assert cost.nbytes == sum(arenas.values()) + sum(len(one._kept) for one in executors)
    assert len(arenas) == threads < len(executors) == 4
