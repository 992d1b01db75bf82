"""Coefficients that data cannot tell apart are named, and have no standard error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pinn
from pinn.diagnosis.posed.multiples import free_coefficients, multiples
from pinn.diagnosis.posed.statement import statement_of

X, TIME = pinn.Interval("x", 0, 1), pinn.Time("t", 0, 2)


def stated(equations, parameters, conditions=(), domain=X, unknowns=("u",)):
    problem = pinn.Problem(
        domain, list(unknowns), equations, list(conditions), parameters=parameters
    )
    return statement_of(problem)


@pytest.mark.parametrize(("equations", "parameters", "said"), [
    ({"d": "k*u_xx + q"}, {"k": 0.5, "q": 1.0},
     "more than the ratios of the parameters 'k', 'q': equation 'd' holds as well"),
    ({"d": "a*b*u_x + u"}, {"a": 1.0, "b": 2.0}, "the parameters 'a', 'b' apart: equation 'd'"),
    ({"d": "a*(u_x + u**2)"}, {"a": 1.0}, "no data tell the parameter 'a': equation 'd' holds"),
    ({"d": "k*u_xx + q", "e": "k*v_x + v*k"}, {"k": 0.5, "q": 0.0},
     "'k', 'q': equation 'd' and equation 'e' hold as well"),
    ({"d": lambda s: s.k * s.u_xx + s.q}, {"k": 0.5, "q": 1.0}, "ratios of the parameters"),
])  # fmt: skip
def test_coefficients_that_may_be_multiplied(equations, parameters, said):
    (sentence,) = multiples(stated(equations, parameters, unknowns=("u", "v")[: len(equations)]))
    assert said in sentence
    assert sentence.endswith("give one as a constant") or sentence.endswith("leave it out")


@pytest.mark.parametrize(("equations", "parameters"), [
    ({"d": "k*u_xx + q + u"}, {"k": 0.5, "q": 1.0}),
    ({"d": "a*u_x + b*u", "e": "b*v_x + v"}, {"a": 0.0, "b": 2.0}),
    ({"d": "a*u_x + u**b"}, {"a": 1.0, "b": 2.0}),
    ({"d": "u_xx + u"}, {"q": 2.0}),
])  # fmt: skip
def test_nothing_is_said_of_others(equations, parameters):
    found = stated(equations, parameters, unknowns=("u", "v")[: len(equations)])
    assert list(multiples(found)) == []


def test_sets_that_have_nothing_to_do_with_each_other_are_told_apart():
    equations = {"d": "k*u_xx + q", "e": "a*v_xx + b*v + a"}
    parameters = {"k": 0.5, "q": 1.0, "a": 2.0, "b": 3.0}
    said = list(multiples(stated(equations, parameters, unknowns=("u", "v"))))
    assert sorted(one[one.index("'") : one.index(":")] for one in said) == ["'a', 'b'", "'k', 'q'"]
    assert all("more than the ratios" in one for one in said)


def test_a_condition_with_one_of_them_tells_it():
    flux = [pinn.Neumann("u", "q", on="x=1"), pinn.Dirichlet("u", 0, on="x=0")]
    assert free_coefficients(stated({"d": "k*u_xx + q"}, {"k": 1.0, "q": 2.0}, flux)) == set()
    scaled = [pinn.Operator("k*u_x - q", on="x=1")]
    assert free_coefficients(stated({"d": "k*u_xx + q"}, {"k": 1.0, "q": 2.0}, scaled)) == {
        "k",
        "q",
    }


def test_they_have_no_standard_error_however_exact_the_data():
    xs = np.linspace(0, 1, 20)
    problem = pinn.Problem(
        X, ["u"], {"d": "k*u_xx + q"},
        [pinn.Dirichlet("u", 0), pinn.Data("u", {"x": xs, "u": xs * (1 - xs)})],
        parameters={"k": 0.5, "q": 1.0},
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = pinn.solve(
            problem, model=pinn.RandomFeatures(40),
            training=[pinn.GaussNewton(steps=6)], error_bars=False,
        ).report.recovery  # fmt: skip
    assert all(np.isinf(error) for error in found.standard_errors.values())
    assert any("more than the ratios" in str(one.message) for one in caught)
