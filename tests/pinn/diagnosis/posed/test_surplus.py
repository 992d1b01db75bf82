"""More conditions than the order of the equations holds are told before training, no others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.config import load
from pinn.diagnosis import preflight
from pinn.diagnosis.posed.statement import Statement
from pinn.diagnosis.posed.surplus import surplus, surplus_that_may_agree
from pinn.training.experiment import Experiment

BC, IC, P, EQ = pinn.Dirichlet, pinn.Initial, pinn.Problem, pinn.Equation
X, Y, T = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1), pinn.Time("t", 0, 1)
CONFIGS = Path(__file__).parents[3] / "configs"
HOLE = pinn.Interval("x", 0.4, 0.7) * pinn.Interval("y", 0.3, 0.6)
PIERCED = X * Y - HOLE.named("hole")
AT_BOTH = [BC("u", 0, on="x=0"), BC("u", 3, on="x=1")]
ROTATION = {"e": "u_x - v", "f": "v_x + u"}
SOME = {"x": np.linspace(0, 1, 5), "u": np.zeros(5)}

TOO_MANY = {
    "of first order, both ends": (P(X, ["u"], {"e": "u_x + u - 1"}, AT_BOTH), "x", 2, 1),
    "both ends hard": (
        P(X, ["u"], {"e": "u_x + u - 1"}, [BC("u", "3*x", hard=True)]), "x", 2, 1,
    ),
    "a coefficient that keeps its sign": (
        P(X, ["u"], {"e": "(1 + x)*u_x + u**2 - 1"}, AT_BOTH), "x", 2, 1,
    ),
    "of first order, with a mean": (
        P(X, ["u"], {"e": "u_x + u - 1"}, [AT_BOTH[0], pinn.Integral("u", 1)]), "x", 2, 1,
    ),
    "of first order, with a value inside": (
        P(X, ["u"], {"e": "u_x + u - 1"}, [AT_BOTH[0], pinn.PointValue("u", 2, x=0.5)]), "x", 2, 1,
    ),
    "start and end": (
        P(T, ["u"], {"e": "u_t - u*(1 - u)"}, [IC("u", 0.1), pinn.Terminal("u", 2)]), "t", 2, 1,
    ),
    "two of first order": (
        P(X, ["u", "v"], ROTATION, [BC("u", 0), BC("v", 1, on="x=0")]), "x", 3, 2,
    ),
    "a flux and a value at both ends": (
        P(X, ["u", "q"], {"e": "q - u_x", "f": "q_x + 1"}, [BC("u", 0), BC("q", 0)]), "x", 4, 2,
    ),
    "of second order": (
        P(X, ["u"], {"e": "u_xx + 1"}, [BC("u", 0), pinn.Neumann("u", 1, on="x=0")]), "x", 3, 2,
    ),
    "heat with walls of both kinds": (
        P(X * T, ["u"], {"e": "u_t - u_xx"}, [IC("u", "x"), BC("u", 0), pinn.Neumann("u", 0)]),
        "x", 4, 2,
    ),
    "all around": (
        P(X * Y, ["u"], {"e": "laplacian(u) + x"}, [BC("u", 0), pinn.Neumann("u", "y - 1/2")]),
        "x", 4, 2,
    ),
    "on both sides of a hole": (
        P(PIERCED, ["u"], {"e": "laplacian(u) + x"}, [
            BC("u", 1, on="hole"), BC("u", 0, on="not hole"),
            pinn.Neumann("u", "y - 1/2", on=["x=0", "x=1"]),
        ]),
        "x", 4, 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOO_MANY)
def test_more_conditions_than_the_order_are_told_once(name):
    problem, coordinate, count, taken = TOO_MANY[name]
    (sentence,) = surplus(Statement(problem))
    assert sentence.startswith(f"more is asked for in {coordinate} than the equation")
    assert f"{count} conditions where {taken} {'is' if taken == 1 else 'are'} taken" in sentence
    at_end = "leave terminal_u out: what is there follows from the start"
    expected = at_end if coordinate == "t" else f"leave {count - taken} out"
    assert sentence.endswith(expected)


def test_of_a_time_that_runs_backwards_the_start_is_left_out():
    conditions = [IC("u", 0), BC("u", 0), pinn.Terminal("u", "sin(pi*x)")]
    (sentence,) = surplus(Statement(P(X * T, ["u"], {"e": "u_t + u_xx"}, conditions)))
    assert sentence.endswith("leave initial_u out: what is there follows from the end")
    (sentence,) = surplus(Statement(P(X * T, ["u"], {"e": "u_t - u_xx"}, conditions)))
    assert sentence.endswith("leave terminal_u out: what is there follows from the start")


def test_it_is_said_before_training():
    problem, *_ = TOO_MANY["of first order, both ends"]
    (sentence,) = preflight(Experiment(problem, pinn.MLP(4, 1)).objective())
    assert "dirichlet_u_x_low at x = 0, dirichlet_u_x_high at x = 1); unless they" in sentence


FINE = {
    "a hole with flat sides": P(
        PIERCED, ["u"], {"e": "laplacian(u)"}, [BC("u", 1, on="hole"), BC("u", 0, on="not hole")]
    ),
    "inflow": P(X * T, ["u"], {"e": "u_t + 2*u_x"}, [IC("u", 0), BC("u", 0, on="x=0")]),
    "a flux at one end": P(
        X, ["u", "q"], {"e": "q - u_x", "f": "q_x + 1"},
        [BC("u", 0, on="x=0"), BC("q", 0, on="x=1")],
    ),
    "heat in time, as a flux": P(
        X * T, ["u", "q"], {"e": "q + u_x", "f": "u_t + q_x"}, [IC("u", "x"), BC("u", "x")],
    ),
    "a coefficient": P(X, ["u"], {"e": "u_x + k*u"}, AT_BOTH, parameters={"k": 1.0}),
    "a mode": P(
        X, ["u"], {"e": "u_xx + k*u"}, [BC("u", 0), pinn.Integral("u**2", 1)],
        parameters={"k": 9.0},
    ),
    "a mode whose eigenvalue is known": P(
        X, ["u"], {"e": "u_xx + pi**2*u"}, [BC("u", 0), pinn.PointValue("u", 1, x=0.5)],
    ),
    "a mode with its norm": P(
        X, ["u"], {"e": "u_xx + pi**2*u"}, [BC("u", 0), pinn.Integral("u**2", 1)],
    ),
    "ends that agree": P(X, ["u"], {"e": "u_x + 3*u - 3*x - 1"}, [BC("u", "x + 2*exp(-3*x)")]),
    "two unknowns that agree": P(X, ["u", "v"], ROTATION, [BC("u", "sin(x)"), BC("v", "cos(x)")]),
    "a function": P(
        X, ["u"], {"e": "u_x + k"}, [*AT_BOTH, pinn.Data("u", SOME)],
        fields=[pinn.Field("k", ["x"])],
    ),
    "values of a solution, where they leave too": P(
        X * T, ["u"], {"e": "u_t + u_x"}, [IC("u", "sin(x)"), BC("u", "sin(x - t)")],
    ),
    "values of a solution, by functions": P(
        X * T, ["u", "v"], {"e": "u_t + u*u_x - v", "f": "v - 1"},
        [IC("u", lambda s: s.x), BC("u", lambda s: (s.x + s.t + s.t**2 / 2) / (1 + s.t)),
         IC("v", 1), BC("v", 1)],
    ),
    "heat at both ends of time": P(
        X * T, ["u"], {"e": "u_t - u_xx"},
        [IC("u", "sin(pi*x)"), BC("u", 0), pinn.Terminal("u", "exp(-pi**2*t)*sin(pi*x)")],
    ),
    "a value and a slope of a solution": P(
        X * Y, ["u"], {"e": "laplacian(u)"},
        [BC("u", "x**2 - y**2"), pinn.Neumann("u", "2*x", on="x=1")],
    ),
    "twice the same": P(X, ["u"], {"e": "u_xx + 1"}, [BC("u", 0), BC("u", 0, on="x=1")]),
    "a contradiction, told as one": P(
        X, ["u"], {"e": "u_xx + 1"}, [BC("u", 0), BC("u", 1, on="x=1")],
    ),
    "pieces of a face": P(
        X * Y, ["u"], {"e": "laplacian(u) + 1"},
        [BC("u", 0, on=["x=0", "y=0", "y=1"]), BC("u", 0, on="x=1"), BC("u", 0)],
    ),
    "measurements": P(X, ["u"], {"e": "u_x + u"}, [pinn.Data("u", SOME)]),
    "measurements beside conditions": P(
        X, ["u"], {"e": "u_xx + u"}, [BC("u", 0), pinn.Data("u", SOME)]
    ),
    "slopes with a value": P(
        X, ["u"], {"e": "u_xx + cos(pi*x)"}, [pinn.Neumann("u", 0), pinn.PointValue("u", 0, x=0)],
    ),
    "slopes that do not balance, told as that": P(
        X, ["u"], {"e": "u_xx + 1"}, [pinn.Neumann("u", 0), pinn.PointValue("u", 0, x=0)],
    ),
    "lane-emden": P(
        X, ["u"], {"e": "x*u_xx + 2*u_x + x*u**3"},
        [BC("u", 1, on="x=0"), pinn.Neumann("u", 0, on="x=0")],
    ),
    "slopes with a value, not linear": P(
        X, ["u"], {"e": "u_xx + u_x**2 - 1"},
        [pinn.Neumann("u", "normal_x"), pinn.PointValue("u", 0, x=0)],
    ),
    "a period": P(X * T, ["u"], {"e": "u_t + u_x"}, [IC("u", 0), pinn.Periodic("u", "x")]),
    "a period, with slopes": P(
        X * T, ["u"], {"e": "u_t - u_xx"}, [IC("u", 0), pinn.Periodic("u", "x", orders=3)],
    ),
    "slopes with a mean": P(
        X, ["u"], {"e": "u_xx + cos(pi*x)"}, [pinn.Neumann("u", 0), pinn.Integral("u", 0)],
    ),
    "an integral equation": P(
        T, ["u"], {"e": "u - 1 + integral((t - s)*at(u, t=s), s, 0, t)"}, [IC("u", 1)],
    ),
    "in from both ends": P(X, ["u"], {"e": "(x - 0.5)*u_x + u - 1"}, AT_BOTH),
    "two media": P(
        X, ["a", "b"], {"l": EQ("a_xx + 1", on="x<0.4"), "r": EQ("10*b_xx + 1", on="x>0.4")},
        [BC("a", 0, on="x=0"), BC("b", 0, on="x=1"),
         pinn.Interface(on="x=0.4", inner="a", outer="b", k_inner=1, k_outer=10)],
    ),
    "starts of an algebraic equation": P(
        T, ["x", "z"], {"a": "x_t + x - z", "b": "z**3 + z - x"}, [IC("x", 2), IC("z", 1)],
    ),
    "a velocity of walls that do not move": P(
        X * T, ["u", "v"], {"a": "u_t - v", "b": "v_t - u_xx"},
        [BC("u", 0), BC("v", 0), IC("u", "sin(pi*x)"), IC("v", 0)],
    ),
    "a magnetic field along conducting walls": P(
        X * Y * T, ["E", "H", "K"],
        {"E": "diff(E, t) - diff(K, x) + diff(H, y)", "H": "diff(H, t) + diff(E, y)",
         "K": "diff(K, t) - diff(E, x)"},
        [BC("E", 0), pinn.Operator("H*normal_x + K*normal_y"), IC("E", "sin(pi*x)*sin(pi*y)"),
         IC("H", 0), IC("K", 0)],
    ),
    "a pressure along the outlet": P(
        X * Y, ["u", "v", "p"],
        {"x": "u*u_x + v*u_y + p_x - laplacian(u)", "y": "u*v_x + v*v_y + p_y - laplacian(v)",
         "mass": "u_x + v_y"}, [BC("u", "y"), BC("v", "x"), BC("p", 0, on="x=1")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FINE)
def test_of_what_is_well_posed_nothing_is_said(name):
    assert surplus(Statement(FINE[name])) == []


@pytest.mark.parametrize("name", sorted(path.stem for path in CONFIGS.glob("*.yaml")))
def test_no_config_that_ships_has_too_many(name):
    assert surplus(Statement(load(CONFIGS / f"{name}.yaml").experiment.problem)) == []


@pytest.mark.parametrize("gap, told", [(0, 0), (1e-5, 1)])
@pytest.mark.parametrize("equation, value", [
    ("u_xx + 25*u", "sin(5*x)"), ("(1 + x)*u_x + u", "1/(1 + x)"), ("u_xxx + u_xx - 2", "x**2"),
])  # fmt: skip
def test_conditions_that_nearly_agree_are_told_apart(equation, value, gap, told):
    conditions = [BC("u", value), pinn.PointValue("u", f"{value} + {gap}", x=0.25)]
    if "xxx" in equation:
        conditions.append(pinn.Neumann("u", "2*x*normal_x"))
    assert len(surplus(Statement(P(X, ["u"], {"e": equation}, conditions)))) == told


@pytest.mark.parametrize("name", [
    "a pressure along the outlet", "a mode with its norm",
    "a velocity of walls that do not move", "a magnetic field along conducting walls",
    "slopes with a value, not linear",
])  # fmt: skip
def test_what_may_agree_is_advice(name):
    (sentence,) = surplus_that_may_agree(Statement(FINE[name]))
    assert sentence.startswith("more is asked for in ")


@pytest.mark.parametrize("name", [
    "a mode whose eigenvalue is known", "measurements", "starts of an algebraic equation",
    "ends that agree", "measurements beside conditions", "slopes with a value", "lane-emden",
    "slopes that do not balance, told as that",
])  # fmt: skip
def test_of_what_does_agree_nothing_is_advised(name):
    assert surplus_that_may_agree(Statement(FINE[name])) == []


def test_slopes_with_a_value_that_do_not_agree_are_too_many():
    def found(slope):
        conditions = [pinn.Neumann("u", slope), pinn.PointValue("u", 0, x=0)]
        return surplus(Statement(P(X, ["u"], {"e": "u_xx + u_x - 1"}, conditions)))

    assert found("normal_x") == []  # u = x
    assert len(found(0)) == 1


def test_values_of_what_is_nearly_a_solution_are_too_many():
    def found(value):
        conditions = [IC("u", "sin(x)"), BC("u", value)]
        return surplus(Statement(P(X * T, ["u"], {"e": "u_t + u_x"}, conditions)))

    assert found("sin(x - t)") == []
    assert len(found("sin(x - t)*(1 + 1e-4*t)")) == 1


def test_the_start_of_a_flow_is_none_too_many():
    flow = {"x": "u_t + p_x - laplacian(u)", "y": "v_t + p_y - laplacian(v)", "mass": "u_x + v_y"}
    conditions = [
        *(pinn.Periodic(["u", "v", "p"], name) for name in "xy"), pinn.Integral("p", 0),
        IC("u", "sin(2*pi*x)*cos(2*pi*y)"), IC("v", "-cos(2*pi*x)*sin(2*pi*y)"),
    ]  # fmt: skip
    assert _excess(flow, conditions) == []
    (sentence,) = _excess(flow, [*conditions, IC("p", 0)])
    assert sentence.startswith("more is asked for in t than the equations 'x', 'y', 'mass'")
    assert sentence.endswith("leave initial_p out: 'p' has no derivative in t, and no start")


def _excess(equations, conditions):
    statement = Statement(P(X * Y * T, ["u", "v", "p"], equations, conditions))
    return [*surplus(statement), *surplus_that_may_agree(statement)]


@pytest.mark.parametrize("cross", [False, True])
def test_walls_on_both_sides_of_a_way_through_are_no_wall_across_it(cross):
    """The undersides of a T's wings, and the stem between them."""
    bar = pinn.Interval("x", 0, 3) * pinn.Interval("y", 2, 3)
    stem = pinn.Interval("x", 1, 2) * pinn.Interval("y", 0, 4 if cross else 2.5)
    asked = pinn.Problem(
        bar | stem, ["u"], {"e": "-laplacian(u) = 1"}, [pinn.Dirichlet("u", 0)]
    )
    assert surplus(Statement(asked)) == []
