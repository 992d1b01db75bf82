"""Derivatives across a jump of a coefficient, which drop what the flux would have to keep."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis.posed.jumps import jumps

SQUARE = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
MEDIA = {"regions": {"left": "x < 0.5"}, "piecewise": {"k": {"left": 1, "elsewhere": 10}}}


def told(equation, domain=SQUARE, **more):
    unknowns = more.pop("unknowns", ["u"])
    return list(jumps(pinn.Problem(domain, unknowns, {"e": equation}, **more)))


def test_a_flux_with_a_coefficient_that_jumps_is_named_with_its_place():
    (said,) = told("div(k*grad(u))", **MEDIA)
    assert said.startswith("div(k*grad(u)) is taken across a jump, at x = 0.5, y = ")
    assert "an unknown of its own" in said and "interface" in said


@pytest.mark.parametrize("equation", [
    "diff(where(x < 0.3, 1, 10)*u_x, x)", "diff(sign(x - 0.4)*u, x)", "diff(floor(3*x)*u_y, x)",
    "laplacian(abs(x - 0.25)*u)", "diff(u*where(x < y, 1, 2), x, y)",
    "diff(where(x < 0.3, a, b)*u_x, x)",
    lambda s: s.diff(s.where(s.x < 0.3, 1, 10) * s.u_x, "x"),
])  # fmt: skip
def test_jumps_of_all_kinds_are_found(equation):
    assert len(told(equation, parameters={"a": 1.0, "b": 2.0})) == 1


@pytest.mark.parametrize("equation", [
    "k*u_xx + v",  # of a coefficient outside of derivatives
    "diff(k*u_y, y) + v",  # along the jump
    "diff(where(x < 0.3, 1, 0.7 + x)*u_x, x) + v",  # two sides that meet
    "diff(sign(x - 0.4)*(x - 0.4)*u_x, x) + v",  # a jump of what is 0 there
    "diff(where(x < 2, 1, 10)*u_x, x) + v",  # outside of the domain
    "diff(abs(x - 0.5)*u, x) + v",  # a kink
    "diff(where(x < 0.5, u_x, 10*v_x), x) + v",  # of unknowns, which may meet
])  # fmt: skip
def test_what_has_a_derivative_everywhere_is_not_told(equation):
    assert told(equation, unknowns=["u", "v"], **MEDIA) == []


def test_a_jump_in_a_hole_of_the_domain_is_none():
    holed = SQUARE - pinn.Disk(center=(0.5, 0.5), radius=0.2)
    inner = "diff(where((x - 0.5)**2 + (y - 0.5)**2 < 0.01, 1, 10)*u_x, x)"
    assert told(inner, holed) == []
    assert len(told(inner)) == 1


def test_it_is_warned_of_before_training():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "diff(where(x < 0.5, 1, 10)*u_x, x)"},
        [pinn.Dirichlet("u", 0, on="x=0"), pinn.Dirichlet("u", 1, on="x=1")],
    )  # fmt: skip
    (said,) = pinn.check(problem=problem, model=pinn.MLP(width=4, depth=1)).warnings
    assert "across a jump, at x = 0.5:" in said


def test_the_flux_as_an_unknown_is_the_way_out():
    """u = x/0.55 for x < 0.5: most of the fall is where k is 1."""
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u", "q"], {"flux": "q - k*u_x", "balance": "q_x"},
        [pinn.Dirichlet("u", 0, on="x=0"), pinn.Dirichlet("u", 1, on="x=1")], **MEDIA,
    )  # fmt: skip
    assert list(jumps(problem)) == []
    training = [pinn.LevenbergMarquardt(steps=60)]
    solution = pinn.solve(problem, pinn.MLP(width=8, depth=2), training=training, error_bars=False)
    x = np.array([0.25, 0.5, 0.75])
    expected = np.array([0.25, 0.5, 0.525]) / 0.55
    np.testing.assert_allclose(solution.evaluate(x=x)["u"], expected, atol=0.05)
