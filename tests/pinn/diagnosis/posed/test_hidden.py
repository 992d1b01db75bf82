"""Constraints that hide their derivatives are told, with the index of the system."""

from __future__ import annotations

import pytest

import pinn
from pinn.diagnosis.posed.hidden import hidden
from pinn.diagnosis.posed.statement import Statement

FORCES = {"fx": "x_tt + lam*x", "fy": "y_tt + lam*y + 9.81"}
T3 = pinn.Time("t", 0, 3)


def told(equations, unknowns=("x", "y", "lam"), domain=T3):
    return list(hidden(Statement(pinn.Problem(domain, list(unknowns), equations))))


def test_the_rod_of_a_pendulum_makes_a_system_of_index_3():
    (said,) = told({**FORCES, "rod": "x**2 + y**2 - 1"})
    assert said.startswith("equation 'rod' has to hold with its derivatives up to order 2 in t")
    assert "index 3" in said and "diff(x**2 + y**2 - 1, t, 2)" in said


@pytest.mark.parametrize("rod", ["x*x_t + y*y_t", "diff(x**2 + y**2 - 1, t, 2)"])
def test_its_derivatives_are_not_told_of(rod):
    assert told({**FORCES, "rod": rod}) == []


def test_systems_of_index_1_and_of_none_are_not():
    assert told({"a": "u_t - v", "b": "v - u**2"}, ["u", "v"]) == []
    assert told({"a": "u_t - v", "b": "v_t + u"}, ["u", "v"]) == []


def test_a_flow_is_not_whose_pressure_is_in_no_derivative_in_time():
    plane = pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1)
    assert told({"m": "u_x", "f": "u_t + p_x - u_xx"}, ["u", "p"], plane) == []
