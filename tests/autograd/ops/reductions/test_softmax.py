"""Softmax, log-softmax and log-sum-exp, at ordinary and at extreme values."""

import math
import warnings

import mpmath
import numpy as np
import pytest
import scipy.special

import autograd as T
from autograd.ops.reductions import softmax as S
from autograd.testing import OpCase, check_op

DIMS = [((2, 3),), ((2, 3, 2),), ((0, 3),), ((2, 0),)]

CASES = [
    OpCase(
        "softmax",
        lambda x: S.softmax(x, 1),
        DIMS[:3],
        order=3,
        reference=lambda x: scipy.special.softmax(x, 1),
    ),
    OpCase("softmax of nothing", lambda x: S.softmax(x, 1), [((2, 0),)], reference=lambda x: x),
    OpCase("softmax 0-d", lambda x: S.softmax(x, 0), [((),)], reference=np.ones_like),
    OpCase(
        "log_softmax",
        lambda x: S.log_softmax(x, 1),
        DIMS[:3],
        order=3,
        reference=lambda x: scipy.special.log_softmax(x, 1),
    ),
    OpCase("log_softmax 0-d", lambda x: S.log_softmax(x, -1), [((),)], reference=np.zeros_like),
    OpCase(
        "logsumexp",
        lambda x: S.logsumexp(x, 1),
        DIMS[:3],
        order=3,
        reference=lambda x: scipy.special.logsumexp(x, 1),
    ),
    OpCase(
        "logsumexp dims",
        lambda x: S.logsumexp(x, (0, 2), keepdim=True),
        [((2, 3, 2),)],
        reference=lambda x: scipy.special.logsumexp(x, (0, 2), keepdims=True),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_large_values_do_not_overflow():
    x = T.tensor(np.array([1000.0, 1001.0, -1000.0]), requires_grad=True)
    with mpmath.workdps(40):
        exact = [mpmath.mpf(v) for v in (1000, 1001, -1000)]
        total = sum(mpmath.exp(v) for v in exact)
        expected = [float(mpmath.exp(v) / total) for v in exact]
        log_total = float(mpmath.log(total))
    np.testing.assert_allclose(x.softmax(0).detach().numpy(), expected, rtol=1e-14)
    assert x.logsumexp(0).item() == pytest.approx(log_total, rel=1e-15)
    (g,) = T.grad(x.logsumexp(0), x)
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-13)
    assert np.isfinite(x.log_softmax(0).detach().numpy()).all()


def test_logsumexp_of_infinities():
    inf = math.inf
    assert T.tensor([-inf, -inf]).logsumexp(0).item() == -inf
    assert T.tensor([1.0, inf]).logsumexp(0).item() == inf
    assert T.tensor([-inf, 2.0]).logsumexp(0).item() == 2.0
    assert T.zeros(2, 0).logsumexp(1).tolist() == [-inf, -inf]


def test_masked_entries_get_no_gradient():
    x = T.tensor([-math.inf, 2.0, 2.0], requires_grad=True)
    (g,) = T.grad(x.logsumexp(0), x)
    assert g.tolist() == [0.0, 0.5, 0.5]


def test_integers_become_the_default_float():
    x = T.tensor([[1, 1]])
    assert x.logsumexp(1).dtype == T.float32
    assert x.softmax(1, dtype=T.float64).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("function", [S.softmax, S.log_softmax])
def test_complex_numbers_are_refused(function):
    with pytest.raises(RuntimeError, match="not implemented for complex"):
        function(T.zeros(2).cfloat(), 0)


def test_softmax_is_written_into_a_given_array():
    x = np.random.default_rng(0).normal(size=(3, 4))
    for op in (S.softmax_op, S.log_softmax_op):
        out = np.empty_like(x)
        assert op.forward(np, x, out=out, dim=1) is out
        assert np.array_equal(out, op.forward(np, x, dim=1))


def test_logsumexp_of_complex_numbers():
    check_op(
        OpCase(
            "logsumexp",
            lambda x: S.logsumexp(x, -1),
            [((3,),), ((2, 4),)],
            complex=True,
            reference=lambda x: np.log(np.exp(x).sum(-1)),
            order=2,
        )
    )
    large = T.tensor([800 + 1j, 801 - 2j, -900j], dtype=T.complex128)
    expected = 801 + np.log(np.exp(-1 + 1j) + np.exp(-2j))
    assert S.logsumexp(large, 0).item() == pytest.approx(expected, rel=1e-14)


def test_a_real_dtype_takes_the_real_part_of_complex_input():
    values = np.array([1.0 + 2j, -0.5j])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = T.softmax(T.tensor(values), 0, dtype=np.float64)
    np.testing.assert_allclose(result.numpy(), np.exp([1.0, 0.0]) / np.exp([1.0, 0.0]).sum())
