"""Smooth functions: values and towers of derivatives against mpmath, cost, memory, devices."""

from __future__ import annotations

import gc
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

import autograd
from autograd import Tensor
from autograd.ops.elementwise import smooth
from autograd.ops.registry import REGISTRY, OpNode
from autograd.testing import OpCase, check_op

# name: (the function in mpmath, an interval inside its domain, whether complex inputs are tried)
FUNCTIONS: dict[str, tuple[Callable, tuple[float, float], bool]] = {
    "exp": (mpmath.exp, (-3, 3), True),
    "erfinv": (mpmath.erfinv, (-0.9, 0.9), False),
    "exp2": (lambda x: mpmath.mpf(2) ** x, (-3, 3), True),
    "expm1": (mpmath.expm1, (-2, 2), True),
    "square": (lambda x: x * x, (-2, 2), True),
    "sqrt": (mpmath.sqrt, (0.2, 5), True),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), (0.2, 5), True),
    "reciprocal": (lambda x: 1 / x, (0.2, 5), True),
    "log": (mpmath.log, (0.2, 5), True),
    "log1p": (mpmath.log1p, (-0.8, 5), True),
    "log2": (lambda x: mpmath.log(x, 2), (0.2, 5), True),
    "log10": (mpmath.log10, (0.2, 5), True),
    "sin": (mpmath.sin, (-9, 9), True),
    "cos": (mpmath.cos, (-9, 9), True),
    "tan": (mpmath.tan, (-1.3, 1.3), True),
    "asin": (mpmath.asin, (-0.9, 0.9), True),
    "acos": (mpmath.acos, (-0.9, 0.9), True),
    "atan": (mpmath.atan, (-4, 4), False),
    "sinh": (mpmath.sinh, (-3, 3), True),
    "cosh": (mpmath.cosh, (-3, 3), True),
    "tanh": (mpmath.tanh, (-3, 3), True),
    "asinh": (mpmath.asinh, (-4, 4), False),
    "acosh": (mpmath.acosh, (1.2, 4), False),
    "atanh": (mpmath.atanh, (-0.8, 0.8), True),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), (-4, 4), True),
    "erf": (mpmath.erf, (-3, 3), False),
    "erfc": (mpmath.erfc, (-3, 3), False),
    "sinc": (mpmath.sincpi, (-3, 3), True),
}


def derivatives(function: Callable, x: Tensor, order: int) -> list[Tensor]:
    """Return the function and its elementwise derivatives up to `order`, by nested grad."""
    values = [function(x)]
    for _ in range(order):
        values.append(autograd.grad(values[-1].sum(), x, create_graph=True)[0])
    return values


def count_nodes(tensor: Tensor) -> int:
    seen, stack = set(), [tensor.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack += [edge[0] for edge in node.edges if edge is not None]
    return len(seen)


def exact(function: Callable, x: np.ndarray, order: int) -> np.ndarray:
    """Return derivatives by mpmath's Taylor coefficients at 40 digits, one row an order."""
    with mpmath.workdps(40):
        columns = [
            [
                float(c * mpmath.factorial(k))
                for k, c in enumerate(mpmath.taylor(function, mpmath.mpf(float(value)), order))
            ]
            for value in x
        ]
    return np.array(columns).T


def assert_towers_agree(
    ours: Callable, theirs: Callable, interval: tuple[float, float], order: int = 6
) -> None:
    low, high = interval
    points = low + (high - low) * (np.arange(9) + np.linspace(0.1, 0.9, 9)) / 9
    found = derivatives(ours, Tensor(points, requires_grad=True), order)
    for k, (values, expected) in enumerate(zip(found, exact(theirs, points, order), strict=True)):
        scale = np.max(np.abs(expected), initial=1e-300)
        np.testing.assert_allclose(
            values.detach().numpy() / scale,
            expected / scale,
            rtol=1e-12,
            atol=1e-13,
            err_msg=f"derivative {k}",
        )


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "square"])
def test_derivatives_to_order_six_agree_with_mpmath(name):
    theirs, interval, _ = FUNCTIONS[name]
    assert_towers_agree(getattr(smooth, name), theirs, interval)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_shape_dtype_layout_and_device(name):
    _, interval, tries_complex = FUNCTIONS[name]
    case = OpCase(name, getattr(smooth, name), domain=interval, order=2)
    check_op(case)
    if tries_complex:
        centre = 0.5 * (interval[0] + interval[1]) if interval[0] > 0 else 0.0
        width = min(0.4, 0.4 * (interval[1] - interval[0]))
        check_op(
            OpCase(
                name,
                case.fn,
                shapes=[((3,),), ((2, 3),)],
                complex=True,
                domain=(centre - width, centre + width),
            )
        )


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "sin", "exp", "erf", "log", "atan", "asin"])
def test_forward_derivatives_to_order_four_agree_with_differences(name):
    _, interval, _ = FUNCTIONS[name]
    check_op(OpCase(name, getattr(smooth, name), shapes=[((3,),)], domain=interval, order=4))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_derivative_has_a_graph_of_bounded_size(name):
    """Order n adds a constant number of operations: the whole tower costs O(n) of them."""
    if name == "square":
        return
    x = Tensor(np.full(3, 1.3 if name == "acosh" else 0.3), requires_grad=True)
    sizes = [count_nodes(d) for d in derivatives(getattr(smooth, name), x, 10)]
    assert max(sizes[2:]) == min(sizes[2:]) <= 6


def test_a_tower_calls_the_transcendental_function_once(monkeypatch):
    calls = []
    original = np.tanh
    op = REGISTRY["tanh"]
    monkeypatch.setattr(op, "on_host", lambda *a: calls.append(1) or original(*a))
    monkeypatch.setattr(np, "tanh", lambda *a, **k: calls.append(2) or original(*a, **k))
    derivatives(smooth.tanh, Tensor(np.linspace(-1, 1, 5), requires_grad=True), 6)
    assert calls == [1]


def test_a_deep_network_has_practical_fourth_derivatives():
    """Operations of u_xxxx in five layers: far from 3**4 per layer and order."""
    rng = np.random.default_rng(0)
    x = Tensor(rng.uniform(-1, 1, (256, 1)), requires_grad=True)
    hidden = x
    for fan_in in (1, 32, 32, 32, 32):
        weight = Tensor(rng.normal(size=(fan_in, 32)) / np.sqrt(fan_in), requires_grad=True)
        hidden = smooth.tanh(hidden @ weight)
    u = hidden.sum(1)
    for _ in range(4):
        (u,) = autograd.grad(u.sum(), x, create_graph=True)
    assert u.shape == (256, 1)
    assert count_nodes(u) < 2500


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("tanh", {"out"}),
        ("sigmoid", {"out"}),
        ("exp", {"out"}),
        ("sqrt", {"out"}),
        ("rsqrt", {"out"}),
        ("reciprocal", {"out"}),
        ("tan", {"out"}),
        ("expm1", {"out"}),
        ("log", {"x"}),
        ("atan", {"x"}),
        ("erf", {"x"}),
        ("square", {"x"}),
        ("sin", {"x", "out"}),
    ],
)
def test_only_what_the_derivative_needs_is_saved(name, kept):
    y = getattr(smooth, name)(Tensor(np.array([0.5]), requires_grad=True) * 1.0)
    assert isinstance(y.grad_fn, OpNode)
    assert set(y.grad_fn.saved) == kept


def test_the_input_of_tanh_is_freed_while_the_graph_lives():
    import weakref

    x = Tensor(np.linspace(-1, 1, 5), requires_grad=True)
    inner = x * 2.0
    memory = weakref.ref(inner._data)
    y = smooth.tanh(inner)
    gc.disable()
    try:
        del inner
        assert memory() is None
        (first,) = autograd.grad(y.sum(), x, create_graph=True)
        (second,) = autograd.grad(first.sum(), x)
    finally:
        gc.enable()
    t = np.tanh(2 * np.linspace(-1, 1, 5))
    np.testing.assert_allclose(second.numpy(), -8 * t * (1 - t * t), rtol=1e-13, atol=1e-15)


def test_hooks_on_a_leaf_see_gradients_of_higher_order_once():
    x = Tensor(np.array([0.3]), requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    (first,) = autograd.grad(smooth.tanh(x).sum(), x, create_graph=True)
    autograd.grad(first.sum(), x)
    t = np.tanh(0.3)
    np.testing.assert_allclose(seen, [1 - t * t, -2 * t * (1 - t * t)], rtol=1e-13)


def test_values_at_the_edges_of_the_domain_are_silent():
    zero = Tensor(np.zeros(1), requires_grad=True)
    for name, value, slope in [
        ("sqrt", 0.0, np.inf),
        ("rsqrt", np.inf, -np.inf),
        ("log", -np.inf, np.inf),
        ("reciprocal", np.inf, -np.inf),
    ]:
        y = getattr(smooth, name)(zero)
        (g,) = autograd.grad(y.sum(), zero)
        assert (y.item(), g.item()) == (value, slope), name
    one = Tensor(np.ones(1), requires_grad=True)
    assert autograd.grad(smooth.asin(one).sum(), one)[0].item() == np.inf
    assert autograd.grad(smooth.atanh(one).sum(), one)[0].item() == np.inf
    assert np.isnan(smooth.log(-one).item()) and np.isnan(smooth.sqrt(-one).item())


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "atan", "erf"])
def test_bounded_functions_stay_finite_far_out_in_every_order(name):
    far = np.array([-1e300, -1e10, -800.0, 800.0, 1e10, 1e300])
    x = Tensor(far, requires_grad=True)
    for order, values in enumerate(derivatives(getattr(smooth, name), x, 5)):
        assert np.all(np.isfinite(values.detach().numpy())), order


def test_sigmoid_and_its_slope_keep_relative_accuracy_on_the_left():
    x = Tensor(np.array([-40.0, -300.0, -700.0]), requires_grad=True)
    expected = np.exp([-40.0, -300.0, -700.0])
    y = smooth.sigmoid(x)
    np.testing.assert_allclose(y.detach().numpy(), expected, rtol=1e-14)
    np.testing.assert_allclose(autograd.grad(y.sum(), x)[0].numpy(), expected, rtol=1e-14)


def test_sinc_at_and_near_zero_has_the_derivatives_of_its_power_series():
    x = Tensor(np.array([0.0, 1e-9, -1e-5]), requires_grad=True)
    found = [d.detach().numpy() for d in derivatives(smooth.sinc, x, 4)]
    pi2 = np.pi**2
    points = np.array([0.0, 1e-9, -1e-5])
    np.testing.assert_allclose(found[0], 1 - pi2 * points**2 / 6, rtol=1e-14)
    np.testing.assert_allclose(found[1], -pi2 * points / 3, rtol=1e-8)
    np.testing.assert_allclose(found[2], -pi2 / 3 * np.ones(3), rtol=1e-8)
    np.testing.assert_allclose(found[4], pi2**2 / 5 * np.ones(3), rtol=1e-8)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_integers_and_bools_give_the_default_float(name):
    function = getattr(smooth, name)
    values = Tensor(np.array([1, 1]))
    expected = np.dtype(np.int64) if name == "square" else np.dtype(np.float32)
    assert function(values).dtype == expected
    assert function(values.to(bool)).dtype == expected
    with_default = np.dtype(np.float64)
    autograd.set_default_dtype(with_default)
    try:
        assert function(values).dtype == (expected if name == "square" else with_default)
    finally:
        autograd.set_default_dtype(np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_methods_exist_and_low_precision_is_kept(name):
    x = Tensor(np.array([1.25], np.float16) * (0.5 if name in ("asin", "acos", "atanh") else 1))
    method = getattr(Tensor, name, None)
    assert method is not None
    assert method(x).dtype == np.float16
    assert method(x).shape == (1,)


def test_forward_mode_and_reverse_mode_of_a_tower_mix():
    from autograd.forward import push

    x = Tensor(np.array([0.2, -0.7]), requires_grad=True)

    def slope(v: Tensor) -> Tensor:
        return autograd.grad(smooth.tanh(v).sum(), v, create_graph=True)[0]

    def pushed(v: Tensor) -> Tensor:
        return push(smooth.tanh, [v], [Tensor(np.ones(2))])[1]

    (third,) = autograd.grad(autograd.grad(pushed(x).sum(), x, create_graph=True)[0].sum(), x)
    t = np.tanh([0.2, -0.7])
    np.testing.assert_allclose(third.numpy(), (1 - t * t) * (6 * t * t - 2), rtol=1e-12)
    np.testing.assert_allclose(pushed(x).detach().numpy(), slope(x).detach().numpy(), rtol=1e-14)
