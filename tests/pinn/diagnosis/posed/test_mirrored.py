"""What a symmetry brings about in the middle is none too many, what it does not is."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis.posed.statement import Statement
from pinn.diagnosis.posed.surplus import surplus

BC, NE, OP, PV, P = pinn.Dirichlet, pinn.Neumann, pinn.Operator, pinn.PointValue, pinn.Problem
X, W, T = pinn.Interval("x", 0, 1), pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
Y = pinn.Interval("y", 0, 1)
LEVEL = OP("u_x", at={"x": 0.5})
LINE = {"x": [0.5] * 12, "y": list(np.linspace(0, 1, 12))}


def told(domain, equation, *conditions):
    return surplus(Statement(P(domain, ["u"], {"e": equation}, conditions)))


@pytest.mark.parametrize("domain, equation, conditions", [
    (X, "u_xx + exp(u)", [BC("u", 0), LEVEL]),
    (X, "u_xx + exp(u)", [BC("u", 1, on="x=0"), BC("u", 1, on="x=1"), LEVEL]),
    (X, "u_xx + exp(u)*x*(1 - x)", [OP("dn(u) + u"), LEVEL]),
    (W, "0.1*u_xx - u**3 + u", [BC("u", "x"), PV("u", 0, x=0)]),
    (X * Y, "laplacian(u) + 1", [BC("u", 0), OP("u_x", at=LINE)]),
])  # fmt: skip
def test_a_condition_of_symmetry_is_none_too_many(domain, equation, conditions):
    assert told(domain, equation, *conditions) == []


@pytest.mark.parametrize("domain, equation, conditions", [
    (X, "u_xx + exp(u)", [BC("u", "x"), LEVEL]),
    (X, "u_xx + x*exp(u)", [BC("u", 0), LEVEL]),
    (X, "u_xx + exp(u)", [BC("u", 0), OP("u_x - 1", at={"x": 0.5})]),
    (X, "u_xx + exp(u)", [BC("u", 0), OP("u_x", at={"x": 0.4})]),
    (X, "u_xx + exp(u)", [BC("u", 0), PV("u", 0, x=0.5)]),
    (X, "u_xx + exp(u) + u_x", [BC("u", 0), LEVEL]),
    (W, "0.1*u_xx - u**3 + u + 1", [BC("u", "x"), PV("u", 0, x=0)]),
])  # fmt: skip
def test_another_condition_in_the_middle_is(domain, equation, conditions):
    (sentence,) = told(domain, equation, *conditions)
    assert "3 conditions where 2 are taken" in sentence
