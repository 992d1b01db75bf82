"""Starts that break a constraint are told, those that satisfy it are not."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis.posed.starts import start_of, starts
from pinn.diagnosis.posed.statement import Statement
from pinn.diagnosis.posed.surplus import surplus, surplus_that_may_agree

BC, IC, P = pinn.Dirichlet, pinn.Initial, pinn.Problem
X, Y, T = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1), pinn.Time("t", 0, 1)
FLOW = {"x": "u_t + p_x - laplacian(u)", "y": "v_t + p_y - laplacian(v)", "mass": "u_x + v_y"}
CIRCLE = {"a": "x_t - y", "on": "x**2 + y**2 - 1"}
VORTEX = {"w": "w_t - laplacian(w)", "s": "laplacian(s) + w"}
MOVING = {"a": "u_t - v", "b": "v_t + u"}


def of(domain, equations, unknowns, *conditions, **more):
    return Statement(P(domain, unknowns, equations, conditions, **more))


BROKEN = {
    "a flow with sources": (
        of(X * Y * T, FLOW, ["u", "v", "p"], IC("u", "sin(pi*x)*sin(pi*y)"), IC("v", "x*y")),
        "initial_u, initial_v break the equation 'mass'",
    ),
    "off a circle": (of(T, CIRCLE, ["x", "y"], IC("x", 1), IC("y", 1)),
                     "break the equation 'on', which holds at the start as well: at t = 0 its two "
                     "sides are 1 apart"),
    "a stream function of another vortex": (
        of(X * Y * T, VORTEX, ["w", "s"], IC("w", "sin(pi*x)*sin(pi*y)"),
           IC("s", lambda s: s.sin(np.pi * s.x) * s.sin(np.pi * s.y))),
        "initial_s, initial_w break the equation 's'",
    ),
    "a rate that is given twice": (
        of(T, MOVING, ["u", "v"], IC("u", 1), IC("v", 0), IC("u", 3, order=1)),
        "initial_u_t, initial_v break the equation 'a'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_starts_that_break_an_equation_are_told(name):
    statement, expected = BROKEN[name]
    (sentence,) = starts(statement)
    assert expected in sentence
    assert surplus(statement) == surplus_that_may_agree(statement) == []  # told once


KEPT = {
    "a flow": of(
        X * Y * T, FLOW, ["u", "v", "p"], IC("u", "sin(pi*x)**2*sin(2*pi*y)"),
        IC("v", "-sin(2*pi*x)*sin(pi*y)**2"),
    ),
    "at rest": of(X * Y * T, FLOW, ["u", "v", "p"], IC("u", 0), IC("v", 0)),
    "on a circle, nearly": of(T, CIRCLE, ["x", "y"], IC("x", 0.6), IC("y", 0.801)),
    "one of two": of(T, CIRCLE, ["x", "y"], IC("x", 0.6)),
    "its own stream function": of(
        X * Y * T, VORTEX, ["w", "s"], IC("w", "sin(pi*x)*sin(pi*y)"),
        IC("s", "sin(pi*x)*sin(pi*y)/(2*pi**2)"),
    ),
    "a rate that agrees": of(
        T, MOVING, ["u", "v"], IC("u", 1), IC("v", 2, hard=True), IC("u", 2, order=1)
    ),
    "a rate that tells a coefficient": of(
        T, {"a": "u_t + k*u"}, ["u"], IC("u", 1), IC("u", -2, order=1),
        parameters=[pinn.Parameter("k", 0.5)],
    ),
    "a pressure that nothing gives": of(
        X * T, {"a": "u_t + p_x", "b": "p - u**2"}, ["u", "p"], IC("u", "x")
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_starts_that_satisfy_the_equations_are_left_in_peace(name):
    statement = KEPT[name]
    assert list(starts(statement)) == surplus(statement) == surplus_that_may_agree(statement) == []


def test_a_constraint_that_begins_later_is_not_broken_at_the_start():
    equations = {"a": "u_t - v", "b": pinn.Equation("u**2 + v**2 - 1", on="t > 0.5")}
    assert list(starts(of(T, equations, ["u", "v"], IC("u", 1), IC("v", 1)))) == []


def test_derivatives_of_a_start_are_those_of_its_formula():
    statement, _ = BROKEN["a flow with sources"]
    mass = next(one for one in statement.equations if one.name == "mass")
    found = start_of(statement, mass)
    x, y, _ = found.points.T
    expected = np.pi * np.cos(np.pi * x) * np.sin(np.pi * y) + x
    np.testing.assert_allclose(found.value, expected, rtol=1e-12, atol=1e-13)
    assert found.conditions == ("initial_u", "initial_v")
