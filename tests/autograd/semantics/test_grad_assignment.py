"""Rows 74-82: assigning .grad."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.strict import strict_cuda


@pytest.mark.parametrize("flag", [False, True])
def test_row_074_grad_can_be_assigned_whatever_the_flag(flag, dtype):
    x = T.tensor(3.0, dtype=dtype, requires_grad=flag)
    g = T.tensor(4.0, dtype=dtype)
    x.grad = g
    assert x.grad is g
    assert x.requires_grad is flag and x.is_leaf is True


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_row_075_complex_grads_can_be_assigned(name, flag):
    x = T.tensor(3 + 1j, dtype=getattr(T, name), requires_grad=flag)
    x.grad = T.tensor(4 - 2j, dtype=getattr(T, name))
    assert x.grad.item() == 4 - 2j
    assert x.requires_grad is flag


@pytest.mark.parametrize("wrong", [4.0, [4.0], np.float32(4.0), np.ones(()), "4"])
def test_row_076_a_grad_is_a_tensor(wrong):
    x = T.tensor(3.0)
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = wrong
    assert x.grad is None


def test_row_077_a_grad_has_the_dtype(dtype):
    other = T.float64 if dtype == np.float32 else T.float32
    x = T.tensor(3.0, dtype=dtype)
    with pytest.raises(RuntimeError, match="float32") as error:
        x.grad = T.tensor(4.0, dtype=other)
    assert "float64" in str(error.value) and x.grad is None


def test_row_078_a_grad_has_the_shape(dtype):
    x = T.tensor(3.0, dtype=dtype)
    with pytest.raises(RuntimeError) as error:
        x.grad = T.tensor([4.0], dtype=dtype)
    assert "assign a gradient of size '[1]' to a tensor of size '[]'" in str(error.value)
    assert x.grad is None


def test_row_079_a_grad_lies_on_the_device(dtype):
    x = T.tensor(3.0, dtype=dtype)
    with strict_cuda():
        with pytest.raises(RuntimeError, match="on the same device"):
            x.grad = T.tensor(4.0, dtype=dtype, device="cuda")
    assert x.grad is None


def test_row_080_a_tensor_is_not_its_own_grad(dtype):
    x = T.tensor(3.0, dtype=dtype)
    with pytest.raises(RuntimeError, match="as its own grad"):
        x.grad = x
    assert x.grad is None


def test_row_081_none_or_del_clears(dtype):
    x = T.tensor(3.0, dtype=dtype, requires_grad=True)
    x.grad = T.tensor(4.0, dtype=dtype)
    x.grad = None
    assert x.grad is None
    x.grad = T.tensor(4.0, dtype=dtype)
    del x.grad
    assert x.grad is None
    (x * x).backward()
    assert x.grad.item() == 6.0


def test_row_082_backward_adds_to_a_preset_grad(dtype):
    x = T.tensor(3.0, dtype=dtype, requires_grad=True)
    preset = T.tensor(4.0, dtype=dtype)
    x.grad = preset
    (x * x).backward()
    assert x.grad.item() == 10.0
    assert x.grad is preset
