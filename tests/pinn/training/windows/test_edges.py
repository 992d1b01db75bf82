"""Windows of time end where the text says that something changes: beside closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.training.windows.edges import switch_times


def cooling(source: str, end: float = 100.0) -> pinn.Problem:
    """Return T' = -T/10 + source from 0."""
    time = pinn.Time("t", 0, end)
    return pinn.Problem(time, ["T"], {"c": f"T_t + 0.1*T - {source}"}, [pinn.Initial("T", 0)])


def test_times_of_all_equations_are_edges_and_no_ends():
    problem = pinn.Problem(
        pinn.Time("t", 0, 10), ["u", "v"],
        {"a": "u_t - where(t > 4, v, 0)", "b": "v_t - abs(t - 2) - where(t >= 0, 1, 0)"},
    )  # fmt: skip
    assert list(switch_times(problem)) == [2.0, 4.0]


@pytest.mark.parametrize("begins, ends, height", [(40, 60, 2.0), (40, 40.001, 1e4)])
def test_heat_that_is_switched_on_and_off_is_solved_to_all_digits(begins, ends, height):
    """10 seconds for an error of 3.5e-3, and T = 0 without a word, before."""
    problem = cooling(f"where(t > {begins} and t < {ends}, {height}, 0)")
    solution = pinn.solve(problem, error_bars=False)
    edges = solution.experiment.model.edges(problem.domain)
    assert begins in edges and ends in edges and not solution.report.warnings
    t = np.concatenate([np.linspace(0, 100, 301), np.linspace(begins, ends, 21)])
    on = np.clip(t, begins, ends)
    right = 10 * height * (1 - np.exp(-0.1 * (on - begins))) * np.exp(-0.1 * (t - on))
    np.testing.assert_allclose(solution.evaluate(t=t)["T"], right, atol=1e-9 * right.max())


def test_windows_get_short_around_a_bell_that_no_even_point_meets():
    """70 % of error before, beside an estimate of 2.7e-15."""
    sd = 2e-5
    source = f"exp(-(t - 5.37)**2/(2*{sd}**2))/({sd}*sqrt(2*pi))"
    solution = pinn.solve(cooling(source, 10.0), error_bars=False)
    t = np.array([5.3, 5.38, 9.0])
    right = np.where(t > 5.37, np.exp(-0.1 * (t - 5.37)), 0)
    np.testing.assert_allclose(solution.evaluate(t=t)["T"], right, atol=1e-8)
