"""Statements that contradict each other, have no value, or say something else than they seem to."""

import re

import pytest

import autograd as T
import pinn
from pinn.diagnosis import preflight
from pinn.training.experiment import Experiment

BC, IC, P = pinn.Dirichlet, pinn.Initial, pinn.Problem
X, T1 = pinn.Interval("x", 0, 1), pinn.Time("t", 0, 1)
START, EDGE = IC("u", "sin(pi*x)"), BC("u", 0)
SMALL = pinn.MLP(width=4, depth=1)


def said(problem, model=SMALL):
    return preflight(Experiment(problem, model=model).objective())


def heat(*conditions, parameters=(), **equations):
    return P(X * T1, ["u"], {"heat": "u_t - u_xx", **equations}, conditions, parameters=parameters)


@pytest.mark.parametrize(
    "other", ["2*u_t - 2*u_xx - 3", "u_xx - u_t + sin(x)", lambda s: s.u_t - s.u_xx + 1]
)
def test_equations_that_contradict_each_other(other):
    (sentence,) = said(heat(START, EDGE, other=other))
    assert sentence.startswith("equation 'heat' and equation 'other' contradict each other")


@pytest.mark.parametrize(
    "other", ["2*u_t - 2*u_xx", "u_t - 2*u_xx", "(u_t - u_xx)*u", "u_t - u_xx + u"]
)
def test_equations_that_can_both_hold(other):
    assert said(heat(START, EDGE, other=other)) == []


def test_a_coefficient_may_make_two_equations_one():
    problem = heat(START, EDGE, other="u_t - u_xx - k", parameters=[pinn.Parameter("k", 1)])
    assert said(problem) == []


def test_a_coefficient_beside_an_integral_is_looked_at():
    """The nodes of an integral count as a whole: of a part of them there is no residual."""
    conditions = [EDGE, pinn.Integral("u", 0.5)]
    problem = P(X, ["u"], {"e": "u_xx - k"}, conditions, parameters=[pinn.Parameter("k", 1.0)])
    assert said(problem) == []


@pytest.mark.parametrize("hard", [False, True])
def test_conditions_that_disagree_in_a_corner(hard):
    (sentence,) = said(heat(IC("u", "1 + x"), BC("u", 1, hard=hard)))
    assert sentence.startswith(
        "initial_u and dirichlet_u disagree where they meet: at x = 1, t = 0 the first gives "
        "u = 2, the second u = 1"
    )


def test_the_tail_of_a_soliton_is_no_disagreement():
    wide = pinn.Interval("x", -10, 10) * T1
    problem = P(wide, ["u"], {"heat": "u_t - u_xx"}, [IC("u", "2/cosh(x)**2"), BC("u", 0)])
    assert said(problem) == []


@pytest.mark.parametrize("width, told", [(0.16, 0), (0.185, 0), (0.22, 1)])
def test_a_bell_that_has_nearly_ended_at_a_wall_is_no_disagreement(width, told):
    """exp(-(0.5/width)**2) is 6e-5, 7e-4 and 6e-3 of the height."""
    bell = IC("u", f"300 + exp(-((x - 0.5)/{width})**2)")
    wide = pinn.Interval("x", 0, 1) * T1
    problem = P(wide, ["u"], {"heat": "u_t - u_xx"}, [bell, BC("u", 300)])
    assert len(said(problem)) == told


@pytest.mark.parametrize("start, orders, told", [
    ("x", 2, 1), ("sin(x)", 1, 1), ("x*(1 - x)", 2, 0), ("sin(2*pi*x)", 2, 0),
    ("exp(-30*(x - 0.52)**2)", 2, 0),  # by 7e-4
])  # fmt: skip
def test_a_start_that_does_not_repeat_contradicts_a_period(start, orders, told):
    domain = pinn.Interval("x", 0, 1) * T1
    period = pinn.Periodic("u", "x", orders=orders)
    found = said(P(domain, ["u"], {"heat": "u_t - u_xx"}, [IC("u", start), period]))
    found = [one for one in found if "initial_u and periodic_u_x disagree: the second" in one]
    assert len(found) == told


def test_a_start_may_jump_where_the_period_does():
    domain = pinn.Interval("x", 0, 1) * T1
    tilted = [
        pinn.Operator("u - at(u, x=1) + 1", on="x=0", name="value"),
        pinn.Operator("u_x - at(u_x, x=1)", on="x=0", name="slope"),
    ]
    assert said(P(domain, ["u"], {"heat": "u_t - u_xx"}, [IC("u", "x"), *tilted])) == []


def test_two_values_at_one_place_disagree_by_little_already():
    walls = [IC("u", "x"), BC("u", "x"), BC("u", "x + 1e-4", on="x=1")]
    (sentence,) = said(P(X * T1, ["u"], {"heat": "u_t - u_xx"}, walls))
    assert "dirichlet_u and dirichlet_u_x_high disagree" in sentence


LOW, HIGH = "x=0 and y < 0.5", "x=0 and y >= 0.5"


@pytest.mark.parametrize(("conditions", "place"), [
    ([BC("u", 0), BC("u", 5, on=LOW)], (0, 0.5)),  # not where the second is none
    ([BC("u", 0, on=LOW), BC("u", 5, on=HIGH)], (0.45, 0.55)),
    ([BC("u", "y", on=LOW), BC("u", "1 - y", on=HIGH)], None),
    ([BC("u", 0, on="x=0 and y < 0.3"), BC("u", 5, on="x=0 and y > 0.6")], None),
    ([BC("u", 0, on="x=0 and y < 0.44"), BC("u", 5, on="x=0 and y > 0.56")], None),
    ([BC("u", 0, on="x=0 and (y < 0.3 or y > 0.7)"), BC("u", 5, on="x=0 and y > 0.4 and y < 0.6")],
     None),
    ([BC("u", 0, on="x=0 and (y < 0.3 or y > 0.7)"), pinn.PointValue("u", 1, x=0, y=0.5)], None),
    ([BC("u", 0), pinn.PointValue("u", 1, x=0, y=0.5)], (0.5, 0.5)),
    ([BC("u", "y"), pinn.PointValue("u", 0.5, x=0, y=0.5)], None),
    ([BC("u", 0), pinn.PointValue("u", 1, x=0.5, y=0.5)], None),
])  # fmt: skip
def test_conditions_on_parts_of_a_side_disagree_where_both_are(conditions, place):
    square = X * pinn.Interval("y", 0, 1)
    problem = P(square, ["u"], {"e": "laplacian(u)"}, conditions)
    found = [one for one in said(problem) if "disagree" in one and "x = 0, y = " in one]
    if place is None:
        assert found == []
    else:
        low, high = place
        assert low <= float(re.search(r"at x = 0, y = ([\d.]+)", found[0])[1]) <= high


def test_two_faces_meet_along_an_edge_in_space():
    y, z = pinn.Interval("y", 0, 1), pinn.Interval("z", 0, 1)
    faces = [BC("u", 0, on=f) for f in ("x=0", "y=0", "y=1", "z=0", "z=1")]
    problem = P(X * y * z, ["u"], {"e": "laplacian(u)"}, [*faces, BC("u", "y*(1-y)", on="x=1")])
    sentences = said(problem)
    assert len(sentences) == 2 and all("at x = 1, y = 0." in s for s in sentences)


def test_an_initial_value_that_changes_with_time():
    (sentence,) = said(heat(IC("u", "exp(-t)*sin(pi*x)"), EDGE))
    assert sentence.startswith("the value of initial_u changes with t, but the condition holds at")
    assert said(heat(IC("u", "(1 + 0*t)*sin(pi*x)"), EDGE)) == []


def test_a_value_that_is_not_finite_names_its_place():
    sentences = said(P(X, ["u"], {"e": "u_xx"}, [BC("u", "1/(x*(x-2))")]))
    assert sentences == [
        "condition 'dirichlet_u' is not finite at 100 of its 200 points, first at x = 0"
    ] or sentences == ["condition 'dirichlet_u' is not finite at 1 of its 2 points, first at x = 0"]


def test_an_equation_that_only_an_unknown_makes_infinite_is_left_in_peace():
    assert said(heat(START, EDGE, other="log(u - 5) + u_x")) == []


def test_a_coefficient_that_changes_nothing():
    problem = heat(START, EDGE, parameters=[pinn.Parameter("k", 1, lower=0)])
    assert said(problem) == [
        "the parameter 'k' changes no residual, so nothing determines it; use it in an equation or "
        "a condition, or leave it out"
    ]


@pytest.mark.parametrize("hard", [False, True])
def test_a_network_without_second_derivatives(hard):
    def network(activation):
        return T.nn.Sequential(
            T.nn.Linear(2, 8, dtype=T.float64), activation, T.nn.Linear(8, 1, dtype=T.float64)
        )

    problem = heat(IC("u", "sin(pi*x)", hard=hard), BC("u", 0, hard=hard))
    assert said(problem, network(T.nn.Tanh())) == []
    (sentence,) = said(problem, network(T.nn.ReLU()))
    assert sentence.startswith("the model has slopes but no second derivatives: u_xx vanish")
    first_order = P(X * T1, ["u"], {"e": "u_t + u_x"}, [IC("u", "x"), BC("u", "-t", on="x=0")])
    assert said(first_order, network(T.nn.ReLU())) == []


# ---- flows, and values without bounds

STOKES = {"a": "p_x - laplacian(u)", "b": "p_y - laplacian(v)", "mass": "u_x + v_y"}
CHANNEL = pinn.Interval("x", 0, 2) * pinn.Interval("y", 0, 1)
FIXED = pinn.PointValue("p", 0, x=0, y=0)


@pytest.mark.parametrize("hard", [False, True])
def test_a_flow_that_does_not_come_out_again(hard):
    """In flows 2/3, out flow 4/3."""
    walls = BC("u", 0, on=["y=0", "y=1"]), BC("v", 0, hard=hard), FIXED
    inflow = BC("u", "4*y*(1 - y)", on="x=0")
    problem = P(CHANNEL, ["u", "v", "p"], STOKES, [inflow, BC("u", "8*y*(1-y)", on="x=2"), *walls])
    (sentence,) = said(problem)
    assert sentence.startswith("equation 'mass' and dirichlet_u_x_low, dirichlet_u_x_high, ")
    assert "asks for a flow of 0 out of the boundary, and the conditions give 0.666667" in sentence
    same = P(CHANNEL, ["u", "v", "p"], STOKES, [inflow, BC("u", "4*y*(1 - y)", on="x=2"), *walls])
    assert said(same) == []
    sucked = {**STOKES, "mass": "u_x + v_y - 1/3"}
    outflow = BC("u", "8*y*(1 - y)", on="x=2")
    assert said(P(CHANNEL, ["u", "v", "p"], sucked, [inflow, outflow, *walls])) == []


def test_a_flow_that_is_not_given_everywhere_is_not_judged():
    walls = BC("u", 0, on=["y=0", "y=1"]), BC("v", 0, on=["y=0", "y=1", "x=0"])
    out = pinn.Operator("p - u_x", on="x=2"), pinn.Operator("v_x", on="x=2")
    problem = P(CHANNEL, ["u", "v", "p"], STOKES, [BC("u", "y*(1 - y)", on="x=0"), *walls, *out])
    assert said(problem) == []


def test_a_value_without_bounds_on_the_edge():
    (sentence,) = said(heat(IC("u", "log(x)"), EDGE))
    assert "initial_u" in sentence and "has an infinite value at x = 0, t = 0" in sentence
    assert said(heat(IC("u", "sqrt(x)*(1 - x)"), EDGE)) == []


def test_a_corner_where_a_value_has_no_bounds_is_told_once():
    square = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
    problem = P(square, ["u"], {"e": "laplacian(u)"}, [BC("u", "log(x**2 + y**2)")])
    (sentence,) = said(problem)
    assert "infinite value at x = 0, y = 0" in sentence
