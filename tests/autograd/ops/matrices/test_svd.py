"""The singular value decomposition against numpy's, and its derivatives."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.matrices.svd import svd_op
from autograd.testing import OpCase, check_op


def test_the_factors_multiply_to_the_matrix():
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    u, s, vh = (part.numpy() for part in svd_op(T.tensor(x)))
    np.testing.assert_allclose((u * s[:, None]) @ vh, x, rtol=1e-13, atol=1e-14)


def test_derivatives_of_all_three_factors():
    """What does not depend on the phases of the vectors: here (A A^H)^(-1/4) A."""

    def fn(x):
        u, s, vh = svd_op(x)
        return u @ (s.sqrt().unsqueeze(-1) * vh)

    check_op(OpCase("root", fn, [((3, 3),), ((4, 2),), ((2, 4),), ((2, 3, 3),)], complex=True))


def moduli(full):
    def fn(x):
        u, s, vh = T.linalg.svd(x, full_matrices=full)
        size = s.shape[-1]
        return u[..., :size].abs(), s, vh[..., :size, :].abs()

    return fn


@pytest.mark.parametrize("full", [False, True])
def test_values_and_derivatives(full):
    shapes = [((2, 2),), ((3, 2),), ((2, 3),), ((2, 2, 1),), ((0, 2, 2),)]

    def reference(x):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        return abs(u), s, abs(vh)

    check_op(OpCase("svd", moduli(full), shapes, reference=reference, complex=True))
    check_op(
        OpCase(
            "svdvals", T.linalg.svdvals, shapes, complex=True,
            reference=lambda x: np.linalg.svd(x, compute_uv=False),
        )
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3), (0, 3)])
def test_square_factors_are_unitary(shape):
    x = T.rand(shape, dtype=T.float64)
    u, s, vh = T.linalg.svd(x)
    for factor, size in ((u, shape[0]), (vh, shape[1])):
        assert T.allclose(factor @ factor.mT, T.eye(size, dtype=T.float64))
    k = min(shape)
    assert T.allclose(u[:, :k] @ s.diag() @ vh[:k], x)


def test_what_is_not_finite_has_no_decomposition():
    with pytest.raises(T.linalg.LinAlgError, match="elements that are not finite"):
        T.linalg.svd(T.full((2, 2), T.nan))
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        T.linalg.svdvals(T.ones(3))
