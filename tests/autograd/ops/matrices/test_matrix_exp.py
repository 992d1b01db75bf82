"""Exponentials of matrices against scipy's, and their derivatives."""

import numpy as np
import pytest
import scipy.linalg

import autograd as T
from autograd.testing import OpCase, check_op

CASES = [
    OpCase(
        f"matrix_exp of size {size}",
        lambda x, size=size: T.linalg.matrix_exp(x * size),
        [((3, 3),), ((2, 2, 2),), ((1, 1),), ((0, 2, 2),)],
        reference=lambda x, size=size: scipy.linalg.expm(x * size),
        complex=True,
        tolerance=1e-11,
    )
    for size in (0.1, 1.0, 2.0)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


@pytest.mark.parametrize("dtype", [T.float32, T.float64])
def test_a_rotation_by_any_angle_and_a_batch_of_sizes(dtype):
    angles = np.array([1e-8, 1.0, 30.0, 1000.0])
    turns = angles[:, None, None] * np.array([[0.0, -1.0], [1.0, 0.0]])
    found = T.matrix_exp(T.tensor(turns, dtype=dtype)).numpy()
    cos, sin = np.cos(angles), np.sin(angles)
    expected = np.moveaxis(np.array([[cos, -sin], [sin, cos]]), -1, 0)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found[:2], expected[:2], atol=10 * eps)
    np.testing.assert_allclose(found, expected, atol=1e4 * eps)


def test_the_size_of_a_gradient_does_not_matter():
    x = T.tensor(np.array([[0.3, 1.0], [-0.7, 0.1]]), requires_grad=True)
    small, large = (T.grad((T.matrix_exp(x) * c).sum(), x)[0] for c in (1.0, 2.0**40))
    np.testing.assert_allclose(large.numpy() / 2.0**40, small.numpy(), rtol=1e-13)


def test_what_is_not_finite_gives_nan_and_leaves_the_others_alone():
    x = T.tensor(np.array([[[np.inf, 0.0], [0.0, 1.0]], np.zeros((2, 2))]))
    found = T.matrix_exp(x).numpy()
    assert np.isnan(found[0]).all() and found[1].tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_other_shapes_are_refused():
    with pytest.raises(RuntimeError, match="square matrices, but they are 2 by 3"):
        T.matrix_exp(T.ones(2, 3))
