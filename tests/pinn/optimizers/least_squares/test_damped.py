"""Damped steps, tall and wide: against stacked least squares, down to rounding and below it."""

import numpy as np
import pytest

from pinn.optimizers.least_squares.damped import DampedLeastSquares
from pinn.optimizers.least_squares.host_algebra import host_bytes
from pinn.optimizers.least_squares.reduced import triangle_of
from pinn.optimizers.least_squares.workspace import Workspace

EPS = np.finfo(float).eps
SHAPES = [(40, 12), (12, 40), (20, 20), (1, 5), (5, 1), (2, 3), (1, 1)]


def stacked(jacobian, rows, squares):
    """The minimiser of |J p + r|^2 + |d p|^2 as one least-squares problem, by its QR."""
    size = jacobian.shape[1]
    tall = np.vstack([jacobian, np.diag(np.sqrt(np.broadcast_to(squares, size)))])
    q, r = np.linalg.qr(tall)
    return -np.linalg.solve(r, q.T @ np.concatenate([rows, np.zeros(size)]))


def with_values(rng, rows, size, values):
    left, _ = np.linalg.qr(rng.standard_normal((rows, len(values))))
    right, _ = np.linalg.qr(rng.standard_normal((size, len(values))))
    return np.ascontiguousarray((left * values) @ right.T)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("damping", [1e-3, 1.0, 1e3])
def test_it_is_the_stacked_problem_in_the_form_of_the_smaller_side(shape, damping):
    rng = np.random.default_rng(0)
    jacobian, rows = rng.standard_normal(shape), rng.standard_normal(shape[0])
    linear = DampedLeastSquares(rows, jacobian)
    assert linear.kernel_form == (shape[0] < shape[1])
    np.testing.assert_allclose(linear.gradient, 2 * jacobian.T @ rows, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(linear.norms, np.linalg.norm(jacobian, axis=0), rtol=1e-12)
    # Another scale, and the first again: none spoils the next.
    for scale in (None, rng.uniform(0.5, 2, shape[1]), None):
        squares = damping * (1 if scale is None else scale**2)
        damped = linear.damped(damping, scale)
        found = {"step": damped.step, "other": damped.minimiser(np.cos(rows))}
        for name, b in (("step", rows), ("other", np.cos(rows))):
            expected = stacked(jacobian, b, squares)
            largest = np.linalg.norm(jacobian, 2)
            # of the matrix, and of the stacked one whose lower part is much the larger
            condition = 1 + largest**2 / np.min(squares) + np.sqrt(np.max(squares)) / largest
            bound = 100 * max(shape) * EPS * condition * np.linalg.norm(expected)
            assert np.linalg.norm(found[name] - expected) <= bound


@pytest.mark.parametrize("damping", [1e-2, 1e-8, 1e-12, 1e-14, 1e-18])
@pytest.mark.parametrize("shape", [(60, 20), (20, 60)], ids=str)
def test_steps_are_exact_for_any_damping(shape, damping):
    rng = np.random.default_rng(0)
    matrix = with_values(rng, *shape, np.geomspace(1, 1e-9, 20))
    rows = rng.standard_normal(shape[0])
    scale = np.linspace(1, 2, shape[1])
    step = DampedLeastSquares(rows, matrix).damped(damping, scale).step
    below = np.sqrt(damping) * np.diag(scale)
    right = -np.append(rows, np.zeros(shape[1]))
    expected = np.linalg.lstsq(np.vstack([matrix, below]), right, rcond=None)[0]
    # Two corrections at 3 % of each other; the reference has eps times its own condition.
    np.testing.assert_allclose(step, expected, atol=2e-3 * np.linalg.norm(expected))


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)], ids=str)
def test_below_the_rounding_of_the_product_the_triangle_takes_over(shape):
    rng = np.random.default_rng(0)
    matrix = with_values(rng, *shape, np.geomspace(1, 1e-12, 20))
    rows, b = rng.standard_normal(shape[0]), np.cos(np.arange(shape[0]))
    ours = DampedLeastSquares(rows, matrix).damped(1e-20)
    theirs = triangle_of(rows, matrix).damped(1e-20, np.ones(shape[1]))
    np.testing.assert_allclose(ours.step, theirs.step, rtol=1e-12)
    np.testing.assert_allclose(ours.minimiser(b), theirs.minimiser(b), rtol=1e-12)


def test_columns_of_very_different_sizes_lose_no_digits():
    rng = np.random.default_rng(2)
    core = rng.standard_normal((30, 8))
    scales = np.geomspace(1e-6, 1e6, 8)
    rows = rng.standard_normal(30)
    expected = -np.linalg.lstsq(core, rows)[0] / scales
    # The last two by a factor: the largest ratio of diagonal to damping is 3e9 and 3e11.
    for damping in (1e-20, 1e4 * EPS, 1e2 * EPS):
        d = scales if damping > 1e-20 else np.ones(8)
        found = DampedLeastSquares(rows, core * scales).damped(damping, d).step
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("shape", [(50, 30), (30, 50)])
def test_damping_below_rounding_still_gives_a_direction_of_descent(shape):
    rng = np.random.default_rng(3)
    jacobian = with_values(rng, *shape, np.geomspace(1e3, 1e-12, 30))
    jacobian[:, 0] = 0  # a number that no row depends on
    rows = rng.standard_normal(shape[0])
    found = DampedLeastSquares(rows, jacobian).damped(1e-30).step
    assert np.isfinite(found).all()
    assert found @ (jacobian.T @ rows) < 0
    assert np.linalg.norm(rows + jacobian @ found) < np.linalg.norm(rows)


def test_nothing_to_solve_gives_nothing():
    damped = DampedLeastSquares(np.ones(4), np.zeros((4, 3))).damped(1e-8)
    np.testing.assert_array_equal(damped.step, np.zeros(3))


@pytest.mark.parametrize("shape", [(4100, 130), (2100, 35), (31, 260)], ids=str)
def test_the_bits_do_not_depend_on_the_number_of_threads_nor_on_memory_that_is_reused(shape):
    rng = np.random.default_rng(4)
    matrix, rows = rng.standard_normal(shape), rng.standard_normal(shape[0])
    used = Workspace()
    DampedLeastSquares(rows, 2 * matrix, 1, used).damped(1e-3)
    found = {
        DampedLeastSquares(rows, matrix, threads, memory).damped(1e-4).step.tobytes()
        for threads in (1, 2, 5) for memory in (None, used)
    }  # fmt: skip
    assert len(found) == 1


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("shape", [(1000, 450), (4200, 300), (500, 500), (300, 600)], ids=str)
def test_memory_is_counted_as_it_is_taken(most_bytes, shape, scaled):
    rng = np.random.default_rng(0)
    matrix, rows = rng.standard_normal(shape), rng.standard_normal(shape[0])
    scale = np.linspace(1, 2, shape[1]) if scaled else None

    def work():
        workspace = Workspace()
        jacobian = workspace.array("jacobian", *shape)
        jacobian[...] = matrix
        found = DampedLeastSquares(rows, jacobian, workspace=workspace)
        for damping in (1.0, 1e-30, 1e-31):  # by a factor, and twice by the triangle
            found.damped(damping, scale).minimiser(rows)

    work()  # what is imported
    assert host_bytes(*shape, divided=scaled) == pytest.approx(most_bytes(work), rel=0.03)
