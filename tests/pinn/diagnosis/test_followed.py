"""Noise that is followed in place of equations, told by the fit of data and by residuals."""

import math

import numpy as np
import pytest

import pinn
from pinn.diagnosis import follows_noise
from pinn.solution.recovery import DataFit, Recovery


def decay(sigma=0.1, count=40):
    rng = np.random.default_rng(0)
    t = np.linspace(0, 4, count)
    data = pinn.Data("u", {"t": t, "u": np.exp(-t) + 0.1 * rng.standard_normal(count)}, sigma=sigma)
    return pinn.Problem(
        domain=pinn.Time("t", 0, 4), unknowns=["u"], parameters={"k": 0.5},
        equations={"decay": "u_t + k*u"}, conditions=[pinn.Initial("u", 1.0), data],
    )  # fmt: skip


def fitted(freedom, probability=0.9, rows=40):
    return Recovery(data={"data_u": DataFit(rows, 0.1, freedom, freedom, probability)})


def test_it_is_told_where_many_data_are_spent_and_an_equation_does_not_hold():
    said = follows_noise(decay(), {"decay": 0.1}, fitted(21.0))
    assert said is not None
    assert "of the 40 of data_u about 19 are spent on fitting them, beside 1 coefficient;" in said
    assert said.endswith("as weighting={'decay': 100}")


def test_noise_whose_size_nobody_told_is_to_be_told():
    said = follows_noise(decay(None), {"decay": 0.1}, fitted(21.0, math.nan))
    assert said is not None and "about 19 are spent on fitting them, beside 1 coefficient;" in said
    assert "say how large it is (sigma of pinn.Data; about 0.1 in data_u, by what is left" in said


@pytest.mark.parametrize("residual, recovery", [
    (0.01, fitted(21.0)),  # the equation holds
    (0.1, fitted(38.0)),  # the coefficient and a start alone
    (0.1, fitted(31.5)),  # what comes in at a boundary
    (0.1, Recovery()),
])  # fmt: skip
def test_nothing_is_said_elsewhere(residual, recovery):
    assert follows_noise(decay(), {"decay": residual}, recovery) is None


def test_the_remedy_is_one():
    settings = {
        "model": pinn.MLP(width=20, depth=2), "sampling": pinn.Sampling(interior=1000),
        "training": [pinn.LevenbergMarquardt(steps=60)], "error_bars": False,
    }  # fmt: skip
    with pytest.warns(pinn.UnsolvedWarning, match="follows the noise of data"):
        weak = pinn.solve(decay(), **settings, weighting={"data_u": 100})
    strong = pinn.solve(decay(), **settings, weighting={"decay": 100})
    assert not any("follows the noise" in one for one in strong.report.warnings)
    assert abs(strong.parameters["k"] - 1) < 2 * strong.report.recovery.standard_errors["k"]
    assert weak.report.residual["decay"] > 0.04 > strong.report.residual["decay"]
