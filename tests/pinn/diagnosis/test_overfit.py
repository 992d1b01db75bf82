"""Points, and nodes of sums, that are fitted in place of the equations are told of."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis import overfitted
from pinn.training.experiment import Experiment
from pinn.training.judging.fresh import FreshLoss, fresh_points, without_peaks

POISSON = pinn.Problem(
    pinn.Interval("x", 0, 1), ["u"], {"poisson": "u_xx + pi**2*sin(pi*x)"},
    [pinn.Dirichlet("u", 0, hard=True)], reference={"u": "sin(pi*x)"},
)  # fmt: skip
SMALL = pinn.MLP(width=5, depth=1)
STEEP = pinn.RandomFeatures(40, activation="sin", steepness=(20.0, 200.0))
SUM = pinn.Problem(
    pinn.Interval("x", 0, 1), ["u"],
    {"volterra": "u_x - cos(x) + sin(40*x)*(integral(u, x, 0, 1) - 1 + cos(1))"},
    [pinn.Dirichlet("u", 0, on="x=0", hard=True)], reference={"u": "sin(x)"},
)  # fmt: skip


def test_few_points_that_steep_features_fit_are_warned_of():
    few = pinn.Sampling(interior=20)
    with pytest.warns(pinn.ProblemWarning) as caught:
        report = pinn.solve(POISSON, STEEP, few).report
    assert report.loss < 1e-6 < report.fresh_loss and report.rel_l2["u"] > 1e-3
    said = [str(one.message) for one in caught]
    assert any("the points are fitted, and not the equations" in text for text in said)
    assert tuple(said) == report.warnings


def test_enough_points_are_not_warned_of():
    report = pinn.solve(POISSON, pinn.RandomFeatures(40), pinn.Sampling(interior=160)).report
    assert report.rel_l2["u"] < 1e-6 and report.warnings == ()


def test_a_residual_that_is_small_between_the_points_too_is_not_told_of():
    experiment = Experiment(POISSON, SMALL, pinn.Sampling(interior=20))
    objective = experiment.objective()
    theta = objective.theta
    here = np.mean(objective.residuals(theta)["poisson"] ** 2)
    fresh = {"poisson": 1e3 * here}
    assert overfitted(objective, theta, fresh, {"poisson": 1e16 * here}) is None
    said = overfitted(objective, theta, fresh, {"poisson": 1e14 * here})
    rms = f"{(1e3 * here) ** 0.5:.1e}, {here**0.5:.1e}"
    assert "root mean square of the residual where training did not look" in said
    assert f"poisson ({rms} at its points); take more points" in said and "nodes" not in said


def test_rows_that_weigh_next_to_nothing_are_no_points_that_are_fitted():
    """Causal weights leave out the later times until the earlier ones are solved."""
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"growth": "u_t - 100*t**4"}, [pinn.Initial("u", 0)],
    )  # fmt: skip
    causal = pinn.Causal(epsilons=[1000.0])
    with pytest.warns(pinn.UnsolvedWarning) as caught:
        report = pinn.solve(
            problem, SMALL, pinn.Sampling(interior=400), [pinn.Adam(30)], causal
        ).report
    assert report.losses["growth"] < 0.01 * report.fresh_loss
    assert not any("points are fitted" in str(one.message) for one in caught)


def test_the_estimate_of_an_overfitted_solution_has_a_doubt():
    with pytest.warns(pinn.ProblemWarning):
        solution = pinn.solve(POISSON, STEEP, pinn.Sampling(interior=20))
    estimate = solution.error_estimate()
    assert not estimate.trusted
    assert any("points are fitted" in doubt for doubt in estimate.doubts)


def test_nodes_of_an_integral_are_not_those_of_training():
    experiment = Experiment(SUM, SMALL, pinn.Sampling(interior=30))
    objective, points = experiment.objective(), fresh_points(experiment)
    assert "nodes=20" in str(SUM.residuals[0].left.tree)
    assert "nodes=30" in str(SUM.with_finer_sums.residuals[0].left.tree)
    assert POISSON.with_finer_sums is POISSON
    apart = FreshLoss(objective, points)
    assert apart.is_of_other_sums
    finer = objective.with_finer_sums().residuals(objective.theta, points)["volterra"]
    here = objective.residuals(objective.theta, points)["volterra"]
    found = apart.losses(objective.theta)["volterra"]
    assert found == np.mean(finer**2) != np.mean(here**2)


def test_what_only_the_nodes_of_a_fractional_derivative_do_not_see_is_warned_of():
    """Steep features that 20 nodes take for something else: no point of training tells."""
    fractional = pinn.Problem(
        pinn.Interval("x", -1, 1), ["u"], {"f": "fractional_laplacian(u, 1) - 1"},
        [pinn.Dirichlet("u", 0, hard=True, power=0.5)], reference={"u": "sqrt(1 - x**2)"},
    )  # fmt: skip
    with pytest.warns(pinn.UnsolvedWarning, match="more nodes in the sums") as caught:
        report = pinn.solve(fractional, STEEP, pinn.Sampling(interior=160)).report
    (said,) = [text for text in _texts(caught) if "are fitted" in text]
    assert said.startswith("the nodes of sums are fitted") and "sampling.redraw" not in said
    assert report.loss < 1e-8 and report.rel_l2["u"] > 0.1
    smooth = pinn.solve(fractional, pinn.RandomFeatures(40), pinn.Sampling(interior=160)).report
    assert smooth.rel_l2["u"] < 1e-6 and smooth.warnings == ()


def test_nodes_that_an_integral_is_fitted_at_are_named_and_more_of_them_help():
    """u = 1 + int cos(150 s) u(s) ds is constant, 1/(1 - sin(150)/150)."""

    def solved(nodes):
        text = f"u - 1 - integral(cos(150*s)*at(u, x=s), s, 0, 1{nodes})"
        problem = pinn.Problem(
            pinn.Interval("x", 0, 1), ["u"], {"e": text},
            reference={"u": "1/(1 - sin(150)/150)"},
        )  # fmt: skip
        return pinn.solve(problem, pinn.RandomFeatures(20), pinn.Sampling(interior=100))

    with pytest.warns(pinn.UnsolvedWarning) as caught:
        solution = solved("")
    assert solution.report.loss < 1e-12 and solution.report.rel_l2["u"] > 0.05
    (said,) = [text for text in _texts(caught) if "are fitted" in text]
    assert said.startswith("the nodes of sums are fitted")
    assert said.endswith("more nodes in the sums and integrals of e (nodes=40 in place of 20)")
    doubts = solution.error_estimate().doubts
    assert any("nodes are fitted, and not the equation; take more of them (nodes=40 in" in one
               for one in doubts)  # fmt: skip
    assert solved(", nodes=80").report.rel_l2["u"] < 1e-9


def test_times_that_an_integral_condition_is_fitted_at_are_named_and_more_of_them_help():
    """The integral of u over x is cos(10 t)/3 in place of a value at x = 1; u = x^2 cos(10 t)."""

    def solved(times):
        problem = pinn.Problem(
            pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"],
            {"h": "u_t - u_xx + 10*x**2*sin(10*t) + 2*cos(10*t)"},
            [pinn.Initial("u", "x**2"), pinn.Dirichlet("u", 0, on="x=0"),
             pinn.Integral("u", "cos(10*t)/3", times=times)],
            reference={"u": "x**2*cos(10*t)"},
        )  # fmt: skip
        few = pinn.Sampling(interior=1800, initial=100, boundary=100, redraw=None)
        return pinn.solve(problem, pinn.RandomFeatures(400, steepness=(1.0, 8.0)), few)

    with pytest.warns(pinn.UnsolvedWarning) as caught:
        solution = solved(5)
    (said,) = [text for text in _texts(caught) if "are fitted" in text]
    assert said.startswith("the times are fitted")
    assert said.endswith("take more times in integral_u (times=10 in place of 5)")
    doubts = solution.error_estimate().doubts
    assert any("times are fitted, and not the equation; take more of them (times=10" in one
               for one in doubts)  # fmt: skip
    more = solved(100).report
    assert more.rel_l2["u"] < 0.1 * solution.report.rel_l2["u"]


def _texts(caught):
    return [str(one.message) for one in caught]


def test_windows_that_a_run_did_not_come_to_are_no_points_that_are_fitted():
    problem = pinn.Problem(
        pinn.Time("t", 0, 4), ["u"], {"growth": "u_t - cos(5*t)"}, [pinn.Initial("u", 0)],
    )  # fmt: skip
    with pytest.warns(pinn.UnsolvedWarning) as caught:
        report = pinn.solve(
            problem, pinn.Windows(4, model=pinn.MLP(10, 1)), pinn.Sampling(interior=100),
            [pinn.LevenbergMarquardt(30)], callbacks=[lambda record: record.step == 30],
        ).report  # fmt: skip
    assert report.message.startswith("window 1 of 4")
    assert report.losses["growth"] < 0.01 * report.fresh_loss
    assert not any("points are fitted" in str(one.message) for one in caught)


def test_what_is_large_at_one_point_in_hundreds_is_no_fit_of_points():
    objective = Experiment(POISSON, SMALL, pinn.Sampling(interior=20)).objective()
    theta = objective.theta
    here = np.mean(objective.residuals(theta)["poisson"] ** 2)
    before, fresh = {"poisson": 1e14 * here}, {"poisson": 1e3 * here}
    assert overfitted(objective, theta, fresh, before, {"poisson": 2 * here}) is None
    assert overfitted(objective, theta, fresh, before, {"poisson": 500 * here}) is not None
    residual = np.ones(1000)
    residual[7] = 1e4
    np.testing.assert_array_equal(without_peaks(residual), np.ones(998))
    np.testing.assert_array_equal(without_peaks(np.array([3.0, 1e4])), [9.0, 1e8])
