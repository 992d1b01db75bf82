"""Distances between points, against scipy's."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist as scipy_cdist
from scipy.spatial.distance import pdist as scipy_pdist

import autograd as T
from autograd.testing import OpCase, check_op


def batched(p):
    def reference(x1, x2):
        difference = np.abs(x1[..., :, None, :] - x2[..., None, :, :])
        if p == math.inf:
            return difference.max(-1)
        return (difference**p).sum(-1) ** (1 / p)

    return reference


CASES = [
    OpCase(
        "cdist", T.cdist, [((4, 3), (2, 3)), ((1, 1), (3, 1)), ((0, 2), (3, 2))], order=3,
        reference=scipy_cdist,
    ),
    OpCase("batches", T.cdist, [((2, 1, 3, 2), (2, 4, 2))], reference=batched(2)),
    *(
        OpCase(
            f"cdist of order {p}",
            lambda a, b, p=p: T.cdist(a, b, p),
            [((3, 3), (2, 3))],
            reference=batched(p),
        )
        for p in (1.0, 1.5, 3.0, math.inf)
    ),
    *(
        OpCase(
            f"pdist of order {p}",
            lambda x, p=p: T.pdist(x, p),
            [((4, 3),), ((2, 1),)],
            reference=lambda x, p=p: scipy_pdist(x, "minkowski", p=p),
        )
        for p in (1.0, 2.0, 3.5, math.inf)
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_where_points_meet_distances_are_exact_and_derivatives_zero():
    x = T.tensor([[1e8, 1.0], [0.0, 1e-8]], dtype=T.float64, requires_grad=True)
    near = x.detach() + T.tensor([0.0, 1e-8], dtype=T.float64)
    assert T.cdist(x, near).diagonal().tolist() == pytest.approx([1e-8, 1e-8], rel=1e-7)
    same = T.cdist(x, x.detach())
    (slope,) = T.grad(same.diagonal().sum(), x, create_graph=True)
    (bend,) = T.grad(slope.sum(), x)
    assert slope.tolist() == bend.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(("dtype", "size"), [(T.float32, 2.0**100), (T.float64, 2.0**1000)])
def test_no_distance_overflows_or_vanishes(dtype, size):
    for scale in (size, 1.0, 1 / size):
        x = T.tensor([[3 * scale, 0.0]], dtype=dtype)
        y = T.tensor([[0.0, 4 * scale], [3 * scale, 0.0]], dtype=dtype)
        assert T.cdist(x, y).tolist() == [[5 * scale, 0.0]]


def test_infinity_is_infinitely_far_and_what_is_no_number_has_no_distance():
    x = T.tensor([[0.0, 1.0]])
    y = T.tensor([[math.inf, 1.0], [math.nan, 1.0], [0.0, 3.0]])
    assert str(T.cdist(x, y).tolist()) == "[[inf, nan, 2.0]]"


def test_one_batch_of_points_serves_several_others():
    x, y = T.rand(3, 4, 2, dtype=T.float64), T.rand(5, 2, dtype=T.float64, requires_grad=True)
    found = T.cdist(x, y)
    each = T.stack([T.cdist(one, y) for one in x])
    assert T.allclose(found, each, rtol=1e-14)
    assert T.allclose(*(T.grad((d**2).sum(), y)[0] for d in (found, each)), rtol=1e-13)


def test_counts_of_coordinates_that_differ_and_points_without_any():
    x, y = T.tensor([[1.0, 2.0, 3.0]]), T.tensor([[1.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    assert T.cdist(x, y, p=0).tolist() == [[2.0, 0.0]]
    for p in (0, 1, 2, math.inf):
        assert T.cdist(T.ones(2, 0), T.ones(3, 0), p).tolist() == [[0.0] * 3] * 2


def test_pairs_of_the_same_point_and_none_at_all():
    x = T.tensor([[1.0, 2.0], [1.0, 2.0], [4.0, 6.0]], requires_grad=True)
    found = T.pdist(x)
    assert found.tolist() == [0.0, 5.0, 5.0]
    slopes = T.grad(found.sum(), x)[0].tolist()
    np.testing.assert_allclose(slopes, [[-0.6, -0.8], [-0.6, -0.8], [1.2, 1.6]], rtol=1e-6)
    assert T.pdist(x[:1]).shape == T.pdist(x[:0]).shape == (0,)
    assert T.pdist(x[:, :0], 1).tolist() == [0.0] * 3


def test_the_choice_of_a_mode_changes_nothing():
    x, y = T.rand(30, 2), T.rand(40, 2)
    mode = "donot_use_mm_for_euclid_dist"
    assert T.equal(T.cdist(x, y), T.cdist(x, y, compute_mode=mode))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: T.cdist(x[0], x), RuntimeError, "at least 2D tensors, X1 got: 1D"),
        (lambda x: T.cdist(x, x[:, 1:]), RuntimeError, "number of columns. X1: 3 X2: 2"),
        (lambda x: T.cdist(x, x.long()), RuntimeError, "floating-point dtypes, X2 got: int64"),
        (lambda x: T.cdist(x, x.double()), RuntimeError, "float32 != float64"),
        (lambda x: T.cdist(x, x, -1.0), RuntimeError, "non-negative p values, got -1"),
        (lambda x: T.cdist(x, x, math.nan), RuntimeError, "non-negative p values, got nan"),
        (lambda x: T.cdist(x, x, compute_mode="mm"), ValueError, "'mm' is not a valid value"),
        (lambda x: T.pdist(x[0]), RuntimeError, "only supports 2D tensors, got: 1D"),
        (lambda x: T.pdist(x.long()), RuntimeError, "floating-point dtypes, got: int64"),
        (lambda x: T.pdist(x, -1), RuntimeError, "pdist only supports non-negative p values"),
        (lambda x: T.cdist(x, 3.0), TypeError, "'x2' .* must be Tensor, not float"),
    ],
)
def test_bad_arguments_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(T.ones(2, 3))
