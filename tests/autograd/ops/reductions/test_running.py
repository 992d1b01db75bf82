"""Running extrema and sums of exponentials: numpy's, ties, NaN, infinities, derivatives."""

import math

import numpy as np
import pytest

import autograd as T
from autograd.testing import OpCase, check_op

SHAPES = [((5,),), ((3, 4),), ((2, 3, 2),), ((),), ((0, 3),), ((2, 0),)]


def along_last(ufunc):
    return lambda x: ufunc.accumulate(x, -1) if x.ndim else x


CASES = [
    OpCase("cummax", lambda x: T.cummax(x, -1).values, SHAPES, reference=along_last(np.maximum)),
    OpCase("cummin", lambda x: T.cummin(x, -1).values, SHAPES, reference=along_last(np.minimum)),
    OpCase(
        "logcumsumexp", lambda x: T.logcumsumexp(x, -1), SHAPES, order=3,
        reference=along_last(np.logaddexp),
    ),
    OpCase("along the first", lambda x: T.logcumsumexp(x, 0), SHAPES[:3]),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


def test_the_index_is_the_last_of_equal_ones_and_nan_stays():
    x = T.tensor([1.0, 3.0, 3.0, 2.0, math.nan, 5.0, math.nan, 1.0])
    values, indices = T.cummax(x, 0)
    assert values[:4].tolist() == [1.0, 3.0, 3.0, 3.0] and values[4:].isnan().all()
    assert indices.tolist() == [0, 1, 2, 2, 4, 4, 6, 6] and indices.dtype == T.int64
    assert T.cummin(T.tensor([3, 5, 3, 1, 1]), 0).indices.tolist() == [0, 0, 2, 3, 4]
    assert T.cummax(T.tensor([False, True, False]), 0).values.tolist() == [False, True, True]


def test_the_gradient_goes_to_what_was_chosen():
    x = T.tensor([1.0, 3.0, 2.0, 4.0], requires_grad=True)
    (T.cummax(x, 0).values * T.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert x.grad.tolist() == [1.0, 110.0, 0.0, 1000.0]


def test_no_exponential_overflows():
    x = T.tensor([800.0, -900.0, 900.0, 899.0], dtype=T.float64, requires_grad=True)
    y = T.logcumsumexp(x, 0)
    np.testing.assert_allclose(y.detach(), np.logaddexp.accumulate(x.detach().numpy()), rtol=1e-14)
    y.sum().backward()
    shares = np.array([1 + 1 + 0 + 0, 0, 1 + 1 / (1 + math.exp(-1)), 1 / (1 + math.e)])
    np.testing.assert_allclose(x.grad, shares, rtol=1e-12, atol=1e-40)


def test_nothing_yet_has_the_logarithm_of_0_and_no_gradient():
    x = T.tensor([-math.inf, -math.inf, 1.0], requires_grad=True)
    y = T.logcumsumexp(x, 0)
    assert y.tolist() == [-math.inf, -math.inf, 1.0]
    y[2].backward()
    assert x.grad.tolist() == [0.0, 0.0, 1.0]


def test_running_sums_of_complex_exponentials():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2, 6, 3)) + 4j * rng.normal(size=(2, 6, 3))
    x = T.tensor(values, requires_grad=True)
    y = T.logcumsumexp(x, 1)
    np.testing.assert_allclose(y.detach().exp(), np.cumsum(np.exp(values), 1), rtol=1e-13)
    assert T.autograd.gradcheck(lambda x: T.logcumsumexp(x, 1), [x])
    assert T.autograd.gradgradcheck(lambda x: T.logcumsumexp(x, 1), [x])


def test_no_complex_exponential_overflows():
    x = T.tensor([complex(-math.inf, 1), 800 + 5j, -900j, 801 - 2j], requires_grad=True)
    y = T.logcumsumexp(x, 0)
    both = 801 - 2j + np.log(1 + np.exp(-1 + 7j))
    expected = [complex(-math.inf, 1), 800 + 5j, 800 + 5j, both]
    np.testing.assert_allclose(y.detach().numpy(), np.array(expected, y.dtype), rtol=1e-6)
    y[3].real.backward()
    share = 1 / (1 + np.exp(1 - 7j))
    np.testing.assert_allclose(x.grad.numpy(), np.conj([0, share, 0, 1 - share]), rtol=1e-4)
    high = T.logcumsumexp(T.tensor([complex(math.inf, 0), 1 + 1j]), 0)
    assert high.real.tolist() == [math.inf, math.inf]


def test_complex_numbers_have_no_extremes_and_integers_become_floats():
    for function in (T.cummax, T.cummin):
        with pytest.raises(RuntimeError, match="complex"):
            function(T.tensor([1j]), 0)
    assert T.logcumsumexp(T.tensor([0, 0]), 0).dtype == T.get_default_dtype()
