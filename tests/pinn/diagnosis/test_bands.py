"""Standard errors at points: against least squares worked out apart."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.diagnosis import with_noise
from pinn.estimates import ErrorEstimate, error_estimate
from pinn.solution.solution import Solution

# Nothing is trained here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pinn.UnsolvedWarning"),
    pytest.mark.filterwarnings("ignore::pinn.ProblemWarning"),
]

X = pinn.Interval("x", 0, 1)
XS = np.linspace(0.02, 1, 25)
AT = np.array([0.0, 0.3, 0.9])
SIGMA = 0.05


class Powers(T.nn.Module):
    """c_0 + c_1 x + ..., and further columns of the same kind."""

    def __init__(self, count):
        super().__init__()
        self.weights = T.nn.Parameter(T.zeros(1, count, dtype=T.float64))

    def forward(self, points):
        powers = [T.ones_like(points)]
        for _ in range(self.weights.shape[1] - 1):
            powers.append(powers[-1] * points)
        return T.nn.functional.linear(T.cat(powers, dim=1), self.weights)


def solution(equation, fields=(), parameters=(), seed=0, weight=1e8):
    noise = SIGMA * np.random.default_rng(seed).standard_normal(len(XS))
    problem = pinn.Problem(
        X, ["u"], {"e": equation}, [
            pinn.Dirichlet("u", 0, on="x=0"),
            pinn.Data("u", {"x": XS, "u": XS + XS**2 / 2 + noise}, sigma=SIGMA),
        ], fields=fields, parameters=parameters,
    )  # fmt: skip
    return pinn.solve(
        problem, Powers(4), pinn.Sampling(interior=12, method="grid", redraw=None, adaptive=None),
        [pinn.Adam(steps=1, learning_rate=1e-12)],
        weighting={"e": weight, "dirichlet_u_x_low": weight},
    )


def test_of_a_field_it_is_the_formula_of_least_squares():
    """u' = a with u(0) = 0: u = a_0 x + a_1 x^2/2 + a_2 x^3/3."""
    found = pinn.standard_errors(
        solution("u_x - a", [pinn.Field("a", ["x"], model=Powers(3))]), x=AT
    )
    design = np.stack([XS, XS**2 / 2, XS**3 / 3], axis=1) / SIGMA
    # each number, a_k and u's a_k / (k + 1), is held to 1, the size of its tensor or more
    covariance = np.linalg.inv(design.T @ design + np.diag([1 + 1, 1 + 1 / 4, 1 + 1 / 9]))
    slopes = np.stack([AT**0, AT, AT**2], axis=1)
    expected = np.sqrt(np.einsum("mi,ij,mj->m", slopes, covariance, slopes))
    np.testing.assert_allclose(found["a"], expected, rtol=1e-3)
    slopes = np.stack([AT, AT**2 / 2, AT**3 / 3], axis=1)
    expected = np.sqrt(np.einsum("mi,ij,mj->m", slopes, covariance, slopes))
    np.testing.assert_allclose(found["u"], expected, rtol=1e-3, atol=1e-5)


def test_the_weights_that_training_ended_with_count():
    field = [pinn.Field("a", ["x"], model=Powers(3))]
    heavy, light = (solution("u_x - a", field, weight=weight) for weight in (1e8, 1e-2))
    weights = {"e": 1e8, "dirichlet_u_x_low": 1e8, "data_u": 1.0}
    history = [*light.report.history, {"step": 2, "weights": weights}]
    report = dataclasses.replace(light.report, history=history)
    moved = Solution(light.experiment, heavy.theta, report)
    found, expected = (pinn.standard_errors(one, x=AT) for one in (moved, heavy))
    for name in ("u", "a"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)
    assert pinn.standard_errors(light, x=AT)["u"][0] > 1e3 * expected["u"][0]


def test_a_coefficient_is_open_as_well():
    """u' = p + q x: the unknown's error is that of both coefficients."""
    parameters = [pinn.Parameter("p", 1.0), pinn.Parameter("q", 1.0)]
    trained = solution("u_x - p - q*x", parameters=parameters)
    found = pinn.standard_errors(trained, x=AT)["u"]
    design = np.stack([XS, XS**2 / 2], axis=1) / SIGMA
    covariance = np.linalg.inv(design.T @ design + np.diag([1 + 1, 1 + 1 / 4]))
    slopes = np.stack([AT, AT**2 / 2], axis=1)
    expected = np.sqrt(np.einsum("mi,ij,mj->m", slopes, covariance, slopes))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)


def test_what_nothing_tells_is_as_open_as_the_network_is_large():
    fields = [pinn.Field("a", ["x"], model=Powers(1))]
    trained = solution("u_x - 1 - x + 0*a", fields)
    found = pinn.standard_errors(trained, x=AT.reshape(3, 1))
    assert found["a"].shape == (3, 1)
    np.testing.assert_allclose(found["a"], 1.0, rtol=1e-6)
    np.testing.assert_allclose(found["u"][0], 0, atol=1e-4)


def test_a_field_needs_its_own_coordinates_alone_and_data_are_needed(monkeypatch):
    table = {"x": [0.5], "y": [0.5], "u": [1.0]}
    problem = pinn.Problem(
        X * pinn.Interval("y", 0, 1), ["u"], {"e": "u_x - a"}, [pinn.Data("u", table, sigma=0.1)],
        fields=[pinn.Field("a", ["x"], model=pinn.MLP(3, 1))],
    )  # fmt: skip
    stages = [pinn.Adam(steps=1)]
    trained = pinn.solve(problem, pinn.MLP(3, 1), pinn.Sampling(interior=9), stages)
    found = pinn.standard_errors(trained, x=AT)
    assert list(found) == ["a"] and found["a"].shape == (3,) and (found["a"] > 0).all()
    with pytest.raises(TypeError, match="x is missing"):
        pinn.standard_errors(trained, y=0.5)
    monkeypatch.setattr("pinn.diagnosis.bands.MOST_DENSE", 5)
    with pytest.raises(ValueError, match="networks of up to 5 numbers, and these have 23"):
        pinn.standard_errors(trained, x=AT)
    without = dataclasses.replace(problem, conditions=[pinn.Dirichlet("u", 1.0)])
    bare = pinn.solve(without, pinn.MLP(3, 1), pinn.Sampling(interior=9), stages)
    with pytest.raises(ValueError, match="the problem has none; add a condition of data"):
        pinn.standard_errors(bare, x=0.5, y=0.5)


def recovered(noise):
    """u' = a with u(0) = 0, with data of a = 1 + x, trained to the end."""
    moved = noise * np.random.default_rng(0).standard_normal(len(XS))
    problem = pinn.Problem(
        X, ["u"], {"e": "u_x - a"}, [
            pinn.Dirichlet("u", 0, on="x=0"),
            pinn.Data("u", {"x": XS, "u": XS + XS**2 / 2 + moved}, sigma=SIGMA),
        ], fields=[pinn.Field("a", ["x"], model=Powers(6))],
    )  # fmt: skip
    points = pinn.Sampling(interior=40, method="grid", redraw=None, adaptive=None)
    stages = [pinn.LevenbergMarquardt(60, damping=1e-8)]
    return pinn.solve(problem, Powers(7), points, stages)


def test_an_estimated_error_is_no_less_than_what_noise_may_have_moved(monkeypatch):
    monkeypatch.setattr("pinn.solving._WORTH", 0.0)
    solution = recovered(SIGMA)
    estimate, at = solution.report.error_estimate, np.linspace(0, 1, 301)
    found = solution.evaluate(x=at)["a"]
    band = pinn.standard_errors(solution, x=at)["a"]
    share = np.linalg.norm(band) / np.linalg.norm(found)
    error = np.linalg.norm(found - 1 - at) / np.linalg.norm(1 + at)
    assert share == pytest.approx(estimate.relative_l2["a"], rel=0.1) and share > error / 3
    assert estimate.maximum["a"] == pytest.approx(band.max(), rel=0.1)
    assert any("noise in the data may have moved" in one for one in estimate.remarks)
    assert estimate.noise["a"] == estimate.relative_l2["a"]
    # the equations alone know nothing of it
    alone = error_estimate(solution.experiment, solution.experiment.objective(), solution.theta)
    assert alone.relative_l2["a"] < share / 10


def test_what_noise_has_moved_is_in_an_estimate_of_a_solution_that_was_loaded(
    monkeypatch, tmp_path
):
    monkeypatch.setattr("pinn.solving._WORTH", 0.0)
    solution = recovered(SIGMA)
    solution.save(tmp_path / "s.npz")
    known = solution.report.error_estimate
    again = pinn.load(tmp_path / "s.npz", model=Powers(7), fields={"a": Powers(6)})
    estimate = again.error_estimate()
    assert estimate.error is not None and estimate.noise == known.noise != {}
    assert estimate.trusted and known.trusted
    for name, share in known.noise.items():
        assert estimate.relative_l2[name] == share
    (title,) = {one for one in [again.plot_error("a").get_suptitle()]}
    assert f"noise in the data may have moved a by {known.noise['a']:.1e}" in title


def test_where_the_problem_is_solved_and_noise_is_all_there_is_nothing_speaks_against_it():
    solution = recovered(SIGMA)
    objective = solution.experiment.objective()
    objective.parameters.load(solution.theta)
    near = ErrorEstimate(
        {"u": 1e-9, "a": 1e-9}, {"u": 1e-9, "a": 1e-9}, possible={"u": 0.3},
        doubts=("errors differ",), remarks=("seen",),
    )  # fmt: skip
    for is_solved in (True, False):
        found = with_noise(near, objective, is_solved)
        assert found.noise.keys() == {"u", "a"} and found.noise == found.relative_l2
        assert found.trusted == is_solved and (not found.possible) == is_solved
        assert len(found.remarks) == (1 if is_solved else 2)


def test_a_maximum_that_is_not_told_is_not_that_of_noise():
    estimate = ErrorEstimate({"u": 1e-9}, {"u": np.nan})
    found = estimate.moved_by_noise({"u": 0.1}, {"u": 0.3}, {"u": {"x": 0.5}})
    assert found.relative_l2 == found.noise == {"u": 0.1}
    assert np.isnan(found.maximum["u"]) and found.where == {}


def test_an_estimate_above_the_standard_errors_stays():
    solution = recovered(SIGMA)
    objective = solution.experiment.objective()
    objective.parameters.load(solution.theta)
    far = ErrorEstimate({"u": 1.0, "a": 1.0}, {"u": 9.0, "a": 9.0}, {"u": {"x": 0.0}})
    assert with_noise(far, objective) == far
