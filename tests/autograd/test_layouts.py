"""The order of results and gradients in memory: what can be flattened by `view` without a copy."""

import numpy as np
import pytest

import autograd as T
from autograd import nn


def leaf(*shape):
    values = np.random.default_rng(0).normal(size=shape)
    return T.tensor(values, requires_grad=True)


def flat(tensor):
    """Return the elements by a view: it raises where that would need a copy."""
    return tensor.view(-1)


X, ONES = T.tensor(np.linspace(-1, 1, 12).reshape(4, 3)), T.ones(4, 5, dtype=T.float64)


@pytest.mark.parametrize(
    ("shape", "function"),
    [
        ((5, 3), lambda w: (X @ w.T).tanh()),
        ((5, 3), lambda w: (w @ X.T).tanh()),
        ((5, 3), lambda w: nn.functional.linear(X.reshape(2, 2, 3), w).tanh()),
        ((5, 3), lambda w: (X.reshape(2, 2, 3) @ w.T).tanh()),
        ((4, 3), lambda w: (w.T @ ONES).tanh()),
        ((4, 3), lambda w: nn.functional.linear(ONES.T, w.T).tanh()),
        ((4, 3), lambda w: nn.functional.linear(w.T, ONES.T).tanh()),
        ((4, 3), lambda w: (w.T @ w).tanh()),
        ((3, 5), lambda w: T.addmm(T.zeros(5, dtype=T.float64), X, w).tanh()),
        ((4, 3), lambda w: w.T.tanh()),
        ((4, 3), lambda w: w.T.sigmoid()),
        ((4, 3), lambda w: (w.T * w.T + 1).sqrt()),
        ((4, 3), lambda w: T.maximum(w.T, -w.T)),
        ((4, 3), lambda w: w.T.clone() ** 2),
        ((4, 3), lambda w: w.T.flip(0) ** 2),
        ((4, 3), lambda w: w.cumsum(0)),
        ((4, 3), lambda w: w.cumsum(1) ** 2),
        ((4, 3), lambda w: w.mean(0) ** 2),
        ((4, 3), lambda w: w.mean(1)),
    ],
)
def test_gradients_of_dense_leaves_are_dense(shape, function):
    w = leaf(*shape)
    (first,) = T.grad(function(w).sum(), w, create_graph=True)
    np.testing.assert_array_equal(flat(first).detach().numpy(), first.detach().numpy().ravel())
    if first.requires_grad:
        (second,) = T.grad((first * first).sum(), w, materialize_grads=True)
        assert flat(second).shape == (w.numel(),)


@pytest.mark.parametrize(
    "function",
    [
        lambda t: T.cat([t, t]),
        lambda t: T.cat([t, t], 1),
        lambda t: T.cat([t[:, :1], t], 1),
        lambda t: T.stack([t, t]),
        lambda t: T.stack([t, t], 1),
        lambda t: T.stack([t, t], -1),
        lambda t: T.softmax(t, 0),
        lambda t: T.log_softmax(t, 1),
        lambda t: t.cumsum(0),
        lambda t: t.cumprod(1),
        lambda t: t.roll(1, 0),
        lambda t: t.roll((1, 2), (0, 1)),
        lambda t: t @ t.T,
        lambda t: t.contiguous(),
    ],
)
def test_joins_scans_and_products_of_transposed_tensors_are_dense(function):
    w = leaf(4, 3)
    found = function(w.T)
    np.testing.assert_array_equal(
        flat(found).detach().numpy(), function(w.T.contiguous()).detach().numpy().ravel()
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda t: t.clone(),
        lambda t: t.flip(1),
        lambda t: t.tanh(),
        lambda t: t + t,
        lambda t: T.zeros_like(t),
        lambda t: T.ones_like(t),
    ],
)
def test_elementwise_results_keep_the_order_of_their_operand(function):
    w = leaf(2, 4, 3)
    for order in ((0, 1, 2), (2, 0, 1), (1, 0, 2)):
        found = function(w.permute(order))
        back = np.argsort(order)
        assert found.permute(*back.tolist()).is_contiguous()


def test_a_copy_of_an_expanded_tensor_is_dense():
    assert leaf(3).expand(4, 3).clone().is_contiguous()
    assert leaf(4, 1).expand(4, 3).clone().is_contiguous()


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_the_gradient_of_a_mean_may_be_written_into(axis):
    w = leaf(4, 3)
    (g,) = T.grad(w.mean(axis).sum(), w)
    g.mul_(3)
    np.testing.assert_allclose(g.numpy(), np.full((4, 3), 3 / {None: 12, 0: 4, 1: 3}[axis]))
