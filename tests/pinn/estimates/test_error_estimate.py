"""Errors estimated without a reference, against errors that are known."""

import dataclasses

import numpy as np
import pytest

import autograd as T
import pinn
from autograd.ranks import OneRank
from pinn.estimates import ErrorEstimate, error_estimate
from pinn.estimates.affordable import Foreseen
from pinn.estimates.differences import differences
from pinn.estimates.record import NOT_COMPARED
from pinn.evaluation.test_grid import test_points as points_of
from pinn.training.experiment import Experiment
from pinn.training.judging.trial import Budget

X, Y, LINE = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1), pinn.Time("t", 0, 1)
SMALL = pinn.MLP(width=8, depth=2)
FEW = pinn.Sampling(interior=60, boundary=20, initial=10, redraw=None, adaptive=None)
# A correction may leave 2 % of the residual of every block, each in its own units: of the error it
# leaves some times as much, as conditions and equations carry on. What is promised is a factor 3.
CLOSE = 0.1
GRID = np.linspace(0.03, 0.97, 11)


def poisson(**more):
    return pinn.Problem(
        X, ["u"], {"e": "u_xx + 4*pi**2*sin(2*pi*x)"}, [pinn.Dirichlet("u", 0.0, hard=True)],
        reference={"u": "sin(2*pi*x)"}, **more,
    )  # fmt: skip


def robin(hard=False):
    """A plane problem with three kinds of soft conditions."""
    exact = "sin(2*x + y)"
    return pinn.Problem(
        X * Y, ["u"], {"e": "laplacian(u) + 5*sin(2*x + y)"},
        [
            pinn.Dirichlet("u", exact, on=["x=0", "y=1"]),
            pinn.Neumann("u", "2*cos(2*x + y)", on="x=1"),
            pinn.Robin("u", 1.0, 1.0, "sin(2*x + y) - cos(2*x + y)", on="y=0"),
        ],
        reference={"u": exact},
    )  # fmt: skip


def advection():
    around = pinn.Interval("x", 0, 2 * np.pi)
    return pinn.Problem(
        around * LINE, ["u"], {"e": "u_t + 3*u_x"},
        [pinn.Initial("u", "sin(x)", hard=True), pinn.Periodic("u", "x", hard=True)],
        reference={"u": "sin(x - 3*t)"},
    )  # fmt: skip


def oscillator():
    return pinn.Problem(
        pinn.Time("t", 0, 6), ["u", "v"], {"a": "u_t - v", "b": "v_t + u"},
        [pinn.Initial("u", 1.0), pinn.Initial("v", 0.0)],
        reference={"u": "cos(t)", "v": "-sin(t)"},
    )  # fmt: skip


def untrained(problem, model=SMALL, sampling=FEW, **more):
    experiment = Experiment(problem, model, sampling, **more)
    objective = experiment.objective()
    return experiment, objective, objective.theta


def true_errors(problem, estimate, experiment, theta):
    """The relative errors of a theta, and how far e is from u* - u as a share of it, by unknown."""
    domain = problem.domain
    grid = np.meshgrid(*(a + (b - a) * GRID for a, b in domain.bounds.values()), indexing="ij")
    places = dict(zip(domain.coordinates, grid, strict=True))
    exact = problem.exact(places)
    report = pinn.Report("", "", 0.0, {}, 0.0, 0)
    u = pinn.Solution(experiment, theta, report).evaluate(**places)
    e = estimate.evaluate(**places)
    return {
        name: (
            np.linalg.norm(u[name] - exact[name]) / np.linalg.norm(exact[name]),
            np.abs(u[name] + e[name] - exact[name]).max() / np.abs(u[name] - exact[name]).max(),
        )
        for name in exact
    }


@pytest.mark.parametrize("make", [poisson, robin, advection, oscillator])
def test_the_error_of_a_linear_problem_is_found_whatever_its_size(make):
    # nothing is trained: the errors are of the size of the solutions, and more
    problem = make()
    experiment, objective, theta = untrained(problem)
    estimate = error_estimate(experiment, objective, theta)
    assert not estimate.doubts and estimate.unexplained < 0.05
    for name, (relative, distance) in true_errors(problem, estimate, experiment, theta).items():
        assert relative > 0.1
        assert distance < CLOSE
        assert estimate.maximum[name] > 0


def beside_nothing():
    return pinn.Problem(
        X, ["u", "v"], {"a": "u_xx + 4*pi**2*sin(2*pi*x)", "b": "v_xx - v"},
        [pinn.Dirichlet("u", 0.0, hard=True), pinn.Dirichlet("v", 0.0, hard=True)],
    )  # fmt: skip


def test_the_error_of_an_unknown_that_is_nothing_is_a_share_of_its_natural_size():
    experiment, objective, theta = untrained(beside_nothing())
    report = pinn.Report("", "", 0.0, {}, 0.0, 0)
    x = (np.arange(4000) + 0.5) / 4000
    v = pinn.Solution(experiment, theta, report).evaluate(x=x)["v"]
    size = np.sqrt(np.mean(v**2))
    found = error_estimate(experiment, objective, theta, sizes={"u": 1.0, "v": 1e4 * size})
    assert found.relative_l2["v"] == pytest.approx(1e-4, rel=0.02)
    assert "share of" in found.remarks[-1] and found.remarks[-1].startswith("v is next to nothing")
    plain = error_estimate(experiment, objective, theta)
    assert plain.relative_l2["v"] > 100 and not plain.trusted
    assert plain.relative_l2["u"] == found.relative_l2["u"]
    assert plain.possible["v"] == pytest.approx(1e4 * found.possible["v"], rel=0.05)


def test_the_ranks_of_a_run_share_the_slopes_of_its_estimate(monkeypatch):
    class Told(OneRank):
        def gather(self, sums, lanes, joined=(), edges=()):
            slopes.extend(array.shape[1] for array in joined if array.ndim == 2)
            return sums

    slopes = []
    monkeypatch.setattr(Experiment, "ranks", Told())
    error_estimate(*untrained(poisson()))
    assert max(slopes) > 400  # of a network with its waves


def test_the_numbers_are_those_of_the_error_over_the_domain():
    problem = poisson()
    experiment, objective, theta = untrained(problem)
    estimate = error_estimate(experiment, objective, theta)
    x = (np.arange(4000) + 0.5) / 4000
    u = pinn.Solution(experiment, theta, pinn.Report("", "", 0.0, {}, 0.0, 0)).evaluate(x=x)["u"]
    error = np.sin(2 * np.pi * x) - u
    expected = np.linalg.norm(error) / np.linalg.norm(np.sin(2 * np.pi * x))
    assert estimate.relative_l2["u"] == pytest.approx(expected, rel=0.01)
    assert estimate.maximum["u"] == pytest.approx(np.abs(error).max(), rel=0.01)
    assert abs(np.interp(estimate.where["u"]["x"], x, error)) == pytest.approx(
        np.abs(error).max(), rel=0.01
    )


def test_no_maximum_is_less_than_what_conditions_see():
    """A narrow peak at a wall, which no correction of a network resolves."""
    peak = "sin(pi*x) + 50*exp(-((x - 0.5)/0.01)**2)"
    problem = pinn.Problem(
        X * Y, ["u"], {"laplace": "laplacian(u)"},
        [pinn.Dirichlet("u", peak, on="y=0"), pinn.Dirichlet("u", 0, on=["y=1", "x=0", "x=1"])],
    )  # fmt: skip
    estimate = error_estimate(*untrained(problem))
    assert estimate.maximum["u"] > 40 and estimate.where["u"]["y"] == 0.0


def test_they_are_measured_where_a_comparison_with_a_reference_is():
    problem = robin()
    experiment, objective, theta = untrained(problem)
    estimate = error_estimate(experiment, objective, theta)
    points = points_of(problem.domain)
    there = {"x": points[:, 0], "y": points[:, 1]}
    u = pinn.Solution(experiment, theta, pinn.Report("", "", 0.0, {}, 0.0, 0)).evaluate(**there)
    e = estimate.evaluate(**there)["u"]
    assert estimate.relative_l2["u"] == pytest.approx(
        np.linalg.norm(e) / np.linalg.norm(u["u"] + e), rel=1e-12
    )
    largest = np.abs(e).max()  # beside what conditions see at points of their own
    assert largest <= estimate.maximum["u"] < 1.05 * largest


def test_derivatives_of_high_order():
    """A beam, clamped and free: the short waves have slopes a million times those of the long."""
    problem = pinn.Problem(
        X, ["u"], {"e": "diff(u, x, 4) + 1"},
        [
            pinn.Dirichlet("u", 0.0, on="x=0"), pinn.Neumann("u", 0.0, on="x=0"),
            pinn.Operator("u_xx", on="x=1", name="moment"),
            pinn.Operator("diff(u, x, 3)", on="x=1", name="shear"),
        ],
        reference={"u": "-x**4/24 + x**3/6 - x**2/4"},
    )  # fmt: skip
    experiment, objective, theta = untrained(problem)
    estimate = error_estimate(experiment, objective, theta)
    ((relative, distance),) = true_errors(problem, estimate, experiment, theta).values()
    assert relative > 0.1 and distance < CLOSE and not estimate.doubts


@pytest.mark.parametrize("steps", [30, 300])
def test_the_error_of_a_trained_nonlinear_problem(steps):
    exact = "exp(-x)*sin(3*x)"
    source = f"exp(-x)*(8*sin(3*x) + 6*cos(3*x)) - ({exact})**3"
    problem = pinn.Problem(
        X, ["u"], {"e": f"u_xx + u**3 + {source}"},
        [pinn.Dirichlet("u", exact)], reference={"u": exact},
    )  # fmt: skip
    solution = pinn.solve(problem, SMALL, FEW, [pinn.SSBroyden(steps=steps)])
    estimate = solution.error_estimate()
    assert not estimate.doubts
    assert estimate.relative_l2["u"] == pytest.approx(solution.report.rel_l2["u"], rel=0.05)


def test_unknown_coefficients_move_along():
    xs = np.linspace(0.05, 0.95, 8)
    data = pinn.Data("u", {"x": xs, "u": np.sin(np.pi * xs)})
    problem = pinn.Problem(
        X, ["u"], {"e": "u_xx + k*sin(pi*x)"}, [pinn.Dirichlet("u", 0.0, hard=True), data],
        parameters=[pinn.Parameter("k", 5.0)], reference={"u": "sin(pi*x)"},
    )  # fmt: skip
    experiment, objective, theta = untrained(problem)
    estimate = error_estimate(experiment, objective, theta)
    ((relative, distance),) = true_errors(problem, estimate, experiment, theta).values()
    assert relative > 0.1 and distance < CLOSE
    assert 5.0 + estimate.derivative("k") == pytest.approx(np.pi**2, rel=CLOSE)
    # with k held at 5 the true field would be half as large
    held = pinn.Problem(
        X, ["u"], {"e": "u_xx + 5*sin(pi*x)"}, [pinn.Dirichlet("u", 0.0, hard=True)],
        reference={"u": "5/pi**2*sin(pi*x)"},
    )  # fmt: skip
    experiment, objective, theta = untrained(held)
    estimate = error_estimate(experiment, objective, theta)
    ((_, distance),) = true_errors(held, estimate, experiment, theta).values()
    assert distance < CLOSE


def layered():
    """u = sin(pi x) exp(t w): the network is w, and what is asked for is u."""
    exact = "sin(pi*x)*exp(t*cos(2*x))"
    growth = "cos(2*x)*u"
    return pinn.Problem(
        X * LINE, ["w"], {"e": f"diff(u, t) - {growth} + 0.1*(u**2 - ({exact})**2)"},
        piecewise={
            "u": {"elsewhere": "sin(pi*x)*exp(t*w)"},
            "slope": {"elsewhere": "diff(sin(pi*x)*exp(t*w), x)"},
        },
        reference={"u": exact},
    )  # fmt: skip


def test_the_errors_of_quantities_are_those_that_their_formulas_make_of_the_error():
    problem = layered()
    solution = pinn.solve(problem, SMALL, FEW, [pinn.SSBroyden(steps=60)])
    estimate = solution.error_estimate()
    assert list(estimate.relative_l2) == ["w", "u", "slope"] and estimate.trusted
    true = true_errors(problem, estimate, solution.experiment, solution.theta)
    assert true["u"][0] > 0.001 and true["u"][1] < CLOSE
    x, t = np.linspace(0.05, 0.95, 9)[:, None], np.linspace(0.1, 1, 7)
    now, e = solution.evaluate(x=x, t=t), estimate.evaluate(x=x, t=t)
    better = np.sin(np.pi * x) * np.exp(t * (now["w"] + e["w"]))
    np.testing.assert_allclose(now["u"] + e["u"], better, rtol=1e-13)
    exact = np.exp(t * np.cos(2 * x)) * (
        np.pi * np.cos(np.pi * x) - 2 * t * np.sin(2 * x) * np.sin(np.pi * x)
    )
    assert np.abs(now["slope"] + e["slope"] - exact).max() < CLOSE * np.abs(e["slope"]).max()
    np.testing.assert_array_equal(estimate.derivative("diff(u, x)", x=x, t=t), e["slope"])
    assert "estimated error of u" in "; ".join(estimate.text())


def test_a_function_of_an_equation_counts_as_its_text_does():
    def equation(s):
        return s.u_xx + 4 * np.pi**2 * T.sin(2 * np.pi * s.x)

    text = error_estimate(*untrained(poisson()))
    function = error_estimate(*untrained(dataclasses.replace(poisson(), equations={"e": equation})))
    assert function.relative_l2["u"] == pytest.approx(text.relative_l2["u"], rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        pinn.PerUnknown(SMALL),
        pinn.MLP(width=8, depth=2, embedding=pinn.FourierEmbedding(8, scale=1.0)),
        pinn.Separable(pinn.MLP(width=8, depth=2)),
        T.nn.Sequential(
            T.nn.Linear(1, 8, dtype=T.float64), T.nn.Tanh(), T.nn.Linear(8, 1, dtype=T.float64)
        ),
    ],
    ids=["per unknown", "fourier", "separable", "module"],
)
def test_models_of_all_kinds(model):
    problem = poisson()
    experiment, objective, theta = untrained(problem, model)
    estimate = error_estimate(experiment, objective, theta)
    ((_, distance),) = true_errors(problem, estimate, experiment, theta).values()
    assert distance < CLOSE


def test_a_network_in_float32_is_judged_in_float64():
    problem = poisson()
    experiment, objective, theta = untrained(problem, precision="float32")
    estimate = error_estimate(experiment, objective, theta)
    exact = dataclasses.replace(experiment, precision="float64")
    assert estimate == error_estimate(exact, exact.objective(), theta)


def test_nothing_is_changed_and_equal_runs_give_equal_bits():
    experiment, objective, theta = untrained(robin())
    first = error_estimate(experiment, objective, theta)
    assert np.array_equal(objective.theta, theta)
    again = error_estimate(*untrained(robin(), threads=3))
    assert first == again
    place = {"x": GRID, "y": GRID}
    assert np.array_equal(first.evaluate(**place)["u"], again.evaluate(**place)["u"])


def test_the_reference_is_not_looked_at():
    right = error_estimate(*untrained(poisson()))
    wrong = error_estimate(*untrained(dataclasses.replace(poisson(), reference={"u": "7 + x"})))
    assert wrong == right


# ---- what it does not know


def test_a_residual_that_nothing_resolves_is_not_trusted():
    problem = pinn.Problem(
        X, ["u"], {"e": "u_xx + u_x*sin(9000*x) - 4e6*sin(7000*x**2)"},
        [pinn.Dirichlet("u", 0.0, hard=True)],
    )  # fmt: skip
    estimate = error_estimate(*untrained(problem))
    assert not estimate.trusted
    assert estimate.unexplained > 1 / 3
    assert "residual" in estimate.doubts[0]
    assert "not to be trusted" in estimate.text()[0] and "not to be trusted" in str(estimate)


def test_what_is_left_of_the_residual_may_be_of_another_kind():
    """A force that nothing resolves, and that moves next to nothing: 60/2000^2 beside 1."""
    source = "4*pi**2*sin(2*pi*x) + 60*sin(2000*x)"
    problem = dataclasses.replace(poisson(), equations={"e": f"u_xx + {source}"})
    experiment, objective, theta = untrained(problem)
    estimate = error_estimate(experiment, objective, theta)
    assert not estimate.doubts and estimate.unexplained > 0.5
    assert "of the residual is of a kind in which" in estimate.remarks[-1]
    ((relative, distance),) = true_errors(problem, estimate, experiment, theta).values()
    assert relative > 0.1 and distance < 0.3
    assert not error_estimate(experiment, objective, theta, {"e": 0.001}).doubts
    doubted = error_estimate(experiment, objective, theta, {"e": 0.035})
    (doubt,) = doubted.doubts
    assert "which is 3.5% of the terms of e: what is left may move the solution" in doubt
    assert doubted.relative_l2 == estimate.relative_l2


@pytest.mark.parametrize("force, found", [(200, True), (3000, False)])
def test_an_error_that_rows_hardly_see_is_believed_where_nothing_makes_it_another(force, found):
    """Such a force, ten times as large as what the error changes, or a hundred times.

    Then no other rows ask for the correction, which has fitted the force of its own. That moves u
    by 0.3 of the error, or by ten times as much.
    """
    source = f"4*pi**2*sin(2*pi*x) + {force}*sin(2000*x)"
    problem = dataclasses.replace(poisson(), equations={"e": f"u_xx + {source}"})
    experiment, objective, theta = untrained(problem)
    estimate = error_estimate(experiment, objective, theta)
    ((_, distance),) = true_errors(problem, estimate, experiment, theta).values()
    assert estimate.unexplained > 1 and (distance < 0.5) == found
    assert bool(estimate.doubts) != found
    doubted = error_estimate(experiment, objective, theta, {"e": 0.035})
    assert "what is left may move the solution" in doubted.doubts[0] or not found


@pytest.mark.parametrize("cubic, linear", [(0.01, True), (12.0, False)])
def test_an_error_that_is_too_large_for_its_linear_equation_has_to_explain_the_residual(
    cubic, linear
):
    """Such a force, and an error of the size of the solution."""
    exact = "sin(2*pi*x)"
    source = f"4*pi**2*{exact} + 25*sin(2000*x) - {cubic}*({exact})**3"
    problem = dataclasses.replace(poisson(), equations={"e": f"u_xx + {cubic}*u**3 + {source}"})
    estimate = error_estimate(*untrained(problem))
    assert estimate.unexplained > 0.5 and estimate.relative_l2["u"] > 0.1
    assert (not estimate.doubts) == linear
    assert linear or "equations are not linear in it (by " in estimate.doubts[0]


class Parabola(T.nn.Module):
    """a x + b x^2: with a = 0.7, b = 0.3 the solution of u_x = 0.7 + 0.6 x, and a little off."""

    def __init__(self, numbers=(0.7 * (1 + 2e-16), 0.3 * (1 - 2e-16))):
        super().__init__()
        self.numbers = T.nn.Parameter(T.tensor(numbers, dtype=T.float64))

    def forward(self, points):
        return points * self.numbers[0] + points**2 * self.numbers[1]


def test_where_rounding_is_all_that_is_left_it_is_said_so():
    problem = pinn.Problem(
        X, ["u"], {"e": "u_x - 0.7 - 0.6*x"}, [pinn.Dirichlet("u", 0.0, on="x=0")],
        reference={"u": "0.7*x + 0.3*x**2"},
    )  # fmt: skip
    estimate = error_estimate(*untrained(problem, Parabola()))
    assert estimate.trusted and 0 <= estimate.relative_l2["u"] < 1e-14
    assert "only rounding is left of the residual" in estimate.remarks[-1]


def test_points_that_are_fitted_are_named_where_the_error_explains_all_but_rounding_too():
    problem = pinn.Problem(
        X, ["u"], {"e": "u_x - 0.7 - 0.6*x"}, [pinn.Dirichlet("u", 0.0, on="x=0")],
    )  # fmt: skip
    one = pinn.Sampling(interior=1)
    place = Experiment(problem, Parabola(), one).draw_points()["e"].coordinates.item()
    off = 3e-14  # the slope is too large by off (1 - x / place): there by a hundredth of it
    fitted = Parabola([0.7 + off, 0.3 - 0.99 * off / (2 * place)])
    estimate = error_estimate(*untrained(problem, fitted, sampling=one))
    assert estimate.fresh["e"] > 10 * estimate.trained["e"]
    assert any("only rounding is left" in remark for remark in estimate.remarks)
    assert any("points are fitted" in remark for remark in estimate.remarks)


def test_errors_that_rounding_hides_are_told_as_such():
    """Where more than rounding is left of the residual: it is of waves that nothing resolves."""
    problem = pinn.Problem(
        X, ["u"], {"e": "u_x - 0.7 - 0.6*x - 1e-12*cos(3000*x)"},
        [pinn.Dirichlet("u", 0.0, on="x=0")],
    )  # fmt: skip
    hidden = (
        "errors below 1e-13 are hidden by rounding: that of u is told as so large, and may be less"
    )
    for off, is_hidden in ((1e-11, False), (9e-14, True)):
        estimate = error_estimate(*untrained(problem, Parabola((0.7 * (1 + off), 0.3 * (1 - off)))))
        u, e = 0.7 * GRID + 0.3 * GRID**2, off * (0.7 * GRID - 0.3 * GRID**2)
        expected = np.linalg.norm(e) / np.linalg.norm(u)
        told = 1e-13 if is_hidden else expected
        assert estimate.relative_l2["u"] == pytest.approx(told, rel=0.1) and told >= expected
        largest = max(np.abs(e).max(), told * np.abs(u).max() if is_hidden else 0.0)
        assert estimate.maximum["u"] == pytest.approx(largest, rel=0.1)
        assert (hidden in estimate.remarks) == is_hidden
        assert estimate.trusted


def test_a_residual_next_to_its_rounding_errors_is_told_as_such_and_nothing_else():
    """What random features leave there is larger on fresh points, and explained by nothing."""
    problem = pinn.Problem(
        X, ["u"], {"e": "u_xx + pi**2*sin(pi*x)"}, [pinn.Dirichlet("u", 0)],
        reference={"u": "sin(pi*x)"},
    )  # fmt: skip
    solution = pinn.solve(problem, pinn.RandomFeatures(100))
    estimate = solution.error_estimate()
    assert solution.report.rel_l2["u"] < 1e-13 and estimate.relative_l2["u"] < 1e-13
    assert estimate.trusted and estimate.doubts == ()
    (remark,) = estimate.remarks
    assert "next to its rounding errors" in remark and "that of u may be as large" in remark


def test_data_at_the_level_of_their_noise_are_named():
    xs = np.linspace(0.05, 0.95, 40)
    noise = 0.02 * np.random.default_rng(0).standard_normal(len(xs))
    data = pinn.Data("u", {"x": xs, "u": np.sin(2 * np.pi * xs) + noise}, sigma=0.02)
    problem = dataclasses.replace(poisson(), conditions=[*poisson().conditions, data])
    solution = pinn.solve(problem, SMALL, FEW, [pinn.SSBroyden(steps=100)])
    estimate = solution.error_estimate()
    assert not estimate.trusted and "pinn.standard_errors" in estimate.doubts[-1]
    assert np.isfinite(estimate.relative_l2["u"])


def test_a_residual_that_is_not_finite_has_no_estimate():
    problem = pinn.Problem(
        X, ["u"], {"e": "u_x - 1/(x - x)"}, [pinn.Dirichlet("u", 0.0, on="x=0", hard=True)]
    )
    estimate = error_estimate(*untrained(problem))
    assert estimate.relative_l2 == {} and not estimate.trusted
    assert estimate.doubts == ("the residual is not finite everywhere",)


def test_points_that_are_fitted_are_named():
    few = pinn.Sampling(interior=6, redraw=None, adaptive=None)
    problem = dataclasses.replace(
        poisson(), equations={"e": "u_xx + 400*pi**2*sin(20*pi*x)"}, reference=None
    )
    with pytest.warns(pinn.UnsolvedWarning, match="the points are fitted"):
        solution = pinn.solve(problem, SMALL, few, [pinn.SSBroyden(steps=150)])
    estimate = solution.error_estimate()
    assert estimate.fresh["e"] > 10 * estimate.trained["e"]
    assert any("residual of e" in one and "points are fitted" in one for one in estimate.doubts)


def test_a_solution_that_has_collapsed_is_named():
    experiment, objective, theta = untrained(poisson())
    estimate = error_estimate(experiment, objective, 0 * theta)
    assert estimate.relative_l2["u"] == pytest.approx(1, rel=0.01)
    assert "trivial solution" in estimate.remarks[-1]


def test_a_maximum_far_beyond_the_solution_is_not_told():
    x = np.array([[0.0], [1.0]])
    present = {"u": np.array([0.5, 1.0]), "v": np.array([1.0, -1.0])}
    better = {"u": np.array([0.5, 12.0]), "v": np.array([2.0, 8.0])}
    found = differences(poisson(), x, present, better, {}).without_far(present)
    assert np.isnan(found.maximum["u"]) and found.maximum["v"] == 9.0
    assert found.where == {"v": {"x": 1.0}}
    estimate = ErrorEstimate(found.relative, found.maximum, found.where)
    assert "not told\n" in str(estimate)


# ---- in a run


@pytest.fixture(scope="module")
def solved():
    more = pinn.Sampling(interior=600, redraw=None)
    return pinn.solve(poisson(), pinn.MLP(width=20), more, [pinn.SSBroyden(steps=200)])


def test_a_run_ends_with_the_error_of_its_solution(solved):
    found = solved.report.error_estimate
    assert found.trusted
    assert found.relative_l2["u"] == pytest.approx(solved.report.rel_l2["u"], rel=0.05)
    assert f"estimated error of u {found.relative_l2['u']:.1e}" in solved.report.summary()
    assert solved.error_estimate() is found
    assert "on fresh points" in str(found)
    assert f"{found.relative_l2['u']:.1e}" in str(solved.report)


def test_a_saved_solution_keeps_the_numbers_and_finds_the_error_again(solved, tmp_path):
    solved.save(tmp_path / "one.npz")
    loaded = pinn.load(tmp_path / "one.npz")
    kept = loaded.report.error_estimate
    assert kept == solved.report.error_estimate
    with pytest.raises(ValueError, match=r"solution\.error_estimate\(\) computes it again"):
        kept.evaluate(x=0.5)
    again = loaded.error_estimate()
    there = again.evaluate(x=GRID)["u"]
    assert again.relative_l2["u"] == pytest.approx(kept.relative_l2["u"], rel=1e-3)
    np.testing.assert_allclose(
        there, solved.error_estimate().evaluate(x=GRID)["u"], rtol=0,
        atol=0.01 * np.abs(there).max(),
    )  # fmt: skip


def test_the_error_is_drawn_as_that_against_a_reference(solved):
    figure = solved.plot_error("u", absolute=False)
    (line, *_) = figure.axes[0].lines
    e = solved.error_estimate().evaluate(x=line.get_xdata())["u"]
    rounding = 4 * np.finfo(float).eps * np.abs(solved.evaluate(x=line.get_xdata())["u"]).max()
    np.testing.assert_allclose(line.get_ydata(), -e, rtol=1e-9, atol=rounding)
    assert "estimated error" in figure.axes[0].get_title(loc="left")
    assert solved.plot_error("u").axes[0].get_yscale() == "log"


def test_the_figure_of_the_error_says_that_training_diverged(solved, monkeypatch):
    diverged = dataclasses.replace(solved.report, stop_reason="diverged")
    monkeypatch.setattr(solved, "report", diverged)
    assert solved.plot_error().get_suptitle() == "training diverged: its last good state"


def test_where_there_is_no_estimate_that_is_said():
    line = dataclasses.replace(poisson(), equations={"e": "u_xx"}, reference=None)
    few = pinn.Sampling(interior=20)
    solution = pinn.solve(line, pinn.RandomFeatures(5), few, error_bars=False)
    made = "no estimate of the error was made; solution.error_estimate"
    with pytest.raises(ValueError, match=made):
        solution.report.error_estimate.evaluate(x=0.5)
    vanishes = "no estimate of the error: the residual vanishes everywhere"
    with pytest.raises(ValueError, match=vanishes):
        solution.error_estimate().evaluate(x=0.5)
    with pytest.raises(ValueError, match=vanishes):
        solution.plot_error()


def test_a_solution_of_which_no_residual_is_left_is_told_as_such():
    """Zero solves it to the last bit, and slopes of nothing are no overflow."""
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "u_xx + 60*(u - u**3)"}, [pinn.Dirichlet("u", 0)]
    )
    few = pinn.Sampling(interior=40)
    with pytest.warns(pinn.ProblemWarning):
        solution = pinn.solve(problem, pinn.RandomFeatures(10), few, error_bars=False)
    assert solution.error_estimate().doubts == ("the residual vanishes everywhere",)


def test_places_are_given_by_name(solved):
    with pytest.raises(TypeError, match="x is missing.*'y' is no coordinate"):
        solved.error_estimate().evaluate(y=0.5)
    with pytest.warns(pinn.ExtrapolationWarning) as told:
        solved.error_estimate().evaluate(x=2.0)
        solved.error_estimate().derivative("u_x", x=2.0)
    assert len(told) == 2 and {one.filename for one in told} == {__file__}


def test_a_short_run_and_one_that_is_told_so_are_not_judged():
    quick = pinn.solve(poisson(), SMALL, FEW, [pinn.Adam(steps=2)])
    assert repr(quick.report.error_estimate) == repr(ErrorEstimate())
    assert "estimated" not in quick.report.summary()
    assert quick.error_estimate().relative_l2
    told = Experiment(poisson(), SMALL, FEW, error_bars=False)
    assert told.arguments["error_bars"] is False


def test_few_long_steps_are_judged_too():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"ode": "u_xx + pi**2*sin(pi*x)"},
        [pinn.Dirichlet("u", 0, hard=True)],
    )  # fmt: skip
    few = pinn.Sampling(interior=800)
    step = pinn.solve(problem, pinn.RandomFeatures(400), few, [pinn.GaussNewton(steps=1)])
    assert step.report.error_estimate.relative_l2
    step = pinn.solve(problem, pinn.RandomFeatures(400), few, [pinn.Adam(steps=1)])
    assert not step.report.error_estimate.relative_l2


def test_an_unknown_that_is_no_solution_takes_the_others_with_it():
    """People who are not infected are known to a thousandth where the epidemic was missed."""
    epidemic = pinn.Problem(
        pinn.Time("t", 0, 60), ["S", "I"], {"s": "S_t + S*I/2000", "i": "I_t - S*I/2000 + I/7"},
        [pinn.Initial("S", 999), pinn.Initial("I", 1)],
    )  # fmt: skip
    with pytest.warns(pinn.UnsolvedWarning):
        solution = pinn.solve(
            epidemic, pinn.MLP(8, 2), pinn.Sampling(interior=200),
            [pinn.LevenbergMarquardt(steps=3)], error_bars=False,
        )  # fmt: skip
    estimate = solution.error_estimate()
    assert estimate.relative_l2["S"] < 1e-2 < 1 < estimate.relative_l2["I"]
    assert any("I has one of half the size or more" in doubt for doubt in estimate.doubts)


# ---- a limit in time


@pytest.fixture(scope="module")
def trained():
    return pinn.solve(robin(), SMALL, FEW, [pinn.LevenbergMarquardt(30)], threads=1)


def test_of_fewer_points_it_is_about_as_large_and_says_so(trained, monkeypatch):
    monkeypatch.setattr(Foreseen, "share", lambda foreseen, left: 0.5)
    run = trained.experiment
    part = error_estimate(run, run.objective(), trained.theta, None, 10.0)
    whole, true = trained.error_estimate(), trained.report.rel_l2["u"]
    assert whole.share == 1 and part.share == 0.5 and "left room for 50%" in part.remarks[0]
    for estimate in (part, whole):
        assert true / 5 < estimate.relative_l2["u"] < 5 * true
    trained.report = dataclasses.replace(trained.report, error_estimate=part)
    assert trained.error_estimate().relative_l2 == whole.relative_l2


def test_what_a_limit_leaves_no_time_to_tell_apart_is_not_and_is_made_up_for(monkeypatch):
    solution = pinn.solve(
        robin(), pinn.RandomFeatures(500), pinn.Sampling(interior=2000, boundary=500), threads=1,
        error_bars=False,
    )  # fmt: skip
    run = solution.experiment
    with monkeypatch.context() as patch:
        patch.setattr(Budget, "is_spent", lambda budget, share: budget.limit is not None)
        part = error_estimate(run, run.objective(), solution.theta, None, 1e4)
    assert part.unexplained > 1 / 3 and NOT_COMPARED in part.remarks and not part.is_whole
    solution.report = dataclasses.replace(solution.report, error_estimate=part)
    whole = solution.error_estimate()
    assert whole.is_whole and NOT_COMPARED not in whole.remarks
    assert solution.report.rel_l2["u"] < 1e-10 and whole.relative_l2["u"] < 1e-10


def test_where_there_is_no_time_for_it_a_doubt_says_how_long_it_takes(trained):
    run = trained.experiment
    found = error_estimate(run, run.objective(), trained.theta, None, 1e-3)
    assert not found.relative_l2 and not found.trusted
    assert "it takes about" in found.doubts[0] and "error_estimate() makes it" in found.doubts[0]


def test_what_it_takes_is_foreseen_by_what_a_part_of_the_points_takes(trained):
    """By a clock that ticks at each look: each piece of a twelfth takes one second."""
    foreseen = Foreseen(2.0, 3.0, 1.0, 1.0)
    assert foreseen.share(10.0) == 1 and foreseen.share(4.5) == 0.5 and foreseen.share(2.5) == 0
    run = trained.experiment
    objective = run.objective()
    points = {block.name: block.points for block in objective.blocks}
    ticks = iter(range(10))
    measured = Foreseen.by(
        objective, points, np.arange(objective.size), lambda: None, 12, copies=False,
        clock=lambda: float(next(ticks)),
    )  # fmt: skip
    assert measured.seconds == pytest.approx(1.15 * (12 + 12 * (19 + 1 + 12)))


def test_an_error_that_is_not_told_is_no_number_in_words():
    estimate = ErrorEstimate(relative_l2={"u": np.nan}, maximum={"u": np.nan}, doubts=("why",))
    (phrase,) = estimate.text()
    assert phrase.startswith("estimated error of u not told") and "nan" not in str(estimate)
