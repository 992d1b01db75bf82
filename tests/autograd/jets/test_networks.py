"""Taylor mode through networks: against nested reverse mode and against closed forms."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import autograd as T
from autograd.jets import Sum, choose_channels, partials, sweep
from autograd.plan import optimize, trace

rng = np.random.default_rng(1)
ACTIVATIONS = {
    **{name: getattr(T, name) for name in ("tanh", "sin", "cos", "sigmoid", "exp", "erf", "atan")},
    **{n: getattr(T.nn.functional, n) for n in ("silu", "gelu", "softplus", "mish", "elu")},
    "gelu_tanh": lambda x: T.nn.functional.gelu(x, approximate="tanh"),
    "celu-like": lambda x: T.where(x > 0, x, T.expm1(x)),
    "relu": T.nn.functional.relu,
    "relu cubed": lambda x: T.nn.functional.relu(x) ** 3,
    "leaky_relu": T.nn.functional.leaky_relu,
    "square": lambda x: x * x,
}


def network(activation, inputs, sizes=(6, 5), seed=0):
    """A random network of several scaled columns, its parameters as leaves."""
    r = np.random.default_rng(seed)
    widths = [inputs, *sizes, 1]
    parameters = []
    for a, b in zip(widths[:-1], widths[1:], strict=True):
        parameters += [
            T.tensor(r.normal(size=(b, a)) / np.sqrt(a), requires_grad=True),
            T.tensor(0.3 * r.normal(size=b), requires_grad=True),
        ]

    def fn(*columns):
        h = T.cat(list(columns), dim=1) if len(columns) > 1 else columns[0]
        for k in range(0, len(parameters) - 2, 2):
            h = activation(T.nn.functional.linear(h, parameters[k], parameters[k + 1]))
        return T.nn.functional.linear(h, parameters[-2], parameters[-1])

    return fn, parameters


def points(inputs, n=3):
    return [rng.uniform(-1, 1, (n, 1)) for _ in range(inputs)]


LOW = [(0,), (2,), (0, 1), (2, 2), (0, 0, 1), (0, 1, 2), (1, 1, 1, 1), (0, 0, 1, 1), (0, 1, 2, 2)]
HIGH = [(0, 0, 0, 0, 0), (0, 0, 1, 1, 1), (0, 0, 0, 1, 1, 1), (1, 1, 1, 1, 1, 1)]


def relative_error(found, expected):
    return np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-3)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_orders_one_to_four_equal_nested_reverse_mode(name, nested):
    fn, _ = network(ACTIVATIONS[name], 3)
    at = points(3)
    expected = nested(fn, at, LOW)
    found = partials(fn, [T.tensor(p) for p in at], LOW)
    for key in LOW:
        assert relative_error(found[key].detach().numpy(), expected[key]) < 1e-10


@pytest.mark.parametrize("name", ["tanh", "sin", "sigmoid", "silu", "gelu", "softplus"])
def test_orders_five_and_six_equal_nested_reverse_mode(name, nested):
    fn, _ = network(ACTIVATIONS[name], 2, sizes=(4, 3))
    at = points(2, n=2)
    expected = nested(fn, at, HIGH)
    found = partials(fn, [T.tensor(p) for p in at], HIGH)
    for key in HIGH:
        assert relative_error(found[key].detach().numpy(), expected[key]) < 1e-7


CLOSED = {
    "exp(2x - 3t)": (
        lambda x, t: T.exp(2 * x - 3 * t),
        lambda x, t, i, j: 2**i * (-3) ** j * np.exp(2 * x - 3 * t),
    ),
    "sin(2x) cos(t)": (
        lambda x, t: T.sin(2 * x) * T.cos(t),
        lambda x, t, i, j: 2**i * np.sin(2 * x + i * np.pi / 2) * np.cos(t + j * np.pi / 2),
    ),
    "x^5 t^3": (
        lambda x, t: x**5 * t * t * t,
        lambda x, t, i, j: math.perm(5, i) * math.perm(3, j)
        * x ** max(5 - i, 0) * t ** max(3 - j, 0),
    ),
    "1 / (x + 2t)": (
        lambda x, t: 1 / (x + 2 * t),
        lambda x, t, i, j: (-1) ** (i + j) * math.factorial(i + j) * 2**j
        / (x + 2 * t) ** (i + j + 1),
    ),
    "log(x + t)": (
        lambda x, t: T.log(x + t),
        lambda x, t, i, j: (-1) ** (i + j - 1) * math.factorial(i + j - 1) / (x + t) ** (i + j),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSED)
def test_derivatives_of_closed_forms_are_exact_to_order_seven(name):
    fn, exact = CLOSED[name]
    x, t = (rng.uniform(0.6, 1.4, (5, 1)) for _ in range(2))
    keys = [(0,) * i + (1,) * j for i in range(5) for j in range(4) if i + j]
    found = partials(fn, [T.tensor(x), T.tensor(t)], keys)
    for key in keys:
        expected = exact(x, t, key.count(0), key.count(1))
        np.testing.assert_allclose(found[key].numpy(), expected, rtol=1e-12, atol=1e-11)


MPMATH = {
    "tanh": mpmath.tanh, "erf": mpmath.erf, "atan": mpmath.atan,
    "sigmoid": lambda z: 1 / (1 + mpmath.exp(-z)),
    "softplus": lambda z: mpmath.log(1 + mpmath.exp(z)),
    "silu": lambda z: z / (1 + mpmath.exp(-z)),
    "gelu": lambda z: z * (1 + mpmath.erf(z / mpmath.sqrt(2))) / 2,
    "mish": lambda z: z * mpmath.tanh(mpmath.log(1 + mpmath.exp(z))),
}  # fmt: skip


@pytest.mark.parametrize("name", MPMATH)
def test_derivatives_of_functions_equal_taylor_series_in_forty_digits(name):
    places = [-1.3, 0.0, 0.7]
    order = 8
    found = partials(
        ACTIVATIONS[name], [T.tensor(np.array(places).reshape(-1, 1))],
        [(0,) * k for k in range(1, order + 1)],
    )  # fmt: skip
    with mpmath.workdps(40):
        for row, place in enumerate(places):
            series = mpmath.taylor(MPMATH[name], place, order)
            for k in range(1, order + 1):
                expected = float(series[k] * mpmath.factorial(k))
                assert found[(0,) * k][row].item() == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_a_collapsed_sum_is_the_sum_of_the_singles():
    fn, _ = network(T.tanh, 4)
    at = [T.tensor(p) for p in points(4)]
    laplacian = Sum(tuple(((i, i), 1.0) for i in range(4)))
    mixed = Sum((((0, 1, 2), 0.5), ((3, 3), -2.0), ((2,), 3.0)))
    found = partials(fn, at, [], [laplacian, mixed])
    for total in (laplacian, mixed):
        singles = partials(fn, at, [index for index, _ in total.terms])
        expected = sum(w * singles[index].detach().numpy() for index, w in total.terms)
        np.testing.assert_allclose(found[total].detach().numpy(), expected, rtol=1e-12, atol=1e-13)


def test_the_biharmonic_of_a_closed_form():
    # u = exp(x) sin(2y): lap = -3 u, lap lap = 9 u
    x, y = (rng.uniform(-1, 1, (6, 1)) for _ in range(2))
    total = Sum((((0, 0, 0, 0), 1.0), ((0, 0, 1, 1), 2.0), ((1, 1, 1, 1), 1.0)))
    found = partials(lambda x, y: T.exp(x) * T.sin(2 * y), [T.tensor(x), T.tensor(y)], [], [total])
    np.testing.assert_allclose(found[total].numpy(), 9 * np.exp(x) * np.sin(2 * y), rtol=1e-12)


def test_the_laplacian_in_many_dimensions_carries_one_channel_a_direction():
    # u = |x|^4: lap u = 4 (d + 2) |x|^2
    d = 50
    x = rng.normal(size=(3, d))
    total = Sum(tuple(((i, i), 1.0) for i in range(d)))
    channels = choose_channels([], [total])
    assert channels.count == d + 2
    units = [T.tensor(row.reshape(1, d)) for row in np.eye(d)]
    (found,) = sweep(lambda x: (x * x).sum(1) ** 2, [T.tensor(x)], channels, units)
    np.testing.assert_allclose(found[total].numpy(), 4 * (d + 2) * (x * x).sum(1), rtol=1e-12)


def test_directions_give_directional_derivatives():
    # D_v^k exp(a.x) = (a.v)^k exp(a.x), and the mixed one in v and w is (a.v)(a.w) exp(a.x)
    a = np.array([0.3, -0.7, 0.2])
    x, v, w = (rng.normal(size=(4, 3)) for _ in range(3))
    channels = choose_channels([(0, 0, 0), (0, 1)])
    (found,) = sweep(
        lambda x: T.exp((x * T.tensor(a)).sum(1)), [T.tensor(x)], channels,
        [T.tensor(v), T.tensor(w)],
    )  # fmt: skip
    u = np.exp(x @ a)
    np.testing.assert_allclose(found[()].numpy(), u)
    np.testing.assert_allclose(found[(0, 0, 0)].numpy(), (v @ a) ** 3 * u, rtol=1e-12)
    np.testing.assert_allclose(found[(0, 1)].numpy(), (v @ a) * (w @ a) * u, rtol=1e-12)


def test_several_outputs_come_from_one_sweep(nested):
    fn, _ = network(T.tanh, 2)
    at = points(2)
    channels = choose_channels([(0, 1)])
    u, v = sweep(lambda x, t: (fn(x, t), x * t), [T.tensor(p) for p in at], channels)
    np.testing.assert_allclose(v[(0, 1)].numpy(), 1.0)
    expected = nested(fn, at, [(0, 1)])[(0, 1)]
    np.testing.assert_allclose(u[(0, 1)].detach().numpy(), expected, rtol=1e-11)


def test_a_layer_is_one_matrix_product_for_all_channels():
    from autograd.plan import optimize, trace

    fn, parameters = network(T.tanh, 2, sizes=(6, 5, 4))
    total = Sum((((1,), 1.0), ((0, 0), -0.1)))

    def residual(x, t, *_):
        found = partials(fn, [x, t], [(0,)], [total])
        return [found[total], found[(0,)]]

    program, _ = trace(residual, [*(T.tensor(p) for p in points(2)), *parameters])
    products = [i for i in optimize(program).instructions if i.op.name == "matmul"]
    # the first layer also multiplies the constant directions, rows of one; the others: one each
    assert len([i for i in products if i.inputs[0].shape[0] > 1]) == 4


def test_float32_stays_float32():
    x = T.tensor(points(1)[0], dtype=T.float32)
    found = partials(lambda x: T.tanh(x) ** 2, [x], [(0, 0)], [])
    assert found[(0, 0)].dtype == T.float32


def test_of_wide_rows_nothing_is_computed_that_nobody_reads(nested):
    fn, parameters = network(T.tanh, 2, sizes=(300,))
    at = points(2)
    expected = nested(fn, at, [(0, 0), (1,)])

    def second(*columns):
        return [partials(fn, list(columns), [(0, 0), (1,)])[0, 0]]

    program, _ = trace(second, [T.tensor(p) for p in at], ["x", "y"])
    program = optimize(program)
    products = [one for one in program.instructions if one.op.name in ("matmul", "linear")]
    assert [one.outputs[0].shape for one in products] == [(3, 300), (3, 1)]
    assert "stack" not in {one.op.name for one in program.instructions}
    found = second(*[T.tensor(p) for p in at])[0]
    assert relative_error(found.detach().numpy(), expected[0, 0]) < 1e-12
