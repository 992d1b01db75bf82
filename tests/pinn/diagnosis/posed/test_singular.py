"""Places where slopes are infinite, and the power of the distance."""

import math

import numpy as np
import pytest

import pinn
from pinn.diagnosis.posed.singular import kind, kolosov, of_clamped, of_vectors, singular

SQUARE = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
ELL = SQUARE - SQUARE.moved(1, 1)


def problem(domain, equation="laplacian(u)"):
    return pinn.Problem(domain, ["u"], {"e": equation}, [pinn.Dirichlet("u", 0)])


def test_the_exponent_of_vectors_is_that_of_a_crack_at_360_degrees():
    assert of_vectors(2 * math.pi) == 0.5
    assert of_vectors(2 * math.pi - 1e-4) == pytest.approx(0.5, abs=1e-4)
    e = of_vectors(4.0)
    assert math.sin(4 * e) == pytest.approx(-e * math.sin(4), abs=1e-12)


@pytest.mark.parametrize(("degrees", "kappa", "exponent"), [
    (90, 1.8, 0.7112), (90, 1.0, 0.5946), (180, 1.8, 0.5), (360, 2.0, 0.25), (45, 1.8, 1.0),
])  # fmt: skip
def test_the_exponent_between_a_clamped_and_a_free_side(degrees, kappa, exponent):
    """0.7112: plane strain with nu = 0.3, as in the literature; a sheet that is stuck: roots."""
    assert of_clamped(math.radians(degrees), kappa) == pytest.approx(exponent, abs=5e-5)


@pytest.mark.parametrize("kappa", [1.8, 6.0, 30.0])
@pytest.mark.parametrize("degrees", [70, 100, 126, 220, 300])
def test_it_is_a_root_with_the_least_real_part(degrees, kappa):
    angle = math.radians(degrees)
    e = np.linspace(0, 1, 500)[1:, None] + 1j * np.linspace(-1e-3, 1.5, 700)
    bound = ((kappa + 1) ** 2 - 4 * e**2 * math.sin(angle) ** 2) / (4 * kappa)
    there = np.sin(e * angle) ** 2 - bound
    # a phase that turns once around a cell has a root in it
    phase = np.angle(there)
    turns = [
        np.angle(np.exp(1j * (end - start))) for start, end in (
            (phase[:-1, :-1], phase[1:, :-1]), (phase[1:, :-1], phase[1:, 1:]),
            (phase[1:, 1:], phase[:-1, 1:]), (phase[:-1, 1:], phase[:-1, :-1]),
        )
    ]  # fmt: skip
    roots = np.abs(sum(turns)) > 1
    first = e[:-1, 0].real[roots.any(axis=1)].min(initial=1.0)
    assert of_clamped(angle, kappa) == pytest.approx(first, abs=6e-3)


def plate(a, g, b, **given):
    return pinn.Problem(SQUARE, ["u", "v"], {
        "x": f"({a})*u_xx + ({b})*v_xy + ({g})*u_yy", "y": f"({a})*v_yy + ({b})*u_xy + ({g})*v_xx",
    }, [pinn.Dirichlet(name, 0, on="x=-1") for name in "uv"]
       + [pinn.Operator(f"({g})*(u_y + v_x)", on=["x=1", "y=-1", "y=1"]),
          pinn.Operator("v_y + 0.3*u_x", on=["y=-1", "y=1"])], **given)  # fmt: skip


@pytest.mark.parametrize(("a", "g", "b", "kappa"), [
    ("1/(1 - nu**2)", "0.5/(1 + nu)", "0.5/(1 - nu)", 2.7 / 1.3),  # plane stress
    ("(1 - nu)/(1 - 2*nu)", "0.5", "0.5/(1 - 2*nu)", 1.8),  # plane strain
])  # fmt: skip
def test_what_a_plate_is_made_of_is_told_by_its_equations(a, g, b, kappa):
    asked = plate(a, g, b, constants={"nu": 0.3})
    assert kolosov(asked) == pytest.approx(kappa, rel=1e-12)
    found = singular(asked)
    assert [one.corner.at for one in found] == [(-1, -1), (-1, 1)]
    exponent = of_clamped(math.pi / 2, kappa)
    assert [one.exponent for one in found] == pytest.approx([exponent, exponent], rel=1e-9)


@pytest.mark.parametrize(("a", "g", "b"), [("1", "1", "0.3"), ("3", "1", "0.3")])
def test_of_what_is_no_plate_no_exponent_is_known(a, g, b):
    assert kolosov(plate(a, g, b)) is None
    assert singular(plate(a, g, b)) == []


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
