"""Where a problem is not solved, the fast waves and narrow parts of its text are named."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pinn
from pinn.diagnosis import unsolved
from pinn.diagnosis.text_scales import text_scales

X, Y, T = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1), pinn.Time("t", 0, 1)
ZERO = [pinn.Dirichlet("u", 0)]


def told(equation, domain=X, conditions=ZERO, **given):
    return text_scales(pinn.Problem(domain, ["u"], {"e": equation}, conditions, **given))


@pytest.mark.parametrize("equation, part, counts", [
    ("u_xx - cos(300*x)", "cos(300*x)", {"x": 300 / (2 * np.pi)}),
    ("u_xx - sin(k*x + 1)", "sin(k*x + 1)", {"x": 100 / (2 * np.pi)}),
    ("u_xx - sin(2*pi*30*x)*exp(x)", "sin(2*pi*30*x)", {"x": 30}),
    ("(2 + sin(90*x))*u_xx - 1", "sin(90*x)", {"x": 90 / (2 * np.pi)}),
    ("u_xx - cos(300*x**2)", "cos(300*x**2)", {"x": 300 / (2 * np.pi)}),  # at the median place
])  # fmt: skip
def test_waves_of_the_text_are_counted_and_given_as_inputs(equation, part, counts):
    (sentence,) = told(equation, constants={"k": 100.0})
    assert f"{part} of equation 'e' has " in sentence
    inner = part[4:-1]
    assert f"features [x, sin({inner}), cos({inner})]" in sentence
    for name, number in counts.items():
        found = float(re.search(rf"has (\S+) waves along {name}", sentence)[1])
        assert found == pytest.approx(number, rel=0.06)


def test_waves_of_conditions_and_in_several_coordinates_are_named():
    moving = [pinn.Initial("u", "sin(90*x)"), pinn.Dirichlet("u", "-sin(60*t)", on="x=0")]
    (sentence,) = told("u_t + u_x", X * T, moving)
    assert "sin(90*x) of condition 'initial_u' has 14 waves along x" in sentence
    assert "sin(60*t) of condition 'dirichlet_u_x_low' has 9.5 waves along t" in sentence
    (sentence,) = told("u_xx + u_yy - sin(80*(x + 2*y))", X * Y)
    assert "has 13 waves along x and 25 waves along y, across the domain" in sentence


@pytest.mark.parametrize("equation", [
    "u_xx + 1", "u_xx - sin(3*pi*x)", "u_xx + sin(90*u)", "u_xx - exp(-(x - 0.5)**2/0.1)",
])  # fmt: skip
def test_of_what_is_smooth_nothing_is_said(equation):
    assert told(equation) == []


@pytest.mark.parametrize("equation, place", [
    ("diff((1 - 0.999*exp(-((x - 0.3)/0.0005)**2))*u_x, x) + 1", r"x = 0\.3\d* \(0\.000\d+ wide\)"),
    ("(1 + 9*exp(-abs(x - 0.7)/1e-3))*u_xx + 1", r"x = 0\.7\d* \(0\.00\d+ wide\)"),
    ("where(abs(x - 0.4) < 1e-3, 0.01, 1)*u_xx + 1", r"x = 0\.4\d* \(0\.00\d+ wide\)"),
])  # fmt: skip
def test_a_coefficient_in_a_small_place_is_named_once(equation, place):
    (sentence,) = told(equation)
    assert len(re.findall(r"\d wide\)", sentence)) == 1 and re.search(place, sentence)
    assert "take the flux for an unknown of its own" in sentence


def test_a_source_in_a_small_place_has_no_flux():
    (sentence,) = told("u_xx + exp(-((x - 0.3)/0.001)**2)")
    assert "at x = 0.3" in sentence and "flux" not in sentence


def test_it_is_said_of_what_is_not_solved_alone():
    problem = pinn.Problem(X, ["u"], {"e": "u_xx - cos(300*x)"}, ZERO)
    assert "Besides, the text has waves" in unsolved({"e": 0.5}, problem=problem)
    assert unsolved({"e": 1e-3}, problem=problem) is None
    assert "Besides" not in unsolved({"e": 0.5})


def test_the_inputs_that_are_named_solve_it():
    equation, exact = "u_xx - cos(k*x)", "-cos(k*x)/k**2"
    problem = pinn.Problem(
        X, ["u"], {"e": equation}, [pinn.Dirichlet("u", exact)], constants={"k": 300.0}
    )
    (sentence,) = text_scales(problem)
    features = re.search(r"features \[(.*?)\] \(", sentence)[1].split(", ")
    model = pinn.AutoModel(features=features)
    solution = pinn.solve(problem, model, seconds=60, error_bars=False)
    x = np.linspace(0, 1, 1001)
    right = -np.cos(300 * x) / 300**2
    found = solution.evaluate(x=x)["u"].ravel()
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-6 * np.abs(right).max())
