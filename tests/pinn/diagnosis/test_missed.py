"""What is known and lies where no point of training is, is told, with where that is."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.diagnosis import missed
from pinn.training.experiment import Experiment
from pinn.training.judging.fresh import FreshLoss, fresh_points

X, Y = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)
HEAT = pinn.Problem(
    X * pinn.Time("t", 0, 10), ["u"],
    {"heat": "u_t - 0.1*u_xx - where(t > 4 and t < 4.002 and abs(x - 0.5) < 0.05, 5e3, 0)"},
    [pinn.Initial("u", 0), pinn.Dirichlet("u", 0)],
)  # fmt: skip
SMALL = pinn.RandomFeatures(60)


def test_a_pulse_between_the_points_is_told_with_its_place_and_doubts_the_estimate(monkeypatch):
    """u is 1.27 at the middle and t = 4.5, and 0 for all that training sees."""
    monkeypatch.setattr("pinn.solving._WORTH", 0)
    start = pinn.Initial("u", "sin(pi*x)")
    problem = pinn.Problem(HEAT.domain, ["u"], HEAT.equations, [start, pinn.Dirichlet("u", 0)])
    with pytest.warns(pinn.UnsolvedWarning) as caught:
        report = pinn.solve(problem, SMALL, pinn.Sampling(interior=400)).report
    (said,) = (str(one.message) for one in caught if "miss" in str(one.message))
    assert "equation 'heat': the 400 points of training miss where(" in said
    assert "x = 0.5 (0.1 wide), t = 4.001 (0.002 wide)" in said and "5.0e+03" in said
    assert "density" in said and "breaks" in said
    assert report.unsolved and report.fresh_loss > 1e3 and said in report.warnings
    assert any("where no point of training is" in one for one in report.error_estimate.doubts)


def test_where_zero_solves_what_the_points_see_that_is_told_and_no_homogeneous_problem():
    with pytest.warns(pinn.UnsolvedWarning, match="the 400 points of training miss where"):
        report = pinn.solve(HEAT, SMALL, pinn.Sampling(interior=400)).report
    assert report.loss == 0 and report.fresh_loss > 1e3
    assert not any("homogeneous" in one for one in report.error_estimate.remarks)


def sentences(problem, sampling, model=SMALL):
    experiment = Experiment(problem, model, sampling)
    objective = experiment.objective()
    before = FreshLoss(objective, fresh_points(experiment)).losses(objective.theta)
    return list(missed(objective, objective.theta, before))


DISC = pinn.Problem(
    X * Y, ["u"], {"disc": "laplacian(u) + where((x - 0.3)**2 + (y - 0.4)**2 < 1e-4, 1e3, 0)"},
    [pinn.Dirichlet("u", 0)],
)  # fmt: skip


def test_points_in_a_heated_disc_see_it():
    (said,) = sentences(DISC, pinn.Sampling(interior=400))
    assert "windows" not in said
    density = "where((x - 0.3)**2 + (y - 0.4)**2 < 1e-4, 1e3, 1)"
    assert sentences(DISC, pinn.Sampling(interior=400, density=density)) == []


def test_check_tells_of_it_before_training():
    advice = HEAT.check(model=SMALL, sampling=pinn.Sampling(interior=400)).advice
    (said,) = (one for one in advice if "miss where(" in one)
    assert "training cannot see it; put points there" in said
    assert not any("homogeneous" in one for one in advice)


def test_a_thin_layer_of_another_coefficient_is_told():
    layer = pinn.Problem(
        X, ["u"], {"layer": "where(abs(x - 0.3) < 1e-6, 1e3, 1)*u_xx + pi**2*sin(pi*x)"},
        [pinn.Dirichlet("u", 0, hard=True)],
    )  # fmt: skip
    with pytest.warns(pinn.UnsolvedWarning, match="points of training miss where"):
        pinn.solve(layer, SMALL, pinn.Sampling(interior=200), error_bars=False)


@pytest.mark.parametrize("equation", [
    "laplacian(u) + where(x < 0.5, 1, 0)", "laplacian(u) + exp(-(x - 0.5)**2/0.01)",
    "laplacian(u) + sin(pi*x)*exp(y)", "where(y < 0.3, 2, 1)*laplacian(u) + 1",
])  # fmt: skip
def test_what_points_meet_is_not_told_of_and_judged_by_no_others(equation):
    problem = pinn.Problem(X * Y, ["u"], {"e": equation}, [pinn.Dirichlet("u", 0)])
    sampling = pinn.Sampling(interior=400)
    assert sentences(problem, sampling) == []
    assert len(fresh_points(Experiment(problem, SMALL, sampling))["e"]) == 400


def test_fresh_points_are_where_what_is_known_is_narrow():
    fresh = fresh_points(Experiment(DISC, SMALL, pinn.Sampling(interior=400)))["disc"].coordinates
    inside = np.sum((fresh - [0.3, 0.4]) ** 2, axis=1) < 1e-4
    assert len(fresh) == 464 and inside.sum() >= 64
