"""The trust-region subproblem against brentq on the secular equation, and scipy's minimisers."""

import numpy as np
import pytest
from scipy.optimize import brentq

from autograd.strict import StrictArray, counted
from pinn.optimizers.least_squares.trust_region import TrustRegion


def problem(seed=0, rows=20, size=8, values=None):
    rng = np.random.default_rng(seed)
    left, _ = np.linalg.qr(rng.standard_normal((rows, size)))
    right, _ = np.linalg.qr(rng.standard_normal((size, size)))
    values = np.geomspace(10, 1e-4, size) if values is None else values
    return (left * values) @ right.T, rng.standard_normal(rows)


@pytest.mark.parametrize("radius", [1e-9, 1e-3, 1.0, 30.0, 1e3])
@pytest.mark.parametrize("seed", range(4))
def test_the_shift_is_the_root_of_the_secular_equation(seed, radius):
    jacobian, rows = problem(seed)
    region = TrustRegion(jacobian, rows)

    def length(shift):
        damped = jacobian.T @ jacobian + shift * np.eye(8)
        return np.linalg.norm(np.linalg.solve(damped, jacobian.T @ rows))

    shift = region.shift(radius)
    if length(0) <= radius:
        assert shift == 0
        return
    root = brentq(lambda log: length(np.exp(log)) - radius, -60, 60, xtol=1e-14, rtol=1e-14)
    # The length above has the condition of J^T J, 1e10 without a shift, in its rounding.
    assert shift == pytest.approx(np.exp(root), rel=1e-5)
    step = region.step(shift)
    assert np.linalg.norm(step) == pytest.approx(radius, rel=1e-12)
    # First-order conditions of the constrained problem.
    slope = jacobian.T @ (jacobian @ step + rows) + shift * step
    assert np.linalg.norm(slope) < 1e-11 * np.linalg.norm(jacobian.T @ rows)


def test_inside_the_radius_it_is_the_least_squares_solution():
    jacobian, rows = problem()
    region = TrustRegion(jacobian, rows)
    np.testing.assert_allclose(
        region.step(region.shift(1e9)), -np.linalg.lstsq(jacobian, rows)[0], rtol=1e-9
    )


@pytest.mark.parametrize("radius", [1e-2, 1.0, 1e9])
def test_the_decrease_is_that_of_the_linear_model(radius):
    jacobian, rows = problem(3)
    region = TrustRegion(jacobian, rows)
    shift = region.shift(radius)
    left = rows + jacobian @ region.step(shift)
    assert region.predicted(shift) == pytest.approx(rows @ rows - left @ left, rel=1e-10)


def test_directions_that_no_row_sees_are_left_alone():
    values = np.array([3.0, 1.0, 1e-3, 0, 0, 0, 0, 0])
    jacobian, rows = problem(4, values=values)
    region = TrustRegion(jacobian, rows)
    found = region.step(region.shift(1e12))
    np.testing.assert_allclose(found, -np.linalg.pinv(jacobian, rcond=1e-12) @ rows, rtol=1e-8)


def test_rows_that_nothing_changes_ask_for_no_step():
    region = TrustRegion(np.zeros((3, 2)), np.ones(3))
    assert region.shift(1.0) == 0 and region.predicted(0.0) == 0
    np.testing.assert_array_equal(region.step(0.0), np.zeros(2))


@pytest.mark.parametrize("rows, size", [(20, 8), (6, 9)])
def test_on_a_device_steps_are_made_there_and_no_matrix_comes_home(stand_in, rows, size):
    rng = np.random.default_rng(9)
    jacobian, b = rng.standard_normal((rows, size)), rng.standard_normal(rows)
    jacobian[:, 0] = jacobian[:, 1]  # a direction that is not seen
    here = TrustRegion(jacobian, b)
    with counted() as counts:
        there = TrustRegion(StrictArray(jacobian), StrictArray(b))
    # singular values with the slopes, and whether it went through
    assert (counts.downloads, counts.uploads) == (2, 0)
    assert counts.fetched == 4 + 8 * 2 * min(rows, size)
    for radius in (1e-3, 0.1, 1e3):
        shift = there.shift(radius)
        assert shift == pytest.approx(here.shift(radius), rel=1e-9, abs=1e-14)
        step, expected = there.step(shift), here.step(shift)
        assert isinstance(step, StrictArray)
        np.testing.assert_allclose(step._host, expected, rtol=0, atol=1e-11 * radius + 1e-12)
        assert there.predicted(shift) == pytest.approx(here.predicted(shift), rel=1e-11)
