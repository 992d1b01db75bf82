"""Integrals: against closed forms, finite differences, and themselves by another route."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import integrate

import autograd as T
import pinn
from autograd.plan.chunks import Chunked
from autograd.plan.pieces import l2_cache_bytes
from pinn.equations.functions import NUMPY_FUNCTIONS, TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import Values, coordinate_columns
from pinn.expressions import ExpressionError
from pinn.training.experiment import Experiment

POINTS = np.random.default_rng(1).uniform(0.1, 1, (7, 2))
X, TIME = POINTS.T
SCOPE = Scope(("u", "v"), ("x", "t"), ("x",), {"c": 0.5}, ("k",), ("normal_x",))
KINDS = {NestedValues: NestedPlan, JetValues: JetPlan}


class Known(T.nn.Module):
    """u = sin(2 x) exp(t), v = x t^2; counts the points that it is run at."""

    def __init__(self):
        super().__init__()
        self.points = []

    def forward(self, points):
        self.points.append(len(points))
        x, t = points[:, 0:1], points[:, 1:2]
        return T.cat([T.sin(2 * x) * T.exp(t), x * t**2], dim=1)


def evaluated(source, kind, module=None, points=POINTS, k=1.7):
    term = Term("term", source, SCOPE)
    k = T.tensor(k, dtype=T.float64, requires_grad=True)
    attached = {"normal_x": T.ones(len(points), 1, dtype=T.float64)}

    def values(make, plan):
        columns = coordinate_columns(points, T.float64, "cpu")
        return make(module or Known(), SCOPE, columns, {"k": k}, plan, attached)

    leaves = term.leaves
    if leaves is None:
        probe = values(NestedValues, NestedPlan((), SCOPE))
        term.evaluate(probe, TENSOR_FUNCTIONS)
        leaves = probe.asked
    return term.evaluate(values(kind, KINDS[kind](leaves, SCOPE)), TENSOR_FUNCTIONS)


def primitive(x):
    """The integral of sin(2 s) exp(s) from 0."""
    return np.exp(x) * (np.sin(2 * x) - 2 * np.cos(2 * x)) / 5 + 2 / 5


SQUARE = (X - np.sin(4 * X) / 4) / 2  # the integral of sin(2 s)^2
EXACT = {
    "integral(u, x, 0, x)": np.exp(TIME) * np.sin(X) ** 2,
    "integral(at(u, x=s), s, 0, x)": np.exp(TIME) * np.sin(X) ** 2,
    "integral(exp(s - x)*at(u, x=s), s, 0, x)": np.exp(TIME - X) * primitive(X),
    "integral(u_x, x, 0, x)": np.sin(2 * X) * np.exp(TIME),
    "integral(u_xx + c*x, x, t, x)": (
        2 * (np.cos(2 * X) - np.cos(2 * TIME)) * np.exp(TIME) + (X**2 - TIME**2) / 4
    ),
    "integral(x, x, 0, 1)": 0.5 + 0 * X,
    "integral(1, s, t, x**2)": X**2 - TIME,
    "integral(u*at(u, x=s), s, 0, x)": np.exp(2 * TIME) * np.sin(2 * X) * np.sin(X) ** 2,
    "integral(u*u, x, 0, x, nodes=30)": np.exp(2 * TIME) * SQUARE,
    "integral(normal_x*k*at(v, t=s), s, 0, t)": 1.7 * X * TIME**3 / 3,
    "integral(at(u, t=s - x), s, x, 1)": np.sin(2 * X) * (np.exp(1 - X) - 1),
    # one in another: one's limit is the other's variable, both of fixed limits, equal counts
    "integral(integral(u, x, 0, x), x, 0, x)": np.exp(TIME) * (X - np.sin(2 * X) / 2) / 2,
    "integral(integral(at(v, x=s, t=r), s, 0, r), r, 0, x)": X**5 / 10,
    "integral(integral(s*r**2*x, s, 0, 1), r, 0, 1)": X / 6,
    "integral(integral(at(v, x=s, t=r), s, 0, 1), r, 0, 1)": 1 / 6 + 0 * X,
    "integral(x*integral(v, x, 0, x), x, 0, integral(2*s, s, 0, x))": TIME**2 * X**8 / 8,
    "at(integral(u, x, 0, x), x=t, t=0)": np.sin(TIME) ** 2,
    "at(integral(at(u, x=s), s, 0, x*t), t=2)": np.exp(2.0) * np.sin(2 * X) ** 2,
    "integral(at(v, x=integral(r, r, 0, s)), s, 0, 1)": TIME**2 / 6,
    "dot(integral(vec(x, v), x, 0, 1), vec(2, 4))": 1 + 2 * TIME**2,
    # Leibniz
    "diff(integral(u, x, 0, x), x)": np.sin(2 * X) * np.exp(TIME),
    "diff(integral(u, x, 0, x), t)": np.exp(TIME) * np.sin(X) ** 2,
    "diff(integral(s*at(v, x=s), s, x*t, 1), x)": -((X * TIME) ** 2) * TIME**3,
    "diff(integral((x - s)*at(u, x=s), s, 0, x), x, 2)": np.sin(2 * X) * np.exp(TIME),
    "diff(integral(integral(at(v, x=s), s, 0, r), r, 0, x), x, 2)": X * TIME**2,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", EXACT)
def test_values_equal_the_closed_form(text, kind):
    got = evaluated(text, kind).detach().numpy()
    assert got.shape == X.shape
    np.testing.assert_allclose(got, EXACT[text], rtol=0, atol=1e-13 * max(1, EXACT[text].max()))


FUNCTIONS = {
    "integral(u, x, 0, x)": lambda s: s.integral("u", "x", 0, s.x),
    "integral(exp(s - x)*at(u, x=s), s, 0, x)": (
        lambda s: s.integral("exp(s - x)*at(u, x=s)", "s", 0, "x")
    ),
    "integral(u_x, x, 0, x)": lambda s: s.integral(s.u_x, s.x, 0, 1 * s.x),
    "integral(u*u, x, 0, x, nodes=30)": lambda s: s.integral("u*u", "x", 0, s.x, nodes=30),
    "integral(1, s, t, x**2)": lambda s: s.integral(1, "s", s.t, s.x**2),
    "dot(integral(vec(x, v), x, 0, 1), vec(2, 4))": (
        lambda s: 2 * s.integral((s.x, s.v), "x", 0, 1)[0] + 4 * s.integral("v", "x", 0, 1)
    ),
    "diff(integral(u, x, 0, x), t)": lambda s: s.diff(s.integral("u", "x", 0, "x"), "t"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions_integrate_as_texts_do(text, kind):
    got = evaluated(FUNCTIONS[text], kind).detach().numpy()
    np.testing.assert_allclose(got, EXACT[text], rtol=0, atol=1e-13 * max(1, EXACT[text].max()))


def test_a_rule_of_m_nodes_is_exact_to_degree_2m_minus_1():
    for count in (1, 2, 3, 5, 40):
        got = evaluated(f"integral(x**{2 * count - 1}, x, 0, x, nodes={count})", NestedValues)
        # a node that is rounded by eps changes the power by 2 count eps
        rtol = 16 * count * np.finfo(float).eps
        np.testing.assert_allclose(got.detach(), X ** (2 * count) / (2 * count), rtol=rtol)
    inexact = evaluated("integral(x**4, x, 0, x, nodes=2)", NestedValues)
    assert np.all(np.abs(inexact.detach().numpy() / (X**5 / 5) - 1) > 1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text, runs",
    [
        ("integral(exp(s)*at(u, x=s), s, 0, x) + integral(at(u_x, x=s)*s, s, 0, x)", [7 * 20]),
        ("integral(u, x, 0, x) + u", [7 * 20, 7]),
        ("integral(at(u, t=s), s, 0, 1, nodes=5)*x", [7 * 5]),
        ("integral(at(u, x=s, t=1), s, 0, 1)*x", [20]),  # the same nodes for all points
        ("integral(integral(at(u, x=s*r), s, 0, 1, nodes=3), r, 0, 1, nodes=4)", [7 * 12]),
    ],
)
def test_all_nodes_of_all_points_are_one_run_of_the_model(text, runs, kind):
    module = Known()
    evaluated(text, kind, module=module)
    assert sorted(module.points) == sorted(runs)


def test_texts_of_numpy_arrays_integrate_too():
    tree = SCOPE.of_values().resolve("integral(exp(-(s*x)**2), s, 0, t)")
    grid = np.linspace(0.2, 1, 6).reshape(2, 3)
    values = Values({"x": grid, "t": 2 * grid}, {"c": 0.5})
    got = evaluate_resolved(tree, values, NUMPY_FUNCTIONS)
    expected = [[integrate.quad(lambda s, x=x: np.exp(-((s * x) ** 2)), 0, 2 * x)[0] for x in row]
                for row in grid]  # fmt: skip
    np.testing.assert_allclose(got, expected, rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_in_a_limit_is_the_integrand_there(kind):
    """In a trainable limit, by reverse mode through the nodes."""
    columns = coordinate_columns(POINTS, T.float64, "cpu")
    k = T.tensor(0.4, dtype=T.float64, requires_grad=True)
    term = Term("term", "integral(u, x, k, 1)", SCOPE)
    values = kind(Known(), SCOPE, columns, {"k": k}, KINDS[kind](term.leaves, SCOPE), {})
    term.evaluate(values, TENSOR_FUNCTIONS).sum().backward()
    np.testing.assert_allclose(k.grad.item(), -(np.sin(0.8) * np.exp(TIME)).sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("integral(s, s, 0, 1) + s", 23, "'s' is the variable of an integral"),
        ("integral(s, s, 0, s)", 18, "'s' is the variable of an integral"),
        ("integral(u, c, 0, 1)", 12, "a coordinate or a name of its own.*got c"),
        ("integral(u, 2*s, 0, 1)", 14, "unknown name 's'"),
        ("integral(u, x, 0)", 0, "integral takes 4 arguments, got 3"),
        ("integral(u, x, 0, 1, 20)", 21, "expected nodes, '=' and their number"),
        ("integral(u, x, 0, 1, node=20)", 21, "takes no 'node'; did you mean 'nodes'"),
        ("integral(u, x, 0, 1, nodes=0)", 27, "whole number from 1 to 1000, got 0"),
        ("integral(u, x, 0, 1, nodes=x)", 27, "whole number from 1 to 1000, got x"),
        ("integral(u, x, 0, nodes=3, 1)", 27, "expected nodes, '='"),
        ("integral(u, x, grad(u), 1)", 15, "takes a scalar here"),
        ("integral(u*normal_x, x, 0, 1)", 0, "normal_x belongs to the points themselves"),
        ("integral(zz, x, 0, 1)", 9, "unknown name 'zz'"),
    ],
)
def test_a_meaningless_integral_is_refused_with_a_caret(text, position, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        SCOPE.resolve(text)
    assert caught.value.position == position and str(caught.value).endswith("^")


# ---- in training


def objective(equation, **settings):
    x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
    problem = pinn.Problem(
        x * t, ["u"], {"equation": equation}, [pinn.Initial("u", "integral(cos(s), s, 0, x)")],
        parameters=[pinn.Parameter("k", 0.2, lower=0, upper=1)],
    )  # fmt: skip
    setup = Experiment(
        problem, model=pinn.MLP(width=7, depth=2), sampling=pinn.Sampling(interior=300),
        seed=1, **settings,
    )  # fmt: skip
    return setup.objective()


EQUATIONS = [
    "u_t - integral(exp(s - x)*at(u, x=s), s, -1, x, nodes=6) - k*u_xx",
    "u_x + integral(at(u_t, t=s)*u, s, 0, t, nodes=5)*k",
    lambda s: s.u_t - s.integral("u*x", "x", -1, s.x + 0, nodes=4) + s.k,
]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_engines_and_routes_agree_row_by_row(equation):
    """The Jacobian is taken apart into rows through the nodes, without falling back."""
    found = []
    for settings in (
        {"engine": "recorded", "derivatives": "jets"},
        {"engine": "recorded", "derivatives": "nested"},
        {"engine": "eager", "derivatives": "nested"},
    ):
        case = objective(equation, **settings)
        loss, gradient, _ = case.value_and_gradient(case.theta)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found.append((loss, gradient, *case.jacobian(case.theta)))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10 * np.abs(one).max())
    loss, gradient, rows, jacobian = found[0]
    np.testing.assert_allclose(gradient, 2 * jacobian.T @ rows, rtol=1e-9, atol=1e-12)


def test_many_nodes_are_recorded_a_few_points_at_a_time():
    """Memory goes with the nodes of a chunk: as many points of the model as without a sum."""
    assert [group.spread for group in objective(EQUATIONS[0]).groups] == [6, 1]
    assert [group.spread for group in objective("u_t - u_xx").groups] == [1, 1]
    seen = []

    def fn(columns):
        seen.append(len(columns[0]))
        return [(columns[0].expand(-1, 500) * T.ones(500, dtype=T.float64)).sum()]

    chunked = Chunked(fn, [], ["sum"], spread=500)
    np.testing.assert_allclose(chunked([np.ones((3000, 1))]), [1500000.0])
    assert seen[0] == 1 and max(seen) * 500 * 8 <= 5 * l2_cache_bytes()


@pytest.mark.parametrize("equation", EQUATIONS)
def test_the_gradient_equals_finite_differences(equation):
    case = objective(equation)
    theta = case.theta
    gradient = case.value_and_gradient(theta).gradient
    direction = np.random.default_rng(3).standard_normal(case.size)
    h = 1e-5
    rate = (case.value(theta + h * direction) - case.value(theta - h * direction)) / (2 * h)
    np.testing.assert_allclose(gradient @ direction, rate, rtol=1e-6, atol=1e-9)


def test_a_volterra_equation_is_solved():
    """u' + u = integral of exp(s - x) u(s), u(0) = 1, whose solution is exp(-x) cosh(x)."""
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"],
        {"volterra": "u_x + u - integral(exp(s - x)*at(u, x=s), s, 0, x, nodes=8)"},
        [pinn.Dirichlet("u", 1, on="x=0")], reference={"u": "exp(-x)*cosh(x)"},
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.MLP(width=8, depth=1), pinn.Sampling(interior=16),
        [pinn.SSBroyden(steps=150)], seed=0,
    )  # fmt: skip
    assert solution.errors().rel_l2["u"] < 1e-3
