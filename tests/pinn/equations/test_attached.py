"""What is attached to the points, and the normal derivative: against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns
from pinn.expressions import ExpressionError

ANGLE = np.linspace(0.1, 6, 9)
NORMAL_X, NORMAL_Y = np.cos(ANGLE), np.sin(ANGLE)
POINTS = np.stack([2 * NORMAL_X, 2 * NORMAL_Y, ANGLE], axis=1)  # on a circle of radius 2
X, Y, TIME = POINTS.T
COLUMNS = {"normal_x": NORMAL_X, "normal_y": NORMAL_Y, "measured": TIME**2}
SCOPE = Scope(("u",), ("x", "y", "t"), ("x", "y"), {"k": 3.0}, (), tuple(COLUMNS))
SLOPE = np.cos(X * Y) * (Y * NORMAL_X + X * NORMAL_Y) * TIME
SECOND = (
    -np.sin(X * Y) * (Y * NORMAL_X + X * NORMAL_Y) ** 2 + 2 * np.cos(X * Y) * NORMAL_X * NORMAL_Y
) * TIME
EXACT = {
    "dn(u)": SLOPE,
    "normal_x*u_x + normal_y*u_y": SLOPE,
    "dn(dn(u))": SECOND,
    "dn(k*x*u)": 3 * (X * SLOPE + NORMAL_X * np.sin(X * Y) * TIME),
    "dn(u_t) - measured": SLOPE / TIME - TIME**2,
    "dn(x)**2 + normal_y**2": np.ones(9),
}


class Known(T.nn.Module):
    def forward(self, points):
        x, y, t = points[:, 0:1], points[:, 1:2], points[:, 2:3]
        return T.sin(x * y) * t


def evaluated(source, jets):
    term = Term("term", source, SCOPE)
    values = None
    leaves: list = []
    for _ in range(2):  # the first run tells what a function asks for
        columns = coordinate_columns(POINTS, T.float64, "cpu")
        attached = {name: T.tensor(column[:, None]) for name, column in COLUMNS.items()}
        kind, plan = (NestedValues, NestedPlan) if values is None or not jets else (
            JetValues, JetPlan
        )
        values = kind(Known(), SCOPE, columns, {}, plan(leaves, SCOPE), attached)
        result = term.evaluate(values, TENSOR_FUNCTIONS)
        leaves = leaves or list(values.asked)
    return result.detach().numpy()


@pytest.mark.parametrize("jets", [False, True])
@pytest.mark.parametrize("text", EXACT)
def test_values_equal_the_closed_form(text, jets):
    np.testing.assert_allclose(evaluated(text, jets), EXACT[text], rtol=0, atol=1e-12)


@pytest.mark.parametrize("jets", [False, True])
def test_functions_have_the_normal_too(jets):
    got = evaluated(lambda s: s.dn("u") + s.normal_x - s.measured + s.dn(s.u_t), jets)
    np.testing.assert_allclose(
        got, SLOPE + NORMAL_X - TIME**2 + SLOPE / TIME, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    ("text", "columns", "position", "message"),
    [
        ("u - dn(u)", (), 4, "dn needs the outward normal, normal_x and normal_y, which only"),
        ("dn(u)", ("normal_x",), 0, "dn needs the outward normal"),
        ("u*normal_x", (), 2, "'normal_x': only the points of a boundary have a normal"),
        ("normal_t", ("normal_x",), 0, "unknown name 'normal_t'"),
        ("dn(grad(u))", ("normal_x", "normal_y"), 3, "dn takes a scalar here"),
        ("diff(normal_x*u, x)", ("normal_x",), 0, "normal_x belongs to the points themselves"),
        ("diff(dn(u), x)", ("normal_x", "normal_y"), 0, "it has no derivative in x"),
    ],
)
def test_a_normal_where_there_is_none_is_refused_with_a_caret(text, columns, position, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        SCOPE.with_columns(columns).resolve(text)
    assert caught.value.position == position and str(caught.value).endswith("^")


def test_without_space_there_is_no_normal():
    with pytest.raises(ExpressionError, match="dn needs a space coordinate"):
        Scope(("u",), ("t",), (), {}).resolve("dn(u)")


def test_scopes_that_differ_in_columns_do_not_share_meanings():
    bare = SCOPE.with_columns(())
    assert SCOPE.resolve("normal_x").label == ("normal_x",)
    with pytest.raises(ExpressionError):
        bare.resolve("normal_x")
    assert SCOPE.with_columns(SCOPE.columns) is SCOPE
