"""LU decompositions: scipy's factors, products, systems, derivatives and shapes."""

import numpy as np
import pytest
import scipy.linalg

import autograd as T
from autograd import linalg
from autograd.ops.matrices import lu
from autograd.testing import OpCase, check_op

SQUARE = [((3, 3),), ((2, 3, 3),), ((1, 1),)]
OTHERS = [((2, 4),), ((4, 2),), ((2, 3, 2),), ((2, 2, 3),)]


def factors(x):
    return linalg.lu(x)[1:]


def reference(x):
    parts = [scipy.linalg.lu(one)[1:] for one in x.reshape(-1, *x.shape[-2:])]
    batch = x.shape[:-2]
    return [np.stack(part).reshape(*batch, *part[0].shape) for part in zip(*parts, strict=True)]


def solved(A, B):
    return linalg.lu_solve(*linalg.lu_factor(A), B)


CASES = [
    OpCase("lu", factors, SQUARE, reference=reference, tolerance=1e-11),
    OpCase("lu, not square", factors, OTHERS, reference=reference, tolerance=1e-11),
    OpCase("lu_solve", solved, [((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1))],
           reference=np.linalg.solve, tolerance=1e-10),
    OpCase("complex", lambda x: T.view_as_real(linalg.lu(x)[2].contiguous()),
           [((3, 3),), ((2, 4),)],
           make=lambda rng, shape: [rng.normal(size=shape) + 1j * rng.normal(size=shape)],
           dtypes=()),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (2, 4, 3), (2, 0), (0, 0)])
@pytest.mark.parametrize("kind", [np.float64, np.complex128])
def test_the_product_is_the_matrix(shape, kind):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape).astype(kind)
    x = x + 1j * rng.normal(size=shape) if kind is np.complex128 else x
    p, lower, upper = linalg.lu(T.tensor(x))
    np.testing.assert_allclose((p @ lower @ upper).numpy(), x, atol=1e-14)
    rank = min(shape[-2:])
    assert lower.shape[-1] == upper.shape[-2] == rank
    np.testing.assert_array_equal(lower.tril().numpy(), lower.numpy())
    assert (lower.abs() <= 1 + 1e-15).all() or kind is np.complex128


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(40, 40), (2, 50, 40), (40, 50), (0, 40, 40)])
def test_large_matrices_are_decomposed_as_small_ones(shape, kind, monkeypatch):
    x = np.random.default_rng(2).normal(size=shape).astype(kind)
    found = linalg.lu_factor(T.tensor(x))
    monkeypatch.setattr(lu, "SMALL", 100)
    expected = linalg.lu_factor(T.tensor(x))
    assert found.LU.dtype == kind and found.pivots.dtype == np.int32
    assert found.pivots.tolist() == expected.pivots.tolist()
    tolerance = 1e3 * np.finfo(kind).eps
    np.testing.assert_allclose(found.LU.numpy(), expected.LU.numpy(), rtol=0, atol=tolerance)


def test_a_large_singular_matrix_has_factors_as_well():
    x = np.ones((40, 40))
    p, lower, upper = linalg.lu(T.tensor(x))
    np.testing.assert_array_equal((p @ lower @ upper).numpy(), x)
    assert linalg.lu(T.tensor(x * np.nan)).U.isnan().any()


def test_the_pivots_are_lapacks():
    x = np.random.default_rng(1).normal(size=(6, 6))
    packed, pivots = linalg.lu_factor(T.tensor(x))
    expected, rows = scipy.linalg.lu_factor(x)
    np.testing.assert_allclose(packed.numpy(), expected, rtol=1e-12)
    assert pivots.dtype == T.int32 and pivots.tolist() == (rows + 1).tolist()
    x = np.array([[3 + 3j, 1], [5, 2j]])  # the first has the larger |Re| + |Im|
    rows = scipy.linalg.lu_factor(x)[1]
    assert linalg.lu_factor(T.tensor(x)).pivots.tolist() == (rows + 1).tolist() == [1, 2]


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_slopes_of_the_factors_are_those_of_the_matrix(shape):
    rng = np.random.default_rng(7)
    x, step = rng.normal(size=shape), rng.normal(size=shape)
    parts = [linalg.lu(T.tensor(x + h * step))[1:] for h in (1e-6, -1e-6)]
    differences = [(a - b) / 2e-6 for a, b in zip(*parts, strict=True)]
    slopes = T.func.jvp(factors, (T.tensor(x),), (T.tensor(step),))[1]
    for found, expected in zip(slopes, differences, strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_systems_on_both_sides(left, adjoint):
    rng = np.random.default_rng(2)
    a = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    b = rng.normal(size=(4, 2) if left else (2, 4))
    found = linalg.lu_solve(
        *linalg.lu_factor(T.tensor(a)), T.tensor(b).cdouble(), left=left, adjoint=adjoint
    ).numpy()
    matrix = a.conj().T if adjoint else a
    np.testing.assert_allclose(matrix @ found if left else found @ matrix, b, atol=1e-13)


def test_what_is_refused():
    with pytest.raises(RuntimeError, match="LU without pivoting"):
        linalg.lu(T.eye(2), pivot=False)
    assert linalg.lu(T.zeros(2, 2))[2].tolist() == [[0.0, 0.0], [0.0, 0.0]]
