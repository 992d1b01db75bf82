"""Damped steps by Cholesky factors: as exact as those by orthogonal transformations."""

import numpy as np
import pytest

from pinn.optimizers.normal_equations import NormalEquations
from pinn.optimizers.reduced import triangle_of


def ill_conditioned(rows, size, condition, seed=0):
    rng = np.random.default_rng(seed)
    u, _ = np.linalg.qr(rng.standard_normal((rows, size)))
    v, _ = np.linalg.qr(rng.standard_normal((size, size)))
    return u * np.logspace(0, -np.log10(condition), size) @ v.T, rng.standard_normal(rows)


@pytest.fixture
def function(dense):
    def made(matrix, rows, threads=2):
        found = dense.Rows(lambda x: matrix @ x + rows, lambda x: matrix, matrix.shape[1])
        found.threads = threads
        return found

    return made


@pytest.mark.parametrize("damping", [1e-2, 1e-8, 1e-12, 1e-14, 1e-18])
def test_steps_are_exact_for_any_damping(function, damping):
    matrix, rows = ill_conditioned(60, 20, 1e9)
    scale = np.linspace(1, 2, 20)
    step = NormalEquations(function(matrix, rows), np.zeros(20)).damped(damping, scale).step
    stacked = np.vstack([matrix, np.sqrt(damping) * np.diag(scale)])
    expected = np.linalg.lstsq(stacked, -np.append(rows, np.zeros(20)), rcond=None)[0]
    # Two corrections at 3 % of each other; the reference has eps times its own condition.
    np.testing.assert_allclose(step, expected, atol=2e-3 * np.linalg.norm(expected))


def test_norms_loss_and_gradient_are_those_of_the_rows(function):
    matrix, rows = ill_conditioned(30, 7, 10)
    found = NormalEquations(function(matrix, rows), np.zeros(7))
    np.testing.assert_allclose(found.norms, np.linalg.norm(matrix, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.gradient, 2 * matrix.T @ rows, rtol=1e-12)
    assert found.loss == pytest.approx(rows @ rows)


def test_below_the_rounding_of_the_product_the_triangle_takes_over(function):
    matrix, rows = ill_conditioned(60, 20, 1e12)
    ours = NormalEquations(function(matrix, rows), np.zeros(20)).damped(1e-20, np.ones(20))
    theirs = triangle_of(rows, matrix).damped(1e-20, np.ones(20))
    np.testing.assert_allclose(ours.step, theirs.step, rtol=1e-12)
    b = np.cos(np.arange(60))
    np.testing.assert_allclose(ours.minimiser(b), theirs.minimiser(b), rtol=1e-12)


def test_the_bits_do_not_depend_on_the_number_of_threads(function):
    matrix, rows = ill_conditioned(700, 530, 1e3)
    steps = [
        NormalEquations(function(matrix, rows, threads), np.zeros(530)).damped(1e-4, np.ones(530))
        for threads in (1, 2, 5)
    ]
    assert len({damped.step.tobytes() for damped in steps}) == 1
