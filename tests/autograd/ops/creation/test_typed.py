"""PyTorch's older names for tensors of a dtype."""

import numpy as np
import pytest

import autograd as T


@pytest.fixture
def usual_dtype():
    before = T.get_default_dtype()
    yield
    T.set_default_dtype(before)


@pytest.mark.parametrize("name, dtype", [
    ("HalfTensor", T.float16), ("FloatTensor", T.float32), ("DoubleTensor", T.float64),
    ("ByteTensor", T.uint8), ("IntTensor", T.int32), ("LongTensor", T.int64),
    ("BoolTensor", T.bool),
])  # fmt: skip
def test_a_constructor_makes_tensors_of_its_dtype(name, dtype):
    make = getattr(T, name)
    copied = make([[0, 1]])
    assert copied.dtype == dtype and copied.tolist() == [[0, 1]]
    assert make(2, 3).shape == (2, 3) and make(2, 3).dtype == dtype
    assert make().shape == (0,)
    assert repr(make) == f"autograd.{name}"
    assert T.ones(1).type(make).dtype == dtype


def test_data_are_copied():
    array = np.ones(2, np.float32)
    made = T.FloatTensor(array)
    array[0] = 5
    assert made.tolist() == [1, 1]


def test_the_type_of_a_tensor_is_told_and_changed():
    x = T.ones(2, dtype=T.float64, requires_grad=True)
    assert x.type() == "torch.DoubleTensor"
    assert T.ones(1, dtype=T.int64).type() == "torch.LongTensor"
    single = x.type("torch.FloatTensor")
    assert single.dtype == T.float32 and T.grad(single.sum(), x)[0].tolist() == [1, 1]
    assert x.type(T.float32).dtype == T.float32


@pytest.mark.parametrize("kind", [T.DoubleTensor, "torch.DoubleTensor", T.float64])
def test_the_usual_dtype_is_set_by_a_type(kind, usual_dtype):
    T.set_default_tensor_type(T.FloatTensor)
    assert T.zeros(1).dtype == T.float32
    T.set_default_tensor_type(kind)
    assert T.zeros(1).dtype == T.float64


def test_types_that_are_none_are_refused(usual_dtype):
    with pytest.raises(TypeError, match="floating point"):
        T.set_default_tensor_type(T.LongTensor)
    with pytest.raises(TypeError, match="device='cuda'"):
        T.set_default_tensor_type("torch.cuda.FloatTensor")


def test_a_tensor_of_sizes():
    assert T.Tensor(2, 3).shape == (2, 3) and T.Tensor(4).shape == (4,)
    assert T.Tensor(4, requires_grad=True).requires_grad
    assert T.Tensor(1, 2, 3, 4).dtype == T.get_default_dtype()
    assert T.nn.Parameter(T.Tensor(2, 3)).requires_grad
    with pytest.raises(TypeError, match="sizes that are integers"):
        T.Tensor([1.0], False, 3)
