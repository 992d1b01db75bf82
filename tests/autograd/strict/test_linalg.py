"""Linear algebra of the strict test device: factors, and what happens where there are none."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.devices import linalg_raises
from autograd.strict import StrictArray, counted, strict_cuda

GOOD = np.array([[4.0, 1.0], [1.0, 3.0]])
BAD = np.array([[1.0, 2.0], [2.0, 1.0]])


@pytest.fixture
def backend():
    with strict_cuda() as found:
        yield found


def test_what_has_no_factor_is_told_only_where_that_was_asked_for(backend):
    linalg, bad = backend.xp.linalg, StrictArray(BAD)
    singular = StrictArray(np.ones((2, 2)))
    for call in (
        lambda: linalg.cholesky(bad), lambda: linalg.inv(singular),
        lambda: linalg.solve(singular, StrictArray(np.ones(2))),
    ):  # fmt: skip
        assert np.isfinite(call()._host).all()  # as cupy does: numbers that mean nothing
        with linalg_raises(backend.xp), pytest.raises(np.linalg.LinAlgError):
            call()
        assert np.isfinite(call()._host).all()
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        linalg.cholesky(StrictArray(np.ones((2, 3))))
    with pytest.raises(np.linalg.LinAlgError, match="only supports"):
        linalg.cholesky(GOOD)


def test_asking_is_a_wait(backend):
    good = StrictArray(GOOD)
    for ask, waits in ((False, 0), (True, 1)):
        with counted() as counts:
            if ask:
                with linalg_raises(backend.xp):
                    factor = backend.xp.linalg.cholesky(good)
            else:
                factor = backend.xp.linalg.cholesky(good)
        assert (counts.launches, counts.synchronisations) == (1, waits)
        np.testing.assert_array_equal(factor._host, np.linalg.cholesky(GOOD))


@pytest.mark.parametrize("trans", ["N", "T", 0, 1])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_triangles_are_solved_with_in_any_order(backend, trans, lower, shape):
    rng = np.random.default_rng(0)
    matrix = np.eye(3) * 4 + rng.random((3, 3))
    b = rng.random(shape)
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    expected = np.linalg.solve(triangle.T if trans in ("T", 1) else triangle, b)
    solve = backend.load_linalg().solve_triangular
    for order, launches in (("F", 1), ("C", 2)):
        with counted() as counts:
            given = StrictArray(np.array(matrix, order=order))
            found = solve(given, StrictArray(b), trans=trans, lower=lower)
        np.testing.assert_allclose(found._host, expected, rtol=1e-13)
        assert (counts.launches, counts.synchronisations) == (launches, 0)
    with pytest.raises(np.linalg.LinAlgError):
        solve(matrix, StrictArray(b))
    with pytest.raises(ValueError, match="incompatible"):
        solve(given, StrictArray(np.ones(4)))


def test_a_zero_on_the_diagonal_is_divided_by_as_on_a_gpu(backend):
    solve = backend.load_linalg().solve_triangular
    found = solve(StrictArray(np.array([[1.0, 1.0], [0.0, 0.0]])), StrictArray(np.ones(2)))
    assert not np.isfinite(found._host).any()


def test_the_librarys_operations_ask(backend):
    for name, array in (("cholesky", BAD), ("inv", np.ones((2, 2)))):
        with pytest.raises(T.linalg.LinAlgError, match=f"linalg.{name}"):
            getattr(T.linalg, name)(T.tensor(array, device="cuda"))
    with pytest.raises(T.linalg.LinAlgError, match="linalg.solve"):
        T.linalg.solve(T.ones((2, 2), device="cuda"), T.tensor([[1.0], [2.0]], device="cuda"))


def test_memory_that_is_not_free_is_refused_with_its_bytes(backend):
    assert backend.free_memory(0) == 8 << 30
    backend.xp.free = 100
    backend.xp.empty(12)
    with pytest.raises(MemoryError, match="allocating 104 bytes"):
        backend.xp.empty(13)
    assert backend.free_memory(0) == 100


def test_bytes_of_copies_are_counted(backend):
    with counted() as counts:
        there = backend.from_host(np.ones(5), 0)
        backend.to_host(there[:3])
        float(there[0])
    assert (counts.sent, counts.fetched) == (40, 32)
