"""Where information enters a domain without a condition is told, by the sign of the speed there."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.diagnosis import preflight
from pinn.diagnosis.posed.statement import Statement
from pinn.diagnosis.posed.surplus import surplus
from pinn.training.experiment import Experiment

BC, IC, P = pinn.Dirichlet, pinn.Initial, pinn.Problem
X, Y = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)
T1 = pinn.Time("t", 0, 1)
DISK = pinn.Disk((0, 0), 1, name="rim")
START = IC("u", "sin(pi*x)*sin(pi*x)")
FLAT = IC("u", 0)
SMALL = pinn.MLP(width=4, depth=1)


def said(domain, equations, conditions, unknowns=("u",), model=SMALL, **more):
    equations = {"e": equations} if isinstance(equations, str) else equations
    problem = P(domain, list(unknowns), equations, conditions, **more)
    return preflight(Experiment(problem, model=model).objective())


def zero(*faces):
    return BC("u", 0, on=list(faces))


MISSING = {
    "in at both ends, given at one": (X * T1, "u_t + (0.5 - x)*u_x", [START, zero("x=0")], "x=1"),
    "given at the other end alone": (X * T1, "u_t + u_x", [START, zero("x=1")], "x=0"),
    "a speed that depends on u, of one sign": (
        X * T1, "u_t + (1 + u**2)*u_x", [START, zero("x=1")], "x=0",
    ),
    "a root that has no value below 0": (
        X * T1, "u_t - sqrt(u)*u_x", [START, zero("x=0")], "x=1",
    ),
    "of two faces one": (X * Y * T1, "u_t + u_x + u_y", [FLAT, zero("x=0")], "y=0"),
    "the wrong one of two": (X * Y * T1, "u_t + u_x - u_y", [FLAT, zero("x=0", "y=0")], "y=1"),
    "diffusion along the other coordinate": (
        X * Y * T1, "u_t + u_x - u_yy", [FLAT, zero("y=0", "y=1")], "x=0",
    ),
    # by random times
    "half of the time": (X * T1, "u_t + sin(2*pi*t)*u_x", [START, zero("x=0")], "51 % of x=1"),
    "steady, on from the face that is given": (X * Y, "u_x + u_y - 1", [zero("x=0")], "y=0"),
    "steady, against the speed": (X * Y, "u_x + u_y - 1", [zero("x=1")], "y=1"),
    "from the end of the time": (
        X * T1, "u_t + u_x", [pinn.Terminal("u", "sin(pi*x)"), zero("x=0")], "x=1",
    ),
    # n.(1, -2) < 0 and x > 0: from atan(1/2) to 90 degrees, 63.4/360 of the circle
    "a part of a circle": (
        DISK * T1, "u_t + u_x - 2*u_y", [FLAT, BC("u", 0, on="x < 0")], "18 % of rim",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSING)
def test_where_information_enters_and_nothing_is_given_is_told(name):
    domain, equation, conditions, place = MISSING[name]
    (sentence,) = said(domain, equation, conditions)
    assert f"not to be determined at {place}: there the characteristics" in sentence


WELL_POSED = {
    "in at both ends": (X * T1, "u_t + (0.5 - x)*u_x", [START, zero("x=0", "x=1")]),
    "out at both ends": (X * T1, "u_t + (x - 0.5)*u_x", [START]),
    "in at the left": (X * T1, "u_t + u_x", [START, zero("x=0")]),
    "a sign that the solution decides": (X * T1, "u_t + u*u_x", [START, zero("x=0")]),
    "around a corner": (X * Y * T1, "u_t + y*u_x - x*u_y", [FLAT, zero("x=0", "y=1")]),
    "steady": (X * Y, "u_x + u_y - 1", [zero("x=0", "y=0")]),
    "steady, from the end": (X * Y, "u_x + u_y - 1", [zero("x=1", "y=1")]),
    "a regular solution of a singular equation": (X, "(x - 0.5)*u_x + u - 1", [BC("u", 1)]),
    "a smooth solution around a singular point": (
        pinn.Interval("x", -1, 1), "x*u_x + u - cos(x)", [BC("u", "sin(1)", on="x=-1")],
    ),
    "a period": (X * T1, "u_t + (2 + sin(2*pi*x))*u_x", [START, pinn.Periodic("u", "x")]),
    "what the model gives": (X * T1, "u_t + u_x", [START, BC("u", 0, on="x=0", hard=True)]),
    "of second order across": (X * T1, "u_t + u_x - u_xx", [START, zero("x=0", "x=1")]),
    "of third order across": (
        X * T1, "u_t + u_x + u_xxx", [START, BC("u", 0), pinn.Neumann("u", 0, on="x=1")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WELL_POSED)
def test_what_is_well_posed_is_left_in_peace(name):
    assert said(*WELL_POSED[name]) == []


def test_a_condition_where_characteristics_leave_is_named():
    (sentence,) = said(X * T1, "u_t + u_x", [START, zero("x=1")])
    assert "(dirichlet_u_x_high holds where they leave it, which takes none)" in sentence
    problem = P(X * T1, ["u"], {"e": "u_t + (1 + x)*u_x"}, [START, zero("x=0"), zero("x=1")])
    (told,) = surplus(Statement(problem))
    assert "dirichlet_u_x_high gives 'u' where all characteristics" in told


def test_conditions_at_both_ends_are_not_too_many_where_both_let_in():
    def more(equation):
        return surplus(Statement(P(X * T1, ["u"], {"e": equation}, [START, BC("u", 0)])))

    assert more("u_t + (0.5 - x)*u_x") == []
    (told,) = more("u_t + u_x")
    assert told.startswith("dirichlet_u gives 'u' at x=1, where all characteristics")
    assert told.endswith("leave it out there, by on='x=0'")
    (told,) = more("u_t - (1 + u**2)*u_x")
    assert told.endswith("leave it out there, by on='x=1'")
    assert more("u_t + u*u_x") == more("u_t + u_x - 0.01*u_xx") == []


CARRIED = {"right": "u_t + u_x + v", "left": "v_t - v_x - u"}


def test_of_a_system_each_unknown_is_carried_by_its_own_equation():
    starts = [START, IC("v", 0)]
    good = [*starts, BC("u", 0, on="x=0"), BC("v", 0, on="x=1")]
    assert said(X * T1, CARRIED, good, ["u", "v"]) == []
    (sentence,) = said(
        X * T1, CARRIED, [*starts, BC("u", 0, on="x=0"), BC("v", 0, on="x=0")], ["u", "v"]
    )
    assert "at x=1: there the characteristics of the equation 'left'" in sentence
    # reflected at either end: each enters with the value of the other
    reflected = [*starts, pinn.Operator("u - v", on="x=0"), pinn.Operator("u - v", on="x=1")]
    assert said(X * T1, CARRIED, reflected, ["u", "v"]) == []


def test_of_a_system_whose_equations_share_derivatives_nothing_is_said():
    waves = {"a": "u_t + p_x", "b": "p_t + u_x"}
    assert said(X * T1, waves, [START, IC("p", 0), BC("u", 0)], ["u", "p"]) == []


def test_a_speed_with_a_coefficient_that_may_change_its_sign_tells_nothing():
    def told(**bounds):
        return [
            one for one in said(
                X * T1, "u_t + c*u_x", [START, zero("x=1")],
                parameters=[pinn.Parameter("c", 1, **bounds)],
            )
            if "characteristics" in one
        ]  # fmt: skip

    assert told() == []
    assert len(told(lower=0)) == 1


def test_an_estimate_without_what_enters_is_not_to_be_trusted():
    problem = P(X * T1, ["u"], {"e": "u_t + (0.5 - x)*u_x"}, [START, zero("x=0")])
    with pytest.warns(pinn.ProblemWarning, match="characteristics"):
        solution = pinn.solve(
            problem, pinn.RandomFeatures(300), pinn.Sampling(interior=900, redraw=None)
        )
    estimate = solution.report.error_estimate
    assert not estimate.trusted
    assert any("where information enters the domain" in one for one in estimate.doubts)


class Periodic(T.nn.Module):
    """A network of the sine and cosine of x, and of t."""

    def __init__(self):
        super().__init__()
        self.last = T.nn.Linear(3, 1, dtype=T.float64)

    def forward(self, points):
        x, t = points[:, :1], points[:, 1:]
        return self.last(T.tanh(T.cat([T.sin(2 * T.pi * x), T.cos(2 * T.pi * x), t], dim=1)))


def test_what_a_model_keeps_by_itself_is_given():
    start = [IC("u", "sin(2*pi*x)")]
    assert said(X * T1, "u_t + (2 + sin(2*pi*x))*u_x", start, model=Periodic()) == []


def test_data_inside_the_domain_may_stand_for_what_enters():
    places = np.random.default_rng(0).random((30, 2))
    data = {"x": places[:, 0], "t": places[:, 1], "u": np.zeros(30)}
    told = said(X * T1, "u_t + (0.5 - x)*u_x", [START, zero("x=0"), pinn.Data("u", data)])
    assert not [one for one in told if "characteristics" in one]
