"""What `Tensor(...)` and `Variable(...)` make, and when values may be read as numpy."""

import operator

import numpy as np
import pytest

import autograd as T
from autograd.autograd import Variable


def test_sequences_take_the_default_dtype():
    tensor = T.Tensor([1, 2.0])
    assert tensor.tolist() == [1.0, 2.0] and tensor.dtype == T.float32
    assert T.Tensor([[1, 2], [3, 4]]).dtype == T.float32
    assert T.Tensor(((1.0, 2.0),), requires_grad=True).is_leaf
    assert (T.Tensor([]).shape, T.Tensor(np.float64(3)).dtype) == ((0,), np.float64)


def test_a_variable_is_a_leaf_on_the_memory_of_a_tensor():
    source = T.tensor([1.0, 2.0], requires_grad=True) * 2
    variable = Variable(source, requires_grad=True)
    assert variable.is_leaf and variable.requires_grad and isinstance(source, Variable)
    (variable**2).sum().backward()
    assert variable.grad.tolist() == [4.0, 8.0]
    assert Variable(source).requires_grad is False
    assert Variable(source).data_ptr() == source.data_ptr()


def test_a_write_through_the_other_name_is_seen_by_backward():
    weight = T.ones(2)
    y = T.tensor([1.0, 2.0], requires_grad=True) * weight
    T.Tensor(weight).mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("data", [2.5, "text", None, {1: 2}])
def test_what_is_no_array_is_refused(data):
    with pytest.raises(TypeError, match=r"Tensor\(\): expected an array.*autograd.tensor"):
        T.Tensor(data)


def test_values_are_readable_inside_no_grad():
    leaf = T.tensor([1.0, 2.0], requires_grad=True)
    computed = leaf * 2
    for tensor in (leaf, computed):
        with pytest.raises(RuntimeError, match="Use tensor.detach"):
            tensor.numpy()
    with T.no_grad():
        assert leaf.numpy().tolist() == [1.0, 2.0]
        assert np.asarray(computed).tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "name",
    ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "le", "gt", "ge",
     "eq", "ne"],
)  # fmt: skip
@pytest.mark.parametrize("left", [np.array([3.0, 2.0, 5.0]), np.float64(2.5)])
def test_an_array_on_the_left_leaves_operators_to_the_tensor(name, left):
    if name == "matmul" and left.ndim == 0:
        return
    right = T.tensor([1.0, 2.0, 3.0], dtype=T.float64)
    got = getattr(operator, name)(left, right)
    assert type(got) is T.Tensor
    np.testing.assert_array_equal(got.numpy(), getattr(operator, name)(left, right.numpy()))


@pytest.mark.parametrize(
    "function", [np.sin, lambda t: np.multiply(t, np.ones(2)), np.add.reduce, np.isfinite]
)
def test_functions_of_numpy_are_refused_with_those_to_take(function):
    with pytest.raises(TypeError, match=r"autograd\.sin\(tensor\), or .*tensor\.detach\(\)\.numpy"):
        function(T.ones(2, requires_grad=True))


def test_an_array_is_not_added_to_in_place():
    array = np.ones(2)
    with pytest.raises(TypeError, match="ufunc add does not take a Tensor"):
        array += T.ones(2)


def test_functions_of_numpy_take_tensors_without_gradients():
    x = T.tensor([0.0, 1.0], dtype=T.float64)
    for found in (np.exp(x), np.maximum(x, -x), np.hypot(x, np.ones(2)), np.modf(x)[0]):
        assert isinstance(found, T.Tensor) and found.dtype == T.float64
    np.testing.assert_array_equal(np.exp(x).numpy(), np.exp([0.0, 1.0]))
    with pytest.raises(TypeError, match="requires grad"):
        np.exp(x.clone().requires_grad_())


def test_a_number_in_a_text_is_told_as_a_number():
    assert f"{T.tensor(2)} {T.tensor(0.25)} {T.tensor(0.25):.1e}" == "2 0.25 2.5e-01"
    assert f"{T.tensor([2])}" == "tensor([2])"


def test_names_of_older_scripts():
    x = T.ones(3, 2, requires_grad=True)
    assert x.ndimension() == 2 and x.get_device() == -1
    summed = x.sum_to_size(1, 2)
    assert summed.tolist() == [[3, 3]] and x.sum_to_size((3, 2)) is x
    assert T.grad((summed * T.tensor([1.0, 2.0])).sum(), x)[0].tolist() == [[1, 2]] * 3
    with pytest.raises(RuntimeError, match="not expandable"):
        x.sum_to_size(2, 2)
    for kind in (T.bool_, T.int32):
        summed = T.ones(3, 2, dtype=kind).sum_to_size(2)
        assert summed.dtype == T.int64 and summed.tolist() == [3, 3]
    T.cuda.manual_seed_all(5)
    drawn = T.rand(2).tolist()
    T.manual_seed(5)
    assert T.rand(2).tolist() == drawn
    T.cuda.empty_cache()
    T.backends.cudnn.benchmark = False
    assert T.backends.cudnn.deterministic and not T.backends.mps.is_available()
    assert T.utils.checkpoint.checkpoint is T.checkpoint
