"""Rows by their numbers."""

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.nn import functional as F
from autograd.testing import OpCase, check_op

PLACES = np.array([[0, 2, 2], [1, 0, 2]])


def test_values_and_derivatives():
    check_op(
        OpCase(
            "embedding",
            lambda w: F.embedding(T.tensor(PLACES, device=w.device), w),
            [((3, 2),), ((4, 1),)],
            reference=lambda w: w[PLACES],
        )
    )


def test_a_padding_row_gets_no_gradient_and_others_one_for_each_use():
    weight = T.rand(3, 2, requires_grad=True)
    for padding in (2, -1):
        weight.grad = None
        F.embedding(T.tensor(PLACES), weight, padding).sum().backward()
        assert weight.grad.tolist() == [[2, 2], [1, 1], [0, 0]]


def test_long_rows_that_are_asked_for_are_shortened_in_place():
    weight = T.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], requires_grad=True)
    found = F.embedding(T.tensor([0, 1]), weight, max_norm=1.0)
    expected = np.array([[0.6, 0.8], [0.3, 0.4], [6, 8]])
    np.testing.assert_allclose(weight.detach().numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(found.detach().numpy(), expected[:2], rtol=1e-6)
    with pytest.raises(T.TraceError, match="shortening rows.*max_norm=None"):
        T.compile(lambda w: F.embedding(T.tensor([0, 1]), w, max_norm=1.0).sum())(weight)


def test_what_a_layer_has_and_shows():
    T.manual_seed(0)
    layer = nn.Embedding(2000, 5, padding_idx=-1)
    assert layer.padding_idx == 1999 and layer.weight[-1].tolist() == [0] * 5
    assert abs(layer.weight.mean().item()) < 0.05 and abs(layer.weight.std().item() - 1) < 0.05
    assert repr(nn.Embedding(4, 3, 1, 2.0)) == "Embedding(4, 3, padding_idx=1, max_norm=2.0)"
    assert layer(T.tensor([[1, 2]])).shape == (1, 2, 5)
    kept = nn.Embedding.from_pretrained(T.eye(3))
    assert not kept.weight.requires_grad and kept(T.tensor(1)).tolist() == [0, 1, 0]
    assert nn.Embedding.from_pretrained(T.eye(3), freeze=False).weight.requires_grad


def test_a_compiled_loss_looks_rows_up():
    layer = nn.Embedding(5, 3, dtype=T.float64)
    places = T.tensor([0, 3, 3, 1])

    def loss(x):
        return ((layer(places) * x) ** 2).sum()

    x = T.rand(4, 3, dtype=T.float64)
    recorded = T.compile(loss)
    assert T.allclose(recorded(x), loss(x))
    (ours,), (plain,) = (T.grad(f(x), [layer.weight]) for f in (recorded, loss))
    assert T.allclose(ours, plain, rtol=1e-12)


ROWS = T.ones(3, 2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: F.embedding(T.tensor([1.0]), ROWS), RuntimeError, "dtype int32 or int64"),
        (lambda: F.embedding(T.tensor([1]), ROWS[0]), RuntimeError, "'weight' must be 2-D"),
        (lambda: F.embedding(T.tensor([3]), ROWS), IndexError, "index 3 is out of bounds"),
        (lambda: F.embedding(T.tensor([-1]), ROWS), IndexError, "index -1 is out of bounds"),
        (lambda: F.embedding(T.tensor([1]), ROWS, 3), ValueError, "within num_embeddings"),
        (lambda: nn.Embedding(3, 2, sparse=True), NotImplementedError, "gradients are dense"),
        (
            lambda: nn.Embedding(3, 2, scale_grad_by_freq=True),
            NotImplementedError,
            "scale_grad_by_freq=True is not supported",
        ),
        (lambda: nn.Embedding.from_pretrained(ROWS[0]), ValueError, "to be 2-dimensional"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
