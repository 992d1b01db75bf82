"""Condition numbers, ranks, triangular systems, tensor systems and products of reflections."""

import math

import numpy as np
import pytest
import scipy.linalg

import autograd as T
from autograd import linalg
from autograd.ops.matrices import decompositions
from autograd.testing import OpCase, check_op

SQUARE = [((3, 3),), ((2, 3, 3),)]


def triangle(upper):
    return lambda x: (T.triu if upper else T.tril)(x) + 2 * T.eye(3, dtype=x.dtype, device=x.device)


def positive(x):
    return x @ x.mT + T.eye(3, dtype=x.dtype, device=x.device)


def householder(a, tau):
    rows, columns = a.shape
    result = np.eye(rows)
    for k in range(len(tau)):
        v = np.concatenate([np.zeros(k), [1.0], a[k + 1 :, k]])
        result = result @ (np.eye(rows) - tau[k] * np.outer(v, v))
    return result[:, :columns]


CASES = [
    *(
        OpCase(f"cond {p}", lambda x, p=p: linalg.cond(x, p), SQUARE, order=1, tolerance=1e-10,
               reference=lambda x, p=p: np.linalg.cond(x, p))
        for p in (None, 2, -2, "fro", "nuc", math.inf, -math.inf, 1, -1)
    ),
    OpCase("vander", lambda x: linalg.vander(x, N=4), [((3,),), ((2, 3),), ((),)],
           reference=lambda x: np.atleast_1d(x)[..., None] ** np.arange(4)),
    OpCase("diagonal", lambda x: linalg.diagonal(x, offset=1), SQUARE,
           reference=lambda x: np.diagonal(x, 1, -2, -1)),
    *(
        OpCase(f"triangular {upper}", lambda a, b, upper=upper: linalg.solve_triangular(
            triangle(upper)(a) , b, upper=upper), [((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1))],
            domain=(0.1, 1.0))
        for upper in (True, False)
    ),
    OpCase("cholesky_solve", lambda a, b: T.cholesky_solve(b, linalg.cholesky(positive(a))),
           [((3, 3), (3, 2))], tolerance=1e-10,
           reference=lambda a, b: np.linalg.solve(a @ a.T + np.eye(3), b)),
    OpCase("cholesky_inverse", lambda a: T.cholesky_inverse(linalg.cholesky(positive(a))),
           [((3, 3),)], tolerance=1e-10, reference=lambda a: np.linalg.inv(a @ a.T + np.eye(3))),
    OpCase("tensorsolve", linalg.tensorsolve, [((2, 3, 6), (2, 3))], tolerance=1e-10,
           reference=np.linalg.tensorsolve),
    OpCase("tensorinv", linalg.tensorinv, [((2, 3, 6),)], tolerance=1e-10,
           reference=np.linalg.tensorinv),
    OpCase("householder_product", linalg.householder_product, [((4, 3), (2,)), ((3, 3), (3,))],
           reference=householder),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


def test_singular_matrices_have_an_infinite_condition():
    assert linalg.cond(T.zeros(2, 2), 1).item() == math.inf
    batch = T.stack([T.eye(2), T.ones(2, 2)])
    assert linalg.cond(batch, "fro").tolist() == [pytest.approx(2.0), math.inf]


def test_ranks():
    v = np.random.default_rng(0).normal(size=4)
    low = T.tensor(np.outer(v, v))
    assert linalg.matrix_rank(low).item() == 1 == linalg.matrix_rank(low, hermitian=True).item()
    x = T.tensor(np.diag([3.0, 1.0, 0.1]))
    assert linalg.matrix_rank(x).item() == 3
    assert linalg.matrix_rank(x, atol=0.5).item() == linalg.matrix_rank(x, 0.5).item() == 2
    assert linalg.matrix_rank(x, rtol=0.5).item() == 1
    batch = T.stack([x, 10 * x])
    assert linalg.matrix_rank(batch, atol=T.tensor([0.5, 0.5], dtype=T.float64)).tolist() == [2, 3]
    assert linalg.matrix_rank(T.zeros(2, 0, 3)).tolist() == [0, 0]


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("unitriangular", [True, False])
def test_only_the_triangle_is_read(upper, unitriangular):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=(3, 2))
    how = {"upper": upper, "unitriangular": unitriangular}
    found = linalg.solve_triangular(T.tensor(a), T.tensor(b), **how).numpy()
    expected = scipy.linalg.solve_triangular(a, b, lower=not upper, unit_diagonal=unitriangular)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    right = linalg.solve_triangular(T.tensor(a), T.tensor(b.T), left=False, **how).numpy()
    matrix = np.triu(a) if upper else np.tril(a)
    matrix = matrix - np.diag(np.diag(matrix)) + np.eye(3) if unitriangular else matrix
    np.testing.assert_allclose(right @ matrix, b.T, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.complex128])
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize(("of_a", "of_b"), [((40, 40), (2, 40, 3)), ((2, 1, 40, 40), (3, 40, 40))])
def test_large_triangles_are_solved_as_small_ones(kind, upper, left, of_a, of_b, monkeypatch):
    rng = np.random.default_rng(3)
    a = T.tensor((rng.normal(size=of_a) / 40 + np.eye(40)).astype(kind), requires_grad=True)
    b = T.tensor(rng.normal(size=of_b).astype(kind), requires_grad=True)

    def found():
        right = b if left else b.mT
        x = linalg.solve_triangular(a, right, upper=upper, left=left)
        return [x, *T.grad((x * x.conj()).real.sum(), [a, b])]

    by_lapack = found()
    monkeypatch.setattr(decompositions, "SMALL", 40)
    for one, other in zip(by_lapack, found(), strict=True):
        assert one.dtype == kind
        np.testing.assert_allclose(
            one.detach().numpy(), other.detach().numpy(), atol=1e4 * np.finfo(kind).eps
        )


def test_a_triangle_with_a_0_on_its_diagonal_is_refused():
    for size in (3, 40):
        with pytest.raises(linalg.LinAlgError, match="the diagonal has a 0.*Singular matrix"):
            linalg.solve_triangular(T.ones(size, size).triu(1), T.ones(size, 1), upper=True)
    with pytest.raises(RuntimeError, match=r"B \[4, 3\]; expected dimension -2 .* to have size 3"):
        linalg.solve_triangular(T.eye(3), T.ones(4, 3), upper=True)


def test_the_q_of_lapacks_reflections():
    x = np.random.default_rng(2).normal(size=(5, 3))
    (packed, tau), _ = scipy.linalg.qr(x, mode="raw")
    found = linalg.householder_product(T.tensor(np.ascontiguousarray(packed)), T.tensor(tau))
    np.testing.assert_allclose((found.mT @ found).numpy(), np.eye(3), atol=1e-14)
    np.testing.assert_allclose((found @ T.tensor(np.triu(packed[:3]))).numpy(), x, atol=1e-13)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: linalg.tensorsolve(T.ones(2, 3, 5), T.ones(2, 3)), "Expected self to satisfy"),
        (lambda: linalg.tensorinv(T.ones(2, 3)), "Expected self to satisfy"),
        (lambda: linalg.householder_product(T.ones(2, 3), T.ones(2)), "as many rows as columns"),
        (lambda: linalg.cond(T.ones(2, 3), 1), "batches of square matrices"),
        (lambda: linalg.vander(T.tensor(1.0)), "N must be greater than 1, got 1"),
        (lambda: linalg.vander(T.ones(3), N=1), "N must be greater than 1"),
    ],
)
def test_what_is_refused(function, message):
    with pytest.raises(RuntimeError, match=message):
        function()
