"""The model that a short trial chooses: by the equations alone, told, saved, the same each time."""

import numpy as np
import pytest

import pinn
import pinn.config
from pinn.training import choosing
from pinn.training.experiment import Experiment


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """A trial of a size that suits tests."""
    for name, value in (("_FEW", 60), ("_LEAST_FEW", 30), ("_MANY", 120), ("_LEAST_MANY", 60)):
        monkeypatch.setattr(choosing, name, value)


SMOOTH = pinn.Problem(
    pinn.Interval("x", 0, 1), ["u"], {"poisson": "u_xx + pi**2*sin(pi*x)"},
    [pinn.Dirichlet("u", 0, hard=True)], reference={"u": "sin(pi*x)"},
)  # fmt: skip
FRONT = pinn.Problem(
    pinn.Time("t", 0, 8), ["u"], {"relaxation": "u_tt - 30*(1 - u**2)*u_t + u"},
    [pinn.Initial("u", 2, hard=True), pinn.Initial("u", 0, order=1, hard=True)],
)  # fmt: skip


def test_a_smooth_solution_gets_random_features_and_many_digits():
    told = []

    class Listening(pinn.training.Callback):
        def on_decision(self, decision):
            told.append(decision)

    solution = pinn.solve(SMOOTH, pinn.AutoModel(), callbacks=[Listening()], error_bars=False)
    assert isinstance(solution.experiment.model, pinn.RandomFeatures)
    assert solution.experiment.sampling.interior == 4 * 60
    assert solution.report.rel_l2["u"] < 1e-9
    assert told[0].what == "model: 60 random features"
    assert solution.report.decisions[0] == told[0]
    assert [stage.name for stage in solution.report.stages] == ["gauss_newton"]


def test_more_features_are_taken_where_few_leave_something(monkeypatch):
    monkeypatch.setattr(choosing, "_PLENTY", 0.0)
    chosen = choosing.with_model(Experiment(SMOOTH, pinn.AutoModel())).experiment
    assert (chosen.model.width, chosen.sampling.interior) == (120, 4 * 120)


def test_a_front_gets_hidden_layers_that_are_trained():
    stages = [pinn.Adam(2)]
    solution = pinn.solve(FRONT, pinn.AutoModel(), training=stages, error_bars=False)
    assert solution.experiment.model == pinn.MLP(depth=3)
    assert solution.report.decisions[0].what == "model: 3 trained hidden layers"
    long = Experiment(FRONT, pinn.AutoModel(), seconds=300.0)
    chosen = choosing.with_model(long).experiment
    assert chosen.model.depth == 4
    assert chosen.sampling.interior == 8000


def test_what_the_network_is_to_see_stays():
    seen = {"features": ("x", "sin(3*x)"), "scale": {"u": 2.0}}
    chosen = choosing.with_model(Experiment(SMOOTH, pinn.AutoModel(**seen))).experiment.model
    assert isinstance(chosen, pinn.RandomFeatures)
    assert (chosen.features, dict(chosen.scale)) == (seen["features"], seen["scale"])


def test_the_number_of_points_that_is_given_stays():
    given = Experiment(SMOOTH, pinn.AutoModel(), pinn.Sampling(interior=77))
    assert choosing.with_model(given).experiment.sampling == given.sampling


def test_equal_arguments_choose_the_same():
    found = [choosing.with_model(Experiment(SMOOTH, pinn.AutoModel(), seed=3)) for _ in range(2)]
    assert found[0].decisions == found[1].decisions
    assert found[0].experiment.model == found[1].experiment.model


@pytest.mark.parametrize(("arguments", "why"), [
    ({"precision": "float32"}, "more digits than float32 has"),
    ({"problem": pinn.Problem(
        pinn.Box(*(pinn.Interval(name, 0, 1) for name in "abcd")), ["u"], {"p": "laplacian(u)"},
        [pinn.Dirichlet("u", "a")],
    )}, "cannot follow 4 coordinates"),
])  # fmt: skip
def test_where_there_is_no_hope_nothing_is_tried(arguments, why, monkeypatch):
    monkeypatch.setattr(choosing, "_share_left", None)
    given = Experiment(**{"problem": SMOOTH, "model": pinn.AutoModel(), **arguments})
    (decision,) = choosing.with_model(given).decisions
    assert why in decision.why


def test_a_model_that_is_given_is_taken():
    given = Experiment(SMOOTH, pinn.MLP(width=3))
    assert choosing.with_model(given) == (given, ())


def test_it_is_written_as_a_word_and_the_solution_knows_what_was_chosen(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(
        "problem:\n  domain: {x: [0, 1]}\n  unknowns: [u]\n"
        "  equations: {poisson: u_xx + pi**2*sin(pi*x)}\n"
        "  conditions: [{dirichlet: {unknown: u, value: 0, hard: true}}]\nmodel: auto\n"
    )
    experiment = pinn.config.load(file).experiment
    assert experiment.model == pinn.AutoModel()
    solution = pinn.solve(**experiment.arguments | {"error_bars": False})
    solution.save(tmp_path / "solution.npz")
    loaded = pinn.load(tmp_path / "solution.npz")
    assert loaded.experiment.model == solution.experiment.model
    x = np.linspace(0, 1, 5)
    np.testing.assert_array_equal(loaded.evaluate(x=x)["u"], solution.evaluate(x=x)["u"])


def test_a_network_that_is_not_chosen_yet_says_so():
    with pytest.raises(RuntimeError, match="has not been chosen yet"):
        pinn.AutoModel().build(
            pinn.Interval("x", 0, 1), ["u"], np.random.default_rng(0), np.dtype(float)
        )
