"""Texts of equations: an expression that is to be zero, or two sides."""

import numpy as np
import pytest

import pinn
from pinn.expressions import ExpressionError, evaluate, parse, parse_equation

VALUES = {"u": 3.0, "v": 5.0, "x": 0.25, "t": 2.0}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("u = v", "u - (v)"),
        ("u = -v", "u - (-v)"),
        ("u - 1 = v - 2*x", "u - 1 - (v - 2*x)"),
        ("-u**2 = sin(x)/t", "-u**2 - (sin(x)/t)"),
        ("0 = u", "0 - u"),
        ("(u + v)*x = where(x < 1 and t > 1, u, v)", "(u + v)*x - where(x < 1 and t > 1, u, v)"),
        ("u*(x < 1) = v*(0 < x < 2)", "u*(x < 1) - v*(0 < x < 2)"),
        ("u - v", "u - v"),
    ],
)
def test_two_sides_are_the_left_less_the_right(text, same):
    assert evaluate(parse_equation(text), VALUES) == evaluate(parse(same), VALUES)


def test_arguments_by_name_keep_their_equals_sign():
    tree = parse_equation("at(u, x=0) = integral(at(u, x=s), s, 0, 1, nodes=40)")
    assert str(tree) == "at(u, x=0) - integral(at(u, x=s), s, 0, 1, nodes=40)"


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("u = v = 1", 6, "two sides of an equation, once"),
        ("-sin(2*cos(u) = 0", 4, r"this '\(' is not closed before the '='"),
        ("= u", 0, "'=' is not part of an expression"),
        ("u =", 3, "expected a number, a name or '\\(', but the text ends"),
        ("(u = v)", 3, "'=' is not part of an expression"),
        ("sin(u = v)", 6, "'=' is not part of an expression"),
        ("sin(u = v) + (2", 6, "'=' is not part of an expression"),
        ("u == v", 2, "an equation is written left = right"),
    ],
)
def test_an_equals_sign_elsewhere_is_refused_with_a_caret(text, position, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        parse_equation(text)
    assert caught.value.position == position


def test_a_value_is_no_equation():
    with pytest.raises(ExpressionError, match="'=' is not part of an expression"):
        parse("u = 1")


def _bar(equation, condition):
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1), unknowns=["u"], equations={"bar": equation},
        conditions=[pinn.Dirichlet("u", 0, on="x=0"), pinn.Operator(condition, on="x=1")],
    )  # fmt: skip


def test_equations_and_operators_with_two_sides_train_as_those_that_are_zero():
    model = pinn.RandomFeatures(30)
    sides = pinn.solve(_bar("u_xx = -pi**2*sin(pi*x)", "dn(u) = -u - pi"), model)
    zero = pinn.solve(_bar("u_xx + pi**2*sin(pi*x)", "dn(u) + u + pi"), model)
    xs = np.linspace(0, 1, 11)
    found = sides.evaluate(x=xs)["u"]
    assert np.allclose(found, np.sin(np.pi * xs), atol=1e-7)
    assert np.allclose(found, zero.evaluate(x=xs)["u"], atol=1e-7)
