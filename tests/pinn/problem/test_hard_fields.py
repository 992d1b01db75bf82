"""Unknown coefficients whose values are held exactly on parts of the boundary."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.config import load
from pinn.training.experiment import Experiment

X, Y, TIME = pinn.Interval("x", 0, 1), pinn.Interval("y", -1, 1), pinn.Time("t", 0, 2)
FEW = pinn.Sampling(interior=30, initial=8, boundary=8)
XS = np.linspace(0, 1, 9)


def heat(*conditions, **field):
    return pinn.Problem(
        X * Y * TIME, ["u"], {"heat": "u_t - div(a*grad(u))"},
        [pinn.Dirichlet("u", "t"), *conditions],
        fields=[pinn.Field("a", ["y", "x"], model=pinn.MLP(5, 2), **field)],
        constants={"k": 2},
    )  # fmt: skip


def random_field(problem, seed=0):
    """Return the function (x, y) -> a of a network with random parameters."""
    parameters = Experiment(problem, pinn.MLP(3, 1), FEW).initial_parameters()
    rng = np.random.default_rng(seed)
    parameters.load(parameters.theta + rng.standard_normal(parameters.size))

    def field(x, y, t=0.7):
        columns = np.stack(np.broadcast_arrays(x, y, t), axis=-1).reshape(-1, 3).astype(float)
        with T.no_grad():
            return parameters.module(T.tensor(columns, dtype=T.float64)).numpy()[:, 1]

    return field


BOUNDS = [
    {}, {"scale": 3.0}, {"initial": 2.0}, {"lower": 0.5}, {"upper": 4.0, "scale": 0.5},
    {"lower": 0.5, "upper": 4.0}, {"lower": 0.5, "initial": 3.0},
]  # fmt: skip


@pytest.mark.parametrize("bounds", BOUNDS)
def test_values_hold_for_any_network_with_bounds_or_without(bounds):
    problem = heat(
        pinn.Dirichlet("a", "k + sin(x*y)", on=["x=0", "y=1"], hard=True),
        pinn.PointValue("a", "k + x", x=0.5, y=-0.5, t=0, hard=True),
        **bounds,
    )
    for seed in range(2):
        field = random_field(problem, seed)
        assert np.abs(field(0, XS) - 2).max() < 1e-12
        assert np.abs(field(XS, 1) - 2 - np.sin(XS)).max() < 1e-12
        assert np.abs(field(0.5, -0.5) - 2.5).max() < 1e-12
        inside = field(*np.random.default_rng(1).uniform(0.1, 0.9, (2, 50)))
        assert inside.std() > 1e-3
        assert bounds.get("lower", -np.inf) < inside.min()
        assert inside.max() < bounds.get("upper", np.inf)


def test_slopes_and_functions_hold_on_a_field_without_bounds():
    problem = heat(
        pinn.Neumann("a", "y", on="x=1", hard=True),
        pinn.Dirichlet("a", lambda s: s.exp(s.y), on="x=0", hard=True),
    )
    field, h = random_field(problem), 1e-5
    assert np.abs(field(0, XS) - np.exp(XS)).max() < 1e-12
    slope = (3 * field(1, XS) - 4 * field(1 - h, XS) + field(1 - 2 * h, XS)) / (2 * h)
    assert np.abs(slope - XS).max() < 1e-7  # the rounding of three values over h, and h^2


def test_what_is_hard_of_the_unknowns_is_beside_it():
    problem = pinn.Problem(
        X * TIME, ["u"], {"heat": "u_t - diff(a*u_x, x)"},
        [pinn.Dirichlet("u", "t", hard=True), pinn.Initial("u", 0, hard=True),
         pinn.Dirichlet("a", 2, hard=True)],
        fields=[pinn.Field("a", ["x"])],
    )  # fmt: skip
    assert set(problem.ansatz.formulas) == {"u"}
    assert set(problem.field_ansatz) == {"a"}
    assert str(problem.field_ansatz["a"]) == "a = 2 + 4*x*(1 - x)*N"
    assert "dirichlet_a" in str(problem.check())


def test_a_coefficient_is_recovered_between_its_known_ends(tmp_path):
    """-(a u')' = f with a = 1 + x, known at both ends; the flux is told by u alone."""
    source = "pi**2*(1 + x)*sin(pi*x) - pi*cos(pi*x)"
    places = np.linspace(0.1, 0.9, 9)
    values = np.sin(np.pi * places).tolist()
    (tmp_path / "field.yaml").write_text(f"""\
problem:
  domain: {{x: [0, 1]}}
  unknowns: [u]
  equations: {{flux: div(a*grad(u)) + {source}}}
  fields: {{a: {{coordinates: [x], lower: 0.1, upper: 3, model: {{mlp: {{width: 6, depth: 2}}}}}}}}
  conditions:
    - dirichlet: {{unknown: u, value: 0, hard: true}}
    - dirichlet: {{unknown: a, value: 1 + x, hard: true}}
    - data: {{unknown: u, table: {{x: {places.tolist()}, u: {values}}}}}
  reference: {{u: sin(pi*x), a: 1 + x}}
model: {{mlp: {{width: 6, depth: 2}}}}
sampling: {{interior: 60}}
training: [adam: {{steps: 100, learning_rate: 0.01}}, ssbroyden: {{steps: 300}}]
""")
    experiment = load(tmp_path / "field.yaml").experiment
    solution = pinn.solve(
        experiment.problem, experiment.model, experiment.sampling, experiment.training
    )
    assert solution.report.rel_l2["a"] < 1e-3
    ends = solution.evaluate(x=[0.0, 1.0])["a"]
    assert np.abs(ends - [1, 2]).max() < 1e-14
    solution.save(tmp_path / "field.npz")
    again = pinn.load(tmp_path / "field.npz")
    assert np.array_equal(again.evaluate(x=XS)["a"], solution.evaluate(x=XS)["a"])


@pytest.mark.parametrize(
    ("condition", "field", "message"),
    [
        (pinn.Dirichlet("a", 5, on="x=0", hard=True), {"lower": 0.5, "upper": 4},
         "'dirichlet_a_x_low' cannot be hard: expected a value between 0.5 and 4, strictly, got 5"),
        (pinn.Dirichlet("a", "1 + y", on="x=0", hard=True), {"lower": 0.5},
         "'dirichlet_a_x_low', which is hard, is nan at x = 0, y = -1 as a raw number; expected v"),
        (pinn.PointValue("a", "x - 1", x=0, y=0, t=0, hard=True), {"lower": 0.5}, "values above 0"),
        (pinn.PointValue("a", 0.2, x=0, y=0, t=0, hard=True), {"lower": 0.5}, "value above 0.5, s"),
        (pinn.Neumann("a", 1, on="x=0", hard=True), {"upper": 4},
         "'neumann_a_x_low' cannot be hard: 'a' has bounds, inside of which values are held"),
        (pinn.Dirichlet("a", "t", on="x=0", hard=True), {}, "unknown name 't'"),
        (pinn.Initial("a", 1, hard=True), {},
         "'initial_a' cannot be hard: the field 'a' depends on x, y alone; an initial condition "),
        (pinn.Dirichlet("a", "k", on="x=0", hard=True), {"lower": 2}, "expected a value above 2"),
    ],
)  # fmt: skip
def test_what_cannot_hold_on_a_field_is_refused(condition, field, message):
    with pytest.raises(ValueError, match=message):
        heat(condition, **field)
