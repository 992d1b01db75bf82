"""Operations on many numbers run as vector code: numpy's numbers to rounding, in any layout."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.ops.registry import REGISTRY
from autograd.plan.lanes import eager, host

_MANY = eager._MANY
_NAMES = (*eager._OF_NUMPY, *eager._OF_SCIPY)
_POSITIVE = ("log", "log1p")


@pytest.fixture(autouse=True)
def on_every_processor(monkeypatch):
    """Vector code also where numpy's is as fast."""
    if host.host() is None:
        pytest.skip("no llvmlite, or no processor that code is written for")
    monkeypatch.setattr(eager, "_NUMPY_IS_WIDE", 1024)
    eager._compiled.cache_clear()
    yield
    eager._compiled.cache_clear()


def numbers(name, shape, dtype="float64"):
    found = np.random.default_rng(len(name)).uniform(-3, 3, shape)
    return (np.abs(found) if name in _POSITIVE else found).astype(dtype)


def plain(name, x):
    return REGISTRY[name].forward(np, x)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", _NAMES)
def test_values_are_those_of_numpy_to_rounding(name, dtype):
    x = numbers(name, _MANY + 5, dtype)
    found, expected = REGISTRY[name].on_host(x), plain(name, x.astype(np.float64))
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, expected, rtol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [">f8", ">f4", "<f8", "<f4"])
@pytest.mark.parametrize("name", ["tanh", "erf", "sin", "sigmoid", "gelu"])
def test_numbers_in_the_other_order_of_bytes(name, dtype):
    x = numbers(name, _MANY + 5).astype(dtype)
    rounding = 20 * np.finfo(x.dtype).eps
    found, expected = REGISTRY[name].on_host(x), plain(name, x.astype(np.float64))
    np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["sigmoid", "silu", "gelu"])
def test_what_is_made_of_them(name, dtype):
    x = numbers(name, (_MANY, 3), dtype)
    found, expected = REGISTRY[name].on_host(x.T), plain(name, x.T.astype(np.float64))
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, expected, rtol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("count", [_MANY - 1, _MANY, _MANY + 1, _MANY + 7, _MANY + 8, 3 * _MANY])
def test_no_number_is_left_out(count):
    x = numbers("tanh", count)
    np.testing.assert_allclose(REGISTRY["tanh"].on_host(x), np.tanh(x), rtol=1e-15)


@pytest.mark.parametrize("view", [
    lambda x: x.T, lambda x: x[::2], lambda x: x[:, ::-1], lambda x: x[:, 3:90],
    lambda x: np.broadcast_to(x[:1], (64, 128)), np.asfortranarray,
    lambda x: x.transpose(1, 0)[::-1],
])  # fmt: skip
def test_any_layout_gives_the_same_bits(view):
    x = numbers("tanh", (64, 128))
    whole = REGISTRY["tanh"].on_host(np.ascontiguousarray(view(x)))
    found = REGISTRY["tanh"].on_host(view(x))
    assert (found == whole).all()
    assert found.shape == view(x).shape


def test_special_numbers_wherever_they_stand():
    x = np.zeros(_MANY + 3)
    x[[0, 1, -1, -2, 77]] = np.nan, np.inf, -np.inf, -0.0, 5e-324
    found = REGISTRY["tanh"].on_host(x)
    np.testing.assert_array_equal(found, np.tanh(x))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(np.tanh(x)))


def test_the_argument_is_left_as_it_is():
    x = numbers("exp", _MANY)
    before = x.copy()
    REGISTRY["exp"].on_host(x)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("name", ["sin", "cos", "tanh", "erf", "sigmoid"])
def test_three_derivatives(name):
    x = T.tensor(numbers(name, _MANY), requires_grad=True)
    few = x.detach()[:50].clone().requires_grad_()
    value, shorter = getattr(T, name)(x), getattr(T, name)(few)
    for _ in range(3):
        (value,) = T.grad(value.sum(), x, create_graph=True)
        (shorter,) = T.grad(shorter.sum(), few, create_graph=True)
        np.testing.assert_allclose(value.detach()[:50], shorter.detach(), rtol=1e-12, atol=1e-14)


def test_whole_and_complex_numbers_are_numpys():
    z = numbers("exp", _MANY) + 1j
    np.testing.assert_array_equal(T.exp(T.tensor(z)), np.exp(z))
    whole = T.arange(_MANY)
    np.testing.assert_allclose(T.tanh(whole), np.tanh(np.arange(_MANY, dtype="f4")), rtol=1e-6)


@pytest.mark.parametrize("executor", ["numpy", "numba"])
def test_the_environment_leaves_all_to_numpy(monkeypatch, executor):
    monkeypatch.setenv("AUTOGRAD_EXECUTOR", executor)
    x = numbers("tanh", _MANY)
    assert eager._compiled("tanh", x.dtype) is None
    np.testing.assert_array_equal(REGISTRY["tanh"].on_host(x), np.tanh(x))


def test_without_a_compiler_all_is_numpys(monkeypatch):
    monkeypatch.setattr(eager, "host", lambda: None)
    x = numbers("erf", _MANY)
    np.testing.assert_array_equal(REGISTRY["erf"].on_host(x), plain("erf", x))
