"""Common divisors and multiples, and shifts, against the mathematics."""

import math

import numpy as np
import pytest

import autograd as T

A, B = np.array([12, -8, 0, 7, 30]), np.array([18, 12, 5, 7, -4])


@pytest.mark.parametrize("dtype", [T.int16, T.int32, T.int64])
def test_divisors_multiples_and_shifts(dtype, cuda):
    for device in ("cpu", cuda):
        a, b = (T.tensor(v, device=device).to(dtype) for v in (A, B))
        assert T.gcd(a, b).tolist() == [math.gcd(*pair) for pair in zip(A, B, strict=True)]
        assert a.lcm(b).tolist() == [math.lcm(*pair) for pair in zip(A, B, strict=True)]
        assert (a << 2).tolist() == (A * 4).tolist() == T.bitwise_left_shift(a, 2).tolist()
        assert (a >> 1).tolist() == (A // 2).tolist()
        assert T.gcd(a, b).dtype == dtype


def test_they_broadcast_and_work_in_place():
    a = T.tensor(A)
    assert T.gcd(a[:, None], T.tensor([4, 6])).shape == (5, 2)
    assert a.gcd_(T.tensor(6)) is a and a.tolist() == [6, 2, 6, 1, 6]


@pytest.mark.parametrize("value", [1.5, True, T.tensor([1.5])])
def test_only_integers(value):
    for function in (T.gcd, T.lcm, T.bitwise_left_shift, T.bitwise_right_shift):
        tensor = T.as_tensor(value)
        with pytest.raises(RuntimeError, match="is only implemented for integers"):
            function(T.tensor([1]), tensor)
    for function in (T.bitwise_left_shift, T.bitwise_right_shift):
        with pytest.raises(RuntimeError, match="is only implemented for integers"):
            function(T.tensor([1]), value)


def test_divisors_are_those_of_tensors_alone():
    for function in (T.gcd, T.lcm):
        with pytest.raises(TypeError, match=r"'other' \(position 2\) must be Tensor, not int"):
            function(T.tensor([1]), 2)
        with pytest.raises(TypeError, match=r"'input' \(position 1\) must be Tensor, not int"):
            function(2, T.tensor([1]))
