"""Paths along which rows fall as a linear problem's would: against series that are known."""

import numpy as np
import pytest

from pinn.optimizers.least_squares.damped import DampedLeastSquares
from pinn.optimizers.least_squares.path import path_terms
from pinn.optimizers.least_squares.workspace import Workspace


@pytest.fixture
def exponentials(dense):
    """r = exp(A theta) - b, invertible: the path on which r falls as (1 - s) r is known."""
    a = np.array([[1.0, 0.3], [-0.2, 0.8]])
    b = np.array([1.5, 0.7])

    def rows(theta):
        return np.exp(a @ theta) - b

    def jacobian(theta):
        return np.exp(a @ theta)[:, None] * a

    return dense.Rows(rows, jacobian, 2), a, b


@pytest.mark.parametrize("theta", [(0.0, 0.0), (0.2, -0.3)])
def test_without_damping_the_terms_are_those_of_the_path_to_the_root(exponentials, theta):
    function, a, b = exponentials
    theta = np.array(theta)
    rows = function.weighted_rows(theta)
    linear = DampedLeastSquares.at(function, theta, Workspace())
    terms = path_terms(function, theta, linear, linear.damped(1e-14), np.ones(2), 6)
    # exp(A theta(s)) = b + (1 - s) r0: A theta(s) is the logarithm of e0 - s r0, with e0 = b + r0,
    # whose series has the terms -(r0 / e0)^k / k.
    ratio = rows / (b + rows)
    for k, term in enumerate(terms, 1):
        expected = np.linalg.solve(a, -(ratio**k) / k)
        # beyond the second, interpolation leaves out powers of its reach
        tolerance = 1e-6 if k <= 2 else 2e-2
        np.testing.assert_allclose(term, expected, rtol=0, atol=tolerance * np.abs(expected).max())
    assert len(terms) == 6


def test_linear_rows_need_one_term(dense):
    a = np.random.default_rng(0).standard_normal((7, 3))
    function = dense.Rows(lambda x: a @ x - 1, lambda x: a, 3)
    theta = np.ones(3)
    linear = DampedLeastSquares.at(function, theta, Workspace())
    damped = linear.damped(1e-3)
    first, *rest = path_terms(function, theta, linear, damped, np.ones(3), 5)
    np.testing.assert_array_equal(first, damped.step)
    assert max((np.linalg.norm(term) for term in rest), default=0.0) < 1e-10


def test_terms_end_before_they_grow(dense):
    # r = x^2 - 1/100 from 1/100 with little damping: the full step goes fifty times too far
    function = dense.Rows(lambda x: x**2 - 0.01, lambda x: 2 * np.diag(x), 1)
    theta = np.array([0.01])
    linear = DampedLeastSquares.at(function, theta, Workspace())
    damped = linear.damped(1e-12)
    assert len(path_terms(function, theta, linear, damped, np.ones(1), 5)) == 1
