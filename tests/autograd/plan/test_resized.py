"""Programs of any number of points, beside those that are recorded with so many."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.plan.chunks import Chunked
from autograd.plan.number_of_points import difference
from autograd.plan.passes import optimize
from autograd.plan.resized import resized
from autograd.plan.trace import trace

COUNT = 100
ROWS = np.random.default_rng(0).normal(size=(COUNT, 2))
WEIGHT = T.tensor(np.random.default_rng(1).normal(size=(2, 2)), requires_grad=True)


def recorded(fn, count, passes=optimize):
    program, _ = trace(lambda x: fn(x), [T.tensor(ROWS[:count])])
    return passes(program)


def gradient(x):
    u = T.tanh(x @ WEIGHT)
    return [u.sum(), *T.grad((u * u).mean(), [WEIGHT])]


def second_derivative(x):
    x = x.requires_grad_()
    (slope,) = T.grad(T.sin(x @ WEIGHT).sum(), [x], create_graph=True)
    return [T.grad(slope[:, 0].sum(), [x])[0]]


ALIKE = {
    "rows": lambda x: [x * 2.0 + 1.0],
    "a sum": lambda x: [x.sum()],
    "a mean": lambda x: [x.mean(), x.mean(dim=0)],
    "a variance": lambda x: [x.var(dim=0)],
    "a product over points": lambda x: [x.T @ x],
    "columns and parts": lambda x: [T.cat([x[:, 1:], x[:, :1] ** 2], dim=1), x[:, 0]],
    "twice as long": lambda x: [T.cat([x, 3.0 * x]), T.stack([x, x])],
    "all numbers in a row": lambda x: [x.reshape(-1), x.T.reshape(-1)],
    "a constant a column": lambda x: [T.zeros_like(x) + T.tensor([1.0, 2.0], dtype=T.float64)],
    "as many as there are": lambda x: [T.ones_like(x).sum() * x, x / len(x), x * (3 * len(x))],
    "from the end": lambda x: [x[-len(x) :] + 1.0],
    "gradients": gradient,
    "second derivatives": second_derivative,
}  # fmt: skip


@pytest.mark.parametrize("passes", [lambda program: program, optimize], ids=["recorded", "short"])
@pytest.mark.parametrize("name", ALIKE)
def test_a_program_of_many_points_is_made_of_two_with_few(name, passes):
    made = resized(*(recorded(ALIKE[name], n, passes) for n in (7, 14)), COUNT)
    expected = recorded(ALIKE[name], COUNT, passes)
    assert difference(made, expected) is None
    for one, other in zip(made.instructions, expected.instructions, strict=True):
        assert [v.shape for v in one.outputs] == [v.shape for v in other.outputs]
        assert [v.dtype for v in one.outputs] == [v.dtype for v in other.outputs]
    assert [v.shape for v in made.inputs] == [v.shape for v in expected.inputs]


UNLIKE = {
    "one less": lambda x: [x[1:]],
    "one more": lambda x: [T.cat([x, x[:1]])],
    "pairs": lambda x: [x @ x.T],
    "half": lambda x: [x[: len(x) // 2]],
    "another row each": lambda x: [x * T.arange(len(x), dtype=T.float64).reshape(-1, 1)],
    "a root of their number": lambda x: [x / len(x) ** 0.5],
    "their number less one": lambda x: [x * (len(x) - 1.0)],
    "other operations": lambda x: [T.sin(x) if len(x) < 10 else T.cos(x)],
    "more operations": lambda x: [x + 1.0 if len(x) < 10 else x],
    "another constant": lambda x: [x + T.tensor(float(len(x) % 5), dtype=T.float64)],
    "another attribute": lambda x: [x.sum(dim=int(len(x) > 10))],
}


@pytest.mark.parametrize("name", [name for name in UNLIKE if name != "pairs"])
def test_what_follows_no_law_is_left_to_a_recording(name):
    programs = [recorded(UNLIKE[name], n) for n in (7, 14)]
    assert resized(*programs, COUNT) is None


def test_a_matrix_of_all_pairs_grows_in_both_dimensions():
    made = resized(*(recorded(UNLIKE["pairs"], n) for n in (7, 14)), COUNT)
    assert made.outputs[0].shape == (COUNT, COUNT)


@pytest.mark.parametrize("name", UNLIKE)
def test_a_function_that_looks_at_their_number_is_recorded_with_it(name):
    step = Chunked(lambda rows: [UNLIKE[name](rows[0])[0].sum()], [], ["sum"], whole=False,
                   chunk=COUNT, executor="numpy")  # fmt: skip
    expected = UNLIKE[name](T.tensor(ROWS))[0].sum().item()
    np.testing.assert_allclose(step([ROWS])[0], expected, rtol=1e-12)


def test_a_function_that_fails_with_few_points_is_asked_with_all():
    scale = T.tensor(np.linspace(0, 1, COUNT).reshape(-1, 1))
    step = Chunked(lambda rows: [rows[0] * scale], [], ["rows"], chunk=COUNT, executor="numpy")
    np.testing.assert_array_equal(step([ROWS])[0], ROWS * scale.numpy())


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_mean_has_the_bits_of_a_recording_with_all_points(dtype):
    rows = ROWS.astype(dtype)

    def fn(given):
        x = given[0]
        return [x.mean(), x.mean(dim=0) * T.tensor(3.0, dtype=x.dtype), (x * x).sum() / len(x)]

    def run(resize):
        step = Chunked(fn, [], ["sum"] * 3, chunk=COUNT, executor="numpy")
        if not resize:
            step._resized = lambda *given: None
        return step([rows])

    for found, expected in zip(run(True), run(False), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_constant_that_is_written_to_is_seen():
    scale = T.tensor(np.array([2.0, 3.0]))
    step = Chunked(lambda rows: [rows[0] * scale], [], ["rows"], chunk=COUNT, executor="numpy")
    step([ROWS])
    scale.mul_(2)
    step([ROWS[:90]])  # of another length, so that no program of that kind is there
    np.testing.assert_array_equal(step([ROWS[:80]])[0], ROWS[:80] * [4, 6])
