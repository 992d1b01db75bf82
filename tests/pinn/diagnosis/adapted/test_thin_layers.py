"""Widths of layers are those that balances of terms give, with the constant that makes them."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis.adapted.thin_layers import thinnest
from pinn.diagnosis.scaled_residual import unsolved


def steady(equation, constants, low=0.0, high=1.0, **given):
    conditions = [pinn.Dirichlet("u", 0)]
    domain = pinn.Interval("x", low, high)
    return pinn.Problem(domain, ["u"], {"e": equation}, conditions, constants=constants, **given)


@pytest.mark.parametrize("equation, constants, expected", [
    ("-eps*u_xx + u_x - 1", {"eps": 1e-3}, (1e-3, "eps", 1.0)),
    ("u_xx - Pe*u_x + 1", {"Pe": 1e3}, (1e-3, "Pe", -1.0)),
    ("u_xx/Pe - u_x + 1", {"Pe": 1e3}, (1e-3, "Pe", -1.0)),
    ("eps**2*u_xx - u + 1", {"eps": 1e-3}, (1e-3, "eps", 1.0)),
    ("eps*u_xx - 4*u + 1", {"eps": 4e-6}, (1e-3, "eps", 0.5)),
    ("EI*u_xxxx - u_xx + 1", {"EI": 1e-6}, (1e-3, "EI", 0.5)),
    ("eps*u_xxx + u - x", {"eps": 1e-6}, (1e-2, "eps", 1 / 3)),
])  # fmt: skip
def test_a_layer_is_where_the_highest_term_balances_a_lower_one(equation, constants, expected):
    found = thinnest(steady(equation, constants))
    assert found.constant == expected[1]
    np.testing.assert_allclose([found.width, found.power], [expected[0], expected[2]], rtol=1e-6)


def test_a_width_is_a_share_of_the_domain():
    in_metres = steady("D*u_xx - v*u_x", {"D": 1e-9, "v": 1e-3}, high=1e-3)
    np.testing.assert_allclose(thinnest(in_metres).width, 1e-3, rtol=1e-6)


def test_terms_of_a_plane_are_taken_together():
    square = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
    problem = pinn.Problem(
        square, ["u"], {"e": "-eps*laplacian(u) + 2*u_x"}, [pinn.Dirichlet("u", 0)],
        constants={"eps": 1e-3},
    )  # fmt: skip
    found = thinnest(problem)
    np.testing.assert_allclose(found.width, 5e-4, rtol=1e-6)
    assert found.constant == "eps"


@pytest.mark.parametrize("equation, constants", [
    ("u_xx + k**2*u - 1", {"k": 200}),  # waves
    ("u_xxxx - k*u", {"k": 1e9}),  # waves of a beam, whose symbol is xi^4
    ("u_xx + a", {"a": 1e-6}),  # a source
    ("a*u_x + u", {"a": 1e-6}),  # of first order
    ("u_x*where(x > 2, sqrt(x - 2), -1)**0.5 + a*u_xx", {"a": 1e-3}),  # no number
])  # fmt: skip
def test_there_is_none(equation, constants):
    assert thinnest(steady(equation, constants)) is None


def test_a_number_in_the_equation_makes_one_too():
    found = thinnest(steady("1e-3*u_xx - u_x", {"a": 2.0}))
    np.testing.assert_allclose(found.width, 1e-3, rtol=1e-6)
    assert (found.constant, found.power) == ("", 0.0)


@pytest.mark.parametrize("value", ["acos(a)", "sqrt(1 - a)"])
def test_a_constant_that_cannot_be_larger_is_left_alone(value):
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": f"eps*u_xx - u_x + {value}"},
        [pinn.Dirichlet("u", value, hard=True)], constants={"eps": 1e-3, "a": 0.7},
    )  # fmt: skip
    assert thinnest(problem).constant == "eps"


def test_what_is_unsolved_is_told_of_it():
    large = {"e": 0.5}
    linear = steady("1e-3*u_xx - u_x", {})
    told = "the problem states (here they are 0.001 of the domain: layers={'x': [None, 0.001]})"
    assert told in unsolved(large, False, linear)
    stated = steady("1e-3*u_xx - u_x", {}, layers={"x": [1e-3, None]})
    told = "0.001 of the domain; write the small factor as a constant"
    assert told in unsolved(large, False, stated)
    by_constant = steady("eps*u_xx - u_x", {"eps": 1e-3}, layers={"x": [1e-3, None]})
    told = "thicker layers (here they are 0.001 of the domain) or"
    assert told in unsolved(large, False, by_constant)
    assert "from easier constants or" in unsolved(large)


def test_there_is_none_in_time():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"e": "u_t + u_x - eps*u_xx"},
        [pinn.Initial("u", 0), pinn.Dirichlet("u", 0)], constants={"eps": 1e-4},
    )  # fmt: skip
    assert thinnest(problem) is None


def test_a_constant_that_others_were_computed_from_is_left_alone():
    problem = steady("-d*u_xx + u_x", {"eps": 1e-3, "d": "eps/2"})
    assert thinnest(problem).constant == "d"
