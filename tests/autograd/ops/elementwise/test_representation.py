"""Signs, fractions, mantissas and the next number: numpy's, and what carries a gradient."""

import math

import numpy as np
import pytest

import autograd as T
from autograd.testing import BINARY_SHAPES, OpCase, check_op

EDGES = np.array([-np.inf, -3.5, -1.0, -0.25, -0.0, 0.0, 0.25, 1.0, 3.5, np.inf, np.nan])

CASES = [
    OpCase("signbit", T.signbit, reference=np.signbit, order=0, dtypes=()),
    OpCase("copysign", lambda x: T.copysign(x, -2.0), reference=lambda x: -np.abs(x)),
    OpCase("frac", T.frac, reference=lambda x: x - np.trunc(x)),
    OpCase("frexp", lambda x: T.frexp(x).mantissa, reference=lambda x: np.frexp(x)[0]),
    OpCase("deg2rad", T.deg2rad, reference=np.deg2rad),
    OpCase("rad2deg", T.rad2deg, reference=np.rad2deg),
    OpCase("ldexp", T.ldexp, BINARY_SHAPES, reference=lambda x, y: x * 2**y),
    OpCase(
        "nextafter", T.nextafter, BINARY_SHAPES, reference=np.nextafter, order=0, dtypes=()
    ),
    OpCase("logaddexp2", T.logaddexp2, BINARY_SHAPES, reference=np.logaddexp2, order=3),
    OpCase("fmax", T.fmax, BINARY_SHAPES, reference=np.fmax),
    OpCase("fmin", T.fmin, BINARY_SHAPES, reference=np.fmin),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


def test_signs_of_zeros_and_nan():
    x = T.tensor(EDGES)
    np.testing.assert_array_equal(T.signbit(x).numpy(), np.signbit(EDGES))
    assert T.signbit(T.tensor([-1, 0, 2])).tolist() == [True, False, False]
    found = T.copysign(T.tensor([1.0, 2.0, 3.0]), T.tensor([-0.0, 0.0, -math.nan]))
    np.testing.assert_array_equal(found.numpy(), np.copysign([1.0, 2, 3], [-0.0, 0.0, -math.nan]))
    assert T.copysign(T.tensor([2]), -1).dtype == T.get_default_dtype()


def test_copysign_has_the_derivative_of_the_modulus():
    x = T.tensor([2.0, -3.0, 0.0], requires_grad=True)
    T.copysign(x, T.tensor([-1.0, -1.0, -1.0])).sum().backward()
    assert x.grad.tolist() == [-1.0, 1.0, 0.0]


def test_mantissas_and_exponents_of_every_size():
    x = np.array([5e-324, 1e-310, 0.1, 1.0, -3.0, 1e308, 0.0, -0.0])
    found = T.frexp(T.tensor(x))
    for ours, theirs in zip(found, np.frexp(x), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)
    assert found.exponent.dtype == T.int32
    np.testing.assert_array_equal((found.mantissa * 1.0).numpy(), np.frexp(x)[0])
    again = T.ldexp(T.tensor([0.75, -0.5]), T.tensor([3, -2]))
    assert again.tolist() == [6.0, -0.125]


def test_of_nan_the_other_one_is_taken_and_of_equals_the_first():
    x, y = T.tensor(EDGES, requires_grad=True), T.tensor(EDGES[::-1].copy(), requires_grad=True)
    for ours, theirs in ((T.fmax, np.fmax), (T.fmin, np.fmin)):
        np.testing.assert_array_equal(ours(x, y).detach().numpy(), theirs(EDGES, EDGES[::-1]))
    a, b = T.tensor([1.0, math.nan], requires_grad=True), T.tensor([1.0, 2.0], requires_grad=True)
    T.fmax(a, b).sum().backward()
    assert a.grad.tolist() == [1.0, 0.0] and b.grad.tolist() == [0.0, 1.0]


def test_float_power_is_in_double_precision():
    found = T.float_power(T.tensor([2, 3]), -1)
    assert found.dtype == T.float64 and found.tolist() == [0.5, 1 / 3]
    assert T.float_power(2, T.tensor([0.5], dtype=T.float32)).item() == math.sqrt(2)
    assert T.float_power(T.tensor([1j]), 2).dtype == T.complex128


def test_real_numbers():
    assert T.isreal(T.tensor([1 + 0j, 2 - 1j])).tolist() == [True, False]
    assert T.isreal(T.tensor([1.0, math.nan, math.inf])).tolist() == [True] * 3
    assert T.isreal(T.tensor([1])).tolist() == [True]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: T.signbit(T.tensor([1j])), "signbit is not implemented for complex"),
        (lambda: T.frac(T.tensor([1])), "frac is not implemented for int64"),
        (lambda: T.frexp(T.tensor([1])), "only supports floating-point dtypes"),
        (lambda: T.nextafter(T.tensor([1]), T.tensor([2])), "nextafter not implemented for int64"),
        (lambda: T.fmax(T.tensor([1j]), T.tensor([1j])), "fmax is not implemented for complex"),
        (lambda: T.logaddexp2(T.tensor([1j]), T.tensor([1j])), "logaddexp2 is not implemented"),
    ],
)
def test_what_is_refused(function, message):
    with pytest.raises(RuntimeError, match=message):
        function()
