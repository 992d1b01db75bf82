"""Periodic, interface and integral conditions: rows by hand, training, and what is refused."""

import math
import warnings

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.config import load
from pinn.objective import Objective
from pinn.objective.flat_parameters import FlatParameters
from pinn.sampling import stream

X, Y, TIME = pinn.Interval("x", -1, 2), pinn.Interval("y", 0, 1), pinn.Time("t", 0.5, 1)
SAMPLING = pinn.Sampling(interior=20, initial=15, boundary=30)


class Waves(T.nn.Module):
    """u = a sin(x y) + t^2 x and v = a cos(x) t^3, of x, y and t."""

    def __init__(self):
        super().__init__()
        self.a = T.nn.Parameter(T.tensor(1.5, dtype=T.float64))

    def forward(self, points):
        x, y, t = (points[:, j : j + 1] for j in range(3))
        u = self.a * T.sin(x * y) + t * t * x
        return T.cat([u, self.a * T.cos(x) * t * t * t], dim=1)


def rows(condition, **options):
    """Return the residual of each block of a condition, with its points."""
    domain = X * Y * TIME
    problem = pinn.Problem(domain, ["u", "v"], {"e": "u_t + v"}, [condition], {"k": 2})
    points = {r.name: r.source.draw(SAMPLING, stream(0)) for r in problem.residuals}
    parameters = FlatParameters(Waves(), (), T.float64, "cpu")
    objective = Objective(problem, parameters, points, dtype=T.float64, **options)
    found = objective.residuals(np.array([1.5]))
    return {name: (found[name], points[name]) for name in found if name != "e"}


ENGINES = [{}, {"derivatives": "nested", "engine": "eager"}]


@pytest.mark.parametrize("options", ENGINES)
def test_value_and_slope_are_the_same_at_both_ends(options):
    found = rows(pinn.Periodic(["u", "v"], "x", orders=3), **options)
    assert list(found) == [
        f"periodic_{name}_x{slope}" for name in "uv" for slope in ("", "_d1", "_d2")
    ]
    values, points = found["periodic_u_x"]
    x, y, t = points.coordinates.T
    assert len(points) == 30 and np.all(x == -1)
    np.testing.assert_allclose(values, 1.5 * (np.sin(-y) - np.sin(2 * y)) - 3 * t**2, atol=1e-13)
    slopes = 1.5 * y * (np.cos(-y) - np.cos(2 * y))
    np.testing.assert_allclose(found["periodic_u_x_d1"][0], slopes, atol=1e-13)
    (curvature, points) = found["periodic_v_x_d2"]
    t = points.coordinates[:, 2]
    expected = -1.5 * (np.cos(-1) - np.cos(2)) * t**3
    np.testing.assert_allclose(curvature, expected, atol=1e-12)


@pytest.mark.parametrize("options", ENGINES)
def test_time_may_be_periodic(options):
    found = rows(pinn.Periodic("v", "t"), **options)
    values, points = found["periodic_v_t"]
    x = points.coordinates[:, 0]
    assert np.all(points.coordinates[:, 2] == 0.5) and len(points) == 15
    np.testing.assert_allclose(values, 1.5 * np.cos(x) * (0.125 - 1), atol=1e-13)
    slopes = 1.5 * np.cos(x) * 3 * (0.25 - 1)
    np.testing.assert_allclose(found["periodic_v_t_d1"][0], slopes, atol=1e-13)


@pytest.mark.parametrize("options", ENGINES)
def test_an_interface_joins_values_and_fluxes(options):
    condition = pinn.Interface(
        "y=0.25", "u", "v", k_inner="k", k_outer=lambda s: s.x, jump="x", flux_jump="t"
    )
    found = rows(condition, **options)
    assert list(found) == ["interface_u_v", "interface_u_v_flux"]
    values, points = found["interface_u_v"]
    x, y, t = points.coordinates.T
    assert len(points) == 30 and np.all(y == 0.25)
    u, v = 1.5 * np.sin(x * y) + t * t * x, 1.5 * np.cos(x) * t**3
    np.testing.assert_allclose(values, v - u - x, atol=1e-13)
    u_y = 1.5 * x * np.cos(x * y)
    np.testing.assert_allclose(found["interface_u_v_flux"][0], 0 - 2 * u_y - t, atol=1e-13)


@pytest.mark.parametrize("options", ENGINES)
def test_an_interface_is_the_boundary_of_a_body(options):
    body = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0.25, 0.75)
    found = rows(pinn.Interface(body, "u", "v", 2, 3, name="skin"), **options)
    values, points = found["skin_flux"]
    x, y, t = points.coordinates.T
    n_x, n_y = points.columns["normal_x"], points.columns["normal_y"]
    np.testing.assert_array_equal(n_x, (x == 1) * 1.0 - (x == 0))
    np.testing.assert_array_equal(n_y, (y == 0.75) * 1.0 - (y == 0.25))
    assert len(np.unique(t)) > 20 and len(points) == 30
    u_x, u_y = 1.5 * y * np.cos(x * y) + t * t, 1.5 * x * np.cos(x * y)
    v_x = -1.5 * np.sin(x) * t**3
    expected = 3 * v_x * n_x - 2 * (u_x * n_x + u_y * n_y)
    np.testing.assert_allclose(values, expected, atol=1e-13)


@pytest.mark.parametrize("options", ENGINES)
@pytest.mark.parametrize("mean", [False, True])
def test_an_integral_is_taken_over_the_domain_at_each_time(options, mean):
    condition = pinn.Integral("v", "t", mean=mean, nodes=12, times=4)
    ((name, (found, points)),) = rows(condition, **options).items()
    assert name == ("mean_v" if mean else "integral_v") and len(points) == 4 * 12 * 12
    t = points.coordinates[::144, 2]
    exact = 1.5 * (np.sin(2) - np.sin(-1)) * t**3 / (3 if mean else 1)
    np.testing.assert_allclose(found, exact - t, atol=1e-12)


@pytest.mark.parametrize("source", ["dn(u)", lambda s: s.dn(s.u)])
def test_an_integral_is_taken_over_parts_of_the_boundary(source):
    condition = pinn.Integral(source, lambda s: 2 * s.t, on=["x=2", "x=-1"], name="flow")
    ((name, (found, points)),) = rows(condition).items()
    t = points.coordinates[:: len(points) // 10, 2]
    # u_x = a y cos(x y) + t^2 at x = 2 less that at x = -1, integrated over y.
    inner = np.sin(2) / 2 + (np.cos(2) - 1) / 4 - (np.sin(1) + np.cos(1) - 1)
    assert name == "flow" and len(found) == 10
    np.testing.assert_allclose(found, 1.5 * inner - 2 * t, atol=1e-12)


@pytest.mark.parametrize("options", ENGINES)
def test_a_text_says_what_it_integrates_over(options):
    condition = pinn.Integral("integral(v, x, -1, 2) - y", "t")
    ((name, (found, points)),) = rows(condition, **options).items()
    x, y, t = points.coordinates.T
    assert name == "integral_v_x_1_2_y" and len(points) == 15 and np.all(x == -1)
    np.testing.assert_allclose(found, 1.5 * (np.sin(2) + np.sin(1)) * t**3 - y - t, atol=1e-12)
    whole = pinn.Integral("integral(integral(u, x, -1, 2), y, 0, 1)", lambda s: s.t, name="all")
    ((_, (found, points)),) = rows(whole, **options).items()
    t = points.coordinates[:, 2]
    # of a sin(x y): a (1 - cos(x y)) / y over x, and of that over y, by its series
    k = np.arange(1, 12)
    size = np.array([2 * j * math.factorial(2 * j) for j in range(1, 12)], dtype=float)
    series = (-1.0) ** (k + 1) * (2.0 ** (2 * k) - 1) / size
    assert np.all(points.coordinates[:, 1] == 0)
    np.testing.assert_allclose(found, 1.5 * series.sum() + 1.5 * t**2 - t, atol=1e-10)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (pinn.Integral("integral(u, x, 0, 1)", mean=True), "conditions.0.mean: leave it out"),
        (pinn.Integral("integral(u, x, 0, 1)", on="x=2"), "conditions.0.on: leave it out"),
        (pinn.Periodic("w", "x"), "conditions.0.unknown: expected one of the unknowns u, v"),
        (pinn.Periodic("u", "z"), "conditions.0.coordinate: expected a coordinate out of x, y, t"),
        (pinn.Interface("x=2", "u", "v"), "conditions.0.on: expected a place between -1 and 2"),
        (pinn.Interface("t=0.7", "u", "v"), "conditions.0.on: expected a plane out of x=..., y="),
        (pinn.Interface("x=0", "u", "w"), "conditions.0.outer: expected one of the unknowns u, v"),
        (pinn.Interface("x=0", "u", "v", "q"), "conditions.0.k_inner: unknown name 'q'"),
        (pinn.Interface("x=0", "u", "v", jump="u"), "conditions.0.jump: unknown name 'u'"),
        (pinn.Interface(TIME, "u", "v"), "conditions.0.on: expected a shape in some of the space"),
        (pinn.Integral("w"), "conditions.0.expression: unknown name 'w'"),
        (pinn.Integral("x"), "conditions.0.expression: expected at least one of the unknowns"),
        (pinn.Integral("u", "v"), "conditions.0.value: unknown name 'v'"),
        (pinn.Integral("u", on="x=0"), "conditions.0.on: no face 'x=0'"),
        (pinn.Integral("dn(u)"), "conditions.0.expression: dn needs the outward normal"),
    ],
)
def test_conditions_that_do_not_fit_are_refused(condition, message):
    with pytest.raises(ValueError, match=message):
        pinn.Problem(X * Y * TIME, ["u", "v"], {"e": "u_t + v"}, [condition])


def test_one_smooth_network_has_no_jump():
    with pytest.raises(ValueError, match="outer: expected another unknown than 'u': one network"):
        pinn.Interface("x=0", "u", "u", 1, 2)


def test_an_integral_needs_space():
    with pytest.raises(ValueError, match="needs a space coordinate, and this domain has only t"):
        pinn.Problem(TIME, ["u"], {"e": "u_t"}, [pinn.Integral("u")])


SMALL = {"model": pinn.MLP(width=10, depth=1), "sampling": pinn.Sampling(interior=40)}


def test_periodic_training_finds_the_exact_solution():
    problem = pinn.Problem(
        pinn.Interval("x", -1, 1), ["u"], {"poisson": "u_xx + pi**2*sin(pi*x)"},
        [pinn.Dirichlet("u", 0, on="x=-1"), pinn.Periodic("u", "x")],
        reference={"u": "sin(pi*x)"},
    )  # fmt: skip
    solution = pinn.solve(problem, **SMALL, training=[pinn.SSBroyden(150)])
    assert solution.report.rel_l2["u"] < 5e-3 and solution.report.warnings == ()
    assert set(solution.report.residual) == {r.name for r in problem.residuals}


def test_a_mean_fixes_the_constant():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 2), ["p"], {"slope": "p_x - 2*x"},
        [pinn.Integral("p", 1, mean=True)], reference={"p": "x**2 - 1/3"},
    )  # fmt: skip
    solution = pinn.solve(problem, **SMALL, training=[pinn.SSBroyden(150)])
    assert solution.report.rel_l2["p"] < 1e-3


def test_two_media_with_an_unknown_for_each():
    # -(k u')' = 0 on (0, 1) with k = 1 below 1/4 and 5 above: flux 1/(1/4 + 3/20) = 5/2.
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["a", "b"], {"below": "a_xx", "above": "b_xx"},
        [
            pinn.Dirichlet("a", 0, on="x=0"), pinn.Dirichlet("b", 1, on="x=1"),
            pinn.Interface("x=1/4", "a", "b", 1, 5),
        ],
        reference={"a": "2.5*x", "b": "1 - 0.5*(1 - x)"},
    )  # fmt: skip
    solution = pinn.solve(problem, **SMALL, training=[pinn.SSBroyden(150)])
    assert max(solution.report.rel_l2.values()) < 1e-3


def said(conditions, equation="u_xx - cos(pi*x)", domain=None):
    domain = domain or pinn.Interval("x", -1, 1)
    problem = pinn.Problem(domain, ["u"], {"e": equation}, conditions)
    with np.errstate(all="ignore"):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pinn.solve(problem, **SMALL, training=[pinn.Adam(steps=1)]).report.warnings


@pytest.mark.parametrize(
    ("conditions", "hint"),
    [
        ([pinn.Periodic("u", "x")], "up to a constant"),
        ([pinn.Neumann("u", 0)], "up to a constant"),
        ([pinn.Periodic("u", "x"), pinn.Integral("u")], None),
        ([pinn.Neumann("u", 0), pinn.Integral("u", mean=True)], None),
        ([pinn.Periodic("u", "x"), pinn.PointValue("u", 0, x=0)], None),
        ([pinn.Robin("u", 1, 1, 0)], None),
        ([pinn.Periodic("u", "x", orders=1)], "there is a period of the value alone"),
        ([pinn.Neumann("u", 0, on="x=1"), pinn.Neumann("u", 1, on="x=1")], None),
        ([pinn.Integral("u")], "takes 2 conditions in x, such as on its bounds, and 1 is given"),
    ],
)
def test_what_is_missing_is_told(conditions, hint):
    if len(conditions) == 2 and conditions[0] == pinn.Neumann("u", 0, on="x=1"):
        with pytest.raises(ValueError, match="two equations or conditions are called 'neumann_u_x"):
            said(conditions)
        return
    found = [sentence for sentence in said(conditions) if "unsolved" not in sentence
             and "does not seem to be solved" not in sentence]  # fmt: skip
    assert (hint is None and not found) or any(hint in sentence for sentence in found)


BALANCES = [
    # equation, conditions, whether they balance; u = x^2 has the slope 2 at both ends of [-1, 1]
    ("u_xx - 2", [pinn.Neumann("u", 2)], True),
    ("u_xx - 2", [pinn.Neumann("u", 1)], False),
    ("3*u_xx - 6",
     [pinn.Neumann("u", "x**2 + 1", on="x=1"), pinn.Operator("dn(u) - 2", "x=-1")], True),
    ("u_xx - 2", [pinn.Periodic("u", "x")], False),
    ("u_xx - sin(pi*x)", [pinn.Periodic("u", "x")], True),
    ("u_xx - 2", [pinn.Neumann("u", 1, on="x=1"), pinn.Dirichlet("u", 0, on="x=-1")], True),
    ("u_xx - u - 2", [pinn.Neumann("u", 1)], True),
]  # fmt: skip


@pytest.mark.parametrize(("equation", "conditions", "balances"), BALANCES)
def test_a_source_has_to_leave_through_the_boundary(equation, conditions, balances):
    found = [s for s in said([*conditions, pinn.PointValue("u", 0, x=0)], equation) if "dn(u)" in s]
    assert not found if balances else "contradict each other: integrated over" in found[0]


def test_a_source_has_to_leave_a_disk_as_well():
    disk = pinn.Disk((0, 0), 2)
    for slope, balances in ((4, True), (5, False)):
        conditions = [pinn.Neumann("u", slope), pinn.PointValue("u", 0, x=0, y=0)]
        found = said(conditions, "laplacian(u) - 4", disk)
        assert any("contradict" in sentence for sentence in found) != balances


def test_a_periodic_function_of_time_is_told_to_be_free():
    found = said([pinn.Periodic("u", "x")], "u_xx - sin(pi*x)", X * TIME)
    assert any("up to a function of t" in sentence for sentence in found)


CONFIG = """
problem:
  domain: {x: [0, 1], y: [0, 1], t: {time: [0, 1]}}
  unknowns: [u, v]
  equations: {e: u_t - laplacian(u), f: v - u_x}
  conditions:
    - periodic: {unknown: [u, v], coordinate: x}
    - periodic: {unknown: u, coordinate: t, orders: 1}
    - interface: {on: x=1/2, inner: u, outer: v, k_outer: 2, jump: t, name: wall}
    - interface: {on: {interval: {name: y, low: 0.25, high: 0.5}}, inner: v, outer: u}
    - integral: {expression: u - v, value: sin(t), mean: true, nodes: 3, times: 2}
    - integral: {expression: dn(u), on: [x=0, y=1], nodes: 3, times: 2}
training: [adam: {steps: 2}]
sampling: {interior: 8, boundary: 6, initial: 5, adaptive: null}
model: {mlp: {width: 4, depth: 1}}
"""


def test_a_config_has_them_and_a_file_keeps_them(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(CONFIG)
    config = load(path)
    problem = config.experiment.problem
    assert problem.conditions == (
        pinn.Periodic(["u", "v"], "x"),
        pinn.Periodic("u", "t", orders=1),
        pinn.Interface("x=1/2", "u", "v", k_outer=2, jump="t", name="wall"),
        pinn.Interface(pinn.Interval("y", 0.25, 0.5), "v", "u"),
        pinn.Integral("u - v", "sin(t)", mean=True, nodes=3, times=2),
        pinn.Integral("dn(u)", on=["x=0", "y=1"], nodes=3, times=2),
    )
    (tmp_path / "again.yaml").write_text(config.text())
    assert load(tmp_path / "again.yaml").data == config.data
    e = config.experiment
    with pytest.warns(pinn.ProblemWarning, match="more is asked for in [xy] than"):
        solution = pinn.solve(problem, e.model, e.sampling, e.training)
    solution.save(tmp_path / "solution.npz")
    again = pinn.load(tmp_path / "solution.npz")
    assert again.problem.conditions == problem.conditions
    at = {"x": 0.3, "y": 0.2, "t": 0.1}
    np.testing.assert_array_equal(again.evaluate(**at)["u"], solution.evaluate(**at)["u"])


@pytest.mark.parametrize("given", [{}, {"nodes": 80, "times": 1}, {"nodes": 80, "times": 2}])
def test_integrals_of_more_nodes_than_a_check_looks_at_are_checked_and_solved(given):
    """Over a square, at some times: 576 nodes and ten times where nothing else is said."""
    cube = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1) * pinn.Time("t", 0, 1)
    problem = pinn.Problem(cube, ["u"], {"e": "u_t - 2*t"}, [
        pinn.Initial("u", 0), pinn.Integral("u", "t**2", **given)
    ], reference={"u": "t**2"})  # fmt: skip
    model = pinn.RandomFeatures(200, steepness=(0.1, 1.0))
    assert pinn.check(problem, model).works
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pinn.ProblemWarning)
        report = pinn.solve(problem, model).report
    assert report.rel_l2["u"] < 1e-6
