"""Floats are read at each call of a compiled function, where it only computes with them."""

from __future__ import annotations

import functools
import json
import math
import pickle

import numpy as np
import pytest

import autograd as T

_VALUES = [0.25, 0.5, 0.75, 1.0, 1.5, 2.5]


@pytest.fixture
def p():
    return T.tensor([0.5, -1.0, 2.0], dtype=T.float64).requires_grad_()


@pytest.fixture
def x():
    return T.from_numpy(np.random.default_rng(0).normal(size=(40, 3)))


def _recorded_at(fn, arguments, p, **options):
    """Compare values and gradients with the eager run; return at which calls the text has run."""
    runs: list = []

    @functools.wraps(fn)
    def counting(*args):
        runs.append(1)
        return fn(*args)

    compiled, found_at = T.compile(counting, **options), []
    for call, args in enumerate(arguments):
        before = len(runs)
        eager, found = fn(*args), compiled(*args)
        assert found.dtype == eager.dtype
        np.testing.assert_allclose(found.detach(), eager.detach(), rtol=1e-13)
        ours, theirs = (T.autograd.grad(value, p)[0] for value in (found, eager))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)
        found_at += [call] * (len(runs) > before)
    return found_at


@pytest.mark.parametrize("fn", [
    lambda x, p, w: w * ((x @ p) ** 2).mean() + (1 - w) * p.sum(),
    lambda x, p, w: (T.tanh(x @ p / w) - w**2).square().sum() / (2 + abs(-w)),
    lambda x, p, w: ((x @ p).square() + 1).pow(w).mean(),
    lambda x, p, w: T.where(x @ p > w, x @ p, w).sum(),
    lambda x, p, w: (w if isinstance(w, (int, float)) else 100) * (x @ p).sum(),
    lambda x, p, w: T.autograd.grad(T.sin(w * (x @ p)).sum(), p, create_graph=True)[0].sum(),
    lambda x, p, w: T.func.vmap(lambda row: w * (row @ p))(x).square().sum(),
])  # fmt: skip
def test_arithmetic_is_recorded_once_more_and_no_further(fn, x, p):
    assert _recorded_at(fn, [(x, p, w) for w in _VALUES], p) == [0, 1]


def test_arithmetic_in_chunks_of_points(x, p):
    def fn(x, p, w):
        return w * (x @ p).square().mean() + 2 * w / (1 + w) * (x @ p).abs().mean()

    assert _recorded_at(fn, [(x, p, w) for w in _VALUES], p, points="x") == [0, 1]


@pytest.mark.parametrize("fn", [
    lambda x, p, w: (x @ p).sum() * (2 if w > 0.6 else 3),
    lambda x, p, w: (x @ p).sum() * min(1.0, w),
    lambda x, p, w: (x @ p).sum() * math.exp(-w),
    lambda x, p, w: (x @ p).sum() * (1 + math.isclose(w, 0.75)),
    lambda x, p, w: (x @ p).sum() * (1 + math.floor(w)),
    lambda x, p, w: (x @ p).sum() * float(np.floor(w) + 1),
    lambda x, p, w: (x @ p).sum() * (1 + round(w)),
    lambda x, p, w: (x @ p).sum() * (w // 1 + 1),
    lambda x, p, w: (x @ p).sum() * float(f"{w:.0f}1"),
    lambda x, p, w: (x @ p).sum() * {0.5: 7}.get(w, 8),
    lambda x, p, w: (x @ p).sum() * (3 if w.is_integer() else 4),
    lambda x, p, w: (x @ p).sum() * np.array([w, 1.0])[0],
    lambda x, p, w: (x @ p).clamp(max=w).sum(),
    lambda x, p, w: ((x @ p) * T.full((40,), w, dtype=T.float64)).sum(),
    lambda x, p, w: T.lerp(x @ p, x[:, 0], w).sum(),
    lambda x, p, w: (x @ p).sum() * (w if type(w) is float else 100.0),
    lambda x, p, w: (x @ p).sum() * (w if type(w) in (int, float) else 100.0),
    lambda x, p, w: (x @ p).sum() * (w if w.__class__ is type(w) else 100.0),
    lambda x, p, w: ((x @ p) * p.detach() if type(w) is not float else x @ p).sum() * w,
    lambda x, p, w: (x @ p).sum() * (w + len(json.dumps({"w": w}))),
])  # fmt: skip
def test_what_looks_at_the_number_is_recorded_for_each(fn, x, p):
    assert _recorded_at(fn, [(x, p, w) for w in _VALUES], p) == list(range(len(_VALUES)))


def test_numbers_in_lists_and_dicts(x, p):
    def fn(x, p, weights):
        return weights["inside"] * (x @ p).square().mean() + weights["wall"][0] * p.square().sum()

    arguments = [(x, p, {"inside": w, "wall": [1 / w]}) for w in _VALUES]
    assert _recorded_at(fn, arguments, p) == [0, 1]


def test_numbers_of_numpy_and_those_that_are_not_finite(x, p):
    def fn(x, p, w):
        return T.where(x @ p > w, x @ p, 2.0).sum()

    numbers = [*map(np.float64, _VALUES), -math.inf, 0.3, math.inf, 0.4]
    assert _recorded_at(fn, [(x, p, w) for w in numbers], p) == [0, 1, 6, 8]


def test_one_argument_is_looked_at_and_another_is_not(x, p):
    def fn(x, p, w, v):
        return w * (x @ p).sum() + (v > 1) * p.sum()

    arguments = [(x, p, w, 0.5) for w in _VALUES] + [(x, p, 3 * w, w + 9) for w in _VALUES]
    assert _recorded_at(fn, arguments, p) == [0, 1, *range(6, 12)]


def test_of_arguments_that_change_together_only_the_one_that_is_looked_at_is_given_up(x, p):
    def compared(x, p, w, limit):
        return (x @ p).sum() * w if limit > 100 else (x @ p).square().sum() * w

    def asked_for_its_type(x, p, w, v):
        return (x @ p).sum() * w * (v if type(v) is float else 3.0)

    arguments = [(x, p, 1.0, 0.5), *((x, p, w, 0.75) for w in _VALUES)]
    for fn in (compared, asked_for_its_type):
        assert _recorded_at(fn, arguments, p) == [0, 1]


ERRORS = [
    (lambda x, w: x * (1.0 / w), 0.0, ZeroDivisionError),
    (lambda x, w: x * (1.0 / (w * 2 - 1)), 0.5, ZeroDivisionError),
    (lambda x, w: x * w**2, 1e200, OverflowError),
    (lambda x, w: x * 2.0**w, 2000.0, OverflowError),
    (lambda x, w: (x * w, 0.0 ** (3 - w))[0], 3.5, ZeroDivisionError),
]


@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize("fn, number, error", ERRORS)
def test_errors_of_arithmetic_are_those_of_python_at_each_call(fn, number, error, at, x):
    compiled, numbers = T.compile(fn), [1.0, 1.25, 1.5, 2.0, 3.0]
    numbers.insert(at, number)
    for k, w in enumerate(numbers):
        if k == at:
            with pytest.raises(error):
                compiled(x, w)
        else:
            np.testing.assert_allclose(compiled(x, w), fn(x, w), rtol=1e-14)


def test_an_error_of_arithmetic_that_the_function_catches(x):
    def fn(x, w):
        try:
            return x * (1 / w)
        except ZeroDivisionError:
            return x + 5

    compiled = T.compile(fn)
    for w in (1.0, 0.0, 2.0, 4.0, 0.0, 5.0):
        np.testing.assert_allclose(compiled(x, w), fn(x, w), rtol=1e-14)


def test_a_root_of_a_negative_number_is_complex_at_that_call(x):
    compiled = T.compile(lambda x, w: x * w**0.5)
    for w in (1.0, 2.0, -1.0, 3.0):
        found = compiled(x, w)
        assert found.dtype == (T.complex128 if w < 0 else T.float64)
        np.testing.assert_allclose(found, x.numpy() * w**0.5, rtol=1e-14)


class _Model:
    weight = 0.0


def test_a_number_that_is_kept_is_one(x):
    model, kept = _Model(), []

    def in_an_attribute(x, w):
        model.weight = w
        return x * w

    def in_a_list(x, w):
        kept.append(2 * w)
        return x * w

    with pytest.warns(RuntimeWarning, match="writes model.weight"):
        compiled = T.compile(in_an_attribute)
        for w in _VALUES:
            np.testing.assert_array_equal(compiled(x, w), x.numpy() * w)
            assert type(model.weight) is float and model.weight == w
    compiled = T.compile(in_a_list)
    for w in _VALUES[:3]:
        np.testing.assert_array_equal(compiled(x, w), x.numpy() * w)
        assert kept[-1] == 2 * w and type(kept[-1]) is float
    assert set(kept) == {2 * w for w in _VALUES[:3]}
    assert {type(one) for one in pickle.loads(pickle.dumps(kept))} == {float}
    assert [one + 1 for one in kept] == [1 + one for one in map(float, kept)]


def test_a_number_that_a_function_of_ones_own_keeps_for_its_backward(x, p):
    class Scaled(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.w = w
            return x * w

        @staticmethod
        def backward(ctx, g):
            return g * ctx.w, None

    def fn(x, p, w):
        return Scaled.apply(x @ p, w).square().sum()

    assert _recorded_at(fn, [(x, p, w) for w in _VALUES], p) == [0, 1]


def test_a_result_has_the_dtype_that_a_number_leaves_it(x):
    compiled = T.compile(lambda x, w: (w * x, w * x.sum(), w + T.arange(3), w * 2 * x.int()))
    for w in _VALUES:
        narrow = x.float()
        eager = w * narrow, w * narrow.sum(), w + T.arange(3), w * 2 * narrow.int()
        found = compiled(narrow, w)
        assert [t.dtype for t in found] == [t.dtype for t in eager]
        for one, other in zip(found, eager, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_number_that_is_returned_is_that_of_the_call(x):
    compiled = T.compile(lambda x, w: (x.sum() * w, w, 2 * w))
    for w in _VALUES:
        assert compiled(x, w)[1:] == (w, 2 * w)
        assert type(compiled(x, w)[1]) is float


def test_an_error_of_the_function_is_its_own(x):
    def fn(x, w):
        return x.reshape(7, 7) * w

    compiled = T.compile(fn)
    for w in _VALUES:
        with pytest.raises(RuntimeError, match="invalid for input of size|cannot reshape"):
            compiled(x, w)


def test_a_compiled_function_within_another_one(x, p):
    inner = T.compile(lambda x, p, w: w * (x @ p).square())

    def fn(x, p, w):
        return inner(x, p, 2 * w).mean() + w

    assert _recorded_at(fn, [(x, p, w) for w in _VALUES], p) == [0, 1]
