"""The singular value decomposition that norms are made of."""

import numpy as np

import autograd as T
from autograd.ops.svd import svd_op
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
