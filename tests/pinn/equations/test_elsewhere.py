"""Unknowns and derivatives elsewhere, `at(...)`: against closed forms and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from autograd.plan.chunks import Chunked
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.leaves import At, Coordinate, Derivative, derivatives_in
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns
from pinn.expressions import ExpressionError, Number
from pinn.training.experiment import Experiment

POINTS = np.random.default_rng(0).uniform(-1, 1, (11, 2))
X, TIME = POINTS.T
SCOPE = Scope(("u", "v"), ("x", "t"), ("x",), {"c": 0.5}, ("tau",), ("normal_x",))
NORMAL = np.where(X > 0, 1.0, -1.0)
TAU = 0.3
KINDS = {NestedValues: NestedPlan, JetValues: JetPlan}


def u(x, t):
    return np.sin(2 * x) * np.exp(t) + 0 * x


def u_x(x, t):
    return 2 * np.cos(2 * x) * np.exp(t)


def v(x, t):
    return x * t**2 + 0 * x


class Known(T.nn.Module):
    """u and v of the closed forms; counts how often it is run."""

    runs = 0

    def forward(self, points):
        self.runs += 1
        x, t = points[:, 0:1], points[:, 1:2]
        return T.cat([T.sin(2 * x) * T.exp(t), x * t**2], dim=1)


def evaluated(source, kind, module=None, tau=None, points=POINTS):
    """Return the value of a text or a function, as it comes from `kind`, with its graph."""
    term = Term("term", source, SCOPE)
    tau = T.tensor(TAU, dtype=T.float64) if tau is None else tau
    attached = {"normal_x": T.tensor(NORMAL[:, None])}

    def values(make, plan):
        columns = coordinate_columns(points, T.float64, "cpu")
        return make(module or Known(), SCOPE, columns, {"tau": tau}, plan, attached)

    leaves = term.leaves
    if leaves is None:
        probe = values(NestedValues, NestedPlan((), SCOPE))
        term.evaluate(probe, TENSOR_FUNCTIONS)
        leaves = probe.asked
    return term.evaluate(values(kind, KINDS[kind](leaves, SCOPE)), TENSOR_FUNCTIONS)


EXACT = {
    "at(u, x=1)": u(1.0, TIME),
    "at(u_x, x=1)": u_x(1.0, TIME),
    "at(u, x=1, t=0)": u(1.0, 0.0) + 0 * X,
    "u - at(u, x=-1)": u(X, TIME) - u(-1.0, TIME),
    "at(u, t=t - tau)": u(X, TIME - TAU),
    "at(u*u_x + x, x=0)": u(0.0, TIME) * u_x(0.0, TIME),
    "at(u*u_x + x + c, x=x*t)": u(X * TIME, TIME) * u_x(X * TIME, TIME) + X * TIME + 0.5,
    # partial derivatives at the point, where two coordinates come from one column
    "at(u_x, x=t)": u_x(TIME, TIME),
    "at(u_t, x=t)": u(TIME, TIME),
    "at(u_xt, x=t, t=t)": u_x(TIME, TIME),
    "at(u_xx, x=t, t=x)": -4 * u(TIME, X),
    "at(v_x, x=t, t=2*t)": 4 * TIME**2,
    "at(laplacian(u), x=x + 1)": -4 * u(X + 1, TIME),
    "at(u, x=u)": u(u(X, TIME), TIME),
    "at(u_x, x=v_t)": u_x(2 * X * TIME, TIME),
    "at(at(u, t=t - tau), x=2)": u(2.0, TIME - TAU),
    "at(at(u, t=t - tau), t=1, x=0.5)": u(0.5, 1 - TAU) + 0 * X,
    "at(at(u, x=1), x=5)": u(1.0, TIME),
    "at(at(v_x, t=x*t), x=3)": (3 * TIME) ** 2,
    "at(u, x=normal_x)": u(NORMAL, TIME),
    "at(u, x=at(v, x=2))": u(v(2.0, TIME), TIME),
    "at(u, x=where(x < 0, -1, 1))": u(np.sign(X), TIME),
    "dot(at(grad(u), x=1), vec(2))": 2 * u_x(1.0, TIME),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", EXACT)
def test_values_equal_the_closed_form(text, kind):
    got = evaluated(text, kind).detach().numpy()
    np.testing.assert_allclose(got, EXACT[text], rtol=0, atol=1e-13 * np.abs(EXACT[text]).max())


FUNCTIONS = {
    "at(u_x, x=1)": lambda s: s.at("u_x", x=1),
    "at(u, t=t - tau)": lambda s: s.at("u", t=s.t - s.tau),
    "at(u*u_x + x, x=0)": lambda s: s.at("u*u_x + x", x="0"),
    "at(u_t, x=t)": lambda s: s.at(s.u_t, x=s.t),
    "at(u, x=at(v, x=2))": lambda s: s.at("u", x=s.at(s.v, x=2.0)),
    "at(u_x, x=v_t)": lambda s: s.at("u_x", x=1 * s.v_t),
    "u - at(u, x=-1)": lambda s: s.u - s.at("u", x=-1),
    "at(v_x, x=t, t=2*t)": lambda s: s.at("v_x", x=s.t, t=2 * s.t),
    "dot(at(grad(u), x=1), vec(2))": lambda s: 2 * s.at(s.grad("u"), x=1)[0],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions_evaluate_elsewhere_as_texts_do(text, kind):
    got = evaluated(FUNCTIONS[text], kind).detach().numpy()
    np.testing.assert_allclose(got, EXACT[text], rtol=0, atol=1e-13 * np.abs(EXACT[text]).max())


CHAIN_RULE = [
    ("at(u, x=1)", "x"),
    ("at(u, x=1)", "t"),
    ("at(u, x=x*t)", "x"),
    ("at(u, x=x*t)", "t"),
    ("at(u_x, x=x**2, t=x - tau)", "x"),
    ("at(v, x=u*x, t=t**2)", "xt"),
    ("at(laplacian(u), x=sin(x))", "x"),
    ("at(u, t=t - tau*u)", "t"),
    ("u*at(u*x, x=x/2)", "x"),
    ("at(at(u, x=x*t), t=x**2)", "x"),
]


@pytest.mark.parametrize("inner, names", CHAIN_RULE)
def test_derivatives_follow_the_chain_rule(inner, names):
    """Against central differences of what is differentiated, in the coordinates, extrapolated."""
    got = [evaluated(f"diff({inner}, {', '.join(names)})", kind) for kind in KINDS]
    got = [g.detach().numpy() if isinstance(g, T.Tensor) else np.full(len(X), g) for g in got]
    np.testing.assert_allclose(got[0], got[1], rtol=0, atol=1e-10 * max(1, np.abs(got[0]).max()))

    def difference(points, names):
        if not names:
            return evaluated(inner, NestedValues, points=points).detach().numpy()
        step = np.zeros(2)
        step["xt".index(names[0])] = 1.0
        rates = [
            (difference(points + h * step, names[1:]) - difference(points - h * step, names[1:]))
            / (2 * h)
            for h in (1e-3, 2e-3)
        ]
        return (4 * rates[0] - rates[1]) / 3

    expected = difference(POINTS, names)
    np.testing.assert_allclose(got[0], expected, rtol=0, atol=1e-7 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", ["at(u_x, t=t - tau)", lambda s: s.at("u_x", t=s.t - s.tau)])
def test_the_gradient_in_a_trainable_delay_is_the_derivative_in_time(source, kind):
    tau = T.tensor(TAU, dtype=T.float64, requires_grad=True)
    evaluated(source, kind, tau=tau).sum().backward()
    np.testing.assert_allclose(tau.grad.item(), -u_x(X, TIME - TAU).sum(), rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_in_the_model_goes_through_the_place_too(kind):
    """d/dw of u(x = w t) and of its slope there, where u = w sin(x): a model with one weight."""

    class Weighted(T.nn.Module):
        def __init__(self, w):
            super().__init__()
            self.w = T.nn.Parameter(T.tensor(w, dtype=T.float64))

        def forward(self, points):
            x, t = points[:, 0:1], points[:, 1:2]
            return T.cat([self.w * T.sin(x), self.w * t], dim=1)

    model = Weighted(0.7)
    evaluated("at(u_x + u, x=v)", kind, module=model).sum().backward()
    w, h = 0.7, 1e-6

    def exact(w):
        return (w * np.cos(w * TIME) + w * np.sin(w * TIME)).sum()

    expected = (exact(w + h) - exact(w - h)) / (2 * h)
    np.testing.assert_allclose(model.w.grad.item(), expected, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "source, runs",
    [
        ("u - at(u, x=1) + at(u_xx*v, x=1) - at(u_x, x=1.0)", 2),
        ("at(u, x=1) + at(v, x=-1) + at(u_t, x=-(1))", 2),
        ("at(u, t=t - tau) + at(v, t=t - tau)*at(u, x=x)", 2),
        (lambda s: s.at("u", x=1) + s.at("u_x", x=1), 1),
        (lambda s: (lambda there: s.at("u", x=there) + s.at("u_x", x=there))(2 * s.x), 1),
        (lambda s: (lambda to: s.at("u", x=to) + s.at("u_x", x=to))(2 * s.x.clone()), 1),
    ],
)
def test_equal_places_share_one_run_of_the_model(source, runs, kind):
    module = Known()
    evaluated(source, kind, module=module)
    probes = 0 if Term("e", source, SCOPE).leaves is not None else runs
    assert module.runs - probes == runs


@pytest.mark.parametrize("kind", KINDS)
def test_two_functions_evaluated_together_keep_their_own_places(kind):
    """As both sides of a residual are, or residuals at the same points."""
    terms = [
        Term("condition", function, SCOPE)
        for function in (lambda s: s.at("u", x=s.t + 0), lambda s: s.at("u", x=2 * s.x))
    ]
    asked = {}
    for make, plan in ((NestedValues, NestedPlan), (kind, KINDS[kind])):
        columns = coordinate_columns(POINTS, T.float64, "cpu")
        values = make(Known(), SCOPE, columns, {"tau": T.tensor(TAU)}, plan(asked, SCOPE))
        got = [term.evaluate(values, TENSOR_FUNCTIONS).detach().numpy() for term in terms]
        asked = values.asked
    np.testing.assert_allclose(got, [u(TIME, TIME), u(2 * X, TIME)], rtol=1e-13, atol=1e-14)


def test_the_tree_has_one_leaf_with_the_place_in_domain_order():
    tree = SCOPE.resolve("at(at(u_x, x=1), t=0)")
    assert tree == At(Derivative("u", ("x",)), ("x", "t"), (Number(1), Number(0)))
    assert tree == SCOPE.resolve("at(u_x, t=0, x=1)") == SCOPE.resolve(str(tree))
    assert str(tree) == "at(u_x, x=1, t=0)"
    assert SCOPE.resolve("at(u_x, x=x)") == Derivative("u", ("x",))
    assert SCOPE.resolve("at(x**2, x=t)") == SCOPE.resolve("t**2")
    leaves = derivatives_in(SCOPE.resolve("at(u, x=v) + u_x"))
    assert [str(leaf) for leaf in leaves] == ["v", "at(u, x=v)", "u_x"]
    assert Coordinate("x") not in leaves


def test_deep_places_do_not_recurse():
    depth = 250
    text = "at(u, x=" * depth + "1" + ")" * depth
    assert str(SCOPE.resolve(text)) == text


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("1 + at(u, z=1)", 10, "'z' is not a coordinate; the coordinates here are x, t"),
        ("at(u, u=1)", 6, "'u' is not a coordinate"),
        ("at(u, x=grad(u))", 8, "at takes a scalar here"),
        ("at(u, x=uu)", 8, "unknown name 'uu'"),
        ("at(normal_x*u, x=1)", 0, "normal_x belongs to the points themselves"),
        ("at(u)", 0, r"write at\(u, x=1\)"),
        ("at(u, 1)", 6, "expected a coordinate, '=' and what replaces it"),
        ("at(u, x=1, 2)", 11, "expected a coordinate, '='"),
        ("at(u, x=1, x=2)", 11, "x is given twice"),
        ("at(u, 2*x=1)", 9, "'=' is not part of an expression"),
        ("at(u, (x)=1)", 9, "'=' stands between a coordinate and what replaces it"),
        ("at(u, 9=t)", 7, "'=' stands between a coordinate and what replaces it"),
        ("at(u, sin(x)=t)", 12, "'=' stands between a coordinate and what replaces it"),
        ("integral(x*s, s, 0, 1, 9=5)", 24, "'=' stands between"),
        ("at(x=1)", 4, "'=' is not part of an expression"),
        ("u = 1", 2, "'=' is not part of an expression"),
        ("sin(x=1)", 5, "'=' is not part of an expression"),
        ("diff(at(u_xxxxxxxxxxxxxxxx, x=2*x), x)", 0, "order 17; orders go up to 16"),
        ("at(u, x==1)", 7, "'==' is not part"),
    ],
)
def test_a_meaningless_place_is_refused_with_a_caret(text, position, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        SCOPE.resolve(text)
    assert caught.value.position == position and str(caught.value).endswith("^")


def test_the_order_limit_holds_only_where_a_slope_is_needed():
    assert str(SCOPE.resolve("diff(at(u_xxxxxxxxxxxxxxxx, x=2), x)")) == "0"


@pytest.mark.parametrize("bad", [T.zeros(3), T.zeros(2, 11)])
def test_a_place_of_the_wrong_shape_is_refused(bad):
    with pytest.raises(ValueError, match=r"expected a number or a tensor of shape \(11,\).*'x'"):
        evaluated(lambda s: s.at("u", x=bad), NestedValues)


# ---- in training


def objective(equation, hard=False, **settings):
    x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
    problem = pinn.Problem(
        x * t, ["u"], {"equation": equation},
        [pinn.Initial("u", "sin(pi*x)", hard=hard), pinn.Dirichlet("u", 0, hard=hard)],
        parameters=[pinn.Parameter("tau", 0.2, lower=0, upper=1)],
    )  # fmt: skip
    setup = Experiment(
        problem, model=pinn.MLP(width=7, depth=2), sampling=pinn.Sampling(interior=300),
        seed=1, **settings,
    )  # fmt: skip
    return setup.objective()


EQUATIONS = [
    "u_t + at(u, t=t - tau)*u_x - 0.1*u_xx",
    "u - at(u, x=-1) + at(u_x, x=1, t=0)",
    "u_t - at(u_x, x=u)",
    lambda s: s.u_t + s.at("u_xx", t=s.t - s.tau),
]


# A value at one place is shared by all rows of the Jacobian, which then are computed one by one.
@pytest.mark.filterwarnings("ignore:rows of the Jacobian")
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("equation", EQUATIONS)
def test_engines_and_routes_agree(equation, hard):
    found = []
    for settings in (
        {"engine": "recorded", "derivatives": "jets"},
        {"engine": "eager", "derivatives": "jets"},
        {"engine": "eager", "derivatives": "nested"},
    ):
        case = objective(equation, hard, **settings)
        loss, gradient, _ = case.value_and_gradient(case.theta)
        found.append((loss, gradient, *case.jacobian(case.theta)))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10 * np.abs(one).max())
    loss, gradient, rows, jacobian = found[0]
    np.testing.assert_allclose(loss, rows @ rows, rtol=1e-12)
    np.testing.assert_allclose(gradient, 2 * jacobian.T @ rows, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("equation", EQUATIONS)
def test_the_gradient_equals_finite_differences(equation):
    """In all parameters together, the trainable delay among them."""
    case = objective(equation, engine="recorded")
    theta = case.theta
    gradient = case.value_and_gradient(theta).gradient
    rng = np.random.default_rng(3)
    h = 1e-5
    for direction in (rng.standard_normal(case.size), np.eye(case.size)[-1]):
        rate = (case.value(theta + h * direction) - case.value(theta - h * direction)) / (2 * h)
        np.testing.assert_allclose(gradient @ direction, rate, rtol=1e-6, atol=1e-9)


def test_chunks_of_points_add_up_to_the_whole():
    case = objective(EQUATIONS[1], derivatives="jets")
    group = case.groups[0]
    columns = list(case.blocks[0].points.coordinates.T[:, :, None])

    def computation(rows):
        (residual,) = (r.detach() for r in group.residuals(rows))
        return [residual, (residual * residual).sum()]

    chunked = Chunked(computation, case.parameters.tensors, ["rows", "sum"], chunk=7)
    rows, total = chunked(columns)
    expected = case.residuals(case.theta)["equation"]
    np.testing.assert_allclose(rows, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(total, (expected**2).sum(), rtol=1e-13)


def test_a_solution_is_differentiated_elsewhere():
    x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
    conditions = [pinn.Initial("u", "x"), pinn.Dirichlet("u", "x")]
    problem = pinn.Problem(x * t, ["u"], {"heat": "u_t - u_xx"}, conditions)
    solution = pinn.solve(
        problem, model=pinn.MLP(width=6, depth=2), sampling=pinn.Sampling(interior=20),
        training=[pinn.Adam(2)],
    )  # fmt: skip
    ts = np.linspace(0, 1, 5)
    np.testing.assert_allclose(
        solution.derivative("at(u_x, x=1) + u", x=0.5, t=ts),
        solution.derivative("u_x", x=1, t=ts) + solution.derivative("u", x=0.5, t=ts),
        rtol=1e-12,
    )
