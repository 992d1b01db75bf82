"""Corners at which what is given contradicts itself in a derivative."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis.posed.compatibility import contradictions
from pinn.geometry.corners import outward_corners

SQUARE = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
HALF = pinn.Polygon([(0, 0), (1, 0), (1, 1)])  # 45, 90 and 45 degrees
DIAMOND = pinn.Polygon([(1, 0), (0, 1), (-1, 0), (0, -1)])
EVEN = pinn.Polygon([(0, 0), (1, 0), (0.5, 0.75**0.5)])
REST = [pinn.Dirichlet("u", 0)]


def degrees(domain, equations, conditions, unknowns=("u",), **given):
    named = {f"e{k}": text for k, text in enumerate(equations)}
    asked = pinn.Problem(domain, list(unknowns), named, conditions, **given)
    return {
        tuple(round(x, 3) for x in one.corner.at): one.degree for one in contradictions(asked)
    }


@pytest.mark.parametrize(("domain", "equation", "conditions", "found"), [
    (SQUARE, "laplacian(u) + 1", REST, {(0, 0): 2, (0, 1): 2, (1, 0): 2, (1, 1): 2}),
    (SQUARE, "laplacian(u) + x", REST, {(1, 0): 2, (1, 1): 2}),
    (SQUARE, "laplacian(u) + 2*exp(u)", REST, {(0, 0): 2, (0, 1): 2, (1, 0): 2, (1, 1): 2}),
    (DIAMOND, "laplacian(u) + 1", REST, {(1, 0): 2, (0, 1): 2, (-1, 0): 2, (0, -1): 2}),
    (HALF, "laplacian(u) + 1", REST, {(1, 0): 2}),  # at 45 degrees a polynomial does it
    (SQUARE, "laplacian(u)", [pinn.Dirichlet("u", 0, on=["x=0", "y=0", "y=1"]),
                              pinn.Neumann("u", 1, on="x=1")], {(1, 0): 1, (1, 1): 1}),
    (SQUARE, "laplacian(u)", [pinn.Neumann("u", 0, on="x=0"), pinn.Neumann("u", "x", on="y=0"),
                              pinn.Dirichlet("u", 0, on=["x=1", "y=1"])], {(0, 0): 2, (1, 0): 1}),
])  # fmt: skip
def test_what_no_polynomial_does(domain, equation, conditions, found):
    assert degrees(domain, [equation], conditions) == found


@pytest.mark.parametrize(("domain", "equation", "conditions"), [
    (SQUARE, "laplacian(u) + 2*pi**2*sin(pi*x)*sin(pi*y)", REST),
    (SQUARE, "laplacian(u) - 4", [pinn.Dirichlet("u", "x**2 + y**2")]),
    (SQUARE, "laplacian(u) - u**3 + exp(3*x) - exp(x)", [pinn.Dirichlet("u", "exp(x)")]),
    (SQUARE, "laplacian(u)", [pinn.Dirichlet("u", 0, on=["x=0", "x=1", "y=0"]),
                              pinn.Dirichlet("u", 1, on="y=1")]),  # of degree 0
    (EVEN, "laplacian(u) + 1", REST),
    (SQUARE, "laplacian(u) + 1", [pinn.Dirichlet("u", 0, hard=True)]),
    (SQUARE, "u_x + u_y + 1", REST),
    (SQUARE, "laplacian(laplacian(u)) + 1", REST),
    (SQUARE * pinn.Time("t", 0, 1), "u_t - laplacian(u) + 1", REST),
    (SQUARE - SQUARE.moved(0.5, 0.5), "laplacian(u) + sin(2*pi*x)*sin(2*pi*y)", REST),
])  # fmt: skip
def test_what_one_does_and_what_is_not_looked_at(domain, equation, conditions):
    assert degrees(domain, [equation], conditions) == {}


@pytest.mark.parametrize(("count", "found"), [(4, 8), (40, 0)])
def test_many_corners_are_not_looked_at(count, found):
    tips = [(2 * k, -1) for k in range(count)]
    comb = pinn.Polygon([
        point for x, y in tips for point in ((x, y), (x + 1, y), (x + 1, 0), (x + 2, 0))
    ] + [(2 * count, 1), (0, 1)])  # fmt: skip
    conditions = [pinn.Dirichlet("u", 0, on="y<0 - 1e-9"), pinn.Neumann("u", 0, on="y>-1e-9")]
    assert len(degrees(comb, ["laplacian(u) + 1"], conditions)) == found


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("height", [1.0, 1e-2, 1e-4])
def test_thin_domains_of_any_size(size, height):
    high = height * size
    domain = pinn.Interval("x", 0, size) * pinn.Interval("y", 0, high)
    asked = pinn.Problem(domain, ["u"], {"e": f"laplacian(u) + {1 / high**2!r}"}, REST)
    assert [one.degree for one in contradictions(asked)] == [2, 2, 2, 2]


def test_a_curve_of_many_points_has_no_corners():
    angles = np.linspace(0, np.pi, 80)
    half = pinn.Polygon([(float(np.cos(a)), float(np.sin(a))) for a in angles])
    assert len(half.inward_corners) == 0
    assert [round(one.at[0]) for one, _ in sorted(
        outward_corners(half, 16), key=lambda one: one[0].at
    )] == [-1, 1]  # fmt: skip


def test_a_place_that_is_stated_is_looked_at_as_well():
    places = [pinn.Singularity({"x": 0, "y": 0}, 0.25)]
    found = degrees(SQUARE, ["laplacian(u) + 1"], REST, singularities=places)
    assert len(found) == 4


def test_what_runs_away_is_not_told_of():
    equation = "(1 + u_y**2)*u_xx - 2*u_x*u_y*u_xy + (1 + u_x**2)*u_yy + (1 + u_x**2 + u_y**2)**1.5"
    assert set(degrees(SQUARE, [equation], REST).values()) <= {2}


def plate(shear):
    traction = "0.5*(u_y + v_x)"
    return degrees(
        SQUARE, ["u_xx + 0.65*v_xy + 0.35*u_yy", "v_yy + 0.65*u_xy + 0.35*v_xx"],
        [
            *(pinn.Dirichlet(name, 0, on="x=0") for name in "uv"),
            pinn.Operator("u_x + 0.3*v_y", on="x=1"),
            pinn.Operator(f"{traction} + {shear}", on="x=1"),
            pinn.Operator(traction, on=["y=0", "y=1"]),
            pinn.Operator("v_y + 0.3*u_x", on=["y=0", "y=1"]),
        ],
        unknowns=["u", "v"],
    )  # fmt: skip


def test_shear_that_differs_between_two_free_sides():
    assert plate("1") == {(1, 0): 1, (1, 1): 1}
    assert plate("y*(1 - y)") == {}


def test_a_coefficient_that_is_trained_stands_at_its_start():
    found = degrees(
        SQUARE, ["k*laplacian(u) + 1"], REST, parameters=[pinn.Parameter("k", initial=2.0)]
    )
    assert len(found) == 4


def test_it_says_what_a_solution_goes_like():
    asked = pinn.Problem(SQUARE, ["u"], {"e": "laplacian(u) + 1"}, REST)
    assert str(next(contradictions(asked))) == "at x = 0, y = 0 (r^2 log r)"
