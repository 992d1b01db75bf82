"""What equations make of an error of one that is half a wave over the domain."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis.posed.responses import responses
from pinn.diagnosis.posed.statement import statement_of

PI = np.pi
PLANE = pinn.Interval("x", 0, 2) * pinn.Interval("y", 0, 0.5)
LINE = pinn.Interval("x", 0, 1)


def told(domain, equations, *conditions, unknowns=("u",), **more):
    conditions = conditions or [pinn.Dirichlet(name, 1) for name in unknowns]
    problem = pinn.Problem(domain, list(unknowns), equations, list(conditions), **more)
    return responses(statement_of(problem))


@pytest.mark.parametrize(("equation", "expected"), [
    ("laplacian(u) = 1e3*sin(x)", (PI / 2) ** 2 + (2 * PI) ** 2),
    ("-laplacian(u) + 9*u", (PI / 2) ** 2 + (2 * PI) ** 2 + 9),
    ("u_x - 3*u_y", PI / 2 + 3 * 2 * PI),
    ("u_xxyy/100", (PI / 2) ** 2 * (2 * PI) ** 2 / 100),
    ("(1 + x)*u_x", 2 * PI / 2),  # the median of 1 + x is 2
    ("u**3 - u", 2.0),  # 3 u^2 - 1 about u = 1, of random values about it
])  # fmt: skip
def test_derivatives_are_those_of_half_a_wave_over_the_domain(equation, expected):
    assert told(PLANE, {"e": equation})["e"] == pytest.approx(expected, rel=0.12)


def test_all_unknowns_of_an_equation_are_in_it_and_each_equation_has_its_own():
    found = told(
        LINE, {"law": "q + 5*u_x", "balance": "q_x = 1e4", "bent": "u_xxxx"}, unknowns=("u", "q")
    )
    assert found == pytest.approx({"law": 1 + 5 * PI, "balance": PI, "bent": PI**4})


def test_what_is_not_linear_is_that_at_the_size_that_conditions_state():
    found = told(LINE, {"e": "u*u_x"}, pinn.Dirichlet("u", 8))["e"]
    # u times the slope of one, and its own slope, pi u, times one
    assert found == pytest.approx(8 * PI + 8 * PI, rel=0.1)


def test_nothing_is_told_of_what_is_not_known():
    for rest in ("at(u, x=x/2)", "integral(u, x, 0, 1)"):
        assert told(LINE, {"e": f"u_xx + {rest}"}) is None


@pytest.mark.parametrize(("buoyancy", "is_told"), [(700, False), (2, True)])
def test_nor_where_something_untold_may_have_to_balance_what_is_large(buoyancy, is_told):
    """The pressure of natural convection is as large as the buoyancy."""
    momentum = {"along_x": "u*u_x + v*u_y + p_x - laplacian(u)",
                "along_y": f"u*v_x + v*v_y + p_y - laplacian(v) - {buoyancy}*T*T"}  # fmt: skip
    square = LINE * pinn.Interval("y", 0, 1)
    found = told(
        square, {**momentum, "mass": "u_x + v_y", "heat": "u*T_x + v*T_y - laplacian(T)"},
        *(pinn.Dirichlet(name, 0) for name in "uv"),
        pinn.Dirichlet("T", "1 - x", on=["x=0", "x=1"]),
        unknowns=("u", "v", "p", "T"),
    )  # fmt: skip
    assert (found is not None) is is_told
