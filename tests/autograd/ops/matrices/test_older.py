"""Names of older scripts: the same numbers as the newer ones give."""

import numpy as np
import pytest

import autograd as T
from autograd import linalg
from autograd.testing import OpCase, check_op


def make(rng, shape):
    return (rng.uniform(-1, 1, shape) + 2 * np.eye(*shape[-2:]),)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_svd_gives_v_itself(shape):
    x = T.tensor(make(np.random.default_rng(0), shape)[0])
    for some in (True, False):
        u, s, v = T.svd(x, some=some)
        expected = linalg.svd(x, full_matrices=not some)
        assert u.tolist() == expected.U.tolist() and s.tolist() == expected.S.tolist()
        assert v.tolist() == expected.Vh.mT.tolist()
    u, s, v = x.svd(compute_uv=False)
    assert not u.any() and not v.any()
    assert u.shape[-2:] == (shape[-2],) * 2 and v.shape[-2:] == (shape[-1],) * 2
    np.testing.assert_allclose(s.numpy(), linalg.svdvals(x).numpy(), rtol=1e-13)


def test_svd_and_qr_have_derivatives():
    def again(x):
        u, s, v = T.svd(x)
        return (u * s.unsqueeze(-2)) @ v.mT

    check_op(OpCase("svd", again, [((3, 2),)], make=make, reference=lambda x: x))
    check_op(OpCase("qr", lambda x: T.qr(x)[1], [((3, 2),)], make=make))


def test_qr_is_complete_by_wish():
    x = T.tensor(make(np.random.default_rng(0), (4, 2))[0])
    assert T.qr(x).Q.shape == (4, 2) and x.qr(some=False).Q.shape == (4, 4)
    assert T.qr(x).R.tolist() == linalg.qr(x).R.tolist()


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("unitriangular", [True, False])
def test_triangular_systems(upper, transpose, unitriangular):
    def triangle(a):
        part = np.triu(a) if upper else np.tril(a)
        if unitriangular:
            part = part - part * np.eye(3) + np.eye(3)
        return np.swapaxes(part, -1, -2) if transpose else part

    def make(rng, b, a):
        return rng.uniform(-1, 1, b), rng.uniform(-1, 1, a) + 2 * np.eye(3)

    options = {"upper": upper, "transpose": transpose, "unitriangular": unitriangular}
    check_op(
        OpCase("triangular_solve", lambda b, a: T.triangular_solve(b, a, **options)[0],
               [((3, 2), (3, 3)), ((2, 3, 1), (2, 3, 3))], make=make,
               reference=lambda b, a: np.linalg.solve(triangle(a), b))
    )  # fmt: skip
    b, a = T.ones(2, 1, 3, 1), T.eye(3).expand(4, 3, 3)
    solution, copied = b.triangular_solve(a, **options)
    assert solution.shape == (2, 4, 3, 1) and copied.shape == (2, 4, 3, 3)
    assert (copied == T.eye(3)).all()
