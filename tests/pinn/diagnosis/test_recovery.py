"""Standard errors of coefficients: against least squares worked out apart, and repeated draws."""

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.stats import chi2, norm, truncnorm

import autograd as T
import pinn
from pinn.diagnosis import recovery
from pinn.residuals import judged
from pinn.sampling import Points
from pinn.solution.recovery import Recovery
from pinn.training.experiment import Experiment

X = pinn.Interval("x", 0, 1)
XS = np.linspace(0.05, 1, 20)
FEW = pinn.Sampling(interior=12, boundary=2, method="grid", adaptive=None)
TRUE = {"p": 1.3, "q": -0.7}


class Quadratic(T.nn.Module):
    """u = a + b x + c x^2."""

    def __init__(self):
        super().__init__()
        self.weights = T.nn.Parameter(T.zeros(1, 3, dtype=T.float64))

    def forward(self, points):
        powers = T.cat([T.ones_like(points), points, points * points], dim=1)
        return T.nn.functional.linear(powers, self.weights)


class Exponential(T.nn.Module):
    """u = a exp(-b x)."""

    def __init__(self):
        super().__init__()
        self.a = T.nn.Parameter(T.ones(1, 1, dtype=T.float64))
        self.b = T.nn.Parameter(T.ones(1, 1, dtype=T.float64))

    def forward(self, points):
        linear = T.nn.functional.linear
        return linear(T.exp(-linear(points, self.b)), self.a)


def measured(sigma, seed=0):
    exact = TRUE["p"] * XS + TRUE["q"] * XS**2 / 2
    return exact + sigma * np.random.default_rng(seed).standard_normal(len(XS))


def objective_of(data, equation="u_x - p - q*x", parameters=None, weights=None, **more):
    """u_x = p + q x with u(0) = 0, and data of u."""
    problem = pinn.Problem(
        X, ["u"], {"e": equation}, [pinn.Dirichlet("u", more.get("start", 0), on="x=0"), data],
        parameters=parameters or [pinn.Parameter("p", 1.0), pinn.Parameter("q", -1.0)],
    )  # fmt: skip
    experiment = Experiment(problem, more.get("model") or Quadratic(), FEW, weighting=weights or {})
    return experiment.objective()


def fit(objective):
    """Bring the objective to the point of least loss."""
    found = least_squares(
        objective.weighted_rows, objective.theta, lambda theta: objective.jacobian(theta)[1],
        xtol=1e-15, ftol=1e-15, gtol=1e-15, method="lm",
    )  # fmt: skip
    objective.parameters.load(found.x)
    return found.x


def measure_anew(objective, values):
    """Put other measurements at the same points."""
    points = {block.name: block.points for block in objective.blocks}
    place = points["data_u"].coordinates
    objective.set_points({**points, "data_u": Points(place, {"measured_0": values})})


def spoken(objective):
    """What is found, and the sentences of the warnings."""
    found, warnings = recovery(objective)
    return found, list(map(str, warnings))


def data(sigma, told=True, seed=0, **options):
    table = {"x": XS, "u": measured(sigma, seed)}
    return pinn.Data("u", table, sigma=sigma if told else None, **options)


def test_where_the_equations_weigh_much_it_is_the_formula_of_least_squares():
    sigma = 1e-3
    objective = objective_of(data(sigma), weights={"e": 1e6, "dirichlet_u_x_low": 1e6})
    theta = fit(objective)
    design = np.stack([XS, XS**2 / 2], axis=1)
    covariance = sigma**2 * np.linalg.inv(design.T @ design)
    found, warnings = recovery(objective)
    assert warnings == []
    errors = [found.standard_errors[name] for name in "pq"]
    np.testing.assert_allclose(errors, np.sqrt(np.diag(covariance)), rtol=1e-5)
    correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert found.correlations["p"]["q"] == pytest.approx(correlation, abs=1e-5)
    assert found.correlations["q"]["p"] == found.correlations["p"]["q"]
    fitted = found.data["data_u"]
    assert (fitted.rows, fitted.sigma) == (20, sigma)
    assert fitted.freedom == pytest.approx(18, abs=1e-4)  # two numbers are fitted to them
    left = measured(sigma) - design @ theta[-2:]
    assert fitted.chi_square == pytest.approx(np.sum((left / sigma) ** 2), rel=1e-4)


@pytest.mark.parametrize("weights", [{}, {"e": 0.03, "data_u": 2.0}])
def test_with_any_weights_it_is_how_noise_moves_the_point_of_least_loss(weights):
    sigma = 0.02
    objective = objective_of(data(sigma), weights=weights)
    fit(objective)
    _, jacobian = objective.jacobian(objective.theta)
    # the network's numbers are held to their size, 1, as by that many sigmas of the data's rows
    scale = np.sqrt(objective.blocks[-1].weight / len(XS)) * sigma
    ridge = np.diag([scale**2] * 3 + [0, 0])
    moved = np.linalg.solve(jacobian.T @ jacobian + ridge, jacobian.T)[:, -len(XS) :] * scale
    covariance = moved @ moved.T
    theta = np.abs(objective.theta[:3])
    assert np.sqrt(np.mean(theta**2)) < 1
    found, _ = recovery(objective)
    for k, name in enumerate("pq", start=3):
        assert found.standard_errors[name] == pytest.approx(covariance[k, k] ** 0.5, rel=1e-8)
    hat = jacobian @ np.linalg.solve(jacobian.T @ jacobian + ridge, jacobian.T)
    freedom = len(XS) - np.trace(hat[-len(XS) :, -len(XS) :])
    assert found.data["data_u"].freedom == pytest.approx(freedom, rel=1e-8)


@pytest.mark.parametrize("told", [True, False])
def test_over_repeated_draws_the_truth_is_as_often_inside_as_it_should_be(told):
    sigma, draws = 0.05, 100
    objective = objective_of(data(sigma, told))
    inside = np.zeros(2)
    for seed in range(draws):
        measure_anew(objective, measured(sigma, seed))
        rows, jacobian = objective.jacobian(objective.theta)
        objective.parameters.load(objective.theta - np.linalg.lstsq(jacobian, rows)[0])
        found, _ = recovery(objective)
        gaps = [objective.theta[3 + k] - TRUE[name] for k, name in enumerate("pq")]
        errors = [found.standard_errors[name] for name in "pq"]
        inside += np.abs(gaps) < 1.96 * np.array(errors)
    # three standard deviations of a binomial share of 0.95
    np.testing.assert_allclose(inside / draws, 0.95, atol=3 * np.sqrt(0.95 * 0.05 / draws))


def test_the_spread_of_a_nonlinear_coefficient_over_repeated_draws():
    sigma, draws, k = 0.03, 40, 1.4
    objective = objective_of(
        data(sigma), "u_x + k*u", model=Exponential(), start=1,
        parameters=[pinn.Parameter("k", 1.0, lower=0)],
    )  # fmt: skip
    values, errors = [], []
    for seed in range(draws):
        noise = np.random.default_rng(seed).standard_normal(len(XS))
        measure_anew(objective, np.exp(-k * XS) + sigma * noise)
        fit(objective)
        values.append(objective.coefficients(objective.theta)["k"])
        errors.append(recovery(objective)[0].standard_errors["k"])
    spread = np.std(values, ddof=1)
    # the standard deviation of a standard deviation from so many draws, three times
    assert np.mean(errors) == pytest.approx(spread, rel=3 / np.sqrt(2 * (draws - 1)))


def test_what_the_data_do_not_tell_apart_is_named():
    parameters = [pinn.Parameter("p", 1.0), pinn.Parameter("q", 1.2)]
    objective = objective_of(data(0.01), "u_x - p*q", parameters)
    fit(objective)
    found, warnings = spoken(objective)
    assert "the data do not tell the parameters 'p', 'q' apart" in warnings[0]
    assert found.standard_errors["p"] > 1 and found.standard_errors["q"] > 1


def test_a_coefficient_without_any_influence_is_named():
    parameters = [pinn.Parameter(name, 1.0) for name in "pqr"]
    objective = objective_of(data(0.01), "u_x - p - q*x + 0*r", parameters)
    fit(objective)
    found, warnings = spoken(objective)
    assert found.standard_errors["r"] == np.inf and found.correlations["r"]["p"] == 0
    assert found.standard_errors["p"] < 0.1
    (warning,) = warnings
    assert warning.startswith("the data do not determine the parameter 'r': its standard error")


def test_noise_as_large_as_the_range_determines_nothing():
    parameters = [pinn.Parameter("p", 1.0, lower=0, upper=2)]
    table = {"x": XS, "u": XS}
    precise = objective_of(pinn.Data("u", table, sigma=0.5), "u_x - p", parameters)
    coarse = objective_of(pinn.Data("u", table, sigma=50.0), "u_x - p", parameters)
    for objective in (precise, coarse):
        objective.parameters.load(np.array([0, 1, 0, 0.0]))
    assert not [w for w in spoken(precise)[1] if "determine" in w]
    found, warnings = spoken(coarse)
    assert "do not determine the parameter 'p'" in warnings[0] and "its range, 2;" in warnings[0]
    assert found.standard_errors["p"] > 2


def test_a_coefficient_at_its_bound_has_none():
    parameters = [pinn.Parameter("p", 0.5, upper=1.0), pinn.Parameter("q", 0.1)]
    objective = objective_of(data(0.01), parameters=parameters)
    objective.parameters.load(np.array([0, 1.0, 0, 40.0, 0.1]))
    found, warnings = spoken(objective)
    assert list(found.standard_errors) == ["q"]
    assert any("'p' stands at its upper bound 1" in warning for warning in warnings)


@pytest.mark.parametrize(("told", "fits"), [(0.002, False), (0.02, True), (0.2, True)])
def test_data_that_lie_further_off_than_told_are_named(told, fits):
    table = {"x": XS, "u": measured(0.02)}
    objective = objective_of(pinn.Data("u", table, sigma=told))
    fit(objective)
    found, warnings = recovery(objective)
    fitted = found.data["data_u"]
    assert fitted.scatter == pytest.approx(0.02 / told, rel=0.4)
    assert fitted.probability == pytest.approx(
        chi2.sf(fitted.chi_square, fitted.freedom), abs=1e-12
    )
    if fits:
        assert warnings == []
    else:
        (warning,) = warnings
        assert isinstance(warning, pinn.UnsolvedWarning)
        assert str(warning).startswith("the data of data_u lie ")


@pytest.mark.parametrize(("share", "remedy"), [
    (0.0, "where the equations are those of the measurement, sigma is about 11 times"),
    (1.0, "freedom): 1 of 20 rows, "),
])  # fmt: skip
def test_of_data_that_lie_further_off_a_few_that_are_most_of_it_are_named(share, remedy):
    far = share * (np.arange(len(XS)) == 7)
    bad = measured(0.02) + far + 0.3 * (1 - share) * np.sin(40 * XS)
    objective = objective_of(pinn.Data("u", {"x": XS, "u": bad}, sigma=0.02))
    fit(objective)
    (warning,) = recovery(objective)[1]
    assert remedy in str(warning)
    assert ("robust=" in str(warning)) == (f"sigma at x = {XS[7]:.4g};" in str(warning)) == share


@pytest.mark.parametrize(("missing", "noise", "first"), [
    (0.3, 0.0, "the equations may lack something that was measured"),
    (0.3, 0.02, "the equations may lack something that was measured"),
    (0.0, 0.2, "where the equations are those of the measurement, sigma is about 8.6 times"),
])  # fmt: skip
def test_of_rows_that_are_off_alike_it_is_said_first_that_the_equations_lack_something(
    missing, noise, first
):
    table = {"x": XS, "u": measured(noise) + missing * np.sin(9 * XS)}
    objective = objective_of(pinn.Data("u", table, sigma=0.02))
    fit(objective)
    (warning,) = recovery(objective)[1]
    assert f"degrees of freedom): {first}" in str(warning)
    off = objective.residuals(objective.theta)["data_u"]
    # on an even line the nearest row is one of the two beside it
    alike = np.mean(off[1:] * off[:-1]) / np.mean(off**2)
    if missing:
        told = float(str(warning).split("(correlation ")[1][:4])
        assert told == pytest.approx(alike, abs=0.15) and alike > 0.5
    else:
        assert alike < 0.5


def test_noise_that_was_not_told_is_estimated():
    objective = objective_of(data(0.05, told=False))
    fit(objective)
    fitted = recovery(objective)[0].data["data_u"]
    left = objective.residuals(objective.theta)["data_u"]
    assert fitted.sigma == pytest.approx(np.sqrt(np.sum(left**2) / fitted.freedom), rel=1e-12)
    assert np.isnan(fitted.probability) and fitted.scatter == pytest.approx(1)


def test_a_robust_fit_is_judged_without_its_outliers():
    table = {"x": XS, "u": measured(0.02) + np.where(XS > 0.95, 1.0, 0.0)}
    robust = pinn.Data("u", table, sigma=0.02, robust="huber")
    objective = objective_of(robust)
    theta = fit(objective)
    off = (theta[0] + theta[1] * XS + theta[2] * XS**2 - table["u"]) / 0.02
    within = off[np.abs(off) <= 1.345]
    found, said = recovery(objective)
    fit_of = found.data["data_u"]
    assert said == []
    expected = np.sum(within**2) / truncnorm(-1.345, 1.345).var()
    assert fit_of.chi_square == pytest.approx(expected, rel=1e-10)
    assert fit_of.left_out == len(XS) - len(within) >= 1
    reached = norm.isf(0.01 / 2 / len(XS))
    assert fit_of.outliers == np.count_nonzero(np.abs(off) > reached) == 1
    assert fit_of.text.endswith("beyond the threshold of the robust fit, 1 of them further off "
                                "than noise reaches")  # fmt: skip


def test_a_robust_fit_of_which_most_rows_are_far_off_is_judged_by_all_of_them():
    table = {"x": XS, "u": measured(0.02)}
    objective = objective_of(pinn.Data("u", table, sigma=0.002, robust="huber"))
    theta = fit(objective)
    off = theta[0] + theta[1] * XS + theta[2] * XS**2 - table["u"]
    found, said = recovery(objective)
    assert found.data["data_u"].left_out == 0
    assert found.data["data_u"].chi_square == pytest.approx(np.sum((off / 0.002) ** 2), rel=1e-10)
    assert len(said) == 1 and "of their sigma from the solution" in str(said[0])


def test_the_probability_of_a_robust_fit_is_that_of_drawn_noise():
    problem = pinn.Problem(
        X, ["u"], {"e": "u_x"}, [data(1.0, robust="huber")]
    )  # fmt: skip
    (residual,) = (one for one in problem.residuals if one.huber is not None)
    rng = np.random.default_rng(0)
    drawn = [judged(residual, rng.standard_normal(200)) for _ in range(400)]
    sizes = np.array([np.mean(one.rows**2) / one.variance for one in drawn])
    spread = np.mean([one.spread / len(one.rows) for one in drawn])
    assert sizes.mean() == pytest.approx(1.0, abs=0.02)
    assert sizes.var() == pytest.approx(spread, rel=0.15)


def test_nothing_is_said_without_data():
    problem = pinn.Problem(
        X, ["u"], {"e": "u_x - p"}, [pinn.Dirichlet("u", "x")], parameters=[pinn.Parameter("p", 1)]
    )
    assert recovery(Experiment(problem, Quadratic(), FEW).objective()) == (Recovery(), [])


def test_a_field_is_eliminated_with_the_network():
    problem = pinn.Problem(
        X, ["u"], {"e": "u_x - a - p"}, [pinn.Dirichlet("u", 0, on="x=0"), data(0.01),
                                         pinn.Dirichlet("a", 0)],
        parameters=[pinn.Parameter("p", 1.0)],
        fields=[pinn.Field("a", ["x"], model=pinn.MLP(3, 1))],
    )  # fmt: skip
    objective = Experiment(problem, Quadratic(), FEW).objective()
    found, _ = recovery(objective)
    held = objective_of(data(0.01), "u_x - p", [pinn.Parameter("p", 1.0)])
    assert found.standard_errors["p"] > recovery(held)[0].standard_errors["p"]


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """k of u' = -k u from noisy data, by a network."""
    k, sigma = 1.2, 0.02
    times = np.linspace(0.1, 2, 20)
    noise = np.random.default_rng(1).standard_normal(20)
    problem = pinn.Problem(
        pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + k*u"},
        [pinn.Initial("u", 1.0, hard=True),
         pinn.Data("u", {"t": times, "u": np.exp(-k * times) + sigma * noise}, sigma=sigma)],
        parameters=[pinn.Parameter("k", 0.5, lower=0)],
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.MLP(8, 2), pinn.Sampling(interior=60),
        [pinn.Adam(steps=100, learning_rate=1e-2), pinn.SSBroyden(steps=200)],
        weighting={"decay": 10.0},
    )  # fmt: skip
    slopes = times * np.exp(-k * times)
    return solution, sigma / np.sqrt(np.sum(slopes**2))


def test_a_trained_network_gives_nearly_the_error_of_the_exact_solution(solved):
    solution, least = solved
    error = solution.report.recovery.standard_errors["k"]
    assert 0.95 * least < error < 1.3 * least
    assert abs(solution.parameters["k"] - 1.2) < 3 * error
    assert 17 < solution.report.recovery.data["data_u"].freedom < 19.2


def test_it_is_in_the_report_and_saved(solved, tmp_path):
    solution, error = solved
    report, value = solution.report, solution.parameters["k"]
    row = next(line.split() for line in str(report).splitlines() if line.startswith("k "))
    ends = [value - 1.96 * error, value + 1.96 * error]
    found = [float(row[k]) for k in (1, 2, 3, 5)]
    assert found == pytest.approx([value, error, *ends], rel=0.02)
    assert f"k = {value:.6g} ± " in report.summary()
    solution.save(tmp_path / "decay.npz")
    again = pinn.load(tmp_path / "decay.npz").report
    assert again.recovery == report.recovery
    assert again.history[-1]["parameters"]["k"] == solution.parameters["k"]


def test_coefficients_that_no_step_has_moved_were_not_trained(tmp_path):
    problem = pinn.Problem(
        X, ["u"], {"e": "u_x - p - q*x"},
        [pinn.Dirichlet("u", 0, on="x=0"), pinn.Data("u", {"x": XS, "u": measured(0.1)})],
        parameters={"p": 0.5, "q": -1.0},
    )  # fmt: skip
    few, none = pinn.Sampling(interior=12, boundary=2), [pinn.LBFGS(5, gradient_tolerance=1e9)]
    with pytest.warns(pinn.ProblemWarning) as caught:
        solution = pinn.solve(problem, pinn.MLP(width=4, depth=1), few, none)
    found = solution.report.recovery
    assert solution.report.steps == 0
    assert (found.untrained, found.standard_errors) == (("p", "q"), {})
    assert any("not trained: p, q still have the value of the start" in str(one.message)
               for one in caught)  # fmt: skip
    text = str(solution.report)
    assert "p              0.5     not trained" in text
    assert "p = 0.5 (not trained)" in solution.report.summary()
    solution.save(tmp_path / "s.npz")
    # as text: a probability that is not a number equals itself there
    assert repr(pinn.load(tmp_path / "s.npz").report.recovery) == repr(found)
