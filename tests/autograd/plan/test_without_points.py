"""What needs no point is computed once a call, whatever the number of chunks."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd import threads
from autograd.plan.chunks import Chunked
from autograd.plan.executors.numpy_executor import NumpyExecutor
from autograd.plan.trace import trace
from autograd.plan.without_points import without_points

rng = np.random.default_rng(0)
WALL = T.tensor(rng.uniform(size=(50, 2)))
N = 300


def hidden(weights: T.Tensor, x: T.Tensor) -> T.Tensor:
    return T.tanh(x @ weights)


def both(weights: T.Tensor, x: T.Tensor) -> T.Tensor:
    """The sum over points, and as much a point of what is at the wall."""
    inside = (hidden(weights, x) ** 2).sum()
    return inside + (hidden(weights, WALL) ** 2).mean() * x.shape[0]


def made(executor: str = "numpy", **options) -> tuple[T.Tensor, Chunked]:
    weights = T.tensor(rng.normal(size=(2, 40)), requires_grad=True)

    def function(rows: list[T.Tensor]) -> list[T.Tensor]:
        loss = both(weights, rows[0])
        return [loss.detach(), T.grad(loss, weights)[0]]

    return weights, Chunked(function, [weights], ["sum", "sum"], executor=executor, **options)


def eager(weights: T.Tensor, x: np.ndarray) -> list[np.ndarray]:
    loss = both(weights, T.tensor(x))
    return [loss.numpy(force=True), T.grad(loss, weights)[0].numpy()]


def recorded(fn) -> tuple:
    weights = T.tensor(rng.normal(size=(2, 40)))
    program, _ = trace(fn, [T.tensor(rng.uniform(size=(N, 2))), weights], ["x", "w"])
    return program, weights


@pytest.mark.parametrize("executor", ["numpy", "numba"])
@pytest.mark.parametrize("workers", [1, 2])
def test_the_results_are_those_of_the_whole_function(executor, workers):
    x = rng.uniform(size=(N, 2))
    weights, step = made(executor, threads=workers, chunk=70)
    for _ in range(3):
        weights._data[...] = rng.normal(size=(2, 40))
        for one, other in zip(step([x]), eager(weights, x), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-12)


def test_it_is_computed_once_a_call_and_for_each_length_of_chunks(monkeypatch):
    seen = []
    run = NumpyExecutor.run

    def noted(self, known: bool = False) -> None:
        seen.append(self.program.inputs[0].shape)
        run(self, known)

    monkeypatch.setattr(NumpyExecutor, "run", noted)
    _, step = made(threads=1, chunk=70)
    step([rng.uniform(size=(280, 2))])  # four of 70
    assert seen == [(2, 40), *[(70, 2)] * 4]
    seen.clear()
    step([rng.uniform(size=(281, 2))])  # five of 47 and one of 46
    assert sorted(seen) == [(2, 40)] * 2 + [(46, 2)] + [(47, 2)] * 5


def test_its_operations_and_memory_are_counted_once():
    (x, many), (_, step) = (rng.uniform(size=(n, 2)) for n in (70, 700)), made(threads=1, chunk=70)
    one, ten = step.cost([x]), step.cost([many])
    assert (one.chunks, ten.chunks) == (1, 10)
    assert one.flops < ten.flops < 7 * one.flops  # as much at the wall as at most of one chunk
    assert one.nbytes == ten.nbytes


def test_the_length_of_chunks_is_chosen_by_what_is_done_in_them():
    x = T.tensor(rng.uniform(size=(100_000, 2)))._data
    walls = [T.tensor(rng.uniform(size=(n, 2))) for n in (10, 10_000)]
    weights = T.tensor(rng.normal(size=(2, 40)), requires_grad=True)
    chosen = []
    for wall in walls:

        def function(rows: list[T.Tensor], wall: T.Tensor = wall) -> list[T.Tensor]:
            inside = (hidden(weights, rows[0]) ** 2).sum()
            return [inside + (hidden(weights, wall) ** 2).mean() * len(rows[0])]

        step = Chunked(function, [weights], ["sum"], executor="numpy", threads=1)
        chosen.append(step.cost([x]).chunks)
    assert chosen[0] == chosen[1] > 1


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, w: [hidden(w, x).sum()],
        lambda x, w: [(x @ (w + 1.0)).tanh().sum()],  # a matrix alone is little beside the points
    ],
)
def test_a_program_in_which_that_is_little_stays_whole(fn):
    program, _ = recorded(fn)
    assert without_points(program, 1) == (None, program)


def test_the_two_parts_give_the_numbers_of_the_whole_program():
    program, weights = recorded(lambda x, w: [hidden(w, x), hidden(w, WALL), both(w, x), w])
    before, body = without_points(program, 1)
    x = rng.uniform(size=(N, 2))
    first = NumpyExecutor(before, [weights._data])
    first.run()
    second = NumpyExecutor(body, [x, weights._data, *first.outputs])
    second.run()
    whole = NumpyExecutor(program, [x, weights._data])
    whole.run()
    for one, other in zip(second.outputs, whole.outputs, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(before.instructions) + len(body.instructions) == len(program.instructions)
    assert not any(50 in v.shape for i in body.instructions for v in i.outputs)


def test_it_is_computed_by_one_thread_of_blas_that_leaves_the_others_to_tiles(monkeypatch):
    """Its threads look for work for a long time after a product, on cores that lanes need."""
    libraries = threads.numpy_libraries()
    before = [library.get() for library in libraries]
    wall, weights = T.rand(3000, 64), T.rand(64, 64, requires_grad=True)
    seen = []
    run = NumpyExecutor.run

    def noted(self, known: bool = False) -> None:
        if any(3000 in o.shape for i in self.program.instructions for o in i.outputs):
            seen.append([library.get() for library in libraries])
        run(self, known)

    @T.compile(points="x", executor="llvm")
    def loss(x: T.Tensor) -> T.Tensor:
        return ((x @ weights) ** 2).mean() + (wall @ weights).tanh().amax()

    monkeypatch.setattr(NumpyExecutor, "run", noted)
    try:
        for library in libraries:
            library.put(2)
        loss(T.rand(500, 64))
        assert seen == [[1] * len(libraries)]
        assert [library.get() for library in libraries] == [2] * len(libraries)
    finally:
        for library, count in zip(libraries, before, strict=True):
            library.put(count)
