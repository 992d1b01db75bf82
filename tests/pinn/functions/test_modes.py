"""Modes of random fields: eigenfunctions of their covariance, and what is left without them."""

import numpy as np
import pytest

from pinn.functions.modes import chosen, modes_of, periodic_modes_of

LENGTH = 0.2


@pytest.fixture(scope="module")
def modes():
    return modes_of(-1.0, 1.0, 0.4)


def covariance(x, y, length):
    return np.exp(-((x[:, None] - y) ** 2) / (2 * length**2))


def test_modes_are_orthonormal_and_add_up_to_the_variance(modes):
    gram = (modes.values * modes.weights) @ modes.values.T
    assert np.allclose(gram, np.eye(len(gram)), atol=1e-12)
    assert modes.variances.sum() == pytest.approx(2.0, abs=1e-12)
    assert (np.diff(modes.variances) <= 0).all()


def test_modes_make_the_covariance_again(modes):
    """Mercer's theorem, at places that are no nodes: another route than the eigenvalues."""
    x = np.linspace(-1, 1, 31)
    values = np.stack([modes.at(k, x, -1.0, 1.0) for k in range(18)])
    made = (values.T * modes.variances[:18]) @ values
    assert np.allclose(made, covariance(x, x, 0.4), atol=1e-9)


def test_a_mode_is_an_eigenfunction_by_another_quadrature(modes):
    """Simpson's rule on even nodes."""
    x = np.linspace(-1, 1, 2001)
    weights = np.full(x.size, 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    weights *= (x[1] - x[0]) / 3
    for k in (0, 3, 6):
        mode = modes.at(k, x, -1.0, 1.0)
        image = covariance(x, x, 0.4) @ (weights * mode)
        assert np.allclose(image, modes.variances[k] * mode, atol=1e-10)


def test_signs_and_order_are_chosen_and_not_found(modes):
    assert (modes.values[:, -1] > 0).all()
    again = modes_of(-1.0, 1.0, 0.4)
    assert np.array_equal(again.values, modes.values)


def test_modes_of_a_period_are_waves_that_make_its_covariance():
    modes = periodic_modes_of(0.0, 2.0, LENGTH)
    gram = (modes.values * modes.weights) @ modes.values.T
    assert np.allclose(gram, np.eye(len(gram)), atol=1e-12)
    made = (modes.values.T * modes.variances) @ modes.values
    x = modes.nodes
    chord = 2 / np.pi * np.sin(np.pi * np.abs(x[:, None] - x) / 2)
    assert np.allclose(made, np.exp(-(chord**2) / (2 * LENGTH**2)), atol=1e-8)
    assert modes.waves[:3] == [(0, True), (1, True), (1, False)]


def test_as_many_modes_are_taken_as_leave_out_a_share():
    modes = modes_of(0.0, 1.0, LENGTH)
    numbers, roots = chosen([modes], None, 1e-6)
    left = 1 - np.sum(roots**2)
    assert numbers == [(k,) for k in range(len(numbers))]
    assert left < 1e-6 <= left + roots[-1] ** 2


def test_modes_of_two_coordinates_are_products_those_of_most_variance():
    modes = modes_of(0.0, 1.0, 0.5)
    numbers, roots = chosen([modes, modes], 6, 1e-6)
    products = np.sort(np.outer(modes.variances, modes.variances).ravel())[::-1]
    assert np.allclose(roots**2, products[:6])
    assert numbers[:3] == [(0, 0), (0, 1), (1, 0)]  # of equal ones the order is that of numbers
