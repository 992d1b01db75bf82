"""Hard Neumann, Robin and periodic conditions: exact for any network, and what is refused."""

import itertools

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.conditions.hard import HardModel
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns

X, Y, TIME = pinn.Interval("x", -1, 2), pinn.Interval("y", 0, 1), pinn.Time("t", 0.5, 1)


def neumann(value, on=None):
    return pinn.Neumann("u", value, on=on, hard=True)


def robin(a, b, value, on=None):
    return pinn.Robin("u", a, b, value, on=on, hard=True)


def dirichlet(value, on=None):
    return pinn.Dirichlet("u", value, on=on, hard=True)


def problem_of(domain, conditions, unknowns=("u",), **changes):
    equations = {f"e_{u}": f"{u} - diff({u}, {domain.coordinates[0]})" for u in unknowns}
    return pinn.Problem(domain, unknowns, equations, conditions, **changes)


def random_model(problem, seed=0):
    rng = np.random.default_rng(seed)
    inputs = problem.ansatz.inputs
    network = pinn.MLP(width=7, depth=2).build(inputs, problem.unknowns, rng, T.float64)
    with T.no_grad():
        for parameter in network.parameters():
            noise = rng.uniform(-1, 1, tuple(parameter.shape))
            parameter.copy_(T.tensor(noise, dtype=T.float64))
    return HardModel(network, problem.ansatz)


def value_of(problem, model, points, text, kind=NestedValues):
    term = Term("test", text, problem.scope)
    columns = coordinate_columns(points, T.float64, "cpu")
    plan = (JetPlan if kind is JetValues else NestedPlan)(term.leaves, problem.scope)
    values = kind(model, problem.scope, columns, {}, plan)
    return term.evaluate(values, TENSOR_FUNCTIONS).detach().numpy()


def face(domain, coordinate, value, n=40):
    rng = np.random.default_rng(1)
    low, high = np.array(list(domain.bounds.values())).T
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    points = np.concatenate([low + (high - low) * rng.random((n, len(low))), corners])
    points[:, domain.coordinates.index(coordinate)] = value
    return points


EXACT = "sin(x + 2*y) + x*t"
SLOPES = {"x": "cos(x + 2*y) + t", "y": "2*cos(x + 2*y)"}

# Name -> (domain, conditions, [(coordinate, value, text that has to vanish there)]).
CASES = {
    "one face": (X, [neumann(4, "x=2")], [("x", 2, "u_x - 4")]),
    "the lower face": (X, [neumann(4, "x=-1")], [("x", -1, "-u_x - 4")]),
    "value and slope apart": (
        X, [dirichlet(3, "x=-1"), neumann(4, "x=2")], [("x", -1, "u - 3"), ("x", 2, "u_x - 4")],
    ),
    "both slopes": (X, [neumann("x + 2")], [("x", -1, "-u_x - 1"), ("x", 2, "u_x - 4")]),
    "value and slope at one face": (
        X, [dirichlet(3, "x=2"), neumann(4, "x=2")], [("x", 2, "u - 3"), ("x", 2, "u_x - 4")],
    ),
    "a clamped beam": (
        X, [dirichlet("x"), neumann("1 + x")],
        [("x", -1, "u + 1"), ("x", -1, "u_x"), ("x", 2, "u - 2"), ("x", 2, "u_x - 3")],
    ),
    "three of four": (
        X, [dirichlet("x"), neumann(5, "x=-1")],
        [("x", -1, "u + 1"), ("x", -1, "u_x + 5"), ("x", 2, "u - 2")],
    ),
    "robin": (X, [robin(2, 3, 4)], [("x", -1, "2*u - 3*u_x - 4"), ("x", 2, "2*u + 3*u_x - 4")]),
    "robin and value": (
        X, [robin(-2, "x", 4, "x=2"), dirichlet(1, "x=-1")],
        [("x", 2, "-2*u + 2*u_x - 4"), ("x", -1, "u - 1")],
    ),
    "robin beside a value": (
        X, [robin(2, 3, 4, "x=2"), dirichlet(1, "x=2")],
        [("x", 2, "u - 1"), ("x", 2, "2*u + 3*u_x - 4")],
    ),
    "a normal in the value": (
        X * Y, [neumann("(cos(x + 2*y)*normal_x + 2*cos(x + 2*y)*normal_y)")],
        [("x", -1, "u_x - cos(x + 2*y)"), ("y", 1, "u_y - 2*cos(x + 2*y)"),
         ("x", 2, "u_x - cos(x + 2*y)"), ("y", 0, "u_y - 2*cos(x + 2*y)")],
    ),
    "slopes and values in a box with time": (
        X * Y * TIME,
        [
            pinn.Initial("u", "sin(x + 2*y) + x*t", hard=True),
            dirichlet(EXACT, "x=-1"), neumann(SLOPES["x"], "x=2"), neumann(SLOPES["y"], "y=1"),
            robin(2, "1 + 2", f"2*({EXACT}) - 3*({SLOPES['y']})", "y=0"),
        ],
        [("t", 0.5, f"u - ({EXACT})"), ("x", -1, f"u - ({EXACT})"),
         ("x", 2, f"u_x - ({SLOPES['x']})"), ("y", 1, f"u_y - ({SLOPES['y']})"),
         ("y", 0, f"2*u - 3*u_y - 2*({EXACT}) + 3*({SLOPES['y']})")],
    ),
    "a rate at the start": (
        X * TIME,
        [
            pinn.Initial("u", "cos(pi*(x + 1)/3)", hard=True),
            pinn.Initial("u", "2*cos(pi*(x + 1)/3)", order=1, hard=True), neumann(0),
        ],
        [("t", 0.5, "u - cos(pi*(x + 1)/3)"), ("t", 0.5, "u_t - 2*cos(pi*(x + 1)/3)"),
         ("x", -1, "u_x"), ("x", 2, "u_x")],
    ),
    "at the end of time": (
        X * TIME, [pinn.Terminal("u", "x*(x - 4)", hard=True), neumann("2*t - 2", "x=2")],
        [("t", 1, "u - x*(x - 4)"), ("x", 2, "u_x - 2*t + 2")],
    ),
    "functions": (
        X * TIME,
        [pinn.Initial("u", 0, hard=True), neumann(lambda s: s.t - 0.5, "x=2"),
         robin(lambda s: s.t, lambda s: 1 + s.t, 0, "x=-1")],
        [("t", 0.5, "u"), ("x", 2, "u_x - t + 0.5"), ("x", -1, "t*u - (1 + t)*u_x")],
    ),
    "a ratio that changes in time": (
        X * TIME, [robin("t", 2, "t**2", "x=2")], [("x", 2, "t*u + 2*u_x - t**2")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_slopes_hold_for_any_network(name):
    domain, conditions, asked = CASES[name]
    problem = problem_of(domain, conditions)
    assert [r.name for r in problem.residuals] == ["e_u"]
    model = random_model(problem)
    for coordinate, value, text in asked:
        points = face(domain, coordinate, value)
        for kind in (NestedValues, JetValues):
            size = 1 + np.abs(value_of(problem, model, points, f"diff(u, {coordinate})")).max()
            found = value_of(problem, model, points, text, kind)
            np.testing.assert_allclose(found, 0, atol=1e-13 * size)
    # It is the network that decides inside.
    inside = domain.from_unit(np.full((1, len(domain.coordinates)), 0.37))
    others = [value_of(problem, random_model(problem, seed), inside, "u") for seed in (1, 2)]
    assert abs(others[0] - others[1]) > 1e-3


def test_slopes_are_lifted_from_a_table_and_from_an_integral():
    """The start's own slope, which its formula differentiates: a spline's, and Leibniz's."""
    xs = np.linspace(-1, 2, 13)
    table = pinn.Table("f", {"x": xs, "f": np.sin(xs)}, method="spline")
    for start in ("f(x)", "integral(cos(x*s), s, 0, x)"):
        conditions = [pinn.Initial("u", start, hard=True), neumann("x*t - 0.5*x", "x=2")]
        with pytest.raises(ValueError, match="disagree where they meet"):
            problem_of(X * TIME, conditions, tables=[table])
        conditions[1] = neumann(f"dn({start}) + x*t - 0.5*x", "x=2")
        problem = problem_of(X * TIME, conditions, tables=[table])
        model = random_model(problem)
        end = face(X * TIME, "x", 2)
        slopes = value_of(problem, model, end, f"u_x - diff({start}, x) - 2*t + 1")
        np.testing.assert_allclose(slopes, 0, atol=1e-12)
        began = value_of(problem, model, face(X * TIME, "t", 0.5), f"u - {start}")
        np.testing.assert_allclose(began, 0, atol=1e-13)


@pytest.mark.parametrize("name", ["robin", "slopes and values in a box with time", "three of four"])
def test_nothing_else_is_asked_of_the_solution(name):
    """Where the exact solution is smooth, so is the network that it takes: it can be fitted."""
    domain, conditions, _ = CASES[name]
    problem = problem_of(domain, conditions)
    # The formula is linear in the network: A is its value for none, the rest is homogeneous.
    model = random_model(problem)
    points = domain.from_unit(np.random.default_rng(3).random((50, len(domain.coordinates))))
    with T.no_grad():
        for parameter in model.network.parameters():
            parameter.copy_(T.zeros_like(parameter))
    lift = value_of(problem, model, points, "u")
    assert np.all(np.isfinite(lift)) and np.abs(lift).max() < 30


PERIODIC = pinn.Periodic("u", "x", hard=True)


@pytest.mark.parametrize("kind", [NestedValues, JetValues])
def test_a_hard_period_holds_to_all_orders(kind):
    domain = X * Y * TIME
    conditions = [
        PERIODIC, pinn.Initial("u", "y + sin(2*pi*x/3)", hard=True), dirichlet("t - 0.5", "y=0")
    ]
    with pytest.raises(ValueError, match="hard but disagree where they meet"):
        problem_of(domain, conditions)
    conditions[2] = dirichlet("t - 0.5 + sin(2*pi*x/3)", "y=0")
    problem = problem_of(domain, conditions)
    model = random_model(problem)
    low, high = (face(domain, "x", value) for value in (-1, 2))
    for text in ("u", "u_x", "u_xx", "u_xxx", "u_yt"):
        one, other = (value_of(problem, model, points, text, kind) for points in (low, high))
        assert np.abs(one).max() > 0.1
        np.testing.assert_allclose(one, other, atol=1e-12 * (1 + np.abs(one).max()))
    start = face(domain, "t", 0.5)
    found = value_of(problem, model, start, "u - y - sin(2*pi*x/3)", kind)
    np.testing.assert_allclose(found, 0, atol=1e-14)


def test_time_may_be_periodic_and_space_held():
    domain = X * TIME
    period = pinn.Periodic("u", "t", hard=True)
    problem = problem_of(domain, [period, dirichlet("sin(4*pi*t)", "x=2"), neumann(0, "x=-1")])
    model = random_model(problem)
    one, other = (value_of(problem, model, face(domain, "t", t), "u_t + u") for t in (0.5, 1))
    np.testing.assert_allclose(one, other, atol=1e-11)
    held = value_of(problem, model, face(domain, "x", 2), "u - sin(4*pi*t)")
    np.testing.assert_allclose(held, 0, atol=1e-13)


@pytest.mark.parametrize(
    ("domain", "conditions", "message"),
    [
        (X, [PERIODIC, dirichlet(0, "x=2")], "'dirichlet_u_x_high' and 'periodic_u_x' cannot both"),
        (X * TIME, [PERIODIC, pinn.Initial("u", "x", hard=True)],
         "'initial_u' and 'periodic_u_x' cannot both be hard: the formula .* the value -1 at"),
        (X * TIME, [PERIODIC, pinn.Initial("u", "(x + 1)*(2 - x)", hard=True)],
         "gives the derivative of order 1 in x 3 at x = -1"),
        (X * TIME, [pinn.Initial("u", "x**2", hard=True), neumann(0, "x=2")],
         "'initial_u' and 'neumann_u_x_high' are hard but disagree where they meet: .*leave"),
        (X * Y, [dirichlet("sin(x)", "y=0"), neumann("y", "x=2")], "disagree where they meet"),
        (X, [neumann(0), neumann(1, "x=2")], "both hard at x=2, and give the same derivative"),
        (X * TIME, [neumann("k", "x=2")], "depends on the trainable parameter 'k'"),
        (X * TIME, [pinn.Initial("u", lambda s: 0 * s.x, hard=True), neumann(0, "x=2")],
         "'initial_u' has a function as its value, whose slope in x a hard condition needs"),
        (X * Y, [robin("y", 1, 0, "x=2"), neumann(0, "y=0")], "the ratio of value and slope"),
        (X * Y, [neumann(0, "y < 0.5")], "cannot be hard on y < 0.5, which is no whole face"),
        (X, [robin(1, 0, 1, "x=2")], "'robin_u_x_high' cannot be hard at x=2, where b is 0"),
        (X * Y, [robin(1, "y", 1, "x=2")], "the value of 'robin_u_x_high', which is hard, is"),
        (pinn.Disk((0, 0), 1), [neumann(0)], "cannot be hard on"),
    ],
)  # fmt: skip
def test_what_cannot_be_exact_is_refused(domain, conditions, message):
    with pytest.raises(ValueError, match=message), np.errstate(all="ignore"):
        problem_of(domain, conditions, parameters=[pinn.Parameter("k", 1)])


def test_a_network_is_periodic_for_all_unknowns():
    message = "'periodic_u_x' cannot be hard for u alone: .*so v would be periodic too"
    with pytest.raises(ValueError, match=message):
        problem_of(X, [PERIODIC], ("u", "v"))
    problem = problem_of(X, [pinn.Periodic(["u", "v"], "x", hard=True)], ("u", "v"))
    assert problem.ansatz.periodic == ("x",)


def test_features_of_a_periodic_network_are_made_of_its_waves():
    problem = problem_of(X, [PERIODIC])
    twice = pinn.MLP(5, 1, features=["x_cos", "x_sin", "2*x_cos*x_sin"])
    solution = pinn.solve(problem, twice, training=[pinn.Adam(2)])
    ends = solution.evaluate(x=[-1.0, 2.0])["u"], solution.derivative("u_x", x=[-1.0, 2.0])
    for low, high in ends:
        assert low == pytest.approx(high, abs=1e-12)
    with pytest.raises(ValueError, match="features.0: unknown name 'x'; the names here are x_cos"):
        pinn.solve(problem, pinn.MLP(5, 1, features=["sin(x)"]))


SMALL = {"model": pinn.MLP(width=10, depth=1), "sampling": pinn.Sampling(interior=40)}
LINE = pinn.Interval("x", -1, 1)
TRAINED = {
    "neumann": (LINE, "u_xx - 2", [dirichlet(0, "x=-1"), neumann(4, "x=1")], "(x + 1)**2"),
    "robin": (LINE, "u_xx - 2", [dirichlet(0, "x=-1"), robin(1, -1, 0, "x=1")], "(x + 1)**2"),
    "beam": (
        pinn.Interval("x", 0, 1), "u_xxxx - 24", [dirichlet(0), neumann(0)], "x**2*(1 - x)**2",
    ),
    "periodic": (
        LINE, "u_xx + pi**2*sin(pi*x)", [PERIODIC, pinn.Dirichlet("u", 0, on="x=-1")], "sin(pi*x)",
    ),
    "heat": (
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 0.2), "u_t - u_xx",
        [pinn.Initial("u", "cos(pi*x)", hard=True), neumann(0)], "exp(-pi**2*t)*cos(pi*x)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAINED)
def test_training_finds_the_exact_solution(name, tmp_path):
    domain, equation, conditions, reference = TRAINED[name]
    problem = pinn.Problem(domain, ["u"], {"e": equation}, conditions, reference={"u": reference})
    steps = 300 if name == "heat" else 120
    solution = pinn.solve(problem, **SMALL, training=[pinn.SSBroyden(steps)])
    assert solution.report.rel_l2["u"] < 2e-3 and solution.report.warnings == ()
    solution.save(tmp_path / "s.npz")
    again = pinn.load(tmp_path / "s.npz")
    at = {n: np.linspace(low, high, 5) for n, (low, high) in domain.bounds.items()}
    np.testing.assert_array_equal(again.evaluate(**at)["u"], solution.evaluate(**at)["u"])


def test_a_function_in_a_ratio_cannot_be_saved(tmp_path):
    problem = problem_of(X, [robin(lambda s: 1.0, 2, 0, "x=2")])
    solution = pinn.solve(problem, **SMALL, training=[pinn.Adam(steps=1)])
    with pytest.raises(TypeError, match="'robin_u_x_high' has a Python function as its value"):
        solution.save(tmp_path / "s.npz")


def test_the_formula_shows_where_the_network_is_taken():
    problem = problem_of(X, [neumann(0, "x=2")])
    assert "N(x=2)" in str(problem.ansatz) and problem.ansatz.places == ((), (("x", 2.0),))
