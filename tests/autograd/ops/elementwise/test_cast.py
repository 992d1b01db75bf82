"""Questions about dtypes."""

import numpy as np
import pytest

import autograd as T


def test_questions_about_tensors():
    x = T.ones(2, 3)
    assert T.is_tensor(x) and not T.is_tensor(x.numpy()) and T.is_tensor(T.nn.Parameter(x))
    assert T.numel(x) == 6 and T.numel(T.tensor(1.0)) == 1
    assert T.is_floating_point(x) and not T.is_floating_point(x.long())
    assert T.is_complex(x.cfloat()) and not T.is_complex(x)
    with pytest.raises(TypeError, match="must be Tensor"):
        T.numel(np.ones(3))


def test_limits_of_dtypes():
    assert T.finfo(T.float32).eps == 2.0**-23 and T.finfo(T.float64).max > 1e308
    assert T.iinfo(T.int8).max == 127
    assert (T.ones(1) + T.finfo(T.float32).eps).dtype == T.float32


def test_questions_about_a_tensor():
    assert T.is_signed(T.ones(1)) and not T.ones(1, dtype=T.uint8).is_signed()
    assert T.is_nonzero(T.tensor([2])) and not T.tensor(0.0).is_nonzero()
    with pytest.raises(RuntimeError, match="with 2 values is ambiguous"):
        T.is_nonzero(T.ones(2))
    assert T.ones(2, 3).is_same_size(T.zeros(2, 3)) and not T.is_same_size(T.ones(2), T.ones(1))
    x = T.tensor([1.7, 200.0])
    for name, dtype in (("byte", T.uint8), ("short", T.int16)):
        assert getattr(x, name)().dtype == dtype and getattr(x, name)().tolist() == [1, 200]
    assert x[:1].char().dtype == T.int8


def test_strides_are_counted_in_elements():
    x = T.zeros(2, 3, 4)
    assert x.stride() == (12, 4, 1) and x.stride(0) == 12 and x.mT.stride(-1) == 4
