"""Equations that follow from others are told with the unknowns that they leave free, no others."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis.posed.dependent import dependent
from pinn.diagnosis.posed.statement import Statement

BC, IC, P, EQ = pinn.Dirichlet, pinn.Initial, pinn.Problem, pinn.Equation
X, Y, T = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1), pinn.Time("t", 0, 1)


def said(domain, unknowns, equations, conditions=(), **more):
    return list(dependent(Statement(P(domain, unknowns, equations, conditions, **more))))


DEPENDENT = {
    "a multiple": (X * T, ["u", "v"], {"a": "u_t + v_x - 1", "b": "2*u_t + 2*v_x - 2"},
                   "the equation 'b' is 2*'a': it says nothing more, so that one of 'u', 'v'"),
    "another text": (X * Y, ["u", "v"], {"a": "laplacian(u) - v", "b": "v - u_xx - u_yy"},
                     "the equation 'b' is -'a': it says nothing more"),
    "a sum": (T, ["u", "v", "w"], {"a": "u_t + v", "b": "v_t - w", "c": "u_t + v - 3*v_t + 3*w"},
              "the equation 'c' is 'a' - 3*'b': it says nothing more"),
    "a sum with a function": (
        T, ["u", "v", "w"],
        {"a": lambda s: s.u_t + s.v - s.t, "b": "v_t - w", "c": "u_t + v + v_t - w - t"},
        "the equation 'c' is 'a' + 'b'",
    ),
    "a sum but for the right side": (
        T, ["u", "v", "w"], {"a": "u_t + v", "b": "v_t - w", "c": "u_t + v + v_t - w - 1"},
        "the left side of the equation 'c' is made of those of 'a' and 'b' ('a' + 'b'), and its "
        "right side is not: no function",
    ),
    "differentiated": (X * Y * T, ["u", "v", "p"],
                       {"x": "u_t + p_x", "rate": "u_xt + v_yt", "mass": "u_x + v_y"},
                       "the left side of the equation 'rate' is made of that of 'mass', diff"),
    "by a function of the place": (
        X, ["u", "v"], {"a": "u_x - x*v", "b": "(1 + x)*(u_x - x*v)"},
        "the equation 'b' follows from 'a'",
    ),
    "by an unknown": (T, ["u", "v"], {"a": "u_t + v", "b": "u*(u_t + v)"},
                      "the equation 'b' follows from 'a'"),
    "a sum that is not linear": (
        T, ["s", "i", "r"], {"s": "s_t + s*i", "i": "i_t - s*i + r", "sum": "s_t + i_t + r"},
        "the equation 'sum' follows from 's' and 'i': where those hold it says nothing more, so "
        "that one of 's', 'i', 'r' is left free",
    ),
    "the one that is free alone": (
        T, ["u", "v", "w"], {"a": "u_t + u", "b": "v_t - u", "c": "u_t + u + w_t - w_t"},
        "so that 'w' is left free",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEPENDENT)
def test_what_follows_from_others_is_told(name):
    domain, unknowns, equations, expected = DEPENDENT[name]
    (sentence,) = said(domain, unknowns, equations)
    assert expected in sentence


FLOW = {"x": "p_x - laplacian(u)", "y": "p_y - laplacian(v)", "mass": "u_x + v_y"}
CURL = "(v_x - u_y)"
INDEPENDENT = {
    "stokes": (X * Y, ["u", "v", "p"], FLOW),
    "navier-stokes": (X * Y, ["u", "v", "p"], {
        "x": "u*u_x + v*u_y + p_x - 0.1*laplacian(u)",
        "y": "u*v_x + v*v_y + p_y - 0.1*laplacian(v)", "mass": "u_x + v_y"}),
    "pressure for mass": (X * Y, ["u", "v", "p"], FLOW | {"mass": "laplacian(p)"}),
    "cauchy-riemann": (X * Y, ["u", "v"], {"a": "u_x - v_y", "b": "u_y + v_x"}),
    "curl of curl, a gauge left open": (X * Y, ["u", "v"], {
        "x": f"diff({CURL}, y) - 1", "y": f"-diff({CURL}, x)"}),
    "a square, flat where it holds": (T, ["u", "v"], {"a": "(u_t + v)**2", "b": "v_t - u"}),
    # frozen in time the symbol is singular, and t*v is determined all the same
    "singular at each time alone": (
        T, ["u", "v"], {"a": "u_t + t*v_t + 2*v - 1", "b": "u + t*v - t"}),
    "a pendulum": (T, ["x", "y", "f"], {
        "x": "x_tt + f*x", "y": "y_tt + f*y + 9.81", "rod": "x**2 + y**2 - 1"}),
    "equal equations of two unknowns": (T, ["u", "v"], {"a": "u_t + u", "b": "v_t + v"}),
    "a conserved sum in place of one": (T, ["s", "i", "r"], {
        "s": "s_t + s*i", "i": "i_t - s*i + i", "sum": "s + i + r - 1"}),
    "complementary": (X, ["u", "f"], {"a": "u_xx + f + 1", "b": "max(0, 0.1 - u)*f"}),
    "two media": (X, ["a", "b"], {"l": EQ("a_xx + 1", on="x<0.5"), "r": EQ("b_xx", on="x>0.5")}),
    "a delay": (T, ["u", "v"], {"a": "u_t - at(v, t=t/2)", "b": "u_t - v"}),
}  # fmt: skip


@pytest.mark.parametrize("name", INDEPENDENT)
def test_of_what_determines_its_unknowns_nothing_is_said(name):
    assert said(*INDEPENDENT[name]) == []


def test_data_may_stand_for_an_equation():
    equations = {"a": "u_t + v", "b": "2*u_t + 2*v"}
    data = {"t": np.linspace(0.1, 0.9, 5), "v": np.zeros(5)}
    assert len(said(T, ["u", "v"], equations, [IC("u", 1)])) == 1
    assert said(T, ["u", "v"], equations, [IC("u", 1), pinn.Data("v", data)]) == []


def test_values_around_a_disk_stand_for_no_equation():
    equations = {"a": "u_x + v_y", "b": "2*u_x + 2*v_y"}
    around = [BC("u", "x"), BC("v", "-y"), pinn.Integral("u", 0)]
    (sentence,) = said(pinn.Disk((0, 0), 1), ["u", "v"], equations, around)
    assert "the equation 'b' is 2*'a'" in sentence


def test_a_pair_with_other_right_sides_is_told_as_a_contradiction_alone():
    assert said(T, ["u", "v"], {"a": "u_t + v", "b": "2*u_t + 2*v - 1"}) == []
