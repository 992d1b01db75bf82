"""Known parts that are narrow are found by their text, wherever they are: beside closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pinn
from pinn.residuals import narrow
from pinn.sampling import Points

X, Y, T10 = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1), pinn.Time("t", 0, 10)


def found_in(domain, equation, conditions=(), number=0, **constants):
    """Return what is narrow in a residual of a problem."""
    problem = pinn.Problem(domain, ["u"], {"e": equation}, list(conditions), constants=constants)
    return narrow(problem.residuals[number], problem.constants)


def test_a_pulse_that_comparisons_bound_is_found_with_its_share():
    text = "where(t > 4 and t < 4.002 and abs(x - 0.5) < 0.05, 5e3, 0)"
    (one,) = found_in(X * T10, f"u_t - 0.1*u_xx - {text}")
    x, t = one.points.T
    assert np.all((t > 4) & (t < 4.002) & (np.abs(x - 0.5) < 0.05))
    assert one.share == pytest.approx(2e-4 * 0.1, rel=0.1)
    assert one.added and np.all(one.change == 5e3)
    place = one.place({"x": (0, 1), "t": (0, 10)})
    assert place == "x = 0.5 (0.1 wide), t = 4.001 (0.002 wide)"
    assert not one.is_met_by(10**5) and one.is_met_by(10**6)


@pytest.mark.parametrize("sd", [1e-2, 2e-5, 1e-9])
def test_half_of_a_bell_is_within_two_thirds_of_its_deviation(sd):
    (one,) = found_in(T10, "u_t + u - exp(-(t - 5.37)**2/(2*sd**2))/(sd*sqrt(2*pi))", sd=sd)
    half = 0.67449 * sd
    assert np.all(np.abs(one.points[:, 0] - 5.37) <= half * 1.1)
    assert one.share == pytest.approx(2 * half / 10, rel=0.1)


def test_half_of_a_round_bell_is_in_a_disc():
    bell = "exp(-((x - 0.37)**2 + (y - 0.61)**2)/(2*s**2))"
    (one,) = found_in(X * Y, f"laplacian(u) + {bell}", s=1e-3)
    radius = 1e-3 * math.sqrt(2 * math.log(2))
    assert one.share == pytest.approx(math.pi * radius**2, rel=0.15)


def test_a_front_that_moves_is_found_and_a_ring():
    (front,) = found_in(X * T10, "u_t - exp(-(x - 0.1*t)**2/1e-10)")
    assert np.all(np.abs(front.points[:, 0] - 0.1 * front.points[:, 1]) < 1e-5)
    # half within 0.477 of its width, along all of time
    assert front.share == pytest.approx(2 * 0.4769e-5, rel=0.1)
    (ring,) = found_in(X * Y, "laplacian(u) + where(abs(sqrt(x**2 + y**2) - 0.7) < 1e-5, 1, 0)")
    assert ring.share == pytest.approx(math.pi / 2 * 0.7 * 2e-5, rel=0.1)


def test_conditions_before_unknowns_and_values_at_an_edge_are_known_too():
    (one,) = found_in(X, "u_xx + where(abs(x - 0.3) < 1e-6, 50*u, 0)")
    assert not one.added and np.all(np.abs(one.points[:, 0] - 0.3) < 1e-6)
    edge = pinn.Dirichlet("u", "where(abs(x - 0.2) < 1e-5, 1, 0)", on="y=1")
    (one,) = found_in(X * Y, "laplacian(u)", [edge], 1)
    assert np.all(one.points[:, 1] == 1) and one.share == pytest.approx(2e-5, rel=0.1)
    start = pinn.Initial("u", "exp(-(x - 0.5)**2/1e-8)")
    (one,) = found_in(X * T10, "u_t - u_xx", [start], 1)
    assert np.all(one.points[:, 1] == 0) and one.share < 1.1e-4


def test_a_pulse_outside_of_the_domain_or_at_its_bound_is_none():
    assert found_in(T10, "u_t - where(t > 11 and t < 11.1, 1, 0)") == ()
    assert found_in(pinn.Time("t", 4, 10), "u_t - where(t > 4, 1, 0)") == ()


@pytest.mark.parametrize("text", ["sin(pi*x)", "x**3 - 1", "2", "u*x", "1/sqrt(x)"])
def test_what_is_broad_is_met(text):
    assert all(one.is_met_by(100) for one in found_in(X, f"u_xx - ({text})"))


def test_a_kink_and_what_fills_a_tenth_are_not_narrow():
    assert found_in(X, "u_xx - max(x - 0.5, 0)") == ()
    assert found_in(X, "u_xx - where(x > 0.5 and x < 0.6, 1, 0)") == ()
    assert len(found_in(X, "u_xx - where(x > 0.5 and x < 0.52, 1, 0)")) == 1


def test_a_part_with_a_value_from_elsewhere_is_not_known():
    assert found_in(T10, "u_t + where(t > 1, at(u, t=max(t - 1, 0)), 1)") == ()


def test_what_has_no_end_is_not_told_to_be_narrow():
    assert found_in(X, "u_x - 1/x") == ()


def test_who_has_points_there_meets_it():
    (one,) = found_in(T10, "u_t - where(t > 4 and t < 4.001, 1, 0)")
    few = np.linspace(0, 10, 100)[:, None]
    assert not one.is_met(Points(few))
    assert one.is_met(Points(np.append(few, [[4.0002], [4.0005], [4.0008]], axis=0)))
