"""What networks make of the values that conditions give, before training begins."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.training.experiment import Experiment
from pinn.training.given import given_values

X, TIME = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
POINTS = pinn.Sampling(interior=40, initial=60, boundary=30, redraw=None, adaptive=None)


def problem(conditions, unknowns=("u",), **settings):
    equations = {f"heat_{name}": f"{name}_t - {name}_xx" for name in unknowns}
    return pinn.Problem(X * TIME, list(unknowns), equations, conditions, **settings)


def objective(stated, model, **settings):
    return Experiment(stated, model, POINTS, threads=1, **settings).objective()


def values(made, at):
    """The unknowns of an objective's model at points, (n, unknowns)."""
    import autograd as T

    return made.parameters.module(T.tensor(at)).detach().numpy()


INITIAL = pinn.Initial("u", "sin(pi*x) + x**2")
EDGES = pinn.Dirichlet("u", "1 - t")


def least_squares(made, basis, weights=None):
    """The values at the blocks' points of the best fit by a linear basis and a constant."""
    names = [block.name for block in made.blocks if block.residual.gives]
    blocks = {block.name: block for block in made.blocks}
    at = np.concatenate([blocks[name].points.coordinates for name in names])
    scales = np.concatenate([
        np.full(blocks[name].rows, blocks[name].row_scale()) for name in names
    ])
    x, t = at.T
    aim = np.where(np.isclose(t, 0), np.sin(np.pi * x) + x**2, 1 - t)
    columns = np.column_stack([basis(at), np.ones(len(at))])
    solved, *_ = np.linalg.lstsq(scales[:, None] * columns, scales * aim, rcond=None)
    return at, columns @ solved


@pytest.mark.parametrize("factorization", [None, pinn.Factorization()])
def test_pirate_net_starts_as_the_least_squares_fit(factorization):
    model = pinn.PirateNet(width=8, depth=2, factorization=factorization)
    made = objective(problem([INITIAL, EDGES]), model)
    b = dict(made.parameters.module.named_buffers())["inputs.embedding0.frequencies"].numpy()

    def features(at):
        phases = np.column_stack([at[:, 0], 2 * at[:, 1] - 1]) @ b.T
        return np.column_stack([np.cos(phases), np.sin(phases)])

    at, expected = least_squares(made, features)
    np.testing.assert_allclose(values(made, at)[:, 0], expected, atol=1e-9)


def test_with_features_enough_it_starts_at_the_data():
    made = objective(problem([INITIAL, EDGES]), pinn.PirateNet(width=128, depth=1))
    losses = made.losses(made.theta)
    assert losses["initial_u"] + losses["dirichlet_u"] < 1e-3


def test_it_is_fitted_inside_the_formula_of_hard_conditions_and_beside_other_networks():
    """u = x*t + (1 - x^2) N at the edges; v has a network of its own, which is no PirateNet."""
    edges = pinn.Dirichlet("u", "x*t", hard=True)
    stated = problem([INITIAL, edges, pinn.Initial("v", "x")], ("u", "v"))
    model = pinn.PerUnknown(pinn.MLP(5, 1), {"u": pinn.PirateNet(width=64, depth=1)})
    made = objective(stated, model)
    plain = dict(made.parameters.module.network.network_v.named_parameters())
    assert plain["weight1"].detach().numpy().any()
    at = np.column_stack([np.linspace(-1, 1, 51), np.zeros(51)])
    x = at[:, 0]
    inside = np.abs(values(made, at)[:, 0] - np.sin(np.pi * x) - x**2)[1:-1]
    assert inside[5:-5].max() < 0.05  # the data are 1, not 0, at the edges


def test_without_values_the_last_layer_keeps_its_random_numbers():
    stated = problem([pinn.Initial("u", "sin(pi*x)", hard=True)])
    made = objective(stated, pinn.PirateNet(width=8, depth=1))
    assert made.parameters.module.network.weight_last.detach().numpy().any()


def test_a_start_that_is_given_is_kept():
    stated = problem([INITIAL, EDGES])
    model = pinn.PirateNet(width=8, depth=1)
    size = objective(stated, model).size
    start = 0.1 * np.random.default_rng(0).standard_normal(size)
    with pytest.warns(pinn.UnsolvedWarning):
        solution = pinn.solve(stated, model, POINTS, [pinn.Adam(steps=1, learning_rate=1e-30)],
                              start=start)  # fmt: skip
    np.testing.assert_allclose(solution.theta, start, atol=1e-12)


def test_values_are_those_of_the_conditions_points():
    stated = problem(
        [
            pinn.Initial("u", "k*x + 2"), pinn.Dirichlet("u", lambda s: s.t + s.m, on="x=1"),
            pinn.Neumann("u", 0.0, on="x=-1"), pinn.Initial("v", 3.0, hard=True),
        ],
        ("u", "v"), constants={"k": 0.5}, parameters=[pinn.Parameter("m", 7.0)],
    )  # fmt: skip
    experiment = Experiment(stated, pinn.MLP(), POINTS)
    drawn = experiment.draw_points()
    of = given_values(stated, experiment.draw_points)
    initial, edge = (drawn[name].coordinates for name in ("initial_u", "dirichlet_u_x_high"))
    expected = np.concatenate([0.5 * initial[:, 0] + 2, edge[:, 1] + 7])
    np.testing.assert_allclose(np.sort(of("u")), np.sort(expected), rtol=1e-14)
    assert of("v").shape == (0,)


def test_the_scale_of_the_outputs_comes_from_data():
    stated = problem([pinn.Initial("u", "300 + 50*x"), pinn.Initial("v", 7)], ("u", "v"))
    experiment = Experiment(stated, pinn.MLP(width=4, depth=1, scale="data"), POINTS)
    model = experiment.model
    x = experiment.draw_points()["initial_u"].coordinates[:, 0]
    assert model.offset["u"] == pytest.approx(300 + 50 * x.mean())
    assert model.scale["u"] == pytest.approx(50 * x.std())
    assert model.offset["v"] == 7 and model.scale["v"] == 1  # one value says nothing of the size
    again = Experiment(stated, model, POINTS)
    assert again.model == model


def test_a_number_that_is_given_goes_before_data():
    stated = problem([pinn.Initial("u", "300 + 50*x")])
    model = pinn.PerUnknown(pinn.MLP(width=4, depth=1, scale="data", offset={"u": 0}))
    settled = Experiment(stated, model, POINTS).model
    assert settled.networks["u"].offset == {"u": 0}
    assert settled.networks["u"].scale["u"] == pytest.approx(28.9, rel=0.2)


def test_no_values_no_scale():
    stated = problem([pinn.Initial("u", 0), pinn.Neumann("v", 1)], ("u", "v"))
    with pytest.raises(ValueError, match="model.scale: no condition gives values of 'v' itself"):
        Experiment(stated, pinn.MLP(scale="data"), POINTS)


def test_large_values_are_learned_through_their_scale(tmp_path):
    domain = pinn.Interval("x", 0, 1)
    stated = pinn.Problem(
        domain, ["T"], {"heat": "T_xx + 200"},
        [pinn.Dirichlet("T", 300, on="x=0"), pinn.Dirichlet("T", 1300, on="x=1")],
    )  # fmt: skip
    solution = pinn.solve(
        stated, pinn.MLP(10, 1, scale="data"), pinn.Sampling(interior=60),
        [pinn.Adam(steps=100), pinn.SSBroyden(steps=200)],
    )  # fmt: skip
    x = np.linspace(0, 1, 31)
    exact = 300 + 1100 * x - 100 * x**2
    np.testing.assert_allclose(solution.evaluate(x=x)["T"], exact, rtol=1e-4)
    solution.save(tmp_path / "s.npz")
    again = pinn.load(tmp_path / "s.npz")
    assert again.experiment.model.scale == {"T": 500.0}
    assert np.array_equal(again.evaluate(x=x)["T"], solution.evaluate(x=x)["T"])
