"""Layers and functions of vectors, against numpy."""

import numpy as np
import pytest

import autograd as T
from autograd.nn import functional as F
from autograd.testing import OpCase, check_op

CASES = [
    OpCase(
        "bilinear",
        F.bilinear,
        [
            ((4, 2), (4, 3), (5, 2, 3), (5,)),
            ((2,), (3,), (1, 2, 3), (1,)),
            ((0, 2), (0, 1), (3, 2, 1), (3,)),
        ],
        reference=lambda x, y, w, b: np.einsum("...i,kij,...j->...k", x, w, y) + b,
    ),
    OpCase(
        "normalize",
        F.normalize,
        [((3, 4),), ((2, 3, 2),)],
        reference=lambda x: x / np.linalg.norm(x, axis=1, keepdims=True),
    ),
    OpCase(
        "cosine_similarity",
        lambda x, y: F.cosine_similarity(x, y, -1),
        [((3, 4), (3, 4)), ((3, 4), (4,))],
        reference=lambda x, y: (
            (x * y).sum(-1) / np.linalg.norm(x, axis=-1) / np.linalg.norm(y, axis=-1)
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_vectors_without_length():
    zero = T.zeros(1, 2, requires_grad=True)
    assert F.normalize(zero).tolist() == [[0, 0]]
    assert F.cosine_similarity(zero, T.ones(1, 2)).tolist() == [0]
    assert F.normalize(T.tensor([[3.0, -4.0]]), p=float("inf")).tolist() == [[0.75, -1]]


def test_positions_as_ones():
    places = T.tensor([[0, 2], [1, 1]])
    assert F.one_hot(places[0]).tolist() == [[1, 0, 0], [0, 0, 1]]
    wide = F.one_hot(places, 4)
    assert wide.shape == (2, 2, 4) and wide.dtype == T.int64
    assert wide.argmax(-1).tolist() == places.tolist() and wide.sum().item() == 4
    assert F.one_hot(T.tensor(1)).tolist() == [0, 1]
    assert F.one_hot(T.ones(0).long(), 3).shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: F.one_hot(T.tensor([0.0])), "of type LongTensor, got float32"),
        (lambda: F.one_hot(T.tensor([0, 2]), 2), r"smaller than num_classes = 2.*\[0, 2\]"),
        (lambda: F.one_hot(T.tensor([0, -2])), "non-negative"),
        (lambda: F.one_hot(T.ones(0).long()), "Can not infer total number of classes"),
        (lambda: F.one_hot(T.tensor([0]), 0), "num_classes must be positive"),
        (lambda: F.layer_norm(T.ones(2, 3), (4,)), r"expected input with shape \[\*, 4\]"),
        (lambda: F.layer_norm(T.ones(2, 3), ()), "at least one dimension"),
        (lambda: F.layer_norm(T.ones(2, 3), (3,), T.ones(2)), "Expected weight to be of same"),
        (lambda: F.layer_norm(T.ones(2, 3), (3,), T.ones(3).double()), "same dtype"),
        (lambda: F.bilinear(T.ones(2, 3), T.ones(2, 3), T.ones(1, 2, 3)), r"weight of shape \[out"),
        (lambda: F.bilinear(T.ones(2, 3), T.ones(3, 3), T.ones(1, 3, 3)), "batch dimensions"),
        (lambda: F.cosine_similarity(T.ones(1, 2).long(), T.ones(1, 2).long()), "floating point"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


INTEGERS = [T.uint8, T.int8, T.int64]
MADE_FLOAT = {
    "logsigmoid": lambda x: F.logsigmoid(x),
    "softmin": lambda x: F.softmin(x, 0),
    "hardswish": F.hardswish,
    "softsign": F.softsign,
    "celu": F.celu,
    "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, x.flip(0)),
    "huber_loss": lambda x: F.huber_loss(x, x.flip(0)),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x, x.flip(0)),
    "hinge_embedding_loss": lambda x: F.hinge_embedding_loss(x, x.flip(0), 9.0),
    "kl_div": lambda x: F.kl_div(x, x.flip(0)),
    "poisson_nll_loss": lambda x: F.poisson_nll_loss(x, x.flip(0)),
    "gaussian_nll_loss": lambda x: F.gaussian_nll_loss(x, x.flip(0), x),
    "bce_with_logits": lambda x: F.binary_cross_entropy_with_logits(x, x.flip(0)),
    "pairwise_distance": lambda x: F.pairwise_distance(x, x.flip(0)),
    "dist": lambda x: T.dist(x, x.flip(0)),
    "trapezoid": lambda x: T.trapezoid(x, x.flip(0)),
}


@pytest.mark.parametrize("name", MADE_FLOAT)
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_are_computed_as_floats_and_do_not_wrap_around(name, dtype):
    numbers = [1, 2, 100]
    found = MADE_FLOAT[name](T.tensor(numbers, dtype=dtype))
    expected = MADE_FLOAT[name](T.tensor(numbers, dtype=T.float32))
    assert found.dtype == T.float32
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_what_only_limits_integers_keeps_them(dtype):
    x = T.tensor([1, 4, 100], dtype=dtype)
    for found, expected in [
        (F.relu6(x), [1, 4, 6]), (F.hardtanh(x, 2.5, 7.9), [2, 4, 7]),
        (F.threshold(x, 1.5, 20.9), [20, 4, 100]), (F.relu6(x, inplace=True), [1, 4, 6]),
    ]:  # fmt: skip
        assert found.dtype == dtype and found.tolist() == expected


def test_bools_and_limits_that_integers_do_not_have_are_refused():
    for call in (F.relu6, F.relu, lambda x: F.threshold(x, 0.5, 2.0)):
        with pytest.raises(RuntimeError, match="not supported"):
            call(T.tensor([True]))
    with pytest.raises(RuntimeError, match="unsigned type with negative limits"):
        F.hardtanh(T.tensor([1], dtype=T.uint8))
