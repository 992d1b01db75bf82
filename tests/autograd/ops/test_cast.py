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
