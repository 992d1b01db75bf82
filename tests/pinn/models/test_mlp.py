"""The multilayer perceptron."""

import numpy as np
import pytest

import autograd as T
import pinn

DOMAIN = pinn.Interval("x", -1, 3) * pinn.Time("t", 0, 0.5)


def build(spec, unknowns=("u", "v"), seed=0, dtype=T.float64):
    return spec.build(DOMAIN, unknowns, np.random.default_rng(seed), dtype)


def test_values_equal_the_formula_in_numpy():
    module = build(pinn.MLP(width=5, depth=2))
    weights = {name: p.detach().numpy() for name, p in module.named_parameters()}
    points = np.random.default_rng(1).uniform([-1, 0], [3, 0.5], (20, 2))
    h = (points - [1, 0.25]) / [2, 0.25]  # the bounds go to -1 and 1
    h = np.tanh(h @ weights["weight0"].T + weights["bias0"])
    h = np.tanh(h @ weights["weight1"].T + weights["bias1"])
    expected = h @ weights["weight2"].T + weights["bias2"]
    got = module(T.tensor(points, dtype=T.float64)).detach().numpy()
    assert got.shape == (20, 2)
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-14)


def test_shapes_follow_the_settings():
    module = build(pinn.MLP(width=7, depth=3), unknowns=["u"])
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
    assert shapes == {
        "weight0": (7, 2), "bias0": (7,), "weight1": (7, 7), "bias1": (7,),
        "weight2": (7, 7), "bias2": (7,), "weight3": (1, 7), "bias3": (1,),
    }  # fmt: skip


def test_weights_have_glorots_variance_and_biases_are_zero():
    module = build(pinn.MLP(width=200, depth=2))
    weight = module.weight1.detach().numpy()
    assert weight.var() == pytest.approx(2 / 400, rel=0.03)
    assert abs(weight.mean()) < 4 * np.sqrt(2 / 400 / weight.size)
    assert not module.bias1.detach().numpy().any()


def test_equal_streams_give_equal_networks():
    first, second, other = (build(pinn.MLP(), seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.weight0.detach().numpy(), second.weight0.detach().numpy())
    assert not np.array_equal(first.weight0.detach().numpy(), other.weight0.detach().numpy())


def test_the_dtype_is_the_one_asked_for():
    module = build(pinn.MLP(), dtype=T.float32)
    assert {p.dtype for p in module.parameters()} == {T.float32}
    assert module(T.zeros(3, 2, dtype=T.float32)).dtype == T.float32


ACTIVATIONS = {
    "tanh": np.tanh,
    "sin": np.sin,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "softplus": lambda x: np.log1p(np.exp(x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    module = build(pinn.MLP(width=4, depth=1, activation=name))
    weights = {n: p.detach().numpy() for n, p in module.named_parameters()}
    points = np.array([[0.0, 0.1], [2.0, 0.4]])
    h = (points - [1, 0.25]) / [2, 0.25]
    expected = ACTIVATIONS[name](h @ weights["weight0"].T) @ weights["weight1"].T
    got = module(T.tensor(points, dtype=T.float64)).detach().numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"width": 0}, ValueError, "mlp: width: expected a whole number >= 1, got 0"),
        ({"depth": 1.5}, TypeError, "mlp: depth: expected a whole number from 1 to 1000, got 1.5"),
        ({"activation": "tanhh"}, ValueError, "mlp: activation: .*did you mean 'tanh'"),
        ({"activation": "relu"}, ValueError, "second derivative is zero.*; take tanh or gelu"),
        ({"layers": [20, 20]}, TypeError,
         "mlp: layers: unknown argument; expected width, .*did you mean 'width' and 'depth'"),
    ],
)
def test_bad_settings_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        pinn.MLP(**arguments)


@pytest.mark.parametrize(("width", "depth", "unknowns"), [(1, 1, "u"), (3, 1, "uv"), (5, 4, "uvw")])
def test_the_parameters_are_counted_without_building_them(width, depth, unknowns):
    domain = pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1)
    model = pinn.MLP(width, depth)
    built = model.build(domain, list(unknowns), np.random.default_rng(0), T.float64)
    expected = sum(tensor.numel() for tensor in built.parameters())
    assert model.parameter_count(domain, list(unknowns)) == expected
