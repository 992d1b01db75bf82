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
