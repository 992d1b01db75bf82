"""Rules on plain arrays, for passes that are not recorded: the same numbers as the rules give."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.ops.registry import REGISTRY

RNG = np.random.default_rng(3)
FUNCTIONS = ["tanh", "sin", "log", "sqrt", "sigmoid", "atan", "erf", "reciprocal"]


def drawn(*shape, dtype=np.float64):
    return T.tensor(RNG.uniform(0.2, 0.8, shape).astype(dtype)).requires_grad_()


def by_columns(n, m):
    return T.tensor(RNG.uniform(0.2, 0.8, (m, n))).T.requires_grad_()


def product(transpose_x=False, transpose_y=False):
    matmul = REGISTRY["matmul"]
    return lambda x, y: matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y)


linear = T.nn.functional.linear
CONSTANT = drawn(4, 3).detach()
# what is computed, and of which leaves
CASES = {
    "products": (lambda x, y: x * y, lambda: (drawn(4, 3), drawn(4, 3))),
    "a square": (lambda x: x * x, lambda: (drawn(4, 3),)),
    "a row": (lambda x, y: x * y, lambda: (drawn(4, 3), drawn(3))),
    "a column and a row": (lambda x, y: x * y, lambda: (drawn(4, 1), drawn(1, 3))),
    "a number": (lambda x: 2 * x * 0.3, lambda: (drawn(4, 3),)),
    "0-d": (lambda x, y: x * y, lambda: (drawn(), drawn())),
    "a constant": (lambda x: x * CONSTANT, lambda: (drawn(4, 3),)),
    "half precision": (
        lambda x, y: x * y, lambda: (drawn(5, dtype=np.float16), drawn(5, dtype=np.float16))
    ),
    "mixed": (lambda x, y: x * y, lambda: (drawn(5, dtype=np.float32), drawn(5))),
    "complex": (lambda x, y: T.abs(T.complex(x, y) * x), lambda: (drawn(5), drawn(5))),
    "matmul": (product(), lambda: (drawn(4, 3), drawn(3, 2))),
    "matmul, left": (product(True), lambda: (drawn(3, 4), drawn(3, 2))),
    "matmul, right": (product(False, True), lambda: (drawn(4, 3), drawn(2, 3))),
    "matmul, both": (product(True, True), lambda: (drawn(3, 4), drawn(2, 3))),
    "matmul by columns": (product(), lambda: (by_columns(4, 3), by_columns(3, 2))),
    "matmul of batches": (product(), lambda: (drawn(5, 4, 3), drawn(3, 2))),
    "linear": (linear, lambda: (drawn(4, 3), drawn(2, 3), drawn(2))),
    "linear by columns": (linear, lambda: (by_columns(4, 3), by_columns(2, 3), drawn(2))),
    "linear of batches": (linear, lambda: (drawn(5, 4, 3), drawn(2, 3), drawn(2))),
    "linear without bias": (linear, lambda: (drawn(4, 3), drawn(2, 3))),
}  # fmt: skip


def gradients(function, leaves, recorded):
    y = function(*leaves)
    seed = T.tensor(np.random.default_rng(5).normal(size=y.shape)).to(y.dtype)
    return T.grad(y, leaves, seed, create_graph=recorded)


@pytest.mark.parametrize("name", CASES)
def test_passes_that_are_not_recorded_give_the_bits_of_those_that_are(name):
    function, make = CASES[name]
    leaves = make()
    recorded, plain = gradients(function, leaves, True), gradients(function, leaves, False)
    for one, other in zip(plain, recorded, strict=True):
        assert not one.requires_grad and one.dtype == other.dtype
        assert one.stride() == other.stride()
        np.testing.assert_array_equal(one.numpy(), other.detach().numpy())


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_derivative_that_recorded_passes_made_is_used_by_one_that_is_not(name, order):
    def derivative(recorded_last):
        x = T.tensor(np.linspace(0.2, 0.8, 7)).requires_grad_()
        y = getattr(T, name)(x)
        value = y
        for _ in range(order):
            (value,) = T.grad(value.sum(), x, create_graph=True)
        total = (value * y + y).sum()
        return T.grad(total, x, create_graph=recorded_last)[0].detach().numpy()

    np.testing.assert_array_equal(derivative(False), derivative(True))


@pytest.mark.parametrize("name", ["mul", "matmul", "linear", "tanh"])
def test_the_rules_are_not_asked_then(monkeypatch, name):
    x, w = drawn(3, 3), drawn(3, 3)
    functions = {"mul": T.mul, "matmul": T.matmul, "linear": linear, "tanh": lambda x, w: x.tanh()}
    y = functions[name](x, w)
    T.grad(y.sum(), x, create_graph=True)  # makes the slope
    monkeypatch.setattr(REGISTRY[name], "pull_back", None)
    (found,) = T.grad(y.sum(), x)
    weights, ones = w.detach().numpy(), np.ones((3, 3))
    expected = {
        "mul": weights, "matmul": ones @ weights.T, "linear": ones @ weights,
        "tanh": 1 - np.tanh(x.detach().numpy()) ** 2,
    }[name]  # fmt: skip
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)


def test_infinities_do_not_warn():
    x = T.tensor([np.inf, 0.0]).requires_grad_()
    found = T.grad(x * T.tensor([0.0, np.inf]), x, T.tensor([np.inf, 0.0]))[0]
    assert np.isnan(found.numpy()).all()


def test_a_value_that_was_overwritten_and_is_not_needed_does_no_harm():
    x, y = drawn(3), drawn(3)
    a = x * 1
    b = a * y
    with T.no_grad():
        a.add_(1)
    (found,) = T.grad(b.sum(), x, retain_graph=True)
    np.testing.assert_array_equal(found.numpy(), y.detach().numpy())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        T.grad(b.sum(), y)


def test_a_gradient_of_another_dtype_is_refused_as_by_the_rules():
    x, w = drawn(3, 3), drawn(3, 3)
    y = x @ w
    y.register_hook(lambda g: g.float())
    with pytest.raises(RuntimeError, match="same dtype"):
        T.grad(y.sum(), x)


def test_a_gradient_of_a_bias_is_the_gradient_itself():
    seen = []
    x, bias = drawn(4, 2), drawn(4, 2)
    y = REGISTRY["linear"](x, drawn(2, 2), bias)
    y.register_hook(seen.append)
    (found,) = T.grad(y.sum(), bias)
    assert found is seen[0]
