"""The part of any boundary that no condition reaches is told, and one that is reached is not."""

import pytest

import pinn
from pinn.diagnosis import preflight
from pinn.training.experiment import Experiment

BC, IC, P = pinn.Dirichlet, pinn.Initial, pinn.Problem
X, Y, Z = (pinn.Interval(name, 0, 1) for name in "xyz")
T1 = pinn.Time("t", 0, 1)
DISK = pinn.Disk((0, 0), 1, name="rim")
HOLE = pinn.Disk((0.5, 0.5), 0.2, name="hole")
SIDES = ["x=0", "x=1", "y=0", "y=1"]
LAPLACE = {"e": "laplacian(u) + 1"}
LENS = DISK & pinn.Disk((1, 0), 1, name="other")
TRIANGLE = pinn.Polygon([(0, 0), (1, 0), (0, 1)])

BARE = {
    "a hole": (P(X * Y - HOLE, ["u"], LAPLACE, [BC("u", 0, on=SIDES)]), "at hole, 24 %"),
    "half a rim": (P(DISK, ["u"], LAPLACE, [BC("u", 0, on="x < 0")]), "% of rim, 5"),
    "a side of a polygon": (
        P(TRIANGLE, ["u"], LAPLACE, [BC("u", 0, on=["x=0", "y=0"])]), "41 % of the boundary",
    ),
    "a part of a side": (
        P(X * Y, ["u"], LAPLACE, [BC("u", 0, on=["x=0", "x=1", "y=0", "y=1 and x < 0.5"])]),
        "of y=1, 1",
    ),
    "an arc of an intersection": (
        P(LENS, ["u"], LAPLACE, [BC("u", 0, on="other")]), "at rim, 50 %",
    ),
    "the other shape of a union": (
        P(DISK | HOLE.moved(0.5, 0.5), ["u"], LAPLACE, [BC("u", 0, on="rim")]), "at hole",
    ),
    "a cylinder's ends": (
        P(DISK * Z, ["u"], LAPLACE, [BC("u", 0, on="rim")]), "at z=0, z=1, 50 %",
    ),
    "one of two unknowns": (
        P(DISK, ["u", "v"], {"a": "laplacian(u) - v", "b": "laplacian(v) - u"},
          [BC("u", 0), BC("v", 0, on="x < 0")]),
        "there is 1 condition, and the equations 'a', 'b' take 2",
    ),
    "a half where another half is asked for": (
        P(DISK, ["u", "v"], {"a": "laplacian(u) - v", "b": "laplacian(v) - u"},
          [BC("u", 0, on="x < 0"), BC("v", 0)]),
        "there is 1 condition, and the equations 'a', 'b' take 2 at every point of it; add one, "
        "such as pinn.Dirichlet('u', ...)",
    ),
    "a hole, hard elsewhere": (
        P(X * Y - HOLE, ["u"], LAPLACE, [BC("u", 0, on=SIDES, hard=True)]), "at hole, 24 %",
    ),
    "no start in a disk": (
        P(DISK * T1, ["u"], {"heat": "u_t - laplacian(u)"}, [BC("u", 0)]),
        "takes 1 condition in t, such as at its start, and none is given",
    ),
    "slopes all round a disk": (
        P(DISK, ["u"], LAPLACE, [pinn.Neumann("u", -0.5)]), "only up to a constant",
    ),
}  # fmt: skip


def said(problem):
    return preflight(Experiment(problem, model=pinn.MLP(width=4, depth=1)).objective())


@pytest.mark.parametrize("name", BARE)
def test_the_part_of_any_boundary_that_no_condition_reaches_is_told(name):
    problem, expected = BARE[name]
    (sentence,) = said(problem)
    assert expected in sentence


REACHED = {
    "pieces": [BC("u", 0, on="x < 0"), pinn.Neumann("u", 1, on="x >= 0")],
    "pieces that overlap": [BC("u", 0, on="x < 0.3"), BC("u", 0, on="x > -0.3")],
    "robin": [pinn.Robin("u", 1, 1, 0)],
    "an operator": [pinn.Operator("dn(u) - u**2", on="rim")],
    "hard": [BC("u", 0, hard=True)],
    "value and slope on a part stand for the rest": [
        BC("u", 0, on="x < 0"), pinn.Neumann("u", 1, on="x < 0"),
    ],
    "data inside": [
        BC("u", 0, on="x < 0"),
        pinn.Data("u", {"x": [0.1, 0.2, 0.3], "y": [0, 0.1, 0], "u": [1, 1, 1]}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", REACHED)
def test_a_boundary_that_is_reached_is_left_in_peace(name):
    assert said(P(DISK, ["u"], LAPLACE, REACHED[name])) == []


LINE = {"e": "u_xx + 1"}
HEAT = {"heat": "u_t - u_xx"}
LEFT = BC("u", 0, on="x=0")


@pytest.mark.parametrize("problem", [
    P(X, ["u"], LINE, [LEFT, pinn.PointValue("u", 0, x=0.4)]),
    P(X, ["u"], LINE, [LEFT, pinn.PointValue("u", 0, x=1)]),
    P(X, ["u"], LINE, [pinn.Data("u", {"x": [0, 0.5, 1], "u": [1, 2, 1]})]),
    P(X, ["u"], LINE, [LEFT, pinn.Integral("u", 0.3)]),
    P(X * T1, ["u"], HEAT, [IC("u", "x"), LEFT, pinn.Integral("u", 0.3)]),
    P(X, ["u"], {"beam": "u_xxxx - 1"},
      [BC("u", 0), pinn.Neumann("u", 0, on="x=0"), pinn.PointValue("u", 0, x=0.5)]),
])  # fmt: skip
def test_a_value_or_a_mean_along_a_line_stands_for_one_at_its_end(problem):
    assert said(problem) == []


@pytest.mark.parametrize("problem, expected", [
    (P(X, ["u"], LINE, [LEFT, pinn.PointValue("u", 0, x=0)]), "at x=1, 50 % of the boundary"),
    (P(X, ["u"], LINE, [pinn.PointValue("u", 0, x=0.4)]), "2 conditions in x"),
    (P(X, ["u"], LINE, [pinn.Integral("u", 0.3)]), "1 is given (integral_u)"),
    (P(X * T1, ["u"], HEAT, [IC("u", "x"), pinn.Integral("u", 0.3)]), "1 is given (integral_u)"),
    (P(X * Y, ["u"], LAPLACE, [BC("u", 0, on=SIDES[:3]), pinn.PointValue("u", 0, x=0.5, y=0.5)]),
     "at y=1, 25 %"),
])  # fmt: skip
def test_one_value_or_mean_is_no_more_than_one_condition(problem, expected):
    (sentence,) = said(problem)
    assert expected in sentence


def test_periods_and_flow_leave_no_boundary_bare():
    period = pinn.Periodic("u", "x")
    strip = P(X * Y, ["u"], LAPLACE, [period, BC("u", 0, on=["y=0", "y=1"])])
    assert said(strip) == []
    (sentence,) = said(P(X * Y, ["u"], LAPLACE, [period, BC("u", 0, on="y=0")]))
    assert "at y=1, 25 %" in sentence
    flow = {"e": "u_t + u_x - 2*u_y"}
    assert said(P(DISK * T1, ["u"], flow, [IC("u", "x"), BC("u", 0, on="x < 2*y")])) == []
