"""Weighted reads, and the transposes of them, against products with a dense matrix."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.positions.weighted import weighted_add_op, weighted_match_op, weighted_read_op

SIZES = [(2, 3, 5, 4, 2), (1, 1, 7, 6, 4), (3, 8, 50, 200, 4)]  # the last by a sparse matrix


def drawn(n, c, m, p, k):
    rng = np.random.default_rng(m)
    places, weights = rng.integers(0, m, (n, p, k)), rng.standard_normal((n, p, k))
    matrix = np.zeros((n, p, m))
    for sample, point, which in np.ndindex(n, p, k):
        matrix[sample, point, places[sample, point, which]] += weights[sample, point, which]
    return rng.standard_normal((n, c, m)), rng.standard_normal((n, c, p)), places, weights, matrix


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_values_are_products_with_a_matrix(sizes, dtype):
    x, y, places, weights, matrix = drawn(*sizes)
    at = T.tensor(places)
    X, Y, W = (T.tensor(a.astype(dtype)) for a in (x, y, weights))  # noqa: N806
    tolerance = {"rtol": 0, "atol": 100 * np.finfo(dtype).eps}
    found = weighted_read_op(X, at, W)
    np.testing.assert_allclose(found, np.einsum("ncm,npm->ncp", x, matrix), **tolerance)
    added = weighted_add_op(Y, at, W, size=x.shape[2])
    np.testing.assert_allclose(added, np.einsum("ncp,npm->ncm", y, matrix), **tolerance)
    read = np.stack([x[sample][:, places[sample]] for sample in range(sizes[0])])
    match = weighted_match_op(Y, X, at)
    np.testing.assert_allclose(match, np.einsum("ncpk,ncp->npk", read, y), **tolerance)
    assert {t.dtype for t in (found, added, match)} == {np.dtype(dtype)}


def test_two_derivatives_of_all_three():
    x, y, places, weights, _ = drawn(2, 2, 4, 3, 2)
    at = T.tensor(places)
    X, Y, W = (T.tensor(a, requires_grad=True) for a in (x, y, weights))  # noqa: N806
    for function, given in (
        (lambda x, w: weighted_read_op(x, at, w), (X, W)),
        (lambda y, w: weighted_add_op(y, at, w, size=4), (Y, W)),
        (lambda y, x: weighted_match_op(y, x, at), (Y, X)),
    ):
        assert T.gradcheck(function, given)
        assert T.gradgradcheck(function, given)


def test_examples_of_vmap_have_their_own_places():
    x, _, places, weights, _ = (np.stack([a, a[::-1]]) for a in drawn(2, 3, 5, 4, 2))
    given = [T.tensor(a.copy()) for a in (x, places, weights)]
    found = T.func.vmap(weighted_read_op)(*given)
    one_by_one = [weighted_read_op(*(t[k] for t in given)) for k in range(2)]
    np.testing.assert_array_equal(found, T.stack(one_by_one))
