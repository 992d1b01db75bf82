"""Cardinal B-splines against scipy's, with all derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline

import autograd as T
from autograd.jets import partials
from autograd.ops.special.bspline import bspline
from autograd.testing import OpCase, check_op

X = np.linspace(-4, 4, 161) + 0.013  # no knot among them


def of_scipy(degree):
    knots = np.arange(degree + 2) - (degree + 1) / 2
    return BSpline.basis_element(knots, extrapolate=False)


@pytest.mark.parametrize("degree", range(1, 8))
def test_every_derivative_equals_scipys(degree):
    x = T.tensor(X, requires_grad=True)
    value = bspline(x, degree)
    for order in range(degree + 2):
        exact = of_scipy(degree).derivative(order)(X) if order <= degree else 0 * X
        expected = np.nan_to_num(exact)
        scale = max(1, np.abs(expected).max())
        np.testing.assert_allclose(value.detach().numpy(), expected, atol=2e-13 * scale)
        (value,) = T.grad(value.sum(), x, create_graph=True)


@pytest.mark.parametrize("degree", [2, 3, 5])
def test_jets_equal_nested_derivatives(degree):
    column = T.tensor(X.reshape(-1, 1), requires_grad=True)
    indices = [(0,) * order for order in range(1, degree + 1)]
    found = partials(lambda x: bspline(x * x - 1.0, degree), [column], indices)
    value = bspline(column * column - 1.0, degree)
    for index in indices:
        (value,) = T.grad(value.sum(), column, create_graph=True)
        expected = value.detach().numpy()
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found[index].detach().numpy(), expected, atol=1e-13 * scale)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 7])
def test_its_shifts_add_up_to_one(degree):
    x = np.linspace(-0.4999, 0.4999, 33)
    total = sum(bspline(T.tensor(x - k), degree).numpy() for k in range(-9, 10))
    np.testing.assert_allclose(total, 1, rtol=1e-14)


def test_it_is_even_and_its_slope_at_the_middle_is_zero():
    x = T.tensor([0.0], dtype=T.float64, requires_grad=True)
    (slope,) = T.grad(bspline(x, 3).sum(), x)
    assert slope.item() == 0
    np.testing.assert_array_equal(bspline(T.tensor(-X), 4), bspline(T.tensor(X), 4))


def test_every_shape_dtype_layout_and_device():
    check_op(OpCase("bspline", lambda x: bspline(x, 5), domain=(-2.4, 2.4), order=2))


@pytest.mark.parametrize("degree", [-1, 1.5, True, "3"])
def test_a_degree_is_a_whole_number(degree):
    with pytest.raises(ValueError, match="bspline: expected a degree of 0 or more"):
        bspline(T.zeros(3), degree)


def test_complex_numbers_have_no_splines():
    with pytest.raises(RuntimeError, match="not implemented for complex"):
        bspline(T.zeros(3, dtype=T.complex128))
