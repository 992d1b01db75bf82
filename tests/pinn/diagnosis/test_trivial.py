"""Problems that vanishing unknowns satisfy are told of before training."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.diagnosis.preflight import statement_of
from pinn.diagnosis.trivial import trivial

X, TIME = pinn.Interval("x", 0, 1), pinn.Time("t", 0, 1)
FIXED = [pinn.Dirichlet("u", 0)]


def said(domain, equations, conditions=FIXED, unknowns=("u",), **more) -> list[str]:
    problem = pinn.Problem(domain, list(unknowns), equations, list(conditions), **more)
    return list(trivial(statement_of(problem)))


@pytest.mark.parametrize(("domain", "equations", "more"), [
    (X, {"e": "u_xx + lam*u"}, {"parameters": {"lam": 10.0}}),  # an eigenvalue without a norm
    (X, {"e": "u_xx + u**3"}, {}),
    (X, {"e": lambda s: s.u_xx + s.u * s.u_x}, {}),
    (X, {"e": "u_xx - k*u"}, {"fields": [pinn.Field("k", ["x"])]}),
    (X * TIME, {"e": "u_t - u_xx"}, {"conditions": [*FIXED, pinn.Initial("u", 0, hard=True)]}),
    (X, {"e": "u_xx"}, {"conditions": [pinn.Dirichlet("u", "sin(pi*x)")]}),  # 1e-16 at x = 1
])  # fmt: skip
def test_that_nothing_satisfies_all_is_said(domain, equations, more):
    (sentence,) = said(domain, equations, **more)
    assert sentence.startswith("u = 0 everywhere satisfies all equations and conditions")


def test_all_unknowns_are_named():
    equations = {"e": "u_x - v", "f": "v_x + u"}
    (sentence,) = said(X, equations, [pinn.Dirichlet("u", 0, on="x=0")], ("u", "v"))
    assert sentence.startswith("u = v = 0 everywhere")


@pytest.mark.parametrize(("domain", "equations", "conditions"), [
    (X, {"e": "u_xx + 1"}, FIXED),
    (X, {"e": "u_xx"}, [pinn.Dirichlet("u", "x")]),
    (X * TIME, {"e": "u_t - u_xx"}, [*FIXED, pinn.Initial("u", "sin(pi*x)", hard=True)]),
    (X, {"e": "u_xx"}, [*FIXED, pinn.Data("u", {"x": np.array([0.5]), "u": np.array([1.0])})]),
    (X, {"e": "u_xx + 10*u"}, [*FIXED, pinn.Integral("u**2", 1.0)]),
    (X, {"e": "u*u_x - log(u)"}, FIXED),
])  # fmt: skip
def test_nothing_is_said_where_something_is_asked_for(domain, equations, conditions):
    assert said(domain, equations, conditions) == []
