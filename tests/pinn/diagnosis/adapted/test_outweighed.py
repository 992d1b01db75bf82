"""Runs whose data have noise: what is exact outweighs it, where no weights are given."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import pinn
from pinn.config import load
from pinn.diagnosis import outweighing_noise
from pinn.objective.weighting import Discrepancy, Fixed
from pinn.training.experiment import Experiment
from pinn.training.loop import Training
from pinn.training.records import Resume

XS = np.linspace(0, 3, 40)
NOISE = 0.1 * np.random.default_rng(0).standard_normal(40)
MEASURED = np.sin(4 * XS) + NOISE


def spring(sigma: float | None = 0.1, values=MEASURED, **given) -> pinn.Problem:
    data = pinn.Data("u", {"x": XS, "u": values}, sigma=sigma)
    return pinn.Problem(
        pinn.Interval("x", 0, 3), ["u"], {"spring": "u_xx/10 + k*u/10"}, [data],
        parameters={"k": 12.0}, **given,
    )  # fmt: skip


def chosen(problem, **given):
    experiment = Experiment(problem, **given)
    return outweighing_noise(experiment, experiment)


def test_data_with_noise_are_outweighed_and_the_report_says_why():
    experiment, (said,) = chosen(spring())
    assert experiment.weighting == Discrepancy()
    assert "noise makes up 0.1 of data_u, by what is said of its size" in str(said)
    assert str(said).startswith("weights: equations and conditions grow heavier")


@pytest.mark.parametrize("given", [
    {"weighting": {"spring": 10}}, {"weighting": pinn.GradNorm()}, {"target": 1e-3},
    {"model": pinn.RandomFeatures(50)},
], ids=str)  # fmt: skip
def test_what_was_asked_for_stays(given):
    experiment, decisions = chosen(spring(), **given)
    assert decisions == () and experiment.weighting == Experiment(spring(), **given).weighting


@pytest.mark.parametrize("problem", [
    spring(None), spring(1e-4), spring(0.1, np.zeros(40)),
    pinn.Problem(pinn.Interval("x", 0, 1), ["u"], {"e": "u_x + u"}, [pinn.Dirichlet("u", 1)]),
], ids=["no sigma", "hardly any noise", "data that do not vary", "no data"])  # fmt: skip
def test_nothing_outweighs_data_whose_noise_is_not_told_or_is_little(problem):
    experiment, decisions = chosen(problem)
    assert decisions == () and experiment.weighting == Fixed()


def test_weights_of_natural_units_stay_below():
    asked = Experiment(spring())
    experiment, _ = outweighing_noise(Experiment(spring(), weighting={"spring": 1e-4}), asked)
    assert experiment.weighting == Discrepancy(blocks={"spring": 1e-4})


@pytest.fixture(scope="module")
def by_least_squares():
    """The frequency squared, and its standard error, of the sine that fits best."""
    found = least_squares(
        lambda p: p[0] * np.sin(p[2] * XS) + p[1] * np.cos(p[2] * XS) - MEASURED, [1, 0, 4.0],
        xtol=1e-14, ftol=1e-14,
    )  # fmt: skip
    covariance = 0.1**2 * np.linalg.inv(found.jac.T @ found.jac)
    return found.x[2] ** 2, 2 * found.x[2] * np.sqrt(covariance[2, 2])


@pytest.fixture(scope="module")
def solved():
    steps = []
    solution = pinn.solve(
        spring(), pinn.MLP(width=10, depth=2), pinn.Sampling(interior=200, adaptive=None),
        [pinn.LevenbergMarquardt(120)], error_bars=False, callbacks=[steps.append],
    )  # fmt: skip
    return solution, steps


def test_it_ends_where_the_equation_holds_and_the_noise_alone_is_left(solved, by_least_squares):
    solution, steps = solved
    k, error = by_least_squares
    assert abs(solution.parameters["k"] - k) < 0.01 * error
    assert solution.report.recovery.standard_errors["k"] == pytest.approx(error, rel=0.02)
    assert not solution.report.unsolved
    weights = [step.weights["spring"] for step in steps]
    assert weights[0] == 1 and weights == sorted(weights) and weights[-1] > 100


def test_equal_weights_follow_the_noise_further_from_that(by_least_squares):
    followed = pinn.solve(
        spring(), pinn.MLP(width=10, depth=2), pinn.Sampling(interior=200, adaptive=None),
        [pinn.LevenbergMarquardt(60)], weighting={"spring": 1}, error_bars=False,
    )  # fmt: skip
    k, error = by_least_squares
    assert abs(followed.parameters["k"] - k) > 0.1 * error


def test_a_run_goes_on_with_the_same_bits():
    sampling = pinn.Sampling(interior=40, adaptive=None)
    experiment = Experiment(spring(), pinn.MLP(width=6, depth=1), sampling, Discrepancy(every=2))
    stages = [pinn.LevenbergMarquardt(16, hold=2)]

    def trained(callback, resume=None):
        made = experiment.objective()
        return Training(made, stages, [callback], weighting=experiment.weighting, resume=resume)

    records, rest = [], []
    expected = trained(records.append).run()
    assert len({record.weights["spring"] for record in records}) > 1
    for stop in (3, 6, 7):
        rest.clear()
        assert np.array_equal(trained(rest.append, Resume(records[stop - 1])).run().theta,
                              expected.theta)  # fmt: skip
        assert [one.weights for one in rest] == [one.weights for one in records[stop:]]


def test_a_config_has_it_and_a_problem_without_noise_refuses_it(tmp_path):
    path = tmp_path / "config.yaml"
    (tmp_path / "data.csv").write_text("x,u\n0,1\n1,2\n")
    text = (
        "problem: {domain: {x: [0, 1]}, unknowns: u, parameters: {k: {initial: 1}}, equations: "
        "{e: u_x + k*u}, conditions: [data: {unknown: u, table: data.csv, sigma: 0.1}]}\n"
        "weighting: {discrepancy: {every: 5, most: 100}}\n"
    )
    path.write_text(text)
    assert load(path).experiment.weighting == Discrepancy(every=5, most=100)
    path.write_text(text.replace(", sigma: 0.1", ""))
    with pytest.raises(ValueError) as told:
        load(path)
    assert (
        "weighting: discrepancy: expected data whose noise has a stated size, got none; state it "
        "with the data, data: {..., sigma: 0.01} or pinn.Data(..., sigma=0.01)"
    ) in str(told.value)


# ---- what became of the weights


def told_of_weights(solution):
    """What was told first and last of weights, and after how many steps."""
    first, *_, last = (one for one in solution.report.decisions if one.what.startswith("weights"))
    return first, last


def test_the_report_says_by_how_much_they_rose_and_why_by_no_more(solved):
    solution, steps = solved
    first, last = told_of_weights(solution)
    assert "grow heavier while the data lie within their noise" in first.what and first.step == 0
    heavier = steps[-1].weights["spring"]
    assert last.what == (
        f"weights: equations and conditions came to weigh {heavier:.3g} times as much"
    )
    assert last.step == solution.report.steps
    part = heavier * steps[-1].losses["spring"] / steps[-1].losses["data_u"]
    assert last.why == f"they hold: their part of the loss is {part:.1g} of that of the data"


@pytest.mark.parametrize(("problem", "steps", "why"), [
    (spring(0.03), 15, "data_u lies further off than noise"),
    (spring(2.0), 5, "training ended before they grew heavier"),
], ids=["sigma too small", "few steps"])  # fmt: skip
def test_the_report_says_that_they_did_not_rise(problem, steps, why):
    solution = pinn.solve(
        problem, pinn.MLP(width=6, depth=1), pinn.Sampling(interior=40, adaptive=None),
        [pinn.LevenbergMarquardt(steps)], error_bars=False,
    )  # fmt: skip
    _, last = told_of_weights(solution)
    assert (last.what, last.why) == ("weights: equations and conditions kept their weights", why)
