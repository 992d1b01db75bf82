"""Rows 44-47: create_graph and retain_graph."""

from __future__ import annotations

import inspect
import warnings

import pytest

import autograd as T
from autograd import engine

SECOND_TIME = "backward through the graph a second time"


def test_row_044_create_graph_makes_gradients_differentiable(dtype, cycle_warning_given):
    a = T.tensor([5.0], dtype=dtype, requires_grad=True)
    b = a * a
    b.retain_grad()
    b.backward(create_graph=True)
    assert a.grad.tolist() == [10.0]
    assert a.grad.requires_grad is True and a.grad.is_leaf is False
    assert b.grad.tolist() == [1.0]
    assert b.grad.requires_grad is False and b.grad.is_leaf is True
    (second,) = T.grad(a.grad, a)
    assert second.tolist() == [2.0]
    a.grad = None


def test_row_045_retain_graph_defaults_to_create_graph(dtype, cycle_warning_given):
    a = T.tensor([5.0], dtype=dtype, requires_grad=True)
    b = a * a
    b.backward(create_graph=True)
    b.backward(create_graph=True, retain_graph=None)
    b.backward(create_graph=True, retain_graph=False)
    assert a.grad.tolist() == [30.0]
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        b.backward()
    a.grad = None
    c = a * a
    T.grad(c, a, create_graph=True)
    T.grad(c, a, create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        T.grad(c, a)


def test_row_046_create_graph_in_backward_warns_once(dtype, monkeypatch):
    for call in ("method", "function"):
        monkeypatch.setattr(engine, "_warned_cycle", False)
        a = T.tensor([5.0], dtype=dtype, requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            T.grad(a * a, a, create_graph=True)
            assert not caught
            if call == "method":
                (a * a).backward(create_graph=True)
                line = inspect.currentframe().f_lineno - 1
            else:
                T.autograd.backward(a * a, create_graph=True)
                line = inspect.currentframe().f_lineno - 1
            (a * a).backward(create_graph=True)
        assert len(caught) == 1
        assert caught[0].category is UserWarning
        assert "create a reference cycle" in str(caught[0].message)
        assert "autograd.grad" in str(caught[0].message)
        assert (caught[0].filename, caught[0].lineno) == (__file__, line)
        a.grad = None


def test_row_047_accumulation_is_in_place_only_without_create_graph(dtype, cycle_warning_given):
    x = T.tensor([2.0], dtype=dtype, requires_grad=True)
    (x * x).backward()
    first = x.grad
    (x * x).backward()
    assert x.grad is first and first.tolist() == [8.0]
    (x * x).backward(create_graph=True)
    assert x.grad is not first
    assert first.tolist() == [8.0] and x.grad.tolist() == [12.0]
    differentiable = x.grad
    product = differentiable * differentiable
    (x * x).backward()
    assert x.grad is differentiable and x.grad.tolist() == [16.0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
    x.grad = None
