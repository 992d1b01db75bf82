"""Conjugate gradients: scipy's iterates, and what happens without positive curvature."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, cg

from pinn.optimizers.conjugate_gradients import conjugate_gradients
from pinn.optimizers.nystrom import nystrom


def symmetric(values, seed=0):
    size = len(values)
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))
    return (q * values) @ q.T


def same(vector):
    return vector


def solve(matrix, b, precondition=same, most=100, tolerance=1e-10):
    return conjugate_gradients(lambda v: matrix @ v, b, precondition, most, tolerance)


B = np.random.default_rng(5).standard_normal(30)


@pytest.mark.parametrize("most", [1, 2, 5, 12])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_iterates_are_those_of_scipy(most, preconditioned):
    matrix = symmetric(np.geomspace(1, 100, 30))
    inverse = symmetric(np.geomspace(3, 1, 30), seed=7) if preconditioned else np.eye(30)
    found = solve(matrix, B, lambda v: inverse @ v, most, tolerance=0.0)
    theirs, _ = cg(matrix, B, rtol=0, maxiter=most, M=LinearOperator((30, 30), inverse.dot))
    np.testing.assert_allclose(found.x, theirs, rtol=0, atol=1e-11)
    # The residual is carried along, not computed.
    np.testing.assert_allclose(found.rest, B - matrix @ found.x, rtol=0, atol=1e-11)
    assert (found.products, found.convex) == (most, True)


def test_as_many_products_as_there_are_eigenvalues():
    found = solve(symmetric(np.repeat([1.0, 4.0, 9.0], 10)), B, tolerance=1e-9)
    assert found.products == 3 and np.linalg.norm(found.rest) <= 1e-9 * np.linalg.norm(B)


def test_it_ends_at_the_tolerance():
    matrix = symmetric(np.geomspace(1, 1000, 30))
    counts = [solve(matrix, B, tolerance=t).products for t in (0.5, 1e-2, 1e-6)]
    assert counts == sorted(set(counts))


def test_without_positive_curvature_at_first_it_is_the_preconditioned_vector():
    inverse = symmetric(np.geomspace(3, 1, 30))
    found = solve(symmetric(-np.geomspace(1, 100, 30)), B, lambda v: inverse @ v)
    assert (found.products, found.convex) == (1, False)
    np.testing.assert_array_equal(found.x, inverse @ B)
    np.testing.assert_allclose(found.rest, B + symmetric(np.geomspace(1, 100, 30)) @ found.x)


@pytest.mark.parametrize("least", [-1e-2, -1.0, 0.0])
def test_later_it_is_what_there_was_by_then(least):
    """With b hardly along the negative eigenvector, others come first."""
    q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 30)))
    values = np.r_[least, np.geomspace(1, 100, 29)]
    matrix, b = (q * values) @ q.T, q @ np.r_[1e-3, np.ones(29)]
    found = solve(matrix, b, tolerance=0.0, most=300)
    assert not found.convex and found.products > 2
    before = solve(matrix, b, tolerance=0.0, most=found.products - 1)
    assert before.convex and before.x.tobytes() == found.x.tobytes()
    assert b @ found.x > 0
    models = [
        one.x @ matrix @ one.x / 2 - b @ one.x
        for one in (solve(matrix, b, tolerance=0.0, most=k) for k in range(1, found.products))
    ]
    assert all(later < earlier for earlier, later in zip(models, models[1:], strict=False))


def test_a_sketch_saves_most_products():
    """Fast falling eigenvalues, as Hessians of such losses have, with a small damping."""
    values = 10.0 ** -np.linspace(0, 12, 200)
    matrix, damping = symmetric(values), 1e-6
    b = np.random.default_rng(1).standard_normal(200)
    damped = matrix + damping * np.eye(200)
    found = nystrom(lambda v: matrix @ v, 200, 100, np.random.default_rng(0))
    plain = solve(damped, b, most=2000, tolerance=1e-8)
    better = solve(damped, b, lambda v: found.solve(v, damping), tolerance=1e-8)
    np.testing.assert_allclose(damped @ better.x, b, rtol=0, atol=2e-8 * np.linalg.norm(b))
    assert better.products < 20 and plain.products > 10 * better.products
