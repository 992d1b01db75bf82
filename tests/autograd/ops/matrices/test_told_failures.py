"""Factorizations that do not raise: values, derivatives, and which matrices they fail for."""

import numpy as np
import pytest

import autograd as T
from autograd import linalg
from autograd.strict import strict_cuda
from autograd.testing import OpCase, check_op

DEFINITE = [[[4.0, 1.0], [1.0, 3.0]]]
OTHERS = [[[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]]


def make_definite(rng, shape):
    a = rng.uniform(-1, 1, shape)
    return (a @ np.swapaxes(a, -1, -2) + 2 * np.eye(shape[-1]),)


def make(rng, shape):
    return (rng.uniform(-1, 1, shape) + 2 * np.eye(shape[-1]),)


@pytest.mark.parametrize("upper", [False, True])
def test_a_factor_of_definite_matrices_is_that_of_cholesky(upper):
    def symmetric(x):
        return linalg.cholesky_ex((x + x.mT) / 2, upper=upper).L

    def reference(x):
        lower = np.linalg.cholesky((x + np.swapaxes(x, -1, -2)) / 2)
        return np.swapaxes(lower, -1, -2) if upper else lower

    shapes = [((3, 3),), ((2, 2, 2),), ((0, 2, 2),)]
    check_op(OpCase("cholesky_ex", symmetric, shapes, make=make_definite, reference=reference))


def test_an_inverse_is_that_of_inv():
    shapes = [((3, 3),), ((2, 2, 2),), ((0, 2, 2),)]
    check_op(
        OpCase("inv_ex", lambda x: linalg.inv_ex(x)[0], shapes, make=make, reference=np.linalg.inv)
    )
    assert linalg.inv_ex(T.zeros(2, 0, 0)).info.tolist() == [0, 0]


def test_the_minor_at_fault_is_told_and_others_are_done():
    a = T.tensor(DEFINITE + OTHERS, dtype=T.float64, requires_grad=True)
    factor, info = linalg.cholesky_ex(a)
    assert info.tolist() == [0, 2, 1, 1] and info.dtype == T.int32
    np.testing.assert_allclose(factor[0].detach().numpy(), np.linalg.cholesky(DEFINITE[0]))
    assert factor[1:].isnan().all()
    factor[0].sum().backward()
    assert a.grad[0].any() and not a.grad[1:].any()
    assert linalg.cholesky_ex(a.detach() * (1 + 0j)).info.tolist() == [0, 2, 1, 1]
    assert T.vmap(linalg.cholesky_ex)(a.detach()).info.tolist() == [0, 2, 1, 1]
    last = T.eye(40, dtype=T.float64)
    last[39, 39] = -1
    assert linalg.cholesky_ex(last).info.item() == 40


NAN, INF = float("nan"), float("inf")
FAULTS = [
    ([[NAN, 0.0], [0.0, 1.0]], 1), ([[1.0, 0.0], [NAN, 1.0]], 2), ([[1.0, 0.0], [INF, 1.0]], 2),
    ([[1.0, 0.0], [0.0, -INF]], 2), ([[-1.0, 0.0], [0.0, NAN]], 1),
    # no faults: the upper half is not read, and an infinite pivot has a root
    ([[1.0, NAN], [0.0, 1.0]], 0), ([[INF, 0.0], [0.0, 1.0]], 0),
]  # fmt: skip


@pytest.mark.parametrize("matrix, expected", FAULTS)
def test_a_minor_that_is_not_a_number_is_at_fault(matrix, expected):
    a = T.tensor(matrix, dtype=T.float64)
    factor, info = linalg.cholesky_ex(a)
    assert info.item() == expected and bool(factor.isnan().all()) == bool(expected)
    with strict_cuda(), np.errstate(all="ignore"):  # eliminated there, as on a GPU
        assert linalg.cholesky_ex(a.to("cuda")).info.tolist() == expected
    for function in (linalg.cholesky, lambda a: linalg.cholesky_ex(a, check_errors=True)):
        if expected:
            with pytest.raises(linalg.LinAlgError, match="not positive-definite"):
                function(a)
        else:
            function(a)


def test_the_first_of_several_faults_in_a_large_matrix_is_told():
    a = T.eye(80, dtype=T.float64)
    a[60, 60], a[70, 70] = -1.0, NAN
    b = a.clone()
    b[50, 50] = NAN
    assert linalg.cholesky_ex(T.stack([a, b, T.eye(80, dtype=T.float64)])).info.tolist() == [
        61, 51, 0,
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 2, 2), (3, 0, 2, 2)])
@pytest.mark.parametrize("check_errors", [False, True])
def test_factors_of_nothing(shape, check_errors):
    factor, info = linalg.cholesky_ex(T.zeros(*shape), check_errors=check_errors)
    assert factor.shape == shape and info.shape == shape[:-2] and not info.any()


def test_the_pivot_that_is_zero_is_told_and_others_are_done():
    singular = [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]]
    a = T.tensor(DEFINITE + singular, dtype=T.float64, requires_grad=True)
    inverse, info = linalg.inv_ex(a)
    assert info.tolist() == [0, 2, 1] and info.dtype == T.int32
    np.testing.assert_allclose(inverse[0].detach().numpy(), np.linalg.inv(DEFINITE[0]))
    assert inverse[1:].isnan().all()
    inverse[0].sum().backward()
    assert a.grad[0].any() and not a.grad[1:].any()
    assert T.vmap(linalg.inv_ex)(a.detach()).info.tolist() == [0, 2, 1]


SYSTEMS = [((2, 2), (2, 3)), ((2, 2, 2), (2, 2, 1)), ((2, 2), (2,)), ((3, 2, 2), (3, 2))]


@pytest.mark.parametrize("left", [True, False])
def test_a_solution_is_that_of_solve(left):
    def make(rng, a, b):
        right = np.swapaxes(np.empty(b), -1, -2).shape if not left else b
        return rng.uniform(-1, 1, a) + 2 * np.eye(a[-1]), rng.uniform(-1, 1, right)

    def reference(a, b):
        if not left:
            return b @ np.linalg.inv(a)
        vector = b.ndim < a.ndim
        found = np.linalg.solve(a, b[..., None] if vector else b)
        return found[..., 0] if vector else found

    shapes = SYSTEMS if left else SYSTEMS[:2]
    check_op(
        OpCase("solve_ex", lambda a, b: linalg.solve_ex(a, b, left=left).result, shapes, make=make,
               reference=reference)
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(3, 2, 1), (3, 2)])
def test_a_system_without_a_solution_is_told_and_others_are_solved(shape):
    singular = [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]]
    a = T.tensor(DEFINITE + singular, dtype=T.float64, requires_grad=True)
    x, info = linalg.solve_ex(a, T.ones(shape, dtype=T.float64))
    assert info.tolist() == [0, 2, 1] and info.dtype == T.int32 and x.shape == shape
    expected = np.linalg.solve(DEFINITE[0], np.ones((2, 1))).reshape(shape[1:])
    np.testing.assert_allclose(x[0].detach().numpy(), expected, rtol=1e-14)
    assert x[1:].isnan().all()
    x[0].sum().backward()
    assert a.grad[0].any() and not a.grad[1:].any()
    with pytest.raises(linalg.LinAlgError):
        linalg.solve_ex(a, T.ones(shape, dtype=T.float64), check_errors=True)


@pytest.mark.parametrize("function", [linalg.cholesky_ex, linalg.inv_ex])
def test_errors_are_raised_by_wish(function):
    good, bad = T.tensor(DEFINITE, dtype=T.float64), T.zeros(2, 2)
    assert function(good, check_errors=True).info.tolist() == [0]
    with pytest.raises(linalg.LinAlgError):
        function(bad, check_errors=True)
    recorded = T.compile(lambda a: T.cat([x.flatten() for x in function(a)]))
    for a in (good, 2 * good):
        np.testing.assert_allclose(recorded(a).numpy(), T.cat([
            x.flatten() for x in function(a)
        ]).numpy())  # fmt: skip


def test_a_device_gives_the_same():
    with strict_cuda():
        a = T.tensor(DEFINITE + OTHERS, dtype=T.float64, device="cuda")
        assert linalg.cholesky_ex(a).info.tolist() == [0, 2, 1, 1]
        assert linalg.inv_ex(a).info.tolist() == [0, 0, 0, 1]
