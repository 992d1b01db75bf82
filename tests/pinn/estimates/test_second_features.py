"""The error of random features for each family and mode is how far a second draw of them is."""

from dataclasses import replace

import numpy as np
import pytest

import pinn
from pinn.estimates import error_estimate
from pinn.estimates import second_features as module

PROBLEM = pinn.Problem(
    pinn.Interval("x", 0, 1), ["u"], {"e": "u_xx + a + 9*b*sin(3*x) + c"},
    [pinn.Dirichlet("u", 0)], families={"a": [0, 1], "b": [0, 1], "c": [0, 1]},
    reference={"u": "(a + c)*x*(1 - x)/2 + b*(sin(3*x) - x*sin(3))"},
)  # fmt: skip


def solved(width, **others):
    model = pinn.DeepONet(pinn.RandomFeatures(width, (0.3, 3.0)), branch=None)
    return pinn.solve(
        PROBLEM, model, pinn.Sampling(interior=120), error_bars=False, threads=1, **others
    )  # fmt: skip


@pytest.mark.parametrize("width", [8, 12, 16])
@pytest.mark.filterwarnings("ignore::pinn.UnsolvedWarning")
def test_it_is_near_the_error(width):
    solution = solved(width)
    found = solution.error_estimate()
    true = solution.report.rel_l2["u"]
    assert true / 3 < found.relative_l2["u"] < 3 * true
    assert module._SAID in found.remarks and not found.doubts
    at = {"x": 0.3, "a": 0.2, "b": 0.9, "c": 0.5}
    e = found.evaluate(**at)["u"]
    exact = 0.35 * 0.3 * 0.7 + 0.9 * (np.sin(0.9) - 0.3 * np.sin(3))
    error = exact - solution.evaluate(**at)["u"]
    assert abs(e - error) < abs(error) + 1e-12


def test_features_that_follow_nothing_are_told(monkeypatch):
    monkeypatch.setattr(module, "_MORE", 0.2)
    found = solved(12).error_estimate()
    assert module._NONE in found.doubts


def test_a_limit_in_time_takes_fewer_features_or_none(monkeypatch):
    monkeypatch.setattr(module, "_FEW", 4)
    solution = solved(20)
    widths = []
    own = module._solved

    class Clock:
        """Moves on by the features of what was solved, to the power that is reckoned with."""

        seconds = 0.0

    def told(run, budget):
        widths.append(run.model.trunk.width)
        Clock.seconds += run.model.trunk.width**module._POWER
        return own(run, budget)

    monkeypatch.setattr(module, "_solved", told)
    run, objective = solution.experiment, solution.experiment.objective()

    def estimate(limit):
        Clock.seconds = 0.0
        widths.clear()
        budget = module.Budget(limit, lambda: Clock.seconds, 0.0)
        return module.by_second_features(run, objective, solution.theta, budget, {})

    assert not estimate(1e6).doubts and widths == [8, 25]
    first = 8.0**module._POWER
    few = estimate(first + 16.5**module._POWER / module._SHARE)
    assert widths == [8, 16]
    assert "80% of the features" in few.doubts[0] and few.relative_l2
    none = estimate(first + 9.0**module._POWER / module._SHARE)
    assert widths == [8] and not none.relative_l2
    assert "it takes about" in none.doubts[0]


def test_other_models_have_a_correction(monkeypatch):
    monkeypatch.setattr(module, "_solved", None)  # would fail if it were called
    solution = pinn.solve(
        PROBLEM, replace(pinn.DeepONet(branch=None), trunk=pinn.MLP(width=4, depth=1)),
        pinn.Sampling(interior=60), [pinn.LevenbergMarquardt(3)], error_bars=False, threads=1,
    )  # fmt: skip
    run = solution.experiment
    found = error_estimate(run, run.objective(), solution.theta)
    assert module._SAID not in found.remarks


def test_what_modes_leave_out_of_functions_is_said_to_come_on_top():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "-u_xx = v"}, [pinn.Dirichlet("u", 0)],
        function_spaces={"v": {"over": "x", "length": 0.5}},
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.DeepONet(pinn.RandomFeatures(20, (0.3, 3.0)), branch=None),
        pinn.Sampling(interior=120), error_bars=False, threads=1,
    )  # fmt: skip
    (said,) = [one for one in solution.error_estimate().remarks if "comes on top" in one]
    v = problem.functions["v"]
    assert f"of its {len(v.names)} modes" in said and f"{v.left_out:.1e} of a function" in said
