"""Rows 36-43: reading .grad, and retain_grad."""

from __future__ import annotations

import inspect
import warnings

import pytest

import autograd as T

NON_LEAF = "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"


def line_number() -> int:
    return inspect.currentframe().f_back.f_lineno


def test_row_036_reading_grad_of_a_non_leaf_warns_at_the_users_line(dtype):
    a = T.tensor([3.0], dtype=dtype, requires_grad=True)
    b = a * a
    b.backward()
    lines = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            lines.append(line_number() + 1)
            value = b.grad
            assert value is None
    assert [w.lineno for w in caught] == lines
    for warning in caught:
        text = str(warning.message)
        assert warning.category is UserWarning
        assert NON_LEAF in text
        assert ".retain_grad()" in text
        assert "by mistake" in text
        assert warning.filename == __file__


def test_row_037_no_warning_where_grad_means_something(dtype):
    a = T.tensor([3.0], dtype=dtype, requires_grad=True)
    plain = T.tensor([3.0], dtype=dtype)
    computed = plain * 2
    b = a * a
    b.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert a.grad is None and plain.grad is None and computed.grad is None and b.grad is None
        b.backward()
        assert a.grad is not None and b.grad is not None


def test_row_038_retained_non_leaf_has_its_gradient(dtype):
    a = T.tensor([3.0], dtype=dtype, requires_grad=True)
    b = a * a
    b.retain_grad()
    b.backward()
    assert a.grad.tolist() == [6.0]
    assert b.grad.tolist() == [1.0]
    assert b.grad.dtype == dtype


def test_row_039_retain_grad_on_a_leaf_or_twice_does_nothing(dtype):
    a = T.tensor([3.0], dtype=dtype, requires_grad=True)
    a.retain_grad()
    assert a.retains_grad is False
    b = a * a
    b.retain_grad()
    b.retain_grad()
    b.backward()
    assert b.grad.tolist() == [1.0]
    assert a.grad.tolist() == [6.0]


def test_row_040_retain_grad_needs_requires_grad(dtype):
    with pytest.raises(
        RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"
    ):
        T.tensor([3.0], dtype=dtype).retain_grad()


def test_row_041_retains_grad_is_a_python_bool(dtype):
    b = T.tensor([3.0], dtype=dtype, requires_grad=True) * 2
    assert b.retains_grad is False
    b.retain_grad()
    assert b.retains_grad is True


def test_row_042_a_gradient_is_a_leaf_without_requires_grad(dtype):
    a = T.tensor([3.0], dtype=dtype, requires_grad=True)
    (a * a).backward()
    assert isinstance(a.grad, T.Tensor)
    assert a.grad.requires_grad is False
    assert a.grad.is_leaf is True


def test_row_043_retained_gradient_is_the_one_after_every_hook(dtype):
    a = T.tensor([2.0], dtype=dtype, requires_grad=True)
    b = a * a
    b.retain_grad()
    b.register_hook(lambda g: g * 2)
    b.register_hook(lambda g: g + 1)
    (b * 3).backward()
    assert b.grad.tolist() == [7.0]
    assert a.grad.tolist() == [28.0]
