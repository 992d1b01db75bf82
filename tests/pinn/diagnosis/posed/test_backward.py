"""Equations that run the wrong way in time are told of, those that do not are not."""

import re

import pytest

import pinn
from pinn.diagnosis.posed.backward import backward
from pinn.diagnosis.posed.statement import Statement

X, Y, TIME = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1), pinn.Time("t", 0, 2)
START = pinn.Initial("u", "sin(pi*x)")
END = pinn.Terminal("u", "sin(pi*x)")


def said(equation, *conditions, domain=X * TIME, unknowns=("u",), **more):
    equations = equation if isinstance(equation, dict) else {"e": equation}
    problem = pinn.Problem(domain, list(unknowns), equations, list(conditions), **more)
    return list(backward(Statement(problem)))


@pytest.mark.parametrize(("equation", "leaf"), [
    ("u_t + u_xx", "u_xx"), ("3*u_xx + (2 + x)*u_t - u**2", "u_xx"), ("u_t - u_xxxx", "u_xxxx"),
    ("u_t + u*u_x + u_xx - 0.1*u_xxxx", "u_xxxx"), ("(1 + x)*exp(u)*(u_t + u_xx)", "u_xx"),
])  # fmt: skip
def test_heat_backwards_from_its_start_is_told(equation, leaf):
    (sentence,) = said(equation, START)
    assert sentence.startswith("the equation 'e' runs the wrong way in t: from t = 0, where 'u' is")
    assert f"check the sign of {leaf}, or give 'u' at the end of the time" in sentence
    assert said(equation, END) == []


@pytest.mark.parametrize("equation", [
    "u_t - u_xx", "u_t + u_xxxx", "u_t + u_xx + u_xxxx", "u_t + u*u_x - 0.01*u_xx",
])  # fmt: skip
def test_heat_from_its_end_is_told(equation):
    assert said(equation, START) == []
    (sentence,) = said(equation, END)
    assert "from t = 2, where 'u' is given" in sentence
    assert sentence.endswith("or give 'u' at the beginning of the time")


PUSH = pinn.Initial("u", 0, order=1)


@pytest.mark.parametrize(("equation", "leaf"), [
    ("u_tt + 4*u_xx", "u_xx"), ("u_tt + 0.1*u_t + u_xx + u", "u_xx"), ("u_tt - u_xxxx", "u_xxxx"),
])  # fmt: skip
def test_a_wave_equation_of_the_wrong_sign_is_told(equation, leaf):
    (sentence,) = said(equation, START, PUSH)
    assert sentence.startswith("the equation 'e' is no wave equation: from t = 0, where 'u' and")
    assert f"check the sign of {leaf}, or give 'u' at both ends of the time" in sentence
    assert said(equation, START, END) == said(equation, START, PUSH, END) == []


LEFT = pinn.Dirichlet("u", 0, on="x=0")
FLUX = pinn.Neumann("u", 1, on="x=0")


def test_heat_that_is_followed_sideways_is_told():
    (sentence,) = said("u_t - u_xx", START, LEFT, FLUX)
    assert sentence.startswith(
        "nothing is given for 'u' at one end of x, and both 'u' and its slope at x = 0, from where "
        "the equation 'e' makes errors grow"
    )
    places = {"x": [0.4, 0.6], "t": [0.5, 1.0], "u": [0.1, 0.2]}
    for other in (
        pinn.Dirichlet("u", 0, on="x=1"), pinn.Operator("u_x + u", on="x=1"),
        pinn.Data("u", places), pinn.Integral("u", 0),
    ):  # fmt: skip
        assert said("u_t - u_xx", START, LEFT, FLUX, other) == []
    assert said("u_t - u_xx", START, LEFT, pinn.Neumann("u", 1, on="x=1")) == []
    assert said("u_tt - u_xx", LEFT, FLUX) == []  # waves may be followed along x as well
    assert said("u_t - u_xx", START, pinn.Periodic("u", "x", orders=2), LEFT, FLUX) == []


def test_waves_between_two_times_are_told():
    (sentence,) = said("u_tt - 4*u_xx", START, END)
    assert sentence.startswith(
        "the equation 'e' is one of waves, and 'u' is given at both ends of t, which determines no"
    )
    data = pinn.Data("u", {"x": [0.3, 0.6], "t": [0.5, 1.0], "u": [0.1, 0.2]})
    assert said("u_tt - 4*u_xx", START, END, data) == said("u_tt - 4*u_xx", START, PUSH) == []
    assert said("u_tt + 4*u_xx", START, END) == []
    ends = [pinn.Initial("u", 0), pinn.Terminal("u", 1)]
    assert said("u_tt + u", *ends, domain=TIME) == []


@pytest.mark.parametrize("equation", [
    "u_tt - u_xx", "u_tt + u_t - u_xx", "u_tt + u_xxxx", "u_tt - u_xx + sin(u)", "u_tt + u",
    "u_tt + u_xt - u_xx", "u_tt - u_xx - u_xxxx + 2*u_xxxx",
])  # fmt: skip
def test_of_waves_nothing_is_told(equation):
    assert said(equation, START, PUSH) == []


@pytest.mark.parametrize("equation", [
    "u_t + u_x", "u_t + u_xxx", "u_tt - u_xx", "u_tt + u_xx", "u_xx + u",
    "u_t + u*u_xx", "u_t + u_tt + u_xx", "u_t - log(u)*u_xx", "u_t + exp(u)*u_xx",
    "u_t - max(d - 0.35, 0)*u_xx", "max(d - 0.35, 0)*u_t - u_xx", "u_t + d*u_xx",
])  # fmt: skip
def test_nothing_is_said_of_waves_of_other_orders_and_of_signs_that_change(equation):
    more = {"parameters": [pinn.Parameter("d", 0.4)]} if "d" in equation else {}
    assert said(equation, START, **more) == said(equation, END, **more) == []


@pytest.mark.parametrize("equation", [
    "u_t + (x - 0.5)*u_xx", "u_t - 0.3*u_xx/(0.5 - x)", "u_t + max(x - 0.5, 0)*u_xx",
])  # fmt: skip
def test_where_it_runs_the_wrong_way_in_a_part_of_the_domain_that_is_told(equation):
    (sentence,) = said(equation, START)
    place = re.search(r"in t in a part of the domain, such as at x = ([\d.]+)", sentence)[1]
    assert float(place) > 0.5
    assert "check the sign of u_xx there" in sentence
    assert said(equation, START, END) == []


def test_where_the_diffusion_only_vanishes_nothing_is_told():
    assert said("u_t - max(x - 0.5, 0)*u_xx", START) == []


@pytest.mark.parametrize("equations", [
    {"flow": "u_t + u*u_x + u_xx + w_xx", "second": "w - u_xx"},  # Kuramoto-Sivashinsky
    {"flow": "u_t + 0.7*u + 2*u_xx + w_xx + u**3", "second": "w - u_xx"},
    {"flow": "u_t + u_xx - 2*w", "second": "w - u_xx"},
    {"u": "u_t + u_xx - 5*w_xx", "w": "w_t + 5*u_xx - 3*w_xx"},
])  # fmt: skip
def test_nothing_is_said_of_one_equation_of_a_system(equations):
    assert said(equations, START, pinn.Initial("w", 0), unknowns=("u", "w")) == []


def test_a_laplacian_counts_in_every_coordinate_and_the_other_unknown_does_not():
    plane = {"domain": X * Y * TIME}
    assert len(said("u_t + laplacian(u)", START, **plane)) == 1
    assert said("u_t - laplacian(u)", START, **plane) == []
    waves = {"real": "u_t + v_xx", "imaginary": "v_t - u_xx"}
    assert said(waves, START, pinn.Initial("v", 0), unknowns=("u", "v")) == []


def test_it_is_a_warning_before_training():
    problem = pinn.Problem(
        X * TIME, ["u"], {"heat": "u_t + u_xx"}, [START, pinn.Dirichlet("u", 0, on="x=0"),
                                                 pinn.Dirichlet("u", 0, on="x=1")],
    )  # fmt: skip
    found = pinn.check(problem, pinn.MLP(4, 1), pinn.Sampling(20))
    assert any("runs the wrong way in t" in sentence for sentence in found.warnings)


BC = pinn.Dirichlet


def test_values_and_slopes_on_one_face_are_no_start_of_an_equation_of_space():
    sides, values = BC("u", 0, on=["x=0", "x=1"]), BC("u", "sin(pi*x)", on="y=0")
    slopes = pinn.Neumann("u", 0, on="y=0")
    (sentence,) = said("laplacian(u)", sides, values, slopes, domain=X * Y)
    assert sentence.startswith("the equation 'e' is solved from y = 0 alone")
    top = BC("u", 0, on="y=1")
    assert said("laplacian(u)", sides, values, top, domain=X * Y) == []
    assert said("laplacian(u)", sides, slopes, top, domain=X * Y) == []
    assert said("laplacian(u)", BC("u", 0), domain=X * Y) == []


@pytest.mark.parametrize("equation", ["u_xx + u", "u_xx - u", "u_xxxx - 1"])
def test_along_a_line_a_start_is_as_good_as_ends(equation):
    value, slope = BC("u", 1, on="x=0"), pinn.Neumann("u", 0, on="x=0")
    assert said(equation, value, slope, domain=X) == []


def test_values_all_around_determine_no_waves():
    """With x in 0..1 and t in 0..1 each sin(n pi x) sin(n pi t) is 0 on all of the boundary."""
    square = X * pinn.Interval("t", 0, 1)
    (sentence,) = said("u_tt - u_xx", BC("u", "sin(pi*x)"), domain=square)
    assert sentence.startswith("the equation 'e' is one of waves, and 'u' is given on all of the")
    started = BC("u", 0, on=["x=0", "x=1"]), BC("u", "sin(pi*x)", on="t=0")
    slope = pinn.Operator("u_t", on="t=0")
    assert said("u_tt - u_xx", *started, slope, domain=square) == []
    assert said("u_tt + u_xx", BC("u", 0), domain=square) == []
