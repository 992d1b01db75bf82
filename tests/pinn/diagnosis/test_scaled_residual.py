"""How far a solution is from solving, whatever the units; and what is said of it."""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import trapezoid

import autograd as T
import pinn
from pinn.diagnosis import natural_sizes, scaled_residuals, unsolved
from pinn.solution.solution import Solution
from pinn.training.experiment import Experiment

LINE = np.linspace(0, 2, 4001)
SMALL = {"model": pinn.MLP(width=10, depth=1), "sampling": pinn.Sampling(interior=60)}


def decay(scale=1.0, amount=1.0, length=2.0, equation=None):
    return pinn.Problem(
        pinn.Time("t", 0, length), ["u"],
        {"decay": equation or f"{scale}*({length}*u_t + 2*u - 2*{amount})"},
        [pinn.Initial("u", 2 * amount)],
    )  # fmt: skip


def rms(values):
    return np.sqrt(np.mean(values**2))


def measure(residual, size):
    """The measure of an equation whose terms have these sizes."""
    return np.sqrt(rms(residual) / rms(size) * rms(residual / size))


def untrained(problem, **settings):
    experiment = Experiment(problem, **settings)
    report = pinn.Report("", "", loss=0.0, losses={}, wall_seconds=0.0, steps=0)
    return Solution(experiment, experiment.initial_parameters().theta, report)


def test_a_solved_problem_has_small_residuals_and_no_warning():
    report = pinn.solve(decay(), **SMALL, training=[pinn.LBFGS(500)]).report
    assert report.residual.keys() == {"decay", "initial_u"}
    assert max(report.residual.values()) < 1e-3
    assert report.warnings == () and "warning" not in report.summary()


def test_an_unsolved_problem_is_warned_of_after_training():
    with pytest.warns(pinn.UnsolvedWarning, match="does not seem to be solved: .* decay") as caught:
        solution = pinn.solve(decay(), **SMALL, training=[pinn.Adam(3)])
    assert solution.report.warnings == (str(caught[0].message),) and solution.report.unsolved
    assert caught[0].filename == __file__
    assert "1 warning" in solution.report.summary()


def test_who_interrupts_is_not_told_that_it_is_unfinished():
    def interrupt(record):
        raise KeyboardInterrupt

    report = pinn.solve(decay(), **SMALL, callbacks=[interrupt]).report
    assert report.residual["decay"] > 0.04 and report.warnings == () and not report.unsolved


@pytest.mark.parametrize(("scale", "amount"), [(1e6, 1.0), (1e-9, 1.0), (1.0, 1e4)])
def test_units_do_not_matter(scale, amount):
    solution = pinn.solve(decay(), **SMALL, training=[pinn.Adam(3)])
    settings = {**SMALL, "model": dataclasses.replace(SMALL["model"], scale={"u": 1.0})}
    other = pinn.solve(decay(scale, amount), **settings, training=[pinn.Adam(1)])
    # The same function in other units: the last layer gives all of u.
    named = solution._parameters.named(solution.theta)
    last = {k: v * amount for k, v in named.items() if k in ("model.weight1", "model.bias1")}
    other._parameters.load(other._parameters.from_named({**named, **last}))
    first, second = scaled_residuals(solution), scaled_residuals(other)
    assert second == pytest.approx(first, rel=1e-9)


def test_the_measure_against_a_solution_that_is_known():
    solution = pinn.solve(decay(), **SMALL, training=[pinn.Adam(3)])
    t = np.linspace(0, 2, 200_001)
    u, slope = solution.evaluate(t=t)["u"], solution.derivative("u_t", t=t)
    r, size = 2 * slope + 2 * u - 2, np.abs(2 * slope) + np.abs(2 * u) + 2

    found = scaled_residuals(solution)
    assert found["decay"] == pytest.approx(measure(r, size), rel=0.02)
    at_start = abs(u[0] - 2) / (rms(u) + 2)
    assert found["initial_u"] == pytest.approx(at_start, rel=0.02)


def test_a_function_has_the_residual_of_its_text():
    text, function = (
        pinn.solve(decay(equation=e), **SMALL, training=[pinn.Adam(3)])
        for e in ("u_t + u**2 - t", lambda s: s.u_t + s.u**2 - s.t)
    )
    assert scaled_residuals(text) == pytest.approx(scaled_residuals(function), rel=1e-12)


@pytest.mark.parametrize(
    ("equation", "elsewhere"),
    [
        ("u_t + 3*at(u, t=t/2)", lambda u, t: 3 * u(t / 2)),
        (lambda s: s.u_t + 3 * s.at(s.u, t=s.t / 2), lambda u, t: 3 * u(t / 2)),
        ("u_t + 3*at(u, t=2)", lambda u, t: 3 * u(np.full_like(t, 2))),
        (
            "u_t + integral((1 + s)*t*at(u, t=s), s, 0, 2)",
            lambda u, t: t * trapezoid((1 + LINE[:, None]) * u(LINE)[:, None], LINE, axis=0),
        ),
    ],
)
def test_values_from_elsewhere_and_integrals_are_terms_like_others(equation, elsewhere):
    solution = pinn.solve(
        decay(equation=equation), **SMALL, training=[pinn.Adam(3)], error_bars=False
    )
    term = elsewhere(lambda t: solution.evaluate(t=t)["u"], LINE)
    slope = solution.derivative("u_t", t=LINE)
    expected = measure(slope + term, np.abs(slope) + np.abs(term))
    assert scaled_residuals(solution)["decay"] == pytest.approx(expected, rel=0.02)
    assert solution.report.unsolved


def test_one_run_of_the_network_serves_all_residuals_of_a_source(monkeypatch):
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u", "v"],
        {"a": "u_t - v_xx", "b": "v_t + u_xx", "c": lambda s: s.u_x + s.v.clone()},
        [pinn.Initial("u", 1), pinn.Initial("v", "x"), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    solution = untrained(problem, **SMALL)
    runs, plain = [], type(solution).derivatives

    def counted(self, expressions, **coordinates):
        runs.append(list(expressions))
        return plain(self, runs[-1], **coordinates)

    monkeypatch.setattr(type(solution), "derivatives", counted)
    found = scaled_residuals(solution)
    assert found.keys() == {r.name for r in problem.residuals} and min(found.values()) > 0
    inside, function, start, boundary = runs
    assert set(inside) == {"u_t", "v_xx", "v_t", "u_xx", "u", "v"}
    assert "u_x" in function and set(start) == {"u", "v"} and boundary == ["u"]


class DiedOut(T.nn.Module):
    """u_t = (t - 3) u to t = 3, where u would grow again; it falls further instead, to 0."""

    def __init__(self):
        super().__init__()
        self.start = T.nn.Parameter(T.tensor(1.0, dtype=T.float64))

    def forward(self, points):
        left, right = points - T.relu(points - 3), T.relu(points - 3)
        return self.start * T.exp(left**2 / 2 - 3 * left - 2 * right**2)


def test_a_field_that_dies_out_where_it_is_small_is_told_of():
    problem = pinn.Problem(
        pinn.Time("t", 0, 10), ["u"], {"growth": "u_t - (t - 3)*u"}, [pinn.Initial("u", 1)]
    )
    found = scaled_residuals(untrained(problem, model=DiedOut()))
    assert found["initial_u"] == 0
    # In all, the residual is 0.6 % of its terms; of the places, 70 % are wrong by 2/3 and more.
    t = np.linspace(0, 10, 100_001)
    growth = (t - 3) * np.exp(np.minimum(t, 3) ** 2 / 2 - 3 * np.minimum(t, 3))
    growth *= np.exp(-2 * np.maximum(t - 3, 0) ** 2)
    slope = np.where(t < 3, growth, -4 * growth)
    r, size = slope - growth, np.abs(slope) + np.abs(growth)
    share = np.divide(np.abs(r), size, out=np.zeros_like(r), where=size > 0)
    whole = np.sqrt(np.mean(r**2) / np.mean(size**2))
    assert whole < 0.04 < found["growth"]
    assert found["growth"] == pytest.approx(np.sqrt(whole * np.sqrt(np.mean(share**2))), rel=0.02)
    assert "growth" in unsolved(found)


def test_nothing_is_said_of_small_residuals():
    assert unsolved({"a": 0.039, "b": 0.0}) is None
    assert "b (0.5)" in unsolved({"a": 0.039, "b": 0.5})


def test_what_is_left_of_data_may_be_noise_that_nobody_told_of():
    table = {"t": [0.5, 1.0], "u": [1.0, 2.0]}
    for sigma, is_told in ((None, True), (0.1, False)):
        measured = pinn.Data("u", table, sigma=sigma)
        problem = dataclasses.replace(decay(), conditions=[pinn.Initial("u", 2), measured])
        said = unsolved({"decay": 0.01, "data_u": 0.35}, problem=problem)
        assert ("what is left of data_u may be noise: say how large" in said) == is_told
        assert (unsolved({"decay": 0.01, "data_u": 0.25}, problem=problem) is None) == is_told
        assert "may be noise" not in unsolved({"decay": 0.5, "data_u": 0.01}, problem=problem)


@pytest.mark.parametrize(("scatter", "counts"), [(1.0, False), (1.15, False), (1.5, True)])
def test_of_data_that_lie_as_far_off_as_their_noise_may_bring_nothing_counts(scatter, counts):
    t = np.linspace(0.02, 2, 100)
    noise = np.random.default_rng(0).standard_normal(100)
    noise *= 0.3 * scatter / rms(noise)
    model = Known(lambda t: 1 + T.exp(-t))
    problem = dataclasses.replace(decay(), conditions=[
        pinn.Initial("u", 2), pinn.Data("u", {"t": t, "u": 1 + np.exp(-t) + noise}, sigma=0.3),
    ])  # fmt: skip
    found = scaled_residuals(untrained(problem, model=model))
    assert found["decay"] < 1e-12
    # Of 100 squares of noise the mean is 1 with a standard deviation of 0.14.
    beyond = np.sqrt(max(scatter**2 - 1 - 3 * np.sqrt(2 / 100), 0)) * 0.3
    assert (found["data_u"] > 0.04) == (beyond > 0) == counts
    assert (unsolved(found, problem=problem) is not None) == counts


def test_warnings_and_residuals_are_saved(tmp_path):
    solution = pinn.solve(decay(), **SMALL, training=[pinn.Adam(3)])
    solution.save(tmp_path / "s.npz")
    report = pinn.load(tmp_path / "s.npz").report
    assert report.residual == solution.report.residual
    assert report.warnings == solution.report.warnings != ()
    assert dataclasses.replace(report, warnings=()).summary().count("warning") == 0


class Known(T.nn.Module):
    """Given functions of the points, each times a parameter that starts at 1."""

    def __init__(self, *functions):
        super().__init__()
        self.functions = functions
        self.one = T.nn.Parameter(T.tensor(1.0, dtype=T.float64))

    def forward(self, points):
        columns = [points[:, k] for k in range(points.shape[1])]
        return self.one * T.stack([function(*columns) for function in self.functions], dim=1)


SQUARE = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
LAPLACES = {
    "sum": "u_xx + u_yy",
    "laplacian": "laplacian(u)",
    "div": "div(grad(u))",
    "function": lambda s: s.laplacian(s.u),
    "half": "u_xx - 2*laplacian(u) + u_yy",
}


def residuals_of(functions, equations, conditions=(), domain=SQUARE, unknowns=("u",)):
    problem = pinn.Problem(domain, unknowns, equations, conditions)
    return scaled_residuals(untrained(problem, model=Known(*functions)))


def test_an_integral_up_to_the_point_is_one_term():
    # u = x + eps: u_x + integral(u, x, 0, x) - 1 - x^2 / 2 = eps x
    eps, x = 1e-3, LINE / 2
    found = residuals_of([lambda x, y: x + eps], {"e": "u_x + integral(u, x, 0, x) - 1 - x**2/2"})
    size = 1 + (x**2 / 2 + eps * x) + np.abs(-1 - x**2 / 2)
    assert found["e"] == pytest.approx(measure(eps * x, size), rel=0.02)


@pytest.mark.parametrize("text", LAPLACES.values(), ids=LAPLACES)
def test_a_laplacian_counts_as_its_derivatives_however_it_is_written(text):
    dirichlet = [pinn.Dirichlet("u", "x**2 - y**2")]

    def near(eps):
        field = [lambda x, y: x**2 - y**2 + eps * T.sin(3 * x) * T.sin(3 * y)]
        return residuals_of(field, {"laplace": text}, dirichlet)

    # r = -18 eps s with s = sin(3 x) sin(3 y), and |u_xx| + |u_yy| is 4; that of half waves is
    # pi^2 std(x^2 - y^2), a little more.
    eps = 1e-4
    size = max(4.0, np.pi**2 * np.sqrt(2 * (1 / 5 - 1 / 9)))
    rms = (1 - np.sin(6) / 6) / 2
    assert near(eps)["laplace"] == pytest.approx(18 * eps * rms / size, rel=0.03)
    assert unsolved(near(eps)) is None
    assert near(0.3)["laplace"] > 0.1


def test_a_bilaplacian_counts_as_its_derivatives():
    # x^4 - 6 x^2 y^2 + y^4 is harmonic: 24 - 48 + 24.
    def near(eps):
        def field(x, y):
            return x**4 - 6 * x**2 * y**2 + y**4 + eps * T.sin(2 * x)

        return residuals_of([field], {"plate": "laplacian(laplacian(u))"})["plate"]

    # r = 16 eps sin(2 x); of the terms the largest, 2 u_xxyy, is measured by half waves.
    x = (np.arange(400) + 0.5) / 400
    x, y = np.meshgrid(x, x)
    size = max(96.0, 2 * np.pi**4 * np.std(x**4 - 6 * x**2 * y**2 + y**4))
    rms = np.sqrt(np.mean(np.sin(2 * x) ** 2))
    assert near(1e-2) == pytest.approx(0.16 * rms / size, rel=0.05)


@pytest.mark.parametrize("text", ["u_xx + u_yy", "laplacian(u)"])
def test_an_equation_whose_terms_all_vanish_is_measured_by_how_the_unknown_varies(text):
    def near(eps):
        return residuals_of([lambda x, y: x + eps * T.sin(3 * y)], {"laplace": text})["laplace"]

    # Half a wave that varies as x does has the second derivative pi^2/sqrt(12), in rms.
    y = (np.arange(400) + 0.5) / 400
    rms = 9 * np.sqrt(np.mean(np.sin(3 * y) ** 2))
    assert near(1e-3) == pytest.approx(1e-3 * rms / (np.pi**2 / np.sqrt(12)), rel=0.1)
    assert near(0.3) > 0.04


@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_a_slope_that_vanishes_everywhere_is_measured_by_how_the_unknown_varies(unit):
    def near(eps):
        found = residuals_of(
            [lambda x, y: unit * (T.sin(3 * y) + eps * T.sin(5 * x))], {"e": "u_yy + 9*u"},
            [pinn.Neumann("u", 0, on="x=0")],
        )  # fmt: skip
        return list(found.values())[-1]

    # u_x = 5 eps at x = 0.
    y = (np.arange(400) + 0.5) / 400
    spread = np.std(np.sin(3 * y))
    assert near(1e-3) == pytest.approx(5e-3 / (np.pi * spread), rel=0.03)
    assert near(0.1) > 0.04


def test_a_constant_is_no_reason_for_a_warning():
    found = residuals_of(
        [lambda x, y: 1 + 1e-5 * T.sin(5 * x)], {"e": "u_yy + u - 1"},
        [pinn.Neumann("u", 0, on="x=0")],
    )  # fmt: skip
    assert unsolved(found) is None and len(found) == 2 and min(found.values()) > 0


def test_the_flux_through_an_interface_that_vanishes_is_no_reason_for_a_warning():
    interface = pinn.Interface("x=0.5", "u", "v", k_inner=2.0)
    equations = {"below": "u_yy + 9*u", "above": "v_yy + 9*v"}

    def near(eps):
        fields = [lambda x, y: T.sin(3 * y), lambda x, y: T.sin(3 * y) + eps * T.sin(5 * x)]
        return residuals_of(fields, equations, [interface], unknowns=("u", "v"))

    assert unsolved(near(1e-3)) is None and near(1e-3)["interface_u_v_flux"] > 0
    assert near(0.3)["interface_u_v_flux"] > 0.04


def test_the_laplacian_of_a_field_of_fewer_coordinates():
    problem = pinn.Problem(
        SQUARE, ["u"], {"e": "laplacian(u) - laplacian(q)"}, [pinn.Dirichlet("u", 0)],
        fields=[pinn.Field("q", ["x"])],
    )  # fmt: skip
    assert 0 < scaled_residuals(untrained(problem, **SMALL))["e"] <= 1


def channel():
    """A flow along x that pressure drives between two walls; v is nothing."""
    x, y = pinn.Interval("x", 0, 2), pinn.Interval("y", 0, 1)
    return pinn.Problem(
        x * y, ["u", "v", "p"],
        {"mass": "u_x + v_y", "along": "u*u_x + v*u_y + p_x - 0.1*laplacian(u)",
         "across": "u*v_x + v*v_y + p_y - 0.1*laplacian(v)"},
        [pinn.Dirichlet("u", 0, on=["y=0", "y=1"]), pinn.Dirichlet("v", 0, on=["y=0", "y=1"]),
         pinn.Dirichlet("u", "4*y*(1 - y)", on="x=0"), pinn.Dirichlet("v", 0, on="x=0"),
         pinn.Dirichlet("p", 0, on="x=2"), pinn.Neumann("v", 0, on="x=2")],
    )  # fmt: skip


class Channel(T.nn.Module):
    """The solution, with an error in v that has no relation to it."""

    def __init__(self, error):
        super().__init__()
        self.error = T.nn.Parameter(T.tensor([error], dtype=T.float64))

    def forward(self, points):
        x, y = points[:, :1], points[:, 1:]
        u, p = 4 * y * (1 - y), 0.8 * (2 - x)
        return T.cat([u, self.error * T.sin(3 * x + 5 * y), p], dim=1)


@pytest.mark.parametrize(("error", "is_solved"), [(1e-9, True), (1e-7, True), (0.2, False)])
def test_an_unknown_that_is_nothing_is_no_unsolved_one(error, is_solved):
    found = scaled_residuals(untrained(channel(), model=Channel(error)))
    assert (unsolved(found) is None) == is_solved, found
    assert found["across"] > 0 and found["dirichlet_v_x_low"] > 0


def test_the_natural_size_of_an_unknown_that_is_nothing_is_that_which_its_equations_would_see():
    found = natural_sizes(untrained(channel(), model=Channel(1e-9)))
    # v_y of half a wave from wall to wall beside u_x of one from end to end
    y = (np.arange(400) + 0.5) / 400
    spread = np.std(4 * y * (1 - y))
    assert found["v"] == pytest.approx((spread * np.pi / 2) / np.pi, rel=0.05)
    assert found.keys() == {"u", "v", "p"}
    assert natural_sizes(untrained(decay(equation="u - 2"), **SMALL)).keys() == {"u"}
