"""Nystrom approximations: against their formula, and as what they are for."""

import numpy as np
import pytest

from pinn.optimizers.nystrom import nystrom


def symmetric(values, seed=0):
    size = len(values)
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))
    return (q * values) @ q.T


def approximation(matrix, rank, seed=1):
    return nystrom(lambda v: matrix @ v, len(matrix), rank, np.random.default_rng(seed))


def dense(found):
    return (found.vectors * found.values) @ found.vectors.T


def test_it_is_the_formula_of_the_range_of_random_vectors():
    matrix = symmetric(np.geomspace(1, 1e-3, 20))
    omega = np.random.default_rng(1).standard_normal((20, 6))
    core = omega.T @ matrix @ omega
    expected = matrix @ omega @ np.linalg.solve(core, omega.T @ matrix)
    found = approximation(matrix, 6)
    # Rounding of the core, by its condition; the shift is of the size of rounding.
    bound = 100 * np.finfo(float).eps * np.linalg.cond(core)
    np.testing.assert_allclose(dense(found), expected, rtol=0, atol=bound)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(6), atol=1e-13)
    assert (np.diff(found.values) <= 0).all() and (found.values >= 0).all()
    # It lies below the matrix.
    assert np.linalg.eigvalsh(matrix - dense(found)).min() > -bound


@pytest.mark.parametrize("rank", [5, 8, 12])
def test_a_matrix_of_no_more_than_its_rank_is_found(rank):
    values = np.r_[np.geomspace(1e3, 1, 5), np.zeros(7)]
    matrix = symmetric(values)
    found = approximation(matrix, rank)
    assert found.values.shape == (rank,)
    omega = np.random.default_rng(1).standard_normal((12, rank))
    core = np.linalg.svd(omega.T @ matrix @ omega)[1]
    bound = 100 * np.finfo(float).eps * 1e3 * core[0] / core[4]
    np.testing.assert_allclose(dense(found), matrix, rtol=0, atol=bound)
    np.testing.assert_allclose(found.values[:5], values[:5], rtol=0, atol=bound)


def test_more_random_vectors_than_numbers_are_all_of_them():
    matrix, damping = symmetric(np.geomspace(10, 0.1, 7)), 0.3
    found = approximation(matrix, 60)
    assert found.vectors.shape == (7, 7)
    v = np.random.default_rng(2).standard_normal(7)
    expected = np.linalg.solve(matrix + damping * np.eye(7), v)
    np.testing.assert_allclose(found.solve(v, damping), expected, rtol=1e-11)


def test_solving_is_the_preconditioner_of_the_paper_up_to_its_scale():
    found, damping = approximation(symmetric(np.geomspace(100, 1e-6, 30)), 8), 1e-3
    U, least = found.vectors, found.values[-1]
    preconditioner = (
        U @ np.diag((found.values + damping) / (least + damping)) @ U.T + np.eye(30) - U @ U.T
    )
    v = np.random.default_rng(2).standard_normal(30)
    expected = np.linalg.solve(preconditioner, v) / (least + damping)
    np.testing.assert_allclose(found.solve(v, damping), expected, rtol=1e-10)


def test_it_brings_the_eigenvalues_together():
    matrix, damping = symmetric(10.0 ** -np.arange(0.0, 20, 0.5)), 1e-8
    found = approximation(matrix, 25)
    inverse = np.stack([found.solve(e, damping) for e in np.eye(40)])
    damped = matrix + damping * np.eye(40)
    eigenvalues = np.linalg.eigvals(inverse @ damped).real
    assert np.linalg.cond(damped) > 1e7
    assert eigenvalues.min() > 0 and eigenvalues.max() / eigenvalues.min() < 100


@pytest.mark.parametrize("least", [-1e-3, -0.5, -20.0])
def test_where_the_matrix_is_negative_it_is_nothing(least):
    matrix = symmetric(np.r_[np.geomspace(100, 10, 5), np.linspace(-1, 0, 20) * -least])
    found = approximation(matrix, 12)
    assert (found.values >= 0).all() and np.isfinite(found.values).all()
    v = np.random.default_rng(3).standard_normal(25)
    assert v @ found.solve(v, 1e-3) > 0
    if least == -1e-3:  # what is large and positive is found all the same
        np.testing.assert_allclose(found.values[:5], np.geomspace(100, 10, 5), rtol=1e-2)


@pytest.mark.parametrize("matrix", [np.zeros((4, 4)), -np.eye(4)])
def test_no_positive_curvature_gives_zeros(matrix):
    found = approximation(matrix, 3)
    assert found.values.max() <= 1e-14
    v = np.arange(4.0)
    np.testing.assert_allclose(found.solve(v, 0.5), v / 0.5, rtol=1e-12)


def test_equal_generators_give_equal_bits():
    matrix = symmetric(np.geomspace(1, 1e-3, 20))
    a, b, other = (approximation(matrix, 4, seed) for seed in (1, 1, 2))
    assert a.vectors.tobytes() == b.vectors.tobytes() != other.vectors.tobytes()
