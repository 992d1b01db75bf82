"""The QR decomposition against numpy's, and its derivatives."""

import numpy as np
import pytest

import autograd as T
from autograd import linalg
from autograd.testing import OpCase, check_op


def make(rng, shape):
    return (rng.uniform(-1, 1, shape) + 2 * np.eye(*shape[-2:]),)


def case(mode, shapes, dtypes=(np.float32,)):
    return OpCase(
        f"qr {mode}",
        lambda x: linalg.qr(x, mode),
        shapes,
        make=make,
        reference=lambda x: tuple(np.linalg.qr(x, mode)),
        complex=True,
        dtypes=dtypes,
    )


CASES = [
    case("reduced", [((3, 3),), ((4, 2),), ((2, 4),), ((2, 3, 2),), ((1, 1),), ((0, 2, 2),)]),
    case("complete", [((3, 3),), ((2, 4),)]),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_a_complete_basis_has_no_gradient_where_it_has_vectors_more():
    x = T.rand(3, 2, dtype=T.float64, requires_grad=True)
    q, r = linalg.qr(x, "complete")
    assert q.shape == (3, 3) and r.shape == (3, 2)
    assert T.allclose(q @ r, x) and T.allclose(q @ q.mT, T.eye(3, dtype=T.float64))
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete'"):
        r.sum().backward()


@pytest.mark.parametrize("shape", [(3, 2), (2, 3)])
def test_the_factor_alone(shape):
    x = T.rand(shape, dtype=T.float64, requires_grad=True)
    q, r = linalg.qr(x, "r")
    whole = linalg.qr(x)
    assert q.shape == (0,) and T.equal(r, whole.R)
    assert T.equal(T.grad(r.sum(), x)[0], T.grad(whole.R.sum(), x)[0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: linalg.qr(x[0]), "at least 2 dimensions"),
        (lambda x: linalg.qr(x, "full"), "unrecognized mode 'full' but expected one of 'reduced'"),
    ],
)
def test_bad_arguments_are_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call(T.ones(3, 3))
