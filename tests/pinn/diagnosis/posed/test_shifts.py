"""Rotations and other affine functions that no equation and no condition sees are told."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis import preflight
from pinn.training.experiment import Experiment

BC, NE, OP, PV, P = pinn.Dirichlet, pinn.Neumann, pinn.Operator, pinn.PointValue, pinn.Problem
X, Y, T = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 2), pinn.Time("t", 0, 1)
TURN = "a rotation (u, v) ~ (-y, x) may be added to any solution"
STRAIN = {"x": "3*u_xx + u_yy + 2*v_xy", "y": "3*v_yy + v_xx + 2*u_xy"}
STRESS = {"x": "(3*u_x + v_y)*normal_x + (u_y + v_x)*normal_y",
          "y": "(3*v_y + u_x)*normal_y + (u_y + v_x)*normal_x"}  # fmt: skip
PULL = [OP(f"{STRESS['x']} - normal_x", name="tx"), OP(STRESS["y"], name="ty")]
CORNER = [PV("u", 0, x=0, y=0), PV("v", 0, x=0, y=0)]


def said(domain, unknowns, equations, conditions, model=None):
    problem = P(domain, unknowns, equations, conditions)
    return preflight(Experiment(problem, model=model or pinn.MLP(4, 1)).objective())


def plane(*conditions):
    return said(X * Y, ["u", "v"], STRAIN, conditions)


def test_a_body_under_tractions_alone_may_move_and_turn():
    first, second, turn = plane(*PULL)
    assert "'u' seems to be determined only up to a constant" in first
    assert "'v' seems to be determined only up to a constant" in second
    assert turn.startswith(TURN)


def test_a_body_held_at_a_point_turns_about_it():
    (sentence,) = plane(*PULL, *CORNER)
    assert sentence.startswith(TURN)
    (sentence,) = plane(*PULL, PV("u", 0, x=0.5, y=1), PV("v", 0, x=0.5, y=1))
    assert "(u, v) ~ (-y + 1, x - 0.5)" in sentence


@pytest.mark.parametrize("conditions", [
    [*PULL, *CORNER, PV("v", 0, x=1, y=0)],
    [*PULL, pinn.Integral("u", 0), pinn.Integral("v", 0), pinn.Integral("v_x - u_y", 0)],
    [BC("u", 0, on="x=0"), BC("v", 0, on="x=0"),
     *(OP(text, on=["x=1", "y=0", "y=2"], name=f"t{name}") for name, text in STRESS.items())],
    # rollers along two sides
    [BC("u", 0, on="x=0"), BC("v", 0, on="y=0"), OP("u_y + v_x", name="shear"),
     OP("3*u_x + v_y - 1", on="x=1", name="pull"), OP("3*v_y + u_x", on="y=2", name="free")],
])  # fmt: skip
def test_a_body_that_is_held_is_left_in_peace(conditions):
    assert plane(*conditions) == []


def test_means_of_the_displacements_hold_no_rotation():
    (sentence,) = plane(*PULL, pinn.Integral("u", 0), pinn.Integral("v", 0))
    assert "(u, v) ~ (-y + 1, x - 0.5)" in sentence  # about the centre


def test_a_free_beam_may_tilt():
    free = [OP(text, on=face, name=f"{text}{k}") for text in ("w_xx", "w_xxx")
            for k, face in enumerate(("x=0", "x=1"))]  # fmt: skip
    found = said(X, ["w"], {"beam": "w_xxxx - cos(2*pi*x)"}, free)
    assert len(found) == 2 and "a multiple of x may be added to 'w'" in found[1]
    assert said(X, ["w"], {"beam": "w_xxxx - 1"}, [BC("w", 0), NE("w", 0)]) == []


def test_two_unknowns_may_shift_together():
    exchange = {"a": "u_xx - (u - v) + 1", "b": "v_xx + (u - v) - 1"}
    walls = [NE("u", 0), NE("v", 0)]
    (sentence,) = said(X, ["u", "v"], exchange, walls)
    assert sentence.startswith("a constant (u, v) ~ (1, 1) may be added to any solution")
    assert said(X, ["u", "v"], exchange, [NE("u", 0), BC("v", 0)]) == []
    assert said(X, ["u", "v"], exchange | {"b": "v_xx + u - 2*v"}, walls) == []


PERIODS = [pinn.Periodic(name, "x", orders=2) for name in ("u", "v")]


@pytest.mark.parametrize("domain, unknowns, equations, conditions", [
    # what repeats has no slope
    (X, ["u"], {"e": "u_xx + cos(2*pi*x)"}, [pinn.Periodic("u", "x", orders=2), PV("u", 0, x=0)]),
    (X, ["u", "v"], {"a": "u_xx + v_x", "b": "v_xx - u_x"},
     [*PERIODS, PV("u", 0, x=0), PV("v", 0, x=0)]),
    (X * T, ["u"], {"e": "u_tt - u_xx"},
     [pinn.Initial("u", 0), pinn.Initial("u", 0, order=1), NE("u", 0)]),
    (X * Y, ["u"], {"e": "laplacian(u)"}, [NE("u", "normal_x"), PV("u", 0, x=0, y=0)]),
    (X * Y, ["u"], {"e": "u_x**2 + u_y**2 - 1"}, [BC("u", 0)]),
])  # fmt: skip
def test_what_conditions_fix_is_not_told(domain, unknowns, equations, conditions):
    assert said(domain, unknowns, equations, conditions) == []


def test_of_equations_that_follow_from_each_other_that_alone_is_told():
    equations = {"a": "u_t - v", "b": "u + v + w - 1", "c": "2*u + 2*v + 2*w - 2"}
    (sentence,) = said(T, ["u", "v", "w"], equations, [pinn.Initial("u", 1)])
    assert sentence.startswith("the equation 'c' is 2*'b'")


def test_measured_displacements_hold_a_body():
    places = np.random.default_rng(0).random((5, 2))
    data = {"x": places[:, 0], "y": places[:, 1], "u": np.zeros(5), "v": np.zeros(5)}
    assert not [one for one in plane(*PULL, pinn.Data(["u", "v"], data)) if "rotation" in one]


MOMENTUM = {
    "x": "u_t + u*u_x + v*u_y + p_x - 0.1*laplacian(u)",
    "y": "v_t + u*v_x + v*v_y + p_y - 0.1*laplacian(v)", "mass": "u_x + v_y",
}
AT_REST = [BC("u", 0), BC("v", 0), pinn.Initial("u", 0), pinn.Initial("v", 0)]


@pytest.mark.parametrize("conditions", [
    [PV("p", 0, x=0, y=0, t=0)],
    [PV("p", 0, x=0, y=0, t=0), PV("p", 0, x=0, y=0, t=1)],
    [pinn.Initial("p", 0)],
])  # fmt: skip
def test_a_pressure_that_is_fixed_at_single_times_is_free_between_them(conditions):
    said_of = said(X * Y * T, ["u", "v", "p"], MOMENTUM, [*AT_REST, *conditions])
    (sentence,) = [one for one in said_of if "'p'" in one and "determined" in one]
    assert sentence.startswith("'p' is determined at single times alone")
    assert sentence.endswith("at all t, such as its integral: pinn.Integral('p', 0)")


@pytest.mark.parametrize("conditions", [
    [pinn.Integral("p", 0)],
    [pinn.Integral("p", 0), PV("u", 0, x=0.5, y=0.5, t=0)],
    [BC("p", 0, on="x=1")],
    [pinn.Data("p", {"x": [0.5, 0.5], "y": [1, 1], "t": [0.2, 0.4], "p": [0, 1]})],
])  # fmt: skip
def test_a_pressure_that_is_fixed_at_all_times_is_left_in_peace(conditions):
    said_of = said(X * Y * T, ["u", "v", "p"], MOMENTUM, [*AT_REST, *conditions])
    assert not any("'p'" in one and "determined" in one for one in said_of)
