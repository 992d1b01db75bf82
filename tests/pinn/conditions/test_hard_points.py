"""Values held exactly at points, alone and beside what else is hard, and what is refused."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.conditions.hard import HardModel
from pinn.diagnosis import preflight
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns
from pinn.training.experiment import Experiment

X, Y, TIME = pinn.Interval("x", -1, 2), pinn.Interval("y", 0, 1), pinn.Time("t", 0.5, 1)


def pin(value, **place):
    return pinn.PointValue("u", value, hard=True, **place)


def problem_of(domain, conditions, unknowns=("u",), **changes):
    equations = {f"e_{u}": f"{u} - diff({u}, {domain.coordinates[0]})" for u in unknowns}
    return pinn.Problem(domain, unknowns, equations, conditions, **changes)


def random_model(problem, seed=0):
    rng = np.random.default_rng(seed)
    network = pinn.MLP(7, 2).build(problem.ansatz.inputs, problem.unknowns, rng, T.float64)
    with T.no_grad():
        for parameter in network.parameters():
            noise = rng.uniform(-1, 1, tuple(parameter.shape))
            parameter.copy_(T.tensor(noise, dtype=T.float64))
    return HardModel(network, problem.ansatz)


def value_of(problem, model, points, text, kind=NestedValues):
    term = Term("test", text, problem.scope)
    columns = coordinate_columns(np.array(points, dtype=float), T.float64, "cpu")
    plan = (JetPlan if kind is JetValues else NestedPlan)(term.leaves, problem.scope)
    values = kind(model, problem.scope, columns, {}, plan)
    return term.evaluate(values, TENSOR_FUNCTIONS).detach().numpy()


XS, YS = np.linspace(-1, 2, 7), np.linspace(0, 1, 7)
ON_X0, ON_Y0 = np.stack([0 * YS - 1, YS], 1), np.stack([XS, 0 * XS], 1)
DISK = pinn.Disk((0, 0), 1)
RIM = np.stack([np.cos(6 * YS), np.sin(6 * YS)], 1)

# Name -> (domain, conditions, [(points, text that has to vanish there)]).
CASES = {
    "alone": (X * Y, [pin("x + 2*y", x=0, y=0.5)], [([[0, 0.5]], "u - 1")]),
    "in a corner": (X * Y, [pin(3, x=-1, y=0)], [([[-1, 0]], "u - 3")]),
    "three on a line": (
        X, [pin(1, x=-1), pin("x", x=0.5), pin(4, x=2)],
        [([[-1]], "u - 1"), ([[0.5]], "u - 0.5"), ([[2]], "u - 4")],
    ),
    "beside values": (
        X * Y, [pinn.Dirichlet("u", "y", on="x=-1", hard=True), pin(5, x=1, y=1), pin(6, x=1, y=0)],
        [(ON_X0, "u - y"), ([[1, 1]], "u - 5"), ([[1, 0]], "u - 6")],
    ),
    "beside a start and its rate": (
        X * TIME,
        [pinn.Initial("u", "x", hard=True), pinn.Initial("u", "2*x", order=1, hard=True),
         pin(5, x=1, t=1)],
        [(np.stack([XS, 0 * XS + 0.5], 1), "u - x"), (np.stack([XS, 0 * XS + 0.5], 1), "u_t - 2*x"),
         ([[1, 1]], "u - 5")],
    ),
    "a pressure in the corner of walls that it has no slope at": (
        X * Y, [pinn.Neumann("u", "(x + 1)**2", on="y=0", hard=True),
                pinn.Neumann("u", 0, on="x=-1", hard=True), pin(7, x=-1, y=0)],
        [(ON_Y0, "-u_y - (x + 1)**2"), (ON_X0, "u_x"), ([[-1, 0]], "u - 7")],
    ),
    "two points beside slopes": (
        X * Y, [pinn.Neumann("u", "x", on="y=0", hard=True), pin(7, x=0, y=1), pin(8, x=1, y=1)],
        [(ON_Y0, "-u_y - x"), ([[0, 1]], "u - 7"), ([[1, 1]], "u - 8")],
    ),
    "beside a ratio of value and slope": (
        X * Y, [pinn.Robin("u", 2, 1, "x", on="y=0", hard=True), pin(7, x=0, y=1)],
        [(ON_Y0, "2*u - u_y - x"), ([[0, 1]], "u - 7")],
    ),
    "beside value and slope at one face": (
        X * Y, [pinn.Neumann("u", 1, on="y=0", hard=True),
                pinn.Dirichlet("u", "x", on="y=0", hard=True), pin(7, x=0, y=1)],
        [(ON_Y0, "u - x"), (ON_Y0, "u_y + 1"), ([[0, 1]], "u - 7")],
    ),
    "in a disk": (
        DISK, [pinn.Dirichlet("u", "x", hard=True), pin(7, x=0.2, y=0.1)],
        [(RIM, "u - x"), ([[0.2, 0.1]], "u - 7")],
    ),
    "in something periodic": (
        X * Y, [pinn.Periodic("u", "x", hard=True), pin(7, x=0.2, y=0.1)],
        [([[0.2, 0.1]], "u - 7"), (ON_X0, "u - at(u, x=2)"), (ON_X0, "u_x - at(u_x, x=2)")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_at_points_hold_for_any_network(name):
    domain, conditions, held = CASES[name]
    problem = problem_of(domain, conditions)
    for seed in range(2):
        model = random_model(problem, seed)
        for points, text in held:
            for kind in (NestedValues, JetValues):
                assert np.abs(value_of(problem, model, points, text, kind)).max() < 3e-12, text


@pytest.mark.parametrize("name", CASES)
def test_derivatives_by_jets_are_those_by_nested_grad(name):
    domain, conditions, _ = CASES[name]
    problem = problem_of(domain, conditions)
    model = random_model(problem)
    points = domain.from_unit(np.random.default_rng(2).random((20, len(domain.coordinates))))
    points = points[~np.isnan(points).any(axis=1)]
    for text in ("diff(u, x, 2)", f"diff(u, {domain.coordinates[-1]})"):
        one, other = (value_of(problem, model, points, text, k) for k in (NestedValues, JetValues))
        assert np.allclose(one, other, rtol=1e-10, atol=1e-9)
        assert one.std() > 1e-3  # the point leaves the field free elsewhere


def test_a_pressure_is_told_by_its_point_and_saved_and_loaded(tmp_path):
    """Stokes flow in a channel: p only appears by its slopes, and the point gives its constant."""
    problem = pinn.Problem(
        X * Y, ["u", "v", "p"],
        {"x": "p_x - laplacian(u)", "y": "p_y - laplacian(v)", "mass": "u_x + v_y"},
        [pinn.Dirichlet("u", "y*(1 - y)", hard=True), pinn.Dirichlet("v", 0, hard=True),
         pinn.PointValue("p", "k", x=2, y=0, hard=True)],
        constants={"k": 3},
    )  # fmt: skip
    small = {"model": pinn.MLP(5, 1), "sampling": pinn.Sampling(40, redraw=None)}
    assert preflight(Experiment(problem, **small).objective()) == []
    assert "value_p_x_2_y_0" not in [residual.name for residual in problem.residuals]
    solution = pinn.solve(problem, *small.values(), [pinn.Adam(3)])
    assert abs(solution.evaluate(x=2, y=0)["p"] - 3) < 1e-14
    solution.save(tmp_path / "channel.npz")
    loaded = pinn.load(tmp_path / "channel.npz")
    assert np.array_equal(loaded.evaluate(x=XS, y=0.5)["p"], solution.evaluate(x=XS, y=0.5)["p"])
    other = problem_of(X * Y, [pinn.PointValue("u", lambda s: s.x, x=1, y=0, hard=True)])
    assert np.allclose(value_of(other, random_model(other), [[1, 0]], "u"), 1)


def test_a_point_holds_for_the_range_of_a_family():
    problem = problem_of(X, [pin("k**2", x=0.5)], families=[pinn.Family("k", 1, 2)])
    points = [[0.5, k] for k in (1, 1.3, 2)]
    assert np.abs(value_of(problem, random_model(problem), points, "u - k**2")).max() < 1e-14


@pytest.mark.parametrize(
    ("domain", "conditions", "message"),
    [
        (X, [pin(1, x=2), pinn.Dirichlet("u", 1, hard=True)],
         r"'value_u_x_2' and 'dirichlet_u' cannot both be hard: the point x = 2 lies where the "
         r"second holds.*leave out hard in 'value_u_x_2', which is then trained"),
        (X * Y, [pin(1, x=2, y=0.5), pinn.Robin("u", 1, 1, 1, on="x=2", hard=True)],
         "cannot both be hard: the point x = 2, y = 0.5"),
        (X, [pin(1, x=1), pinn.PointValue("u", 2, x=1.000001, hard=True)], "cannot both be hard"),
        (DISK, [pin(1, x=1, y=0), pinn.Dirichlet("u", 1, hard=True)], "cannot both be hard"),
        (X * Y, [pinn.Periodic("u", "x", hard=True), pin(1, x=0, y=0), pin(2, x=1, y=0)],
         "'value_u_x_0_y_0', 'value_u_x_1_y_0' and 'periodic_u_x' cannot both be hard"),
        (X, [pin("1/(x - 1)", x=1)], "1 / 0 divides by zero"),
        (X, [pin(1, x=3)], "at: expected a point of the domain"),
    ],
)  # fmt: skip
def test_what_cannot_hold_at_a_point_is_refused(domain, conditions, message):
    with pytest.raises(ValueError, match=message):
        problem_of(domain, conditions)
