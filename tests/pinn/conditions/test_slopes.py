"""Neumann, Robin and Operator conditions: their rows, written by hand, and trained short."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.config import load
from pinn.objective import Objective
from pinn.objective.flat_parameters import FlatParameters
from pinn.sampling import stream

X, Y, TIME = pinn.Interval("x", -1, 2), pinn.Interval("y", 0, 1), pinn.Time("t", 0.5, 1)
DOMAIN = X * Y * TIME
SAMPLING = pinn.Sampling(interior=20, initial=15, boundary=40)


class Waves(T.nn.Module):
    """u = a sin(x y) + t^2 x and v = a cos(x) t."""

    def __init__(self):
        super().__init__()
        self.a = T.nn.Parameter(T.tensor(1.5, dtype=T.float64))

    def forward(self, points):
        x, y, t = (points[:, j : j + 1] for j in range(3))
        u = self.a * T.sin(x * y) + t * t * x
        return T.cat([u, self.a * T.cos(x) * t], dim=1)


def rows(condition, derivatives="jets", constants=None):
    """Return the residual of each block of a condition, with its points."""
    problem = pinn.Problem(
        DOMAIN, ["u", "v"], {"e": "u_t + v"}, [condition], constants=constants or {}
    )
    points = {r.name: r.source.draw(SAMPLING, stream(0, r.name)) for r in problem.residuals}
    objective = Objective(
        problem, FlatParameters(Waves(), (), T.float64, "cpu"), points, dtype=T.float64,
        derivatives=derivatives,
    )  # fmt: skip
    found = objective.residuals(np.array([1.5]))
    return {name: (found[name], points[name]) for name in found if name != "e"}


def by_hand(points):
    """Return u, v, dn(u) and dn(v) at points of the box, by reverse mode, and its normal there."""
    array = points.coordinates
    inputs = T.tensor(array, requires_grad=True)
    outputs = Waves()(inputs)
    slopes = [T.grad(outputs[:, j].sum(), inputs, retain_graph=True)[0].numpy() for j in (0, 1)]
    normal = np.zeros((len(array), 2))
    for j, (low, high) in enumerate([(-1, 2), (0, 1)]):
        normal[:, j] = (array[:, j] == high) * 1.0 - (array[:, j] == low) * 1.0
    u, v = outputs.detach().numpy().T
    return u, v, *((slope[:, :2] * normal).sum(axis=1) for slope in slopes), normal


@pytest.mark.parametrize("derivatives", ["jets", "nested"])
@pytest.mark.parametrize("on", [None, "y=1", ["x=-1", "y=0"], "x + y < 1"])
def test_a_neumann_condition_is_the_slope_along_the_outward_normal(on, derivatives):
    ((found, points),) = rows(pinn.Neumann("u", "x*t", on=on), derivatives).values()
    x, y, t = points.coordinates.T
    _, _, slope, _, normal = by_hand(points)
    assert np.all(np.abs(normal).sum(axis=1) == 1) and len(found) == 40
    np.testing.assert_allclose(found, slope - x * t, atol=1e-13)


VALUES = [("x*t", "y - t", "k"), (lambda s: s.x * s.t, lambda s: s.y - s.t, lambda s: s.k),
          ("x*t", lambda s: s("y") - s.t, 2.0)]  # fmt: skip


@pytest.mark.parametrize("given", VALUES)
def test_a_robin_condition_combines_value_and_slope(given):
    condition = pinn.Robin("v", *given, on="x=2")
    (((name, (found, points)),)) = rows(condition, constants={"k": 2.0}).items()
    x, y, t = points.coordinates.T
    _, v, _, slope, _ = by_hand(points)
    assert name == "robin_v_x_high"
    np.testing.assert_allclose(found, x * t * v + (y - t) * slope - 2, atol=1e-13)


@pytest.mark.parametrize("derivatives", ["jets", "nested"])
def test_an_operator_condition_takes_any_expression(derivatives):
    condition = pinn.Operator("dn(u) - k*v*normal_y", on="y=0", name="law")
    ((name, (found, points)),) = rows(condition, derivatives, constants={"k": 3.0}).items()
    _, v, slope, _, normal = by_hand(points)
    assert name == "law"
    np.testing.assert_allclose(found, slope - 3 * v * normal[:, 1], atol=1e-13)
    function = pinn.Operator(lambda s: s.dn(s.u) - s.k * s.v * s.normal_y, "y=0", name="law")
    ((_, (same, _)),) = rows(function, derivatives, constants={"k": 3.0}).items()
    np.testing.assert_allclose(same, found, atol=1e-13)


def test_an_operator_holds_at_the_ends_of_time_and_on_the_boundary():
    found = rows(pinn.Operator("u - v", on=["t=0.5", "t=1", "x=2", "x=-1"]))
    assert list(found) == ["operator_x_high_x_low", "operator_t_low", "operator_t_high"]
    for name, t in (("operator_t_low", 0.5), ("operator_t_high", 1.0)):
        values, points = found[name]
        u, v, *_ = by_hand(points)
        assert len(points) == 15 and np.all(points.coordinates[:, 2] == t)
        np.testing.assert_allclose(values, u - v, atol=1e-14)


def test_an_operator_holds_at_points_of_ones_own():
    given = {"x": [0.2, 0.4, -1], "y": 0.5, "t": np.array([0.5, 0.6, 1])}
    ((_, (found, points)),) = rows(pinn.Operator("u_x - v", at=given, name="probe")).items()
    array = [[0.2, 0.5, 0.5], [0.4, 0.5, 0.6], [-1, 0.5, 1]]
    np.testing.assert_array_equal(points.coordinates, array)
    x, y, t = np.array(array).T
    slope = 1.5 * y * np.cos(x * y) + t * t
    np.testing.assert_allclose(found, slope - 1.5 * np.cos(x) * t, atol=1e-14)


@pytest.mark.parametrize(
    ("conditions", "names"),
    [
        ([pinn.Neumann("u", 0), pinn.Robin("u", 1, 1, 0)], ["neumann_u", "robin_u"]),
        ([pinn.Neumann("v", 0, on=["x=-1", "y=1"])], ["neumann_v_x_low_y_high"]),
        ([pinn.Operator("u"), pinn.Operator("u", on="x=2")], ["operator", "operator_x_high"]),
        ([pinn.Operator("u", on=["t=1", "x=2"], name="law")], ["law_x_high", "law_t_high"]),
    ],
)
def test_blocks_are_named_by_kind_unknown_and_place(conditions, names):
    problem = pinn.Problem(DOMAIN, ["u", "v"], {"e": "u_t", "f": "v_t"}, conditions)
    assert [r.name for r in problem.residuals] == ["e", "f", *names]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (pinn.Neumann("w", 0), "conditions.0.unknown: expected one of the unknowns u, v, got 'w'"),
        (pinn.Neumann("u", "v"), "conditions.0.value: unknown name 'v'"),
        (pinn.Neumann("u", 0, on="x=0"), "conditions.0.on: no face 'x=0'"),
        (pinn.Robin("u", "z", 1, 0), "conditions.0.a: unknown name 'z'"),
        (pinn.Robin("u", 1, "u", 0), "conditions.0.b: unknown name 'u'"),
        (pinn.Robin("u", 1, "1)*(2", 0), r"conditions.0.b: [^$]*\^"),
        (pinn.Operator("dn(w)"), r"conditions.0.expression: unknown name 'w'[^$]*\^"),
        (pinn.Operator("x + 1"), "conditions.0.expression: expected at least one of the unknowns"),
        (pinn.Operator("dn(u)", on="t=1"), "conditions.0.expression: dn needs the outward normal"),
        (pinn.Operator("u", on="t=0.7"), "conditions.0.on: expected an end of time, t=0.5 or t=1"),
        (pinn.Operator("u", on="t=1", at={"x": 1}), "conditions.0.at: expected either"),
        (pinn.Operator("u", at={"x": 1}), "conditions.0.at: expected a number for each of x, y, t"),
        (pinn.Operator("u", at={"x": 3, "y": 1, "t": 1}), "at: expected a point of the domain"),
        (pinn.Operator("u", at={"x": [0, 1], "y": [0, 1, 0], "t": 1}), "got 2 of x, 3 of y"),
        (pinn.Neumann("u", 0, on="t=1"), "conditions.0.on: no face 't=1'"),
    ],
)
def test_conditions_that_do_not_fit_are_refused(condition, message):
    with pytest.raises(ValueError, match=message):
        pinn.Problem(DOMAIN, ["u", "v"], {"e": "u_t + v"}, [condition])


def test_slopes_need_a_space_coordinate():
    for condition in (pinn.Neumann("u", 0), pinn.Robin("u", 1, 1, 0), pinn.Operator("u")):
        with pytest.raises(ValueError, match="needs a space coordinate, and this domain has only"):
            pinn.Problem(TIME, ["u"], {"e": "u_t"}, [condition])


PARABOLA = {
    "neumann": pinn.Neumann("u", 4, on="x=1"),
    "robin": pinn.Robin("u", 1, -1, 0, on="x=1"),
    "operator": pinn.Operator("u_x - 4", on="x=1"),
    "points": pinn.Operator(lambda s: s.u_x - 4, at={"x": 1}),
}


@pytest.mark.parametrize("kind", PARABOLA)
def test_training_finds_the_exact_solution(kind):
    problem = pinn.Problem(
        pinn.Interval("x", -1, 1), ["u"], {"poisson": "u_xx - 2"},
        [pinn.Dirichlet("u", 0, on="x=-1"), PARABOLA[kind]], reference={"u": "(x + 1)**2"},
    )  # fmt: skip
    model, sampling = pinn.MLP(width=8, depth=1), pinn.Sampling(interior=30)
    solution = pinn.solve(problem, model, sampling, [pinn.SSBroyden(80)])
    assert solution.report.rel_l2["u"] < 2e-3
    assert solution.report.warnings == ()


def test_a_clamped_beam_bends_as_it_should():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"beam": "u_xxxx + 1"},
        [
            pinn.Dirichlet("u", 0, on="x=0"), pinn.Neumann("u", 0, on="x=0"),
            pinn.Operator("u_xx", on="x=1", name="moment"),
            pinn.Operator("u_xxx", on="x=1", name="shear"),
        ],
        reference={"u": "-x**4/24 + x**3/6 - x**2/4"},
    )  # fmt: skip
    model, sampling = pinn.MLP(width=8, depth=1), pinn.Sampling(interior=30)
    solution = pinn.solve(problem, model, sampling, [pinn.SSBroyden(150)])
    assert solution.report.rel_l2["u"] < 5e-3
    names = ["beam", "dirichlet_u_x_low", "neumann_u_x_low", "moment", "shear"]
    assert list(solution.report.losses) == names


CONFIG = """
problem:
  domain: {x: [0, 1], y: [0, 1], t: {time: [0, 1]}}
  unknowns: [u, v]
  equations: {e: u_t - laplacian(u), f: v - u_x}
  constants: {k: 2}
  conditions:
    - neumann: {unknown: u, value: k*normal_x, on: x=1}
    - robin: {unknown: u, a: 1, b: k, value: sin(y), on: [y=0, y=1]}
    - operator: {expression: dn(u) - k*v, on: x=0, name: law}
    - operator: {expression: u_xx - v, at: {x: [1/2, 1], y: 0, t: 1}}
    - operator: {expression: u - v, on: [t=0]}
training: [adam: {steps: 2}]
sampling: {interior: 8, boundary: 6, initial: 5}
model: {mlp: {width: 4, depth: 1}}
"""


def test_a_config_has_them_and_a_file_keeps_them(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(CONFIG)
    config = load(path)
    problem = config.experiment.problem
    assert problem.conditions == (
        pinn.Neumann("u", "k*normal_x", "x=1"),
        pinn.Robin("u", 1, "k", "sin(y)", ["y=0", "y=1"]),
        pinn.Operator("dn(u) - k*v", "x=0", name="law"),
        pinn.Operator("u_xx - v", at={"x": [0.5, 1], "y": 0, "t": 1}),
        pinn.Operator("u - v", "t=0"),
    )
    (tmp_path / "again.yaml").write_text(config.text())
    assert load(tmp_path / "again.yaml").data == config.data
    e = config.experiment
    solution = pinn.solve(problem, e.model, e.sampling, e.training)
    solution.save(tmp_path / "solution.npz")
    again = pinn.load(tmp_path / "solution.npz")
    assert again.problem.conditions == problem.conditions
    np.testing.assert_array_equal(
        again.evaluate(x=0.3, y=0.2, t=0.1)["u"], solution.evaluate(x=0.3, y=0.2, t=0.1)["u"]
    )


def test_functions_are_not_kept_but_the_solution_is(tmp_path):
    problem = pinn.Problem(
        X, ["u"], {"e": "u_xx"}, [pinn.Robin("u", lambda s: 1.0, 2, 3), pinn.Neumann("u", 0, "x=2"),
                                  pinn.Operator(lambda s: s.u_x, on="x=-1", name="law")],
    )  # fmt: skip
    model, sampling = pinn.MLP(width=4, depth=1), pinn.Sampling(interior=8)
    solution = pinn.solve(problem, model, sampling, [pinn.Adam(steps=1)])
    solution.save(tmp_path / "solution.npz")
    again = pinn.load(tmp_path / "solution.npz")
    at = {"x": np.linspace(-1, 2, 5)}
    np.testing.assert_array_equal(again.evaluate(**at)["u"], solution.evaluate(**at)["u"])
    with pytest.raises(RuntimeError, match="it was a Python function, which a file cannot hold"):
        pinn.solve(again.problem, model, sampling, [pinn.Adam(steps=1)])
