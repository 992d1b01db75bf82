"""Rows 48-61: autograd.grad."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import autograd as T


def cube(dtype):
    a = T.tensor([3.0], dtype=dtype, requires_grad=True)
    return a, a * a * a


def test_row_048_grad_is_found_in_both_places(dtype):
    from autograd import grad

    a, b = cube(dtype)
    assert grad(b, a)[0].tolist() == [27.0]
    a, b = cube(dtype)
    assert T.autograd.grad(b, a)[0].tolist() == [27.0]


def test_row_049_order_of_the_arguments():
    assert list(inspect.signature(T.grad).parameters) == [
        "outputs",
        "inputs",
        "grad_outputs",
        "retain_graph",
        "create_graph",
        "allow_unused",
        "is_grads_batched",
        "materialize_grads",
        "only_inputs",  # by its name alone
    ]
    a = T.tensor([3.0], requires_grad=True)
    unused = T.tensor([3.0], requires_grad=True)
    result = T.grad(a * a, [a, unused], T.tensor([2.0]), True, True, True)
    assert result[0].tolist() == [12.0] and result[0].requires_grad is True
    assert result[1] is None


def test_row_050_first_derivative_with_create_graph(dtype):
    a, b = cube(dtype)
    result = T.grad(b, a, create_graph=True)
    assert type(result) is tuple and len(result) == 1
    assert result[0].tolist() == [27.0]
    assert result[0].requires_grad is True


def test_row_051_second_derivative(dtype):
    a, b = cube(dtype)
    (first,) = T.grad(b, a, create_graph=True)
    (second,) = T.grad(first, a, create_graph=True)
    assert second.item() == 18
    assert second.requires_grad is True


def test_row_052_third_derivative_is_a_constant(dtype):
    a, b = cube(dtype)
    (first,) = T.grad(b, a, create_graph=True)
    (second,) = T.grad(first, a, create_graph=True)
    (third,) = T.grad(second, a, create_graph=True)
    assert third.item() == 6.0
    assert third.requires_grad is False


def test_row_053_grad_fills_no_grad(dtype):
    a, b = cube(dtype)
    T.grad(b, a, create_graph=True)
    assert a.grad is None


def test_row_054_ones_only_where_the_output_has_one_element(dtype):
    a = T.tensor([[2.0]], dtype=dtype, requires_grad=True)
    assert T.grad(a * a, a)[0].tolist() == [[4.0]]
    x = T.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="grad can be implicitly created only for scalar outputs"
    ):
        T.grad(x * x, x)
    with pytest.raises(
        RuntimeError, match="grad can be implicitly created only for scalar outputs"
    ):
        T.grad([(x * x).sum(), x * x], x, [None, None])


def test_row_055_a_gradient_of_another_shape(dtype):
    x = T.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\]") as error:
        T.grad(x * x, x, T.ones(3, dtype=dtype))
    assert "[3]" in str(error.value) and "[2]" in str(error.value)
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[1\]"):
        T.grad([x * x, x * x], x, [T.ones(2, dtype=dtype), T.ones(1, dtype=dtype)])


@pytest.mark.parametrize("wrong", [2.0, [1.0], np.ones(1)])
def test_row_056_a_gradient_that_is_no_tensor(wrong, dtype):
    a, b = cube(dtype)
    with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
        T.grad(b, a, [wrong])


def test_row_057_complex_and_real_do_not_mix(dtype):
    a, b = cube(dtype)
    complex_dtype = {"float32": T.complex64, "float64": T.complex128}[dtype.name]
    with pytest.raises(RuntimeError, match="required to have the same dtype"):
        T.grad(b, a, T.ones(1, dtype=complex_dtype))
    z = T.tensor([1 + 1j], dtype=complex_dtype, requires_grad=True)
    with pytest.raises(RuntimeError, match="required to have the same dtype"):
        T.grad(z * z, z, T.ones(1, dtype=dtype))


def test_row_058_inputs_cannot_be_empty(dtype):
    _, b = cube(dtype)
    with pytest.raises(RuntimeError, match="cannot be empty"):
        T.grad(b, [])


def test_row_059_an_input_has_to_require_grad(dtype):
    a, b = cube(dtype)
    with pytest.raises(RuntimeError, match="does not require grad") as error:
        T.grad(b, [a, T.tensor([1.0], dtype=dtype)])
    assert "input 1" in str(error.value)


def test_row_060_an_unused_input(dtype):
    message = "appears to not have been used in the graph"
    unused = T.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    a, b = cube(dtype)
    with pytest.raises(RuntimeError, match=message) as error:
        T.grad(b, [a, unused])
    assert "allow_unused=True" in str(error.value) and "input 1" in str(error.value)
    a, b = cube(dtype)
    result = T.grad(b, [a, unused], allow_unused=True)
    assert result[0].tolist() == [27.0] and result[1] is None
    a, b = cube(dtype)
    result = T.grad(b, [a, unused], materialize_grads=True)
    assert result[1].tolist() == [0.0, 0.0]
    assert result[1].dtype == dtype and result[1].shape == (2,)


def test_zeros_for_an_unused_input_can_be_differentiated_on(dtype):
    a = T.tensor(3.0, dtype=dtype, requires_grad=True)
    x = T.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    (first,) = T.grad((a * x).sum(), x, create_graph=True)
    for _ in range(2):  # du/dx depends on a alone
        (first,) = T.grad(first.sum(), x, create_graph=True, materialize_grads=True)
        assert first.tolist() == [0.0, 0.0]
        assert first.requires_grad and first.is_leaf
    (last,) = T.grad(first.sum(), x, materialize_grads=True)
    assert last.requires_grad is False


def test_row_061_normals_inside_no_grad(dtype):
    points = np.random.default_rng(0).uniform(-1, 1, (2, 5, 3)).astype(dtype)
    with T.no_grad():
        with T.set_grad_enabled(True):
            x = T.tensor(points, requires_grad=True)
            sigma = (x * x * x).sum(-1)
            normals = -T.grad(T.sum(sigma), x, create_graph=True)[0]
        assert not T.is_grad_enabled()
    assert normals.shape == x.shape == (2, 5, 3)
    assert normals.requires_grad is True
    np.testing.assert_allclose(normals.detach().numpy(), -3 * points**2, rtol=1e-6)
