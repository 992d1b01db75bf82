"""Flows that do not balance are told of, and errors of the quadrature are not."""

from __future__ import annotations

from math import pi

import pytest

import pinn
from pinn.diagnosis.posed.balance import unbalanced, unbalanced_flow
from pinn.diagnosis.posed.statement import Statement

X, Y = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)
BC = pinn.Dirichlet


def flow(inflow, outflow):
    """Return a flow of no divergence from x = 0 to x = 1 between walls."""
    conditions = [
        BC("u", inflow, on="x=0"), BC("u", outflow, on="x=1"), BC("u", 0, on=["y=0", "y=1"]),
        BC("v", 0),
    ]  # fmt: skip
    equations = {"mass": "u_x + v_y", "vortex": "u_y - v_x"}
    problem = pinn.Problem(X * Y, ["u", "v"], equations, conditions)
    return list(unbalanced_flow(Statement(problem)))


@pytest.mark.parametrize("inflow, outflow", [
    ("4*y*(1 - y)", "2/3"), ("where(y < 0.5, where(y > 0.25, 1, 0), 0)", "0.25"),
    ("where(y > 0.3 and y < 0.31, 1, 0)", "0.01"),
    ("exp(-((y - 0.5)/0.01)**2)", "0.01*sqrt(pi)"),
    ("exp(-((y - 0.37)/1e-4)**2)", "1e-4*sqrt(pi)"),
    ("max(0, (y - 0.4)*(0.42 - y))", "0.02**3/6"),
])  # fmt: skip
def test_flows_that_balance_are_not_told_of(inflow, outflow):
    assert flow(inflow, outflow) == []


@pytest.mark.parametrize("inflow, outflow, missing", [
    ("4*y*(1 - y)", "0.6", "-0.0666667"), ("where(y < 0.5, 1, 0)", "0.25", "-0.25"),
])  # fmt: skip
def test_those_that_do_not_are(inflow, outflow, missing):
    (said,) = flow(inflow, outflow)
    assert f"the conditions give {missing}" in said and "'mass'" in said


@pytest.mark.parametrize("slope, count", [
    ("1", 0), ("2", 1), ("where(y > 0.3 and y < 0.33, 1/0.03, 0)", 0),
])  # fmt: skip
def test_slopes_and_sources_are_compared_in_the_same_way(slope, count):
    slopes = [
        pinn.Neumann("u", slope, on="x=1"), pinn.Neumann("u", 0, on=["x=0", "y=0", "y=1"]),
    ]  # fmt: skip
    problem = pinn.Problem(X * Y, ["u"], {"heat": "laplacian(u) - 1"}, slopes)
    assert len(list(unbalanced(Statement(problem)))) == count


@pytest.mark.parametrize(("inflow", "outflow", "count"), [
    ("t*4*y*(1 - y)", "t*2/3", 0), ("4*y*(1 - y)*sin(3*t)", "2/3*sin(3*t)", 0),
    ("4*y*(1 - y)*sin(3*t)", "0", 1), ("4*y*(1 - y)", "2/3*t", 1),
])  # fmt: skip
def test_flows_balance_at_each_time(inflow, outflow, count):
    """Over all of the time the third one comes and goes."""
    conditions = [
        BC("u", inflow, on="x=0"), BC("u", outflow, on="x=1"), BC("u", 0, on=["y=0", "y=1"]),
        BC("v", 0), pinn.Initial("u", 0), pinn.Initial("v", 0),
    ]  # fmt: skip
    equations = {
        "along": "u_t + u*u_x + v*u_y + p_x - laplacian(u)",
        "across": "v_t + u*v_x + v*v_y + p_y - laplacian(v)", "mass": "u_x + v_y",
    }
    domain = X * Y * pinn.Time("t", 0, 2 * pi / 3)
    problem = pinn.Problem(domain, ["u", "v", "p"], equations, conditions)
    said = list(unbalanced_flow(Statement(problem)))
    assert len(said) == count
    assert all("at t = " in one and "'mass'" in one for one in said)


@pytest.mark.parametrize(("through", "count"), [("t", 0), ("1", 1)])
def test_slopes_balance_sources_at_each_time(through, count):
    conditions = [
        pinn.Neumann("u", through, on="x=1"), pinn.Neumann("u", 0, on=["x=0", "y=0", "y=1"]),
    ]  # fmt: skip
    domain = X * Y * pinn.Time("t", 0, 1)
    problem = pinn.Problem(domain, ["u"], {"heat": "laplacian(u) - t"}, conditions)
    said = list(unbalanced(Statement(problem)))
    assert len(said) == count and all("at t = " in one for one in said)


def test_a_rod_that_stores_what_flows_in_is_not_told_of():
    rod = pinn.Problem(
        X * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - u_xx - 1"},
        [pinn.Neumann("u", 0), pinn.Initial("u", 0)],
    )
    assert not list(unbalanced(Statement(rod)))


@pytest.mark.parametrize("domain", [X * Y, X * Y * pinn.Time("t", 0, 1)])
def test_rounding_of_an_equation_without_a_source_is_no_flow(domain):
    for k in range(20):
        equation = {"heat": f"{0.1 + 0.37 * k}*(u_xx + u_yy)"}
        problem = pinn.Problem(domain, ["u"], equation, [pinn.Neumann("u", 0)])
        assert not list(unbalanced(Statement(problem)))


def test_an_equation_on_a_part_of_the_domain_is_not_integrated_over_all_of_it():
    slopes = [pinn.Neumann("u", 1, on="x=1"), pinn.Neumann("u", 0, on=["x=0", "y=0", "y=1"])]
    left = pinn.Equation("laplacian(u) - 2", on="x < 0.5")
    assert not list(unbalanced(Statement(pinn.Problem(X * Y, ["u"], {"heat": left}, slopes))))
    whole = pinn.Problem(X * Y, ["u"], {"heat": "laplacian(u) - 2"}, slopes)
    assert list(unbalanced(Statement(whole)))
