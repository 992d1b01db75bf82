"""A fit of data with noise that has settled: what is left to be had, and the end of training."""

import numpy as np
import pytest
from scipy.optimize import curve_fit

import pinn
from pinn.objective.weighting import Discrepancy
from pinn.training.course import Course
from pinn.training.experiment import Experiment
from pinn.training.judging import judge
from pinn.training.judging.noise import lie_within_noise, of_one_standard_error, to_be_had
from pinn.training.judging.verdicts import settled
from pinn.training.looks import Looks

SIGMA = 0.02
XS = np.sort(np.random.default_rng(1).uniform(0, 1, 60))
MEASURED = np.exp(-2 * XS) + SIGMA * np.random.default_rng(2).standard_normal(60)
SMALL = {"model": pinn.MLP(8, 1), "sampling": pinn.Sampling(interior=60, adaptive=None)}


def decay(sigma=SIGMA, *others):
    data = pinn.Data("u", {"x": XS, "u": MEASURED}, sigma=sigma)
    return pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"decay": "u_x + k*u"}, [data, *others],
        parameters={"k": 1.0},
    )  # fmt: skip


def solve(problem, steps=200, **given):
    stages = [pinn.LevenbergMarquardt(steps)]
    return pinn.solve(problem, **SMALL, training=stages, error_bars=False, **given)


@pytest.fixture(scope="module")
def solution():
    return solve(decay())


def test_a_fit_that_has_settled_ends_training_and_says_so(solution):
    report = solution.report
    assert report.stop_reason == "settled" and report.steps < 150
    assert report.message == (
        "the data lie within their noise, what is exact holds, no weight was moved lately, and the "
        f"best step would move nothing by more than 0.001 of its standard error, after step "
        f"{report.steps}"
    )


def test_it_ends_where_least_squares_ends(solution):
    (_, k), covariance = curve_fit(lambda x, a, k: a * np.exp(-k * x), XS, MEASURED, [1, 1])
    assert abs(solution.parameters["k"] - k) < 0.01 * np.sqrt(covariance[1, 1])


def test_more_steps_would_have_moved_nothing(solution, monkeypatch):
    monkeypatch.setattr(judge, "settled", lambda *given: None)
    longer = solve(decay(), 2 * solution.report.steps)
    assert longer.report.steps == 2 * solution.report.steps
    error = solution.report.recovery.standard_errors["k"]
    assert abs(longer.parameters["k"] - solution.parameters["k"]) < 0.01 * error
    xs = np.linspace(0, 1, 50)
    moved = longer.evaluate(x=xs)["u"] - solution.evaluate(x=xs)["u"]
    assert (np.abs(moved) < 0.02 * pinn.standard_errors(solution, x=xs)["u"]).all()


@pytest.mark.parametrize("problem", [
    decay(None), decay(SIGMA / 3), decay(SIGMA, pinn.Data("u", {"x": [0.5], "u": [0.37]})),
], ids=["no sigma", "sigma too small", "other data without a sigma"])  # fmt: skip
def test_a_fit_whose_noise_is_not_known_goes_on(problem):
    report = solve(problem, 100).report
    assert (report.stop_reason, report.steps) == ("step limit", 100)


def test_what_one_standard_error_does_to_the_loss_is_that_of_a_fit_by_hand():
    setup = Experiment(decay(), **SMALL, weighting={"data_u": 3.0})
    objective = setup.objective()
    slopes = XS * np.exp(-2 * XS)
    error = SIGMA / np.sqrt(np.sum(slopes**2))  # of k alone

    def loss(k):
        return 3 * np.mean((np.exp(-k * XS) - np.exp(-2 * XS)) ** 2)

    assert of_one_standard_error(objective) == pytest.approx(loss(2 + error), rel=0.02)
    assert of_one_standard_error(Experiment(decay(None), **SMALL).objective()) == 0
    assert of_one_standard_error(
        Experiment(pinn.Problem(pinn.Interval("x", 0, 1), ["u"], {"e": "u_x"}), **SMALL).objective()
    ) == 0


def test_what_is_to_be_had_is_what_least_squares_of_the_linear_rows_gains():
    objective = Experiment(decay(), **SMALL).objective()
    rng = np.random.default_rng(0)
    theta = objective.theta + 0.1 * rng.standard_normal(objective.size)
    rows, jacobian = objective.jacobian(theta)
    unit = 1e-2
    holds = np.zeros(objective.size)
    for part in objective.layout.parts:
        if part.name.startswith("model."):
            holds[part.place] = np.sqrt(unit) / max(1, np.sqrt(np.mean(theta[part.place] ** 2)))
    whole = np.vstack([jacobian, np.diag(holds)])
    step, *_ = np.linalg.lstsq(whole, np.append(-rows, 0 * theta), rcond=None)
    left = np.sum((rows + jacobian @ step) ** 2) + np.sum((holds * step) ** 2)
    assert to_be_had(objective, theta, unit) == pytest.approx(rows @ rows - left, rel=1e-6)


def course_of(solution, weighed_at=0, count=8):
    """A course that has looked so often where training left a solution."""
    objective = solution.experiment.objective()
    losses = objective.losses(solution.theta)
    each = np.array([losses[block.name] for block in objective.blocks])
    found = Looks.none(len(each))
    for step in range(10, 10 * count + 1, 10):
        found = found.taken(step, each, each)
    return Course(found, weighed_at=weighed_at)


def test_it_has_not_settled_before_weights_steps_and_equations_have(solution):
    objective = solution.experiment.objective()
    objective.set_weights(solution.last.weights)
    objective.set_points(solution.last.points)
    weights = np.array([block.weight for block in objective.blocks])
    theta = solution.theta

    def said(course, theta=theta):
        return settled(objective, theta, course, weights)

    assert lie_within_noise(objective, theta)
    assert said(course_of(solution)) and said(course_of(solution, weighed_at=20))
    assert said(course_of(solution, weighed_at=21)) is None
    assert said(course_of(solution, count=6)) is None
    steady = course_of(solution)
    looks = steady.looks
    falls = Looks(looks.steps, looks.fresh * np.linspace(1.01, 1, 8)[:, None], looks.present)
    assert said(steady.looked(falls)) is None
    # a coefficient a tenth of its standard error off
    off = np.array(theta)
    off[objective.layout["k"].place] += 0.1 * solution.report.recovery.standard_errors["k"]
    assert said(steady, off) is None


def test_the_default_of_noisy_data_has_it_too():
    solution = pinn.solve(decay(), **SMALL, seconds=60, error_bars=False)
    assert solution.report.stop_reason == "settled" and solution.report.wall_seconds < 60
    assert solution.experiment.weighting == Discrepancy()
