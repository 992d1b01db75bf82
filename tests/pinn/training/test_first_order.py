"""First-order solvers in training: networks, coefficients, batches, setbacks and files."""

import numpy as np
import pytest

import pinn
from pinn.config import load
from pinn.objective.weighting import Fixed
from pinn.training.experiment import Experiment
from pinn.training.loop import train

SOLVERS = [pinn.Adam, pinn.SOAP, pinn.Muon]
SLOPE = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"slope": "u_t + k"},
    [pinn.Data("u", {"t": np.linspace(0, 1, 9), "u": 1 - 2 * np.linspace(0, 1, 9)})],
    parameters=[pinn.Parameter("k", 1.0, lower=0)],
)  # fmt: skip
HEAT = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - 0.1*u_xx"},
    [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0.0)],
    reference={"u": "exp(-0.1*pi**2*t)*sin(pi*x)"},
)  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_network_is_trained_with_batches(solver):
    solution = pinn.solve(
        HEAT, pinn.MLP(width=10, depth=1), pinn.Sampling(interior=100, redraw=100, batch=50),
        [solver(200, learning_rate=0.05, schedule=pinn.CosineDecay(), warmup=20)],
    )  # fmt: skip
    losses = [line["loss"] for line in solution.report.history]
    assert losses[-1] < 0.05 * losses[0]
    assert solution.report.rel_l2["u"] < 0.1


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_coefficient_is_found_and_never_decays(solver):
    setup = Experiment(
        SLOPE, pinn.MLP(width=6, depth=2), pinn.Sampling(interior=20, redraw=None),
        Fixed({"data_u": 30}),
    )  # fmt: skip
    stage = solver(300, learning_rate=0.05, schedule=pinn.CosineDecay())
    found = train(setup.objective(), [stage]).theta
    objective = setup_at(setup, found)
    assert objective.coefficients(found)["k"] == pytest.approx(2.0, abs=0.1)
    ends = [
        train(setup_at(setup, found), [solver(1, learning_rate=1e-3, weight_decay=decay)]).theta
        for decay in (0.0, 5.0)
    ]
    shrunk = np.flatnonzero(ends[1] - ends[0])
    assert shrunk.tolist() == np.flatnonzero(objective.layout.weights).tolist()


def setup_at(setup, theta):
    objective = setup.objective()
    objective.parameters.load(theta)
    return objective


@pytest.mark.parametrize("solver", SOLVERS)
def test_after_numbers_that_are_not_finite_steps_are_shorter(solver):
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"e": "u_t + log(u + 0.6)"}, [pinn.Initial("u", 1)],
    )  # fmt: skip
    setup = Experiment(problem, pinn.MLP(width=6, depth=1), pinn.Sampling(20, redraw=None))
    result = train(setup.objective(), [solver(40, learning_rate=3.0)])
    tries = len(result.setbacks)
    assert 1 <= tries <= 3 and (result.reason, result.steps) == ("step limit", 40)
    assert result.last.learning_rate == 3 * 0.5**tries


@pytest.mark.parametrize("solver", SOLVERS)
def test_squares_that_overflow_end_in_a_sentence(solver):
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"e": "1e90*u_t"}, [pinn.Initial("u", 1)],
    )  # fmt: skip
    setup = Experiment(problem, pinn.MLP(width=6, depth=1), pinn.Sampling(20, redraw=None))
    result = train(setup.objective(), [solver(5)])
    assert (result.reason, result.steps) == ("diverged", 0)
    assert "the squares of a gradient up to" in result.message


def test_a_config_names_them(tmp_path):
    path = tmp_path / "decay.yaml"
    path.write_text("""\
problem:
  domain: {t: {time: [0, 1]}}
  unknowns: [u]
  equations: {decay: u_t + u}
  conditions: [initial: {unknown: u, value: 1}]
training:
  - soap: {steps: 40, learning_rate: 3e-3, warmup: 4, every: 10, schedule: cosine}
  - muon: {steps: 30, momentum: 0.9, weight_decay: 0.01, schedule: {plateau: {patience: 9}}}
  - adam
""")
    expected = (
        pinn.SOAP(40, learning_rate=3e-3, warmup=4, every=10, schedule=pinn.CosineDecay()),
        pinn.Muon(30, momentum=0.9, weight_decay=0.01, schedule=pinn.PlateauDecay(patience=9)),
        pinn.Adam(),
    )
    config = load(path)
    assert config.experiment.training == expected
    path.write_text(config.text())
    assert load(path).experiment.training == expected
