"""Where comparisons and differences in a text change their sign."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.residuals import crossings, switched


def switches(text, **constants):
    time = pinn.Time("t", 0, 10)
    problem = pinn.Problem(time, ["u"], {"e": f"u_t - ({text})"}, constants=constants)
    (residual,) = problem.residuals
    return crossings(switched(residual.left.tree), "t", (0.0, 10.0), problem.constants)


@pytest.mark.parametrize("text, times", [
    ("where(t > 4 and t < 4.002, 1, 0)", [4, 4.002]),
    ("where(2*t >= a, 1, 0)", [3.5]),
    ("where(abs(t - 4) < 1e-9, 1, 0)", [4 - 1e-9, 4, 4 + 1e-9]),
    ("sign(t - 3)", [3]),
    ("max(t - 6, 0) + min(2, t)", [2, 6]),
    ("where(sin(t) > 0.5, u, 0)", [np.pi / 6, 5 * np.pi / 6, 13 * np.pi / 6, 17 * np.pi / 6]),
    ("exp(-(t - 5)**2)*u", []),
    ("where(u > t, 1, 0)", []),
    ("where(sin(200*t) > 0, 1, 0)", []),
])  # fmt: skip
def test_times_of_a_text(text, times):
    np.testing.assert_allclose(switches(text, a=7.0), times, rtol=1e-14)


def test_numbers_of_the_text_are_met_exactly():
    assert list(switches("where(t > 4 and t < 4.002, 1, 0)")) == [4.0, 4.002]
