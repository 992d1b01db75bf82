"""Pictures of an unknown: where it belongs, and where it was measured."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import curve_fit

import pinn
from pinn.diagnosis import with_noise
from pinn.figures import plot_field
from pinn.figures.slices import plot_slices
from pinn.solution.pictured import vector_data

pytestmark = pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")

X, Y = pinn.Interval("x", -1, 1), pinn.Interval("y", 0, 1)
X01 = pinn.Interval("x", 0, 1)
PLACES = {"x": np.array([-0.5, -0.25]), "y": np.array([0.25, 0.75]), "a": np.array([1.0, 2.0])}


@pytest.fixture(scope="module")
def solution():
    problem = pinn.Problem(
        X * Y, ["a", "b"],
        {"left": pinn.Equation("laplacian(a) + 1", on="x < 0"),
         "right": pinn.Equation("laplacian(b) + 1", on=pinn.Disk((0.5, 0.5), 0.4)),
         "both": pinn.Equation("b - 1", on="x > 0.9")},
        [pinn.Dirichlet("a", 0, on="x=-1"), pinn.Data("a", PLACES)],
    )  # fmt: skip
    return pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(2)], seed=0)


def test_an_unknown_is_drawn_where_its_equations_hold(solution):
    data = solution.field_data("a")
    x, y = np.meshgrid(*data.coordinates.values(), indexing="ij")
    np.testing.assert_array_equal(data.inside, x < 0)
    assert np.isnan(data.values[x >= 0]).all() and np.isfinite(data.values[x < 0]).all()
    data = solution.field_data("b")
    disk = np.hypot(x - 0.5, y - 0.5) < 0.4
    np.testing.assert_array_equal(data.inside, disk | (x > 0.9))
    assert data.contains(np.array([[0.5, 0.5], [0.0, 0.5]])).tolist() == [True, False]


def test_an_expression_is_drawn_where_one_of_its_unknowns_belongs(solution):
    x, y = np.meshgrid(*solution.field_data("a").coordinates.values(), indexing="ij")
    np.testing.assert_array_equal(solution.field_data("a_x + a**2").inside, x < 0)
    right = solution.field_data("b").inside
    np.testing.assert_array_equal(solution.field_data("a_x*b").inside, (x < 0) | right)
    assert solution.field_data("x*y").inside.all()


def test_where_it_was_measured_is_drawn_on_the_map(solution):
    data = solution.field_data("a")
    np.testing.assert_array_equal(data.measured, np.stack([PLACES["x"], PLACES["y"]], axis=1))
    assert solution.field_data("b").measured is None
    (rings,) = [c for c in plot_field(data).axes[0].collections if c.get_label() == "data"]
    np.testing.assert_array_equal(rings.get_offsets(), data.measured)


def test_what_was_measured_is_drawn_beside_a_line():
    table = {"x": [-0.5, 0.5, 0.8], "t": [0.0, 1.0, 1.0], "u": [1.0, 2.0, 9.0]}
    problem = pinn.Problem(
        X * pinn.Time("t", 0, 1), ["u", "v"], {"e": "u_t + u_x", "f": "v - u"},
        [pinn.Initial("u", 0), pinn.Dirichlet("u", 0, on="x=-1"), pinn.Data("u", table)],
    )  # fmt: skip
    solution = pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(2)], error_bars=False)
    data = solution.field_data("u", t=1.0)
    np.testing.assert_array_equal(data.measured, [[0.5, 2.0], [0.8, 9.0]])
    assert solution.field_data("u", t=0.5).measured is None
    assert solution.field_data("v", t=1.0).measured is None
    axes = plot_field(data).axes[0]
    (rings,) = [c for c in axes.collections if c.get_label() == "data"]
    np.testing.assert_array_equal(rings.get_offsets(), data.measured)
    assert axes.get_ylim()[1] > 9
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["network", "data"]


def test_an_unknown_of_an_equation_everywhere_is_drawn_everywhere():
    many = {"x": np.linspace(-1, 1, 501), "y": np.linspace(0, 1, 501), "a": np.zeros(501)}
    problem = pinn.Problem(
        X * Y, ["a"], {"e": "laplacian(a)", "f": pinn.Equation("a_x", on="x < 0")},
        [pinn.Data("a", many)],
    )  # fmt: skip
    data = pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(2)]).field_data("a")
    assert data.inside.all() and data.measured is None


def test_the_components_of_a_vector_are_drawn_as_one():
    problem = pinn.Problem(
        X * Y, ["p", "u", "v"], {"mass": "u_x + v_y", "turn": "u_y - v_x + p", "p": "p - u"},
    )  # fmt: skip
    solution = pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(2)], error_bars=False)
    axes = solution.plot(["u", "v"]).axes[0]
    speed = [c for c in axes.collections if type(c).__name__ == "QuadMesh"][0].get_array()
    x, y = (solution.field_data("u").coordinates[name] for name in "xy")
    there = solution.evaluate(x=x[:, None], y=y)
    np.testing.assert_allclose(speed, np.hypot(there["u"], there["v"]).T)
    with pytest.raises(ValueError, match="hold the others fixed"):
        solution.plot(["u", "p"])


def test_in_space_a_vector_has_its_components_along_each_plane_first():
    z, t = pinn.Interval("z", 0, 1), pinn.Time("t", 0, 1)
    problem = pinn.Problem(X * Y * z * t, ["u", "v", "w"], {"mass": "u_x + v_y + w_z"})
    solution = pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(1)], error_bars=False)
    panels = vector_data(solution, ("u", "v", "w"))
    assert [[one.unknown for one in panel] for panel in panels] == [
        ["u", "v", "w"], ["u", "w", "v"], ["v", "w", "u"]
    ]  # fmt: skip
    assert [tuple(panel[0].coordinates) for panel in panels] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert panels[0][0].fixed == {"z": 0.5, "t": 0.5}


def test_units_and_proportions_come_from_the_problem():
    problem = pinn.Problem(
        pinn.Interval("r", 0, 1) * pinn.Interval("q", 0, 6), ["u"], {"e": "u_rr + u_qq"},
        units={"q": "rad", "u": "K"},
    )  # fmt: skip
    solution = pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(1)], error_bars=False)
    axes, bar = solution.plot().axes
    assert axes.get_aspect() == "auto" and axes.get_ylabel() == "$q$ (rad)"
    assert bar.get_ylabel() == "$u$ (K)"


def test_a_solution_moves(tmp_path):
    problem = pinn.Problem(X * pinn.Time("t", 0, 2), ["u"], {"e": "u_t - u_xx"})
    solution = pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(1)], error_bars=False)
    moving = solution.animation(frames=3)
    moving.show(2)
    line = moving.figure.axes[0].get_lines()[0]
    there = solution.evaluate(x=line.get_xdata(), t=2.0)["u"]
    np.testing.assert_allclose(line.get_ydata(), there)
    moving.save(tmp_path / "u.gif")
    assert (tmp_path / "u.gif").read_bytes().startswith(b"GIF")


def test_what_no_window_of_time_is_trained_for_is_not_drawn():
    problem = pinn.Problem(
        pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)]
    )  # fmt: skip
    model = pinn.Windows(model=pinn.RandomFeatures(20, (1.0, 8.0)), breaks=[0.5, 1.5], until=1.5)
    with pytest.warns(pinn.UnsolvedWarning, match="solved up to t = 1.5"):
        data = pinn.solve(problem, model, pinn.Sampling(80), error_bars=False).field_data("u")
    t = data.coordinates["t"]
    assert np.isnan(data.values[t > 1.5]).all() and np.isfinite(data.values[t <= 1.5]).all()


# ---- what noise leaves open, and data near a line

SIGMA = 0.02
AT = np.sort(np.random.default_rng(1).uniform(0, 1, 60))
READ = np.exp(-2 * AT) + SIGMA * np.random.default_rng(2).standard_normal(60)


@pytest.fixture(scope="module")
def decay():
    problem = pinn.Problem(
        X01, ["u"], {"decay": "u_x + k*u"},
        [pinn.Data("u", {"x": AT, "u": READ}, sigma=SIGMA)], parameters={"k": 1.0},
    )  # fmt: skip
    points = pinn.Sampling(interior=200, adaptive=None)
    solution = pinn.solve(problem, pinn.MLP(8, 1), points, [pinn.LevenbergMarquardt(80)])
    objective = solution.experiment.objective()
    objective.parameters.load(solution.theta)
    objective.set_weights(solution.last.weights)
    # what the end of a longer run estimates
    equations = pinn.ErrorEstimate(relative_l2={"u": 1e-6}, maximum={"u": 1e-6})
    solution.report = dataclasses.replace(
        solution.report, error_estimate=with_noise(equations, objective)
    )  # fmt: skip
    return solution


def test_a_line_has_the_band_that_least_squares_has(decay):
    data = decay.field_data("u")
    (xs,) = data.coordinates.values()
    model = lambda x, a, k: a * np.exp(-k * x)  # noqa: E731
    (a, k), covariance = curve_fit(model, AT, READ, [1, 1])
    slopes = np.stack([np.exp(-k * xs), -a * xs * np.exp(-k * xs)])
    scale = SIGMA**2 / np.mean((model(AT, a, k) - READ) ** 2) * 58 / 60
    expected = 2 * np.sqrt(scale * np.einsum("ix,ij,jx->x", slopes, covariance, slopes))
    np.testing.assert_allclose(data.band, expected, rtol=0.05)
    axes = plot_field(data).axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "network", "2 standard errors", "data"
    ]
    (filled,) = (c for c in axes.collections if c.get_label() == "2 standard errors")
    edges = filled.get_paths()[0].vertices
    top = edges[:, 1][np.isclose(edges[:, 0], xs[500])].max()
    assert top == pytest.approx(data.values[500] + data.band[500])


def test_a_saved_solution_has_it_too(decay, tmp_path):
    decay.save(tmp_path / "solution.npz")
    loaded = pinn.load(tmp_path / "solution.npz")
    np.testing.assert_array_equal(loaded.field_data("u").band, decay.field_data("u").band)


def test_no_estimate_is_made_for_a_picture(decay, monkeypatch):
    def refuse(*given, **named):
        raise AssertionError("an estimate was made")

    monkeypatch.setattr("pinn.solution.solution.error_estimate", refuse)
    monkeypatch.setattr("pinn.diagnosis.bands._bands", refuse)
    report = dataclasses.replace(decay.report, error_estimate=pinn.ErrorEstimate())
    monkeypatch.setattr(decay, "report", report)
    assert decay.field_data("u").band is None


def test_what_is_not_solved_has_no_band(decay, monkeypatch):
    report = dataclasses.replace(decay.report, unsolved=True)
    monkeypatch.setattr(decay, "report", report)
    assert decay.field_data("u").band is None and decay.field_data("u_x").band is None


@pytest.fixture(scope="module")
def cooling():
    """A field in space and time that was measured at random places, and twice at the end."""
    rng = np.random.default_rng(3)
    x, t = rng.uniform(0, 1, (2, 40))
    x, t = np.append(x, [0.2, 0.6]), np.append(t * 2, [2.0, 2.0])
    problem = pinn.Problem(
        X01 * pinn.Time("t", 0, 2), ["u"], {"e": "u_t - u_xx"},
        [pinn.Data("u", {"x": x, "t": t, "u": x + t})],
    )  # fmt: skip
    return pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(2)], error_bars=False), x, t


@pytest.mark.parametrize("held", [0.6, 1.0])
def test_data_near_a_line_are_drawn_and_it_says_how_near(cooling, held):
    solution, x, t = cooling
    near = np.abs(t - held) <= 0.1  # a twentieth of the range
    data = solution.field_data("u", t=held)
    np.testing.assert_allclose(data.measured, np.stack([x, x + t], axis=1)[near])
    assert 0 < near.sum() < len(t) and data.data_label() == "data within 0.1 in $t$"
    # the slice of the map is the same
    cut = plot_slices(solution.field_data("u"), [held])
    (rings,) = (c for c in cut.axes[0].collections if c.get_label().startswith("data"))
    np.testing.assert_allclose(rings.get_offsets(), data.measured)
    assert [one.get_text() for one in cut.legends[0].get_texts()] == [
        "network", "data within 0.1 in $t$"
    ]


def test_where_some_lie_on_the_line_these_alone_are_drawn(cooling):
    solution, _, _ = cooling
    data = solution.field_data("u", t=2.0)
    np.testing.assert_allclose(data.measured, [[0.2, 2.2], [0.6, 2.6]])
    assert data.data_label() == "data"
    over = solution.plot("u", t=[0.0, 1.0])
    texts = [one.get_text() for one in over.axes[0].get_legend().get_texts()]
    assert texts[-1] == "data within 0.1 in $t$" and len(texts) == 3


def test_slices_have_the_data_near_them_where_all_of_them_would_hide_a_map():
    rng = np.random.default_rng(4)
    x, t = rng.uniform(0, 1, (2, 2000))
    problem = pinn.Problem(
        X01 * pinn.Time("t", 0, 1), ["u"], {"e": "u_t - u_xx"},
        [pinn.Data("u", {"x": x, "t": t, "u": x + t})],
    )  # fmt: skip
    solution = pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(2)], error_bars=False)
    data = solution.field_data("u")
    assert data.measured is None and len(data.readings) == 2000
    top = plot_slices(data, [0.5]).axes[0]
    (rings,) = (c for c in top.collections if c.get_label().startswith("data"))
    near = np.abs(t - 0.5) <= 0.05
    np.testing.assert_allclose(rings.get_offsets(), np.stack([x, x + t], axis=1)[near])
