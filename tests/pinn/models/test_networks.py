"""What holds for every network: derivatives both ways, recorded steps, files, counts."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.config import load
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.leaves import Derivative
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.scope import Scope
from pinn.equations.values import coordinate_columns
from pinn.models import MODELS
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 3) * pinn.Time("t", 0, 0.5)
LOW, HIGH = [-1, 0], [3, 0.5]
SMALL = pinn.MLP(width=4, depth=1)
NETWORKS = {
    "mlp": pinn.MLP(width=6, depth=2),
    "mlp of widths": pinn.MLP(width=[5, 4, 3], activation="sin"),
    "slope a layer": pinn.MLP(width=4, depth=2, adaptive="layer"),
    "slope a neuron": pinn.MLP(width=4, depth=2, adaptive="neuron"),
    "factorised": pinn.MLP(width=4, depth=2, factorization=pinn.Factorization()),
    "slopes, factorised": pinn.MLP(
        width=4, depth=1, adaptive="neuron", factorization=pinn.Factorization(0.5, 0.2)
    ),
    "features": pinn.MLP(width=4, depth=1, features=["x", "sin(3*t)", "x*t**2"]),
    "periodic": pinn.MLP(
        width=4, depth=1, embedding=pinn.PeriodicEmbedding("x", harmonics=2, trainable=True)
    ),
    "fourier": pinn.MLP(
        width=4, depth=1, embedding=pinn.FourierEmbedding(3, [0.5, 1], trainable=True)
    ),
    "all embeddings": pinn.MLP(
        width=4, depth=1, features=["t", "x", "cos(x + t)"],
        embedding=[pinn.PeriodicEmbedding("x", period=3), pinn.FourierEmbedding(3)],
    ),
    "scaled": pinn.MLP(width=4, depth=1, offset={"u": 3}, scale={"v": 5}),
    "residual": pinn.ResidualMLP(width=5, depth=2, activation="silu"),
    "modified": pinn.ModifiedMLP(width=5, depth=2),
    "pirate": pinn.PirateNet(width=6, depth=2, activation="gelu"),
    "pirate, periodic, factorised": pinn.PirateNet(
        width=6, depth=1, embedding=pinn.PeriodicEmbedding("x"), factorization=pinn.Factorization()
    ),
    "random features": pinn.RandomFeatures(width=6),
    "siren": pinn.Siren(width=5, depth=2, first_frequency=3, frequency=2),
    "multi-scale": pinn.MultiScale(scales=[0.5, 2], count=3, width=4, depth=2),
    "chebyshev": pinn.KAN(width=3, depth=1, degree=4),
    "chebyshev of degree 1": pinn.KAN(width=3, depth=1, degree=1),
    "spline": pinn.KAN(width=3, depth=1, basis="spline", degree=6, grid=3),
    "separable": pinn.Separable(pinn.MLP(width=5, depth=1), rank=3),
    "separable of others": pinn.Separable(pinn.Siren(4, 1, first_frequency=2), rank=2),
    "windows": pinn.Windows(3, SMALL, order=1),
    "windows with slopes": pinn.Windows(2, SMALL, order=2),
    "a network each": pinn.PerUnknown(SMALL, {"v": pinn.ModifiedMLP(width=3, depth=1)}),
}  # fmt: skip
SCOPE = Scope(("u", "v"), ("x", "t"), ("x",), {})
ORDERS = ("", "x", "t", "xx", "xt", "tt", "xxx", "xxt", "xxxx", "xxtt")


def problem(network):
    # values are all that goes over to these windows, so that v_tt would be no equation for them
    second = "v_t" if network == NETWORKS["windows"] else "v_tt"
    return pinn.Problem(
        domain=DOMAIN, unknowns=["u", "v"],
        equations={"first": "u_t - u_xx + v*u_x", "second": f"{second} - v_xx + u"},
        conditions=[
            pinn.Initial("u", "sin(x)"), pinn.Initial("v", "cos(x)"), pinn.Dirichlet("u", 0)
        ],
    )  # fmt: skip


POINTS = pinn.Sampling(interior=23, initial=7, boundary=8, redraw=None, adaptive=None)

every = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)


def build(model, seed=0, dtype=T.float64):
    """A network away from its start, where biases, gates and slopes are special."""
    module = model.build(DOMAIN, ["u", "v"], np.random.default_rng(seed), dtype)
    rng = np.random.default_rng(seed + 1)
    with T.no_grad():
        for parameter in module.parameters():
            parameter.add_(T.tensor(0.1 * rng.standard_normal(parameter.shape), dtype=dtype))
    return module


def points(n=9, seed=2):
    return np.random.default_rng(seed).uniform(LOW, HIGH, (n, 2))


def test_every_model_of_the_table_is_among_them():
    # auto stands for one of the others, and a DeepONet is one of families (test_deeponet)
    built = {*dict(MODELS.items()).values()} - {pinn.AutoModel, pinn.DeepONet}
    assert {type(network) for network in NETWORKS.values()} == built


@every
def test_jets_and_nested_derivatives_agree(network):
    module = build(network)
    leaves = [Derivative(unknown, tuple(of)) for unknown in "uv" for of in ORDERS]
    columns = coordinate_columns(points(), T.float64, "cpu")
    nested = NestedValues(module, SCOPE, columns, {}, NestedPlan(leaves, SCOPE))
    jets = JetValues(module, SCOPE, columns, {}, JetPlan(leaves, SCOPE))
    for leaf in leaves:
        expected = nested[leaf].detach().numpy()
        got = jets[leaf].detach().numpy()
        assert np.abs(got - expected).max() <= 1e-10 * np.abs(expected).max(), str(leaf)


@every
def test_hard_conditions_hold_around_it_before_training(network):
    stated = pinn.Problem(
        DOMAIN, ["u", "v"], dict(problem(network).equations),
        [
            pinn.Initial("u", "sin(x)*(1 + t)", hard=True),
            pinn.Dirichlet("u", lambda s: s.sin(s.x) + s.t, hard=True),
            pinn.Initial("v", "x", hard=True), pinn.Initial("v", "x**2", order=1, hard=True),
        ],
    )  # fmt: skip
    made = Experiment(stated, network, POINTS, threads=1).objective()
    x = np.linspace(-1, 3, 9)
    start = np.column_stack([x, np.zeros(9)])
    edge = np.column_stack([np.full(9, 3.0), np.linspace(0, 0.5, 9)])
    module = made.parameters.module
    leaves = [Derivative("u"), Derivative("v"), Derivative("v", ("t",))]

    def values(at, kind, plan):
        columns = coordinate_columns(at, T.float64, "cpu")
        found = kind(module, SCOPE, columns, {}, plan(leaves, SCOPE))
        return [found[leaf].detach().numpy() for leaf in leaves]

    for kind, plan in ((JetValues, JetPlan), (NestedValues, NestedPlan)):
        u, v, v_t = values(start, kind, plan)
        np.testing.assert_allclose(u, np.sin(x), atol=1e-12)
        np.testing.assert_allclose(v, x, atol=1e-12)
        np.testing.assert_allclose(v_t, x**2, atol=1e-12)
        u, *_ = values(edge, kind, plan)
        np.testing.assert_allclose(u, np.sin(3) + edge[:, 1], atol=1e-12)


@every
def test_points_and_columns_give_the_same(network):
    module, at = build(network), points()
    columns = coordinate_columns(at, T.float64, "cpu")
    values = NestedValues(module, SCOPE, columns, {}, NestedPlan((), SCOPE))
    got = np.stack([values[Derivative(name)].detach().numpy() for name in "uv"], axis=1)
    np.testing.assert_allclose(
        got, module(T.tensor(at)).detach().numpy(), rtol=1e-13, atol=1e-14
    )


@every
def test_slopes_equal_differences(network):
    module, at, step = build(network), points(), 1e-6
    columns = coordinate_columns(at, T.float64, "cpu")
    leaves = [Derivative("u", ("x",)), Derivative("v", ("t",))]
    jets = JetValues(module, SCOPE, columns, {}, JetPlan(leaves, SCOPE))
    for leaf, moved, unknown in zip(leaves, ([step, 0], [0, step]), (0, 1), strict=True):
        high, low = (module(T.tensor(at + sign * np.array(moved))) for sign in (1, -1))
        expected = (high - low).detach().numpy()[:, unknown] / (2 * step)
        got = jets[leaf].detach().numpy()
        assert np.abs(got - expected).max() <= 1e-7 * max(1, np.abs(expected).max())


def objective(network, **settings):
    return Experiment(problem(network), network, POINTS, threads=1, **settings).objective()


def evaluated(network, **settings):
    made = objective(network, **settings)
    rng = np.random.default_rng(5)
    theta = made.theta + 0.1 * rng.standard_normal(made.size)
    return made.value_and_gradient(theta)


@every
def test_the_recorded_step_equals_the_eager_one(network):
    recorded, eager = evaluated(network), evaluated(network, engine="eager")
    assert recorded.loss == pytest.approx(eager.loss, rel=1e-12)
    scale = np.abs(eager.gradient).max()
    np.testing.assert_allclose(recorded.gradient, eager.gradient, rtol=0, atol=1e-11 * scale)


@every
def test_nested_derivatives_give_the_same_gradient(network):
    jets, nested = evaluated(network), evaluated(network, derivatives="nested")
    assert jets.loss == pytest.approx(nested.loss, rel=1e-11)
    scale = np.abs(nested.gradient).max()
    np.testing.assert_allclose(jets.gradient, nested.gradient, rtol=0, atol=1e-10 * scale)


@every
def test_float32_gives_float64_to_its_rounding(network):
    single, double = evaluated(network, precision="float32"), evaluated(network)
    assert single.loss == pytest.approx(double.loss, rel=2e-5)
    scale = np.abs(double.gradient).max()
    np.testing.assert_allclose(single.gradient, double.gradient, rtol=0, atol=1e-4 * scale)


@every
def test_every_array_has_the_dtype_that_is_asked_for(network):
    module = build(network, dtype=T.float32)
    tensors = [*module.parameters(), *module.buffers()]
    assert {tensor.dtype for tensor in tensors} == {T.float32}
    assert module(T.zeros(3, 2, dtype=T.float32)).dtype == T.float32


@every
def test_parameters_are_counted_without_building(network):
    counted = network.parameter_count(DOMAIN, ["u", "v"])
    assert counted == sum(parameter.numel() for parameter in build(network).parameters())


@every
def test_equal_streams_give_equal_networks(network):
    first, second, other = (
        network.build(DOMAIN, ["u", "v"], np.random.default_rng(seed), T.float64)
        for seed in (3, 3, 4)
    )
    with T.no_grad():
        for made in (first, second, other):
            for parameter in made.parameters():
                parameter.add_(0.1)  # the factors of random features start at zero
    at = T.tensor(points())
    assert np.array_equal(first(at).detach().numpy(), second(at).detach().numpy())
    assert not np.array_equal(first(at).detach().numpy(), other(at).detach().numpy())


@every
def test_the_jacobian_of_the_rows_is_recorded(network, recwarn):
    made = objective(network)
    theta = made.theta
    _, jacobian = made.jacobian(theta)
    step = 1e-6 * np.random.default_rng(0).standard_normal(made.size)
    difference = made.weighted_rows(theta + step) - made.weighted_rows(theta - step)
    scale = np.abs(difference).max()
    np.testing.assert_allclose(2 * jacobian @ step, difference, rtol=0, atol=1e-6 * scale)
    assert not recwarn.list  # no row by row


@every
@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning", "ignore::pinn.UnsolvedWarning")
def test_a_solution_is_saved_and_loaded(network, tmp_path):
    solution = pinn.solve(problem(network), network, POINTS, [pinn.Adam(steps=2)])
    solution.save(tmp_path / "s.npz")
    again = pinn.load(tmp_path / "s.npz")
    x, t = points().T
    assert again.experiment.model == network
    for name in "uv":
        got, expected = (s.evaluate(x=x, t=t)[name] for s in (again, solution))
        assert np.array_equal(got, expected)


@every
def test_a_config_holds_it(network, tmp_path):
    experiment = Experiment(problem(network), network, POINTS)
    from pinn.config.yaml_text import dump_yaml
    from pinn.schema import dump

    path = tmp_path / "config.yaml"
    path.write_text(dump_yaml(dump(experiment)))
    assert load(path).experiment.model == network
