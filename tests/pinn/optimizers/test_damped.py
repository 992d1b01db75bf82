"""The damped step: both forms against a stacked least-squares solve, down to rounding."""

import numpy as np
import pytest

from pinn.optimizers.damped import DampedLeastSquares

EPS = np.finfo(float).eps


def stacked(jacobian, rows, damping):
    """The minimiser of |J d - z|^2 + damping |d|^2 as one least-squares problem, by its QR."""
    size = jacobian.shape[1]
    tall = np.vstack([jacobian, np.sqrt(damping) * np.eye(size)])
    q, r = np.linalg.qr(tall)
    return np.linalg.solve(r, q.T @ np.concatenate([rows, np.zeros(size)]))


def with_values(rng, rows, size, values):
    left, _ = np.linalg.qr(rng.standard_normal((rows, len(values))))
    right, _ = np.linalg.qr(rng.standard_normal((size, len(values))))
    return (left * values) @ right.T


@pytest.mark.parametrize("shape", [(40, 12), (12, 40), (20, 20), (1, 5), (5, 1)])
@pytest.mark.parametrize("damping", [1e-3, 1.0, 1e3])
def test_it_is_the_stacked_problem_in_the_form_of_the_smaller_side(shape, damping):
    rng = np.random.default_rng(0)
    jacobian, rows = rng.standard_normal(shape), rng.standard_normal(shape[0])
    damped = DampedLeastSquares(jacobian, damping)
    assert damped.kernel_form == (shape[0] < shape[1])
    for z in (rows, np.ones(shape[0])):
        expected = stacked(jacobian, z, damping)
        condition = 1 + np.linalg.norm(jacobian, 2) ** 2 / damping
        bound = 100 * max(shape) * EPS * condition * np.linalg.norm(expected)
        assert np.linalg.norm(damped.solve(z) - expected) <= bound


@pytest.mark.parametrize("shape", [(90, 60), (60, 90)])
def test_it_is_accurate_where_damping_is_far_below_the_largest_squares(shape):
    rng = np.random.default_rng(1)
    jacobian = with_values(rng, *shape, np.geomspace(1e2, 1e-9, 60))
    rows = rng.standard_normal(shape[0])
    # 1e-11 of |J|^2, and as far above what is added to it, 30 k eps of the diagonal.
    damping = 1e-7
    expected = stacked(jacobian, rows, damping)
    found = DampedLeastSquares(jacobian, damping).solve(rows)
    largest = max(np.sum(jacobian**2, axis=int(shape[0] < shape[1])))
    added = 30 * 60 * EPS * largest / damping
    assert added < 1e-2
    assert np.linalg.norm(found - expected) < added * np.linalg.norm(expected)

    def objective(d):
        return np.sum((jacobian @ d - rows) ** 2) + damping * np.sum(d**2)

    assert objective(found) <= objective(expected) * (1 + added)


def test_rows_and_columns_of_very_different_sizes_lose_no_digits():
    rng = np.random.default_rng(2)
    core = rng.standard_normal((30, 8))
    scales = np.geomspace(1e-6, 1e6, 8)
    rows = rng.standard_normal(30)
    found = DampedLeastSquares(core * scales, 1e-20).solve(rows)
    expected = np.linalg.lstsq(core, rows)[0] / scales
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("shape", [(50, 30), (30, 50)])
def test_damping_below_rounding_still_gives_a_direction_of_descent(shape):
    rng = np.random.default_rng(3)
    jacobian = with_values(rng, *shape, np.geomspace(1e3, 1e-12, 30))
    jacobian[:, 0] = 0  # a number that no row depends on
    rows = rng.standard_normal(shape[0])
    found = DampedLeastSquares(jacobian, 1e-30).solve(rows)
    assert np.isfinite(found).all()
    assert found @ (jacobian.T @ rows) > 0
    assert np.linalg.norm(rows - jacobian @ found) < np.linalg.norm(rows)


def test_nothing_to_solve_gives_nothing():
    damped = DampedLeastSquares(np.zeros((4, 3)), 1e-8)
    np.testing.assert_array_equal(damped.solve(np.ones(4)), np.zeros(3))
