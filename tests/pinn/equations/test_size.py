"""Large problems: twice the names, equations or terms are about twice the work."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.equations.combine import combine
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.leaves import Laplacian
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns
from pinn.expressions import ExpressionError

X, TIME = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)


def many_unknowns(n):
    pinn.Problem(
        X * TIME, [f"u{i}" for i in range(n)],
        {f"e{i}": f"u{i}_t - u{i}_xx + u{(i + 1) % n}" for i in range(n)},
        [pinn.Initial(f"u{i}", i) for i in range(n)],
    )  # fmt: skip


def many_equations(n):
    pinn.Problem(X * TIME, ["u"], {f"e{i}": f"u_t - {i + 1}*u_xx" for i in range(n)})


def many_conditions(n):
    points = np.linspace(0, 1, n)
    scope = Scope(("u",), ("x", "t"), ("x",), {}, tuple(f"k{i}" for i in range(n)))
    for point in points:
        Term("condition", f"x*{point}", scope.of_values())


def many_coordinates(n):
    names = tuple(f"x{i}" for i in range(n))
    scope = Scope(("u",), names, names, {f"c{i}": 1.0 + i for i in range(n)})
    tree = scope.resolve("+".join(f"c{i}*diff(u, x{i}, 2)" for i in range(n)))
    JetPlan([Laplacian("u")], scope)
    combine(tree, scope, T.float64)


def many_constants(n):
    scope = Scope(("u",), ("x",), ("x",), {f"c{i}": 1.0 + i for i in range(n)})
    for i in range(n):
        scope.resolve(f"c{i}*u_x")


@pytest.mark.parametrize(
    "work", [many_unknowns, many_equations, many_conditions, many_coordinates, many_constants]
)
def test_work_grows_with_the_size_of_a_problem(work, calls_made):
    work(3)  # what is done once
    small, large = calls_made(work, 60), calls_made(work, 240)
    assert large < 4.4 * small


@pytest.mark.parametrize("kind, plan", [(NestedValues, NestedPlan), (JetValues, JetPlan)])
def test_an_unknown_costs_the_same_among_few_and_among_many(kind, plan, calls_made):
    def work(n):
        scope = Scope(tuple(f"u{i}" for i in range(n)), ("x",), ("x",), {})
        term = Term("equation", "u1_xx - u0", scope)

        class Constant(T.nn.Module):
            def forward(self, points):
                return points * T.ones(n, dtype=T.float64)

        columns = coordinate_columns(np.ones((2, 1)), T.float64, "cpu")
        values = kind(Constant(), scope, columns, {}, plan(term.leaves, scope))
        return calls_made(term.evaluate, values, {})

    work(2)
    assert work(300) < 1.2 * work(20)


def test_a_text_is_parsed_and_resolved_once(monkeypatch):
    parsed = []
    for name in ("parse", "parse_equation"):
        parse = getattr(pinn.expressions, name)
        monkeypatch.setattr(
            f"pinn.expressions.{name}",
            lambda text, tables=(), parse=parse: parsed.append(text) or parse(text, tables),
        )
    scope = Scope(("u",), ("x", "t"), ("x",), {})
    trees = {id(scope.resolve("u_t - u_xx")) for _ in range(3)}
    assert len(trees) == 1 and parsed == ["u_t - u_xx"]
    pinn.Problem(X * TIME, ["u"], {"e": "u_t - u_xx"}, [pinn.Initial("u", "sin(x)")])
    assert sorted(parsed[1:]) == ["sin(x)", "u", "u_t - u_xx"]


def test_a_high_derivative_is_no_more_work_than_its_order(calls_made):
    def work(order):
        scope = Scope(("u",), ("x", "y"), ("x", "y"), {})
        text = "u*u"
        for _ in range(order):
            text = f"diff({text}, x)"
        term = Term("equation", text, scope)

        class Wave(T.nn.Module):
            def forward(self, points):
                return T.sin(points[:, :1] + points[:, 1:])

        columns = coordinate_columns(np.full((2, 2), 0.3), T.float64, "cpu")
        values = JetValues(Wave(), scope, columns, {}, JetPlan(term.leaves, scope))
        return term.evaluate(values, TENSOR_FUNCTIONS)

    work(2)
    assert calls_made(work, 12) < 100 * calls_made(work, 2)
    # The twelfth derivative of sin(s)**2 = (1 - cos(2 s)) / 2.
    np.testing.assert_allclose(work(12).detach().numpy(), -(2**11) * np.cos(1.2), rtol=1e-12)


@pytest.mark.parametrize("text", ["diff(u, {})", "at(diff(u, {}), x0=1)"])
def test_a_derivative_in_more_coordinates_than_can_be_computed_is_refused(text):
    names = tuple(f"x{k}" for k in range(9))
    scope = Scope(("u",), names, names, {})
    scope.resolve(text.format(", ".join(names[:8])))
    with pytest.raises(ExpressionError, match="order 9 in 9 coordinates has more than 5000 terms"):
        scope.resolve(text.format(", ".join(names)))
