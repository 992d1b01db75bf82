"""Quantities that are made of unknowns, against what their formulas say of the unknowns."""

import numpy as np
import pytest

import pinn
from pinn.evaluation import Evaluation
from pinn.training.experiment import Experiment

X, TIME = pinn.Interval("x", 0, 1), pinn.Time("t", 0, 1)
XS, TS = np.linspace(0, 1, 7)[:, None], np.linspace(0, 1, 4)


@pytest.fixture(scope="module")
def solution():
    problem = pinn.Problem(
        X * TIME, ["w", "v"], {"heat": "diff(u, t) - k*diff(u, x, 2)", "v": "v - w_x"},
        [pinn.Initial("w", "x")],
        constants={"c": 2.0}, parameters={"k": 0.3},
        regions={"left": "x < 0.5"},
        piecewise={
            "u": {"elsewhere": "sin(x)*exp(t*w)"},
            "flux": {
                "left": "-k*diff(sin(x)*exp(t*w), x)",
                "elsewhere": "-c*k*diff(sin(x)*exp(t*w), x)",
            },
            "before": {"elsewhere": "at(w, t=0)"},
            "share": {"elsewhere": "integral(w, x, 0, 1)"},
            "d": {"left": 1, "elsewhere": "c"},
        },
    )  # fmt: skip
    experiment = Experiment(problem, pinn.MLP(6, 2))
    return pinn.Solution(
        experiment, experiment.initial_parameters().theta, pinn.Report("", "", 0.0, {}, 0.0, 0)
    )


def test_what_is_made_of_unknowns_is_solved_for_and_what_is_not_is_not(solution):
    assert solution.problem.solved == ("w", "v", "u", "flux", "before", "share")
    assert list(solution.evaluate(x=XS, t=TS)) == list(solution.problem.solved)


def test_a_quantity_is_its_formula(solution):
    found = solution.evaluate(x=XS, t=TS)
    w = found["w"]
    np.testing.assert_allclose(found["u"], np.sin(XS) * np.exp(TS * w), rtol=1e-14)
    w_x = solution.derivative("w_x", x=XS, t=TS)
    u_x = (np.cos(XS) + np.sin(XS) * TS * w_x) * np.exp(TS * w)
    np.testing.assert_allclose(
        found["flux"], -0.3 * np.where(XS < 0.5, 1, 2) * u_x, rtol=1e-12, atol=1e-14
    )
    start = solution.evaluate(x=XS, t=0 * TS)["w"]
    np.testing.assert_allclose(found["before"], start, rtol=1e-13)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    along = solution.evaluate(x=(1 + nodes[:, None]) / 2, t=TS)["w"]
    np.testing.assert_allclose(found["share"], np.ones((7, 1)) * (weights @ along / 2), rtol=1e-12)


def test_a_quantity_is_drawn_and_needs_all_coordinates(solution):
    assert solution.field_data("flux").values.shape == (257, 257)
    with pytest.raises(TypeError, match="t is missing"):
        solution.evaluate(x=0.5)
    assert solution.evaluate(x=np.zeros(0), t=0.5)["flux"].shape == (0,)


def test_other_networks_in_place_of_the_run_s_are_evaluated_as_they_are(solution):
    other = solution.experiment.initial_parameters()
    evaluation = Evaluation(solution.experiment, other)
    points = np.random.default_rng(0).random((5, 2))
    there = {"x": points[:, 0], "t": points[:, 1]}
    for theta in (solution.theta, 2 * solution.theta):
        other.load(theta)
        moved = pinn.Solution(solution.experiment, theta, solution.report)
        expected = moved.evaluate(**there)
        for name, values in evaluation.at(points).items():
            np.testing.assert_array_equal(values, expected[name])
        np.testing.assert_array_equal(
            evaluation.expressions(["k*flux"], there)[0],
            moved.derivative("k*flux", **there),
        )
    assert list(evaluation.at(points, ["u"])) == ["u"]
