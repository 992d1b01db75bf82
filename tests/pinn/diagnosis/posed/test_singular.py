"""Places where slopes are infinite, and the power of the distance."""

import math

import pytest

import pinn
from pinn.diagnosis.posed.singular import kind, of_vectors, singular

SQUARE = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
ELL = SQUARE - SQUARE.moved(1, 1)


def problem(domain, equation="laplacian(u)"):
    return pinn.Problem(domain, ["u"], {"e": equation}, [pinn.Dirichlet("u", 0)])


def test_the_exponent_of_vectors_is_that_of_a_crack_at_360_degrees():
    assert of_vectors(2 * math.pi) == 0.5
    assert of_vectors(2 * math.pi - 1e-4) == pytest.approx(0.5, abs=1e-4)
    e = of_vectors(4.0)
    assert math.sin(4 * e) == pytest.approx(-e * math.sin(4), abs=1e-12)


@pytest.mark.parametrize(("domain", "degrees"), [
    (ELL, 270), (SQUARE - pinn.Triangle((0, 0), (2, 0), (2, 2)), 315),
])  # fmt: skip
def test_the_exponent_is_that_of_the_angle(domain, degrees):
    (one,) = singular(problem(domain))
    assert one.exponent == pytest.approx(180 / degrees)
    assert str(one) == f"at x = 0, y = 0 ({degrees} degrees)"


def test_corners_that_are_nearly_straight_are_smooth_enough():
    bent = pinn.Polygon([(-1, -1), (1, -1), (1, 0.6), (0, 0), (-1, 0)])
    (one,) = bent.inward_corners
    assert math.pi / one.angle < 0.9 and len(singular(problem(bent))) == 1
    bent = pinn.Polygon([(-1, -1), (1, -1), (1, 0.3), (0, 0), (-1, 0)])
    assert singular(problem(bent)) == []


@pytest.mark.parametrize("equation", ["u_x + u_y", "laplacian(laplacian(u))"])
def test_equations_of_other_orders_have_none(equation):
    assert singular(problem(ELL, equation)) == []


@pytest.mark.parametrize(("equations", "found"), [
    (("laplacian(u) + v", "laplacian(v)"), "scalar"),
    (("laplacian(u) - diff(u*v_x, x) - diff(u*v_y, y)", "laplacian(v) + u"), "scalar"),
    (("laplacian(u) + v_x", "laplacian(v) + u_x"), "scalar"),
    (("u_xx + v_xy + u_yy", "v_yy + u_xy + v_xx"), "vector"),
])  # fmt: skip
def test_what_couples_unknowns_to_a_vector(equations, found):
    assert kind(pinn.Problem(ELL, ["u", "v"], dict(zip("ef", equations, strict=True)))) == found


def test_an_unknown_coefficient_is_no_component():
    asked = pinn.Problem(
        ELL, ["u"], {"e": "diff(k*u_x, x) + diff(k*u_y, y) + 1"},
        fields=[pinn.Field("k", ["x", "y"])],
    )  # fmt: skip
    assert kind(asked) == "scalar"
