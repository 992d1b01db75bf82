"""What a function that stands for an equation may write: against the same equation as text."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns

POINTS = np.random.default_rng(0).uniform(-1, 1, (7, 3))
SCOPE = Scope(("u", "v"), ("x", "y", "t"), ("x", "y"), {"c": 0.5}, ("k",))


class Known(T.nn.Module):
    def forward(self, points):
        x, y, t = points[:, 0:1], points[:, 1:2], points[:, 2:3]
        return T.cat([T.sin(2 * x) * T.exp(y) * t**2, x * y + t], dim=1)


def evaluated(source, jets=False):
    term = Term("equation 'heat'", source, SCOPE)
    values, leaves = None, ()
    for kind, plan in ((NestedValues, NestedPlan), (JetValues, JetPlan))[: 1 + jets]:
        columns = coordinate_columns(POINTS, T.float64, "cpu")
        coefficients = {"k": T.tensor(3.0, dtype=T.float64)}
        values = kind(Known(), SCOPE, columns, coefficients, plan(leaves, SCOPE))
        value = term.evaluate(values, TENSOR_FUNCTIONS)
        leaves = tuple(values.asked)
    return value


PAIRS = [
    (lambda s: s.laplacian(s.u), "laplacian(u)"),
    (lambda s: s.laplacian("u*v"), "laplacian(u*v)"),
    (lambda s: s.diff(s.u, "x", 2), "u_xx"),
    (lambda s: s.diff(s.u_x, s.t), "u_xt"),
    (lambda s: s.diff("u**2", "x"), "diff(u**2, x)"),
    (lambda s: s.diff(s.diff("u*v", "x"), "y"), "diff(u*v, x, y)"),
    (lambda s: s.dot(s.grad("u"), s.grad(s.v)), "dot(grad(u), grad(v))"),
    (lambda s: s.dot((s.u, s.v), s.grad(s.u)), "u*u_x + v*u_y"),
    (lambda s: s.dot((s.u * s.v, 2), (s.sin(s.x), s.y)), "u*v*sin(x) + 2*y"),
    (lambda s: s.div((s.u, s.v)), "u_x + v_y"),
    (lambda s: s.div(s.grad(s.u)), "laplacian(u)"),
    (lambda s: s.div(("u*v", "c")), "diff(u*v, x)"),
    (lambda s: sum(s.vec(s.u, s.v)), "u + v"),
    (lambda s: s.grad("u")[1], "u_y"),
    (lambda s: s.at(s.grad(s.u), x=0)[0], "at(u_x, x=0)"),
]


@pytest.mark.parametrize("jets", [False, True])
@pytest.mark.parametrize("function, text", PAIRS)
def test_operators_take_values_as_texts_do(function, text, jets):
    expected = evaluated(text).detach().numpy()
    got = evaluated(function, jets).detach().numpy()
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_a_value_that_was_written_to_is_no_longer_the_unknown():
    def doubled(s):
        u = s.u
        u *= 2
        return s.diff(u, "x")

    with pytest.raises(ValueError, match="does not know what it was made of"):
        evaluated(doubled)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda s: np.sin(s.u), TypeError, r"s\.sin\(s\.u\) for np\.sin\(s\.u\): sin, cos"),
        (lambda s: s.diff(s.u**2, "x"), ValueError, r"diff: a value.*give text.*s\.diff\('u\*\*2'"),
        (lambda s: s.laplacian(s.u * s.v), ValueError, "laplacian: a value that a function has"),
        (lambda s: s.at(s.u * 2, x=1), ValueError, "value 0 belongs to the points themselves"),
        (lambda s: s.at("u", z=1), ValueError, "'z' is not a coordinate; the coordinates here"),
        (lambda s: s.at("u"), ValueError, r"at takes an expression.*write at\(u, x=1\)"),
        (lambda s: s.dot(s.u), ValueError, "dot takes 2 arguments, got 1"),
        (lambda s: s.dot(s.u, s.v), ValueError, "dot takes a vector here"),
        (lambda s: s.diff("u", x=1), ValueError, "diff takes no arguments by name, got 'x'"),
        (lambda s: s.laplacian("uu"), ValueError, "unknown name 'uu'"),
        (lambda s: s.uu, AttributeError, "unknown name 'uu'; did you mean 'u'"),
        (lambda s: s.arctan(s.u), AttributeError, "no function 'arctan'; write s.atan"),
        (lambda s: s.dn("u"), ValueError, "dn needs the outward normal.*such as u_x"),
        (lambda s: np.zeros(2500) * s.u_xx, ValueError, "values of other lengths.*one value a poi"),
        (lambda s: s.u_xx * np.zeros(2500), ValueError, "values of other lengths.*one value a poi"),
    ],
)
def test_a_mistake_in_a_function_is_told_with_the_equation(function, error, message):
    with pytest.raises(error, match=message) as caught:
        evaluated(function)
    assert str(caught.value).startswith("equation 'heat': ")


def test_a_mistake_of_python_has_a_note_with_the_equation():
    with pytest.raises(ZeroDivisionError) as caught:
        evaluated(lambda s: s.u * (1 / 0))
    assert "in the function of equation 'heat'" in caught.value.__notes__


def test_functions_that_take_values_train_like_texts():
    x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
    found = []
    for equation in (
        "u_t - laplacian(u) + at(u_x, x=1)",
        lambda s: s.u_t - s.laplacian(s.u) + s.at(s.u_x, x=1),
    ):
        problem = pinn.Problem(x * t, ["u"], {"e": equation}, [pinn.Initial("u", "sin(x)")])
        solution = pinn.solve(
            problem, model=pinn.MLP(width=6, depth=2), sampling=pinn.Sampling(interior=50),
            training=[pinn.Adam(5)],
        )  # fmt: skip
        found.append(solution.theta)
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)
