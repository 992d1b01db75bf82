"""What is fitted in place of an equation, and what asks for more of it."""

from __future__ import annotations

import pytest

import pinn
from pinn.training.judging.fitted import POINTS, fitted_in


def fitted(equation, by_nodes=True):
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"c": equation}, [pinn.Initial("u", 1)], constants={"a": 0.3}
    )
    return fitted_in(problem.residuals[0], by_nodes)


@pytest.mark.parametrize("equation", [
    "integral(at(u_t, t=s)/sqrt(t - s), s, 0, t)/sqrt(pi) + u",
    "integral(at(u_t, t=s)*(t - s)**(-0.5), s, 0, t) + u",
    "integral(at(u_t, t=s)/(t - s)**a, s, 0, t) + u",
    "u_t + integral(u/sqrt(s), s, 0, 1)",
])  # fmt: skip
def test_a_kernel_that_is_infinite_at_an_end_takes_no_nodes_but_another_variable(equation):
    found = fitted(equation)
    assert found.singular and not found.setting
    assert "no number of nodes" in found.remedy and "howto/memory.md" in found.remedy


@pytest.mark.parametrize("equation, setting", [
    ("u_t + integral(exp(t - s)*u, s, 0, t)", "nodes=40 in place of 20"),
    ("u_t + integral(at(u, t=s)/sqrt(t - s + 1), s, 0, t)", "nodes=40 in place of 20"),
    ("u_t + integral(at(u, t=s)/(1 + s)**2, s, 0, t, nodes=30)", "nodes=60 in place of 30"),
    ("2*sqrt(t/pi)*integral(at(u_t, t=t*(1 - z**2)), z, 0, 1) + u", "nodes=40 in place of 20"),
])  # fmt: skip
def test_others_take_twice_the_nodes(equation, setting):
    found = fitted(equation)
    assert found.setting == setting and not found.singular and "more nodes" in found.remedy


def test_points_are_fitted_where_nodes_make_no_difference():
    assert fitted("u_t + integral(exp(t - s)*u, s, 0, t)", by_nodes=False) is POINTS
