"""Each network against its formula in numpy, and its start against its paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline

import autograd as T
import pinn

DOMAIN = pinn.Interval("x", -1, 3) * pinn.Time("t", 0, 0.5)
POINTS = np.random.default_rng(1).uniform([-1, 0], [3, 0.5], (20, 2))
Z = (POINTS - [1, 0.25]) / [2, 0.25]  # the bounds go to -1 and 1


def network(model, unknowns=("u", "v"), moved=True, domain=DOMAIN):
    """A network, its arrays by name, and its values at the points.

    moved: away from the start, where biases and gates are zero.
    """
    module = model.build(domain, unknowns, np.random.default_rng(0), T.float64)
    rng = np.random.default_rng(7)
    if moved:
        with T.no_grad():
            for parameter in module.parameters():
                parameter.add_(T.tensor(0.2 * rng.standard_normal(parameter.shape)))
    named = [*module.named_parameters(), *module.named_buffers()]
    arrays = {name: tensor.detach().numpy() for name, tensor in named}
    return module, arrays, module(T.tensor(POINTS)).detach().numpy()


def agrees(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13)


def layer(a, name, x):
    return x @ a[f"weight{name}"].T + a[f"bias{name}"]


def test_mlp_of_widths():
    _, a, got = network(pinn.MLP(width=[5, 4], activation="sin"))
    agrees(got, layer(a, 2, np.sin(layer(a, 1, np.sin(layer(a, 0, Z))))))


@pytest.mark.parametrize(("of", "shape"), [("layer", (1,)), ("neuron", (4,))])
def test_adaptive_slopes(of, shape):
    """s(n a (W x + b)) with n = 10: Jagtap, Kawaguchi and Karniadakis 2020."""
    _, a, got = network(pinn.MLP(width=4, depth=2, adaptive=of))
    assert a["slope0"].shape == shape and "slope2" not in a
    h = np.tanh(10 * a["slope0"] * layer(a, 0, Z))
    h = np.tanh(10 * a["slope1"] * layer(a, 1, h))
    agrees(got, layer(a, 2, h))


@pytest.mark.parametrize("of", ["layer", "neuron"])
def test_slopes_start_at_one(of):
    start = network(pinn.MLP(width=4, depth=2, adaptive=of), moved=False)
    plain = network(pinn.MLP(width=4, depth=2), moved=False)
    agrees(start[2], plain[2])


def test_random_weight_factorisation():
    """W = diag(exp(s)) V, and at the start W is what it would have been: Wang et al. 2022."""
    _, a, got = network(pinn.MLP(width=4, depth=1, factorization=pinn.Factorization(0.5, 0.2)))
    w0, w1 = (np.exp(a[f"log_scale{k}"]) * a[f"weight{k}"] for k in (0, 1))
    agrees(got, np.tanh(Z @ w0.T + a["bias0"]) @ w1.T + a["bias1"])


def test_factorised_weights_start_as_others_and_their_scales_as_in_the_paper():
    model = pinn.MLP(width=200, depth=2, factorization=pinn.Factorization(0.7, 0.3))
    _, a, _ = network(model, moved=False)
    s = a["log_scale1"]
    assert s.shape == (200, 1)
    assert s.mean() == pytest.approx(0.7, abs=4 * 0.3 / np.sqrt(200))
    assert s.std() == pytest.approx(0.3, rel=0.2)
    weight = np.exp(s) * a["weight1"]
    assert weight.var() == pytest.approx(2 / 400, rel=0.03)


def test_residual_blocks():
    _, a, got = network(pinn.ResidualMLP(width=5, depth=2))
    z = layer(a, 0, Z)
    for k in (1, 2):
        z = z + np.tanh(layer(a, f"{k}b", np.tanh(layer(a, f"{k}a", z))))
    agrees(got, layer(a, 3, z))


def test_modified_mlp():
    """Wang, Teng and Perdikaris 2021: H = (1 - Z) U + Z V."""
    _, a, got = network(pinn.ModifiedMLP(width=5, depth=2))
    u, v = np.tanh(layer(a, "_u", Z)), np.tanh(layer(a, "_v", Z))
    h = np.tanh(layer(a, 0, Z))
    for k in (1, 2):
        mix = np.tanh(layer(a, k, h))
        h = (1 - mix) * u + mix * v
    agrees(got, layer(a, 3, h))


def pirate(a, features, blocks):
    u, v = np.tanh(layer(a, "_u", features)), np.tanh(layer(a, "_v", features))
    z = features
    for k in range(1, blocks + 1):
        f = np.tanh(layer(a, f"{k}a", z))
        z1 = f * u + (1 - f) * v
        g = np.tanh(layer(a, f"{k}b", z1))
        z2 = g * u + (1 - g) * v
        h = np.tanh(layer(a, f"{k}c", z2))
        z = a[f"alpha{k}"] * h + (1 - a[f"alpha{k}"]) * z
    return layer(a, "_last", z)


def waves(frequencies, z):
    return np.concatenate([np.cos(z @ frequencies.T), np.sin(z @ frequencies.T)], axis=1)


def test_pirate_net():
    """Wang, Li, Chen and Perdikaris 2024, and at the start a linear map of the features."""
    model = pinn.PirateNet(width=6, depth=2)
    _, a, got = network(model)
    agrees(got, pirate(a, waves(a["inputs.embedding0.frequencies"], Z), 2))
    _, a, got = network(model, moved=False)
    assert a["alpha1"] == a["alpha2"] == 0
    agrees(got, layer(a, "_last", waves(a["inputs.embedding0.frequencies"], Z)))


def test_siren():
    _, a, got = network(pinn.Siren(width=5, depth=2, first_frequency=7, frequency=3))
    agrees(got, layer(a, 2, np.sin(3 * layer(a, 1, np.sin(7 * layer(a, 0, Z))))))


def test_siren_starts_as_its_paper_says():
    """Uniform within 1/n, then within sqrt(6/n)/w: what comes to a sine has variance about 1/2."""
    _, a, _ = network(pinn.Siren(width=300, depth=3, frequency=20), moved=False)
    bound = np.sqrt(6 / 300) / 20
    for name in ("weight1", "weight2", "weight3"):
        assert np.abs(a[name]).max() <= bound
    assert a["weight1"].var() == pytest.approx(bound**2 / 3, rel=0.03)
    assert 0.49 < np.abs(a["weight0"]).max() <= 0.5
    assert a["weight0"].var() == pytest.approx(0.25 / 3, rel=0.15)
    h = np.sin(30 * layer(a, 0, Z))
    before = 20 * layer(a, 1, h)
    # Theorem 1.8 of the paper: arcsine inputs of variance 1/2 give a normal of variance 1
    assert before.std() == pytest.approx(1, rel=0.25)


def test_multi_scale():
    """Wang, Wang and Perdikaris 2021: features of each scale through one network, joined last."""
    _, a, got = network(pinn.MultiScale(scales=[1, 4], count=3, width=4, depth=2))
    found = []
    for scale in (0, 1):
        h = waves(a[f"frequencies_scale{scale}"], Z)
        found.append(np.tanh(layer(a, 1, np.tanh(layer(a, 0, h)))))
    agrees(got, layer(a, 2, np.concatenate(found, axis=1)))


def test_chebyshev_layers():
    _, a, got = network(pinn.KAN(width=3, depth=1, degree=4))
    z = Z
    for k in (0, 1):
        t = np.tanh(z)
        basis = [np.cos(degree * np.arccos(t)) for degree in range(1, 5)]
        z = layer(a, k, np.concatenate(basis, axis=1))
    np.testing.assert_allclose(got, z, rtol=1e-10, atol=1e-12)


def test_chebyshev_coefficients_have_the_variance_of_the_paper():
    _, a, _ = network(pinn.KAN(width=40, depth=2, degree=4), moved=False)
    assert a["weight1"].shape == (40, 160)
    assert a["weight1"].std() == pytest.approx(1 / (40 * 5), rel=0.05)


def test_spline_layers():
    """silu and the B-splines of a grid on [-1, 1] that goes on beyond it: Liu et al. 2024."""
    degree, grid = 3, 4
    _, a, got = network(pinn.KAN(width=3, depth=1, basis="spline", degree=degree, grid=grid))
    knots = -1 + 2 / grid * np.arange(-degree, grid + degree + 1)
    z = Z
    for k in (0, 1):
        t = np.tanh(z)
        splines = [
            BSpline.basis_element(knots[j : j + degree + 2], extrapolate=False)(t)
            for j in range(grid + degree)
        ]
        splines = np.stack(np.nan_to_num(splines), axis=2).reshape(len(z), -1)  # input by input
        z = layer(a, k, np.concatenate([z / (1 + np.exp(-z)), splines], axis=1))
    agrees(got, z)


def test_spline_coefficients_start_as_in_the_paper():
    _, a, _ = network(pinn.KAN(width=40, depth=2, basis="spline", degree=3, grid=5), moved=False)
    weight = a["weight1"]
    assert weight.shape == (40, 9 * 40)
    assert weight[:, :40].var() == pytest.approx(2 / 80, rel=0.1)
    assert weight[:, 40:].std() == pytest.approx(0.1, rel=0.03)


def test_separable():
    module, _, got = network(pinn.Separable(pinn.MLP(width=5, depth=1), rank=3))
    bodies = dict(module.named_children())
    assert list(bodies) == ["network_x", "network_t"]
    f, g = (
        body(T.tensor(POINTS[:, j : j + 1])).detach().numpy()
        for j, body in enumerate(bodies.values())
    )
    expected = np.stack([(f * g)[:, :3].sum(axis=1), (f * g)[:, 3:].sum(axis=1)], axis=1)
    agrees(got, expected)


def test_a_separable_body_carries_the_derivatives_of_its_coordinate_only():
    from autograd.jets import choose_channels, sweep
    from autograd.jets.jet import Jet

    module, _, _ = network(pinn.Separable(pinn.MLP(width=5, depth=1), rank=3))
    seen = {}

    for name, body in module.named_children():
        def watched(z, name=name, body=body, run=body._run):
            seen[name] = set(z.parts) if isinstance(z, Jet) else set()
            return run(body.parts, z)

        body._run = lambda parts, z, watched=watched: watched(z)
    columns = [T.tensor(POINTS[:, j : j + 1]) for j in range(2)]
    sweep(lambda *c: module.forward_columns(c), columns, choose_channels([(0, 0), (1,)]))
    assert seen == {"network_x": {(0,)}, "network_t": {(1,)}}


def test_outputs_are_scaled_and_moved():
    plain = network(pinn.MLP(width=4, depth=1))[2]
    scaled = network(pinn.MLP(width=4, depth=1, scale={"v": 5}, offset={"u": 3, "v": -1}))[2]
    agrees(scaled, plain * [1, 5] + [3, -1])


@pytest.mark.parametrize("name", ["residual", "modified", "pirate", "multi"])
def test_other_networks_have_glorots_variance_and_no_bias(name):
    model = {
        "residual": pinn.ResidualMLP(width=200, depth=1),
        "modified": pinn.ModifiedMLP(width=200, depth=1),
        "pirate": pinn.PirateNet(width=200, depth=1),
        "multi": pinn.MultiScale(width=200, depth=2),
    }[name]
    _, a, _ = network(model, moved=False)
    square = [value for key, value in a.items() if value.shape == (200, 200) and "weight" in key]
    assert square
    for weight in square:
        assert weight.var() == pytest.approx(2 / 400, rel=0.03)
    assert not any(value.any() for key, value in a.items() if key.startswith("bias"))


def test_further_activations():
    for name, function in {
        "cos": np.cos, "atan": np.arctan, "gaussian": lambda x: np.exp(-x * x),
        "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    }.items():  # fmt: skip
        _, a, got = network(pinn.MLP(width=4, depth=1, activation=name))
        agrees(got, layer(a, 1, function(layer(a, 0, Z))))


def test_an_activation_of_ones_own():
    from pinn.models import ACTIVATIONS

    ACTIVATIONS["cubic"] = lambda x: x**3
    try:
        _, a, got = network(pinn.MLP(width=4, depth=1, activation="cubic"))
        agrees(got, layer(a, 1, layer(a, 0, Z) ** 3))
    finally:
        del ACTIVATIONS["cubic"]
    with pytest.raises(ValueError, match="activation: expected one of tanh, .*, got 'cubic'"):
        pinn.MLP(activation="cubic")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pinn.MLP([3, 4], depth=5), "depth: width has 2 hidden layers, .* got 5"),
        (lambda: pinn.MLP([]), "width: expected a list of whole numbers >= 1, got none"),
        (lambda: pinn.MLP([3, 0]), "width.1: expected a whole number >= 1, got 0"),
        (lambda: pinn.MLP(adaptive="unit"), "adaptive: expected one of layer, neuron, got 'unit'"),
        (lambda: pinn.PirateNet(width=7), "width: expected an even number"),
        (lambda: pinn.MLP(scale={"u": 0}), "scale.u: expected a number > 0, got 0"),
        (lambda: pinn.MLP(scale="date"), "scale: expected data or a .*, got 'date'; did you mean"),
        (lambda: pinn.FourierEmbedding(scale=[1, -1]), "scale.1: expected a number > 0, got -1"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_widths_say_the_depth():
    assert pinn.MLP([5, 4, 3, 2]).depth == 4
    assert pinn.MLP([5, 4], depth=2) == pinn.MLP([5, 4])
