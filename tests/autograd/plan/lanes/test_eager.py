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
    for op in REGISTRY.values():
        if isinstance(op.on_host, eager._OnePass):
            monkeypatch.setattr(op.on_host, "_many", _MANY)
    eager._compiled.cache_clear()
    eager._passes.clear()
    yield
    eager._compiled.cache_clear()
    eager._passes.clear()


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


def arguments(op, count, dtype="float64"):
    rng = np.random.default_rng(len(op.name))
    least = 1.1 if op.name.startswith("acosh") else 0.1
    return [rng.uniform(least, least + 0.8, count).astype(dtype) for _ in op.inputs]


ATTRIBUTES = {
    "order": 3, "exponent": 2.5, "scale": 1.5, "slope": 0.1, "alpha": 1.7, "outer": 1.1,
    "low": 0.3, "high": 0.7,
}  # fmt: skip


def attributes_of(op):
    return {name: ATTRIBUTES[name] for name in op.attributes}


IN_ONE_PASS = sorted(n for n, op in REGISTRY.items() if isinstance(op.on_host, eager._OnePass))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", IN_ONE_PASS)
def test_several_passes_in_one_give_the_numbers_of_the_forward(name, dtype):
    op = REGISTRY[name]
    given, attributes = arguments(op, _MANY + 5, dtype), attributes_of(op)
    found = op.on_host(*given, **attributes)
    expected = op.forward(np, *[x.astype(np.float64) for x in given], **attributes)
    assert found.dtype == dtype and found.shape == expected.shape
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=500 * np.finfo(dtype).eps * scale)


def test_a_few_sums_of_not_so_many_numbers_are_left_to_the_forward(monkeypatch):
    monkeypatch.undo()
    x = numbers("tanh_slope", _MANY)
    for name, compiled in (("tanh_slope", 0), ("mish_derivative", 1)):
        op = REGISTRY[name]
        op.on_host(*arguments(op, _MANY, "float64"), **attributes_of(op))
        assert len(eager._passes) == compiled
    many = np.resize(x, eager._MANY_OF_SUMS)
    np.testing.assert_allclose(
        REGISTRY["tanh_slope"].on_host(many, many), 1 - many**2, rtol=0, atol=1e-15
    )
    assert len(eager._passes) == 2


SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e308, -745.2, 3.0, -3.0])


@pytest.mark.parametrize("name", [
    "leaky_relu", "elu", "hardswish", "softplus", "sigmoid", "clamp", "elu_slope",
    "hardswish_slope", "gelu",
])  # fmt: skip
def test_special_numbers_in_one_pass(name):
    op = REGISTRY[name]
    x = np.resize(SPECIAL, _MANY + 3)
    with np.errstate(all="ignore"):
        found = op.on_host(x, **attributes_of(op))
        expected = op.forward(np, x, **attributes_of(op))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_gradient_passes_where_it_does_in_the_forward():
    x, g = np.resize(SPECIAL, _MANY), np.resize(np.array([1.0, np.nan, np.inf]), _MANY)
    for slope in (0.0, 0.2, -0.5, 3.0):
        np.testing.assert_array_equal(
            REGISTRY["leak"].on_host(g, x, slope=slope),
            REGISTRY["leak"].forward(np, g, x, slope=slope),
        )


@pytest.mark.parametrize("views", [
    lambda x, g: (x.T, g.T), lambda x, g: (x.T, np.ascontiguousarray(g.T)),
    lambda x, g: (x[::2], g[::2]), lambda x, g: (x, np.broadcast_to(g[:1], x.shape)),
])  # fmt: skip
def test_inputs_of_any_layout_in_one_pass(views):
    op = REGISTRY["leak"]
    x, g = numbers("leak", (128, 96)), numbers("gradient", (128, 96))
    given = views(x, g)
    expected = np.where(given[1] <= 0, 0.1 * given[0], given[0])
    np.testing.assert_array_equal(op.on_host(*given, slope=0.1), expected)


def test_what_is_not_alike_is_left_to_the_forward():
    op = REGISTRY["quotient"]
    x = numbers("x", (_MANY, 2))
    for other in (x[:, :1], x.astype(np.float32), 2.0, 0.0):
        np.testing.assert_array_equal(op.on_host(x, other), op.forward(np, x, other))
    op, big = REGISTRY["hardswish"], x.astype(">f8")
    np.testing.assert_array_equal(op.on_host(big), op.forward(np, big))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("shape", "parts"), [
    ((300, 40), ((300, 1), (300, 1), (300, 1))), ((300, 40), ((40,), (1, 40), (40,))),
    ((20, 5, 64), ((20, 5, 1),) * 3), ((20, 5, 64), ((20, 1, 1),) * 3),
    ((20, 5, 64), ((5, 64),) * 3), ((20, 5, 64), ((1, 1, 64), (64,), (64,))),
    ((1, 2048, 33), ((1, 2048, 1), (2048, 1), (2048, 1))),
    ((2048, 33), ((1,), (1, 1), ())), ((2048, 33), ((2048, 33), (33,), (33,))),
    # not of such rows, or of rows that are too short
    ((20, 5, 64), ((1, 5, 1),) * 3), ((300, 40), ((300, 1), (40,), (40,))),
    ((3000, 3), ((3,), (3,), (3,))),
])  # fmt: skip
def test_rows_to_which_an_input_gives_one_number_or_the_same_row(shape, parts, dtype):
    op = REGISTRY["standardized_sum"]
    g, y = numbers("g", shape, dtype), numbers("yy", shape, dtype)
    along, shift, factor = (numbers("p" * k, part, dtype) for k, part in enumerate(parts))
    found = op.on_host(g, y, along, shift, factor)
    expected = (g - y * along - shift) * factor
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == "float32" else 1e-13)


def test_rows_of_inputs_in_another_layout():
    op = REGISTRY["scaled_and_shifted"]
    x, weight = numbers("x", (80, 64)).T, numbers("w", (64, 1))
    np.testing.assert_allclose(op.on_host(x, weight, weight), x * weight + weight, rtol=1e-15)


def test_attributes_without_end_are_not_compiled_without_end():
    op = REGISTRY["clamp"].on_host
    x = numbers("clamp", _MANY)
    for low in np.linspace(-1, 1, 2 * eager._MOST).tolist():
        np.testing.assert_array_equal(op(x, low=low, high=2.5), np.clip(x, low, 2.5))
    assert len(eager._passes) == eager._MOST


@pytest.mark.parametrize("count", [_MANY, _MANY + 1, _MANY + 7, 2 * _MANY + 5])
def test_results_may_go_where_the_argument_lies(count):
    x = numbers("exp", count)
    expected = REGISTRY["exp"].on_host(x)
    assert REGISTRY["exp"].on_host(x, out=x) is x
    np.testing.assert_array_equal(x, expected)


def test_results_go_into_memory_of_another_layout():
    x, out = numbers("exp", (64, 80)), np.empty((80, 64)).T
    assert REGISTRY["exp"].on_host(x, out=out) is out
    np.testing.assert_array_equal(out, REGISTRY["exp"].on_host(x))


@pytest.mark.parametrize("name", ["silu", "elu", "mish", "gelu", "hardswish"])
def test_two_derivatives_of_many_are_those_of_few(name):
    function = getattr(T.nn.functional, name)
    x = T.tensor(numbers(name, _MANY), requires_grad=True)
    few = x.detach()[:50].clone().requires_grad_()
    value, shorter = function(x), function(few)
    for _ in range(2):
        (value,) = T.grad(value.sum(), x, create_graph=True)
        (shorter,) = T.grad(shorter.sum(), few, create_graph=True)
        np.testing.assert_allclose(value.detach()[:50], shorter.detach(), rtol=1e-12, atol=1e-14)
