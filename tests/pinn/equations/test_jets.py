"""Fields by Taylor mode: against closed forms and against nested reverse mode."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from autograd.jets import NoTaylorRule
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetField, JetPlan
from pinn.equations.leaves import Derivative, Laplacian
from pinn.equations.model_values import coordinate_columns
from pinn.equations.nested import Field, Plan
from pinn.equations.scope import Scope
from pinn.equations.term import Term

rng = np.random.default_rng(0)
POINTS = rng.uniform(-1, 1, (11, 3))
X, Y, TIME = POINTS.T
SCOPE = Scope(("u", "v"), ("x", "y", "t"), ("x", "y"), {"c": 0.5}, ("k",))
U = np.sin(2 * X) * np.exp(Y) * TIME**2
EXACT = {
    "u": U,
    "v": X * Y,
    "u_x": 2 * np.cos(2 * X) * np.exp(Y) * TIME**2,
    "u_xyt": 4 * np.cos(2 * X) * np.exp(Y) * TIME,
    "u_ttt": 0 * X,
    "v_xy": 1 + 0 * X,
    "v_xx": 0 * X,
    "v_t": 0 * X,
    "u_xxxx": 16 * U,
    "u_xxxxyy": 16 * U,
    "laplacian(u)": -3 * U,
    "laplacian(laplacian(u))": 9 * U,
    "laplacian(u) - u_xx + laplacian(v)": U,
    "diff(u*v, x)": (2 * X * np.cos(2 * X) + np.sin(2 * X)) * np.exp(Y) * TIME**2 * Y,
    "c*x + k*u": 0.5 * X + 3 * U,
    "u_t - c*u_xx + u_yy + v_x": 2 * U / TIME + 2 * U + U + Y,
}


class Known(T.nn.Module):
    def forward(self, p):
        x, y, t = p[:, 0:1], p[:, 1:2], p[:, 2:3]
        return T.cat([T.sin(2 * x) * T.exp(y) * t**2, x * y], dim=1)


def field(leaves, module=None):
    columns = coordinate_columns(POINTS, T.float64, "cpu")
    coefficients = {"k": T.tensor(3.0, dtype=T.float64)}
    return JetField(module or Known(), SCOPE, columns, coefficients, JetPlan(leaves, SCOPE))


@pytest.mark.parametrize("text", EXACT)
@pytest.mark.parametrize("together", [False, True])
def test_values_equal_the_closed_form(text, together):
    term = Term("term", text, SCOPE)
    if together:
        from pinn.objective.block import _leaves
        from pinn.residuals import Residual

        term = term.combined()
        leaves = _leaves(Residual("r", "r", term, None, None))
    else:
        leaves = term.leaves
    value = term.evaluate(field(leaves), TENSOR_FUNCTIONS)
    np.testing.assert_allclose(value.detach().numpy(), EXACT[text], rtol=1e-12, atol=1e-12)


NETWORKS = [
    pinn.MLP(width=7, depth=3, activation=name)
    for name in ("tanh", "sin", "sigmoid", "silu", "gelu", "softplus")
]


@pytest.mark.parametrize("model", NETWORKS, ids=lambda m: m.activation)
def test_networks_agree_with_nested_reverse_mode(model):
    domain = pinn.Interval("x", -1, 2) * pinn.Interval("y", 0, 1) * pinn.Time("t", 0, 0.5)
    module = model.build(domain, ("u", "v"), np.random.default_rng(3), T.float64)
    leaves = [
        *(Derivative("u", tuple(names)) for names in ("x", "t", "xx", "xt", "xyt", "yyyy")),
        Derivative("v", ("x", "y")), Laplacian("v", 1), Laplacian("u", 2),
    ]  # fmt: skip
    columns = coordinate_columns(POINTS, T.float64, "cpu")
    nested = Field(module, SCOPE, columns, {}, Plan(leaves, SCOPE.space))
    jets = JetField(module, SCOPE, columns, {}, JetPlan(leaves, SCOPE))
    for leaf in leaves:
        expected = nested[leaf].detach().numpy()
        got = jets[leaf].detach().numpy()
        assert np.abs(got - expected).max() <= 1e-10 * max(1, np.abs(expected).max()), str(leaf)


def plan(*texts):
    leaves = [leaf for text in texts for leaf in Term("term", text, SCOPE).leaves]
    return JetPlan(leaves, SCOPE)


@pytest.mark.parametrize(
    ("texts", "channels"),
    [
        (["u*u_x"], 2), (["u_xx"], 3), (["laplacian(u)"], 4), (["laplacian(u)", "u_xx"], 5),
        (["laplacian(laplacian(u))"], 11), (["u_xt"], 4), (["u_x", "v_x", "u_xx", "v_xx"], 3),
        (["u"], 1),
    ],
)  # fmt: skip
def test_plans_share_what_can_be_shared(texts, channels):
    assert plan(*texts).channels.count == channels


def test_a_plan_prints_its_channels_and_what_they_are_for():
    assert str(plan("u*u_x - laplacian(u)")).splitlines() == [
        "4 channels, order 2: value",
        "  dx",
        "  dy",
        "  1 dxx + 1 dyy",
        "for u, u_x, laplacian(u)",
    ]


def test_one_sweep_serves_all_leaves():
    calls = []

    class Counting(Known):
        def forward(self, p):
            calls.append(1)
            return super().forward(p)

    term = Term("term", "u_t + u*u_x - laplacian(v) + v_xy", SCOPE)
    term.evaluate(field(term.leaves, Counting()), TENSOR_FUNCTIONS)
    assert len(calls) == 1


def test_a_derivative_that_was_not_planned_is_refused():
    planned = field([Derivative("u", ("x",)), Derivative("v", ("x", "x"))])
    for leaf in (Derivative("u", ("x", "y")), Laplacian("u", 1), Derivative("u", ("t",))):
        with pytest.raises(KeyError, match="was not planned: .* the same names at each call"):
            planned[leaf]
    planned[Derivative("u", ("x", "x"))]  # all unknowns travel together


def test_a_model_of_the_wrong_shape_is_refused():
    class Wide(T.nn.Module):
        def forward(self, p):
            return p

    with pytest.raises(ValueError, match=r"11 points to shape \(11, 3\); expected \(11, 2\).*u, v"):
        field([Derivative("u", ("x",))], Wide())[Derivative("u", ("x",))]


class Squared(T.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x


class WithFunction(T.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = T.nn.Linear(2, 4, dtype=T.float64)
        self.last = T.nn.Linear(4, 1, dtype=T.float64)

    def forward(self, p):
        return self.last(Squared.apply(self.first(p)))




def test_the_remedy_for_an_operation_without_a_rule_is_named_and_works():
    from pinn.objective import Objective
    from pinn.objective.flat_parameters import FlatParameters

    problem = pinn.Problem(
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - u_xx"}
    )
    module = WithFunction()
    points = {"heat": rng.uniform(0, 1, (9, 2))}

    def objective(**options):
        parameters = FlatParameters(module, (), T.float64, "cpu")
        return Objective(problem, parameters, points, dtype=T.float64, **options)

    with pytest.raises(NoTaylorRule, match=r"'Squared' in layer \(WithFunction\).*derivatives: ne"):
        objective()
    nested = objective(derivatives="nested")
    found = nested.residuals(nested.theta)["heat"]
    a, w = module.first.weight.detach().numpy(), module.last.weight.detach().numpy()[0]
    z = points["heat"] @ a.T + module.first.bias.detach().numpy()
    expected = (2 * z * a[:, 1]) @ w - 2 * (a[:, 0] ** 2) @ w
    np.testing.assert_allclose(found, expected, rtol=1e-11)
