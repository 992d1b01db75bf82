"""How large unknowns are by what a problem states, beside how large they then are."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis.posed.sizes import stated_sizes
from pinn.diagnosis.posed.statement import statement_of

X, T = pinn.Interval("x", 0, 1), pinn.Time("t", 0, 10)
SIN = "sin(pi*x)"


def sizes(domain, equation, conditions, unknowns=("u",), **more):
    equations = equation if isinstance(equation, dict) else {"e": equation}
    problem = pinn.Problem(domain, list(unknowns), equations, conditions, **more)
    return stated_sizes(statement_of(problem))


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("given", [2e6, 3e-7])
def test_a_condition_tells_the_size_of_its_values(given, hard):
    condition = pinn.Initial("u", f"{given}*{SIN}", hard=hard)
    found = sizes(X * T, "u_t - 0.01*u_xx", [condition, pinn.Dirichlet("u", 0, hard=hard)])
    assert found["u"].by == "initial_u"
    assert found["u"].value == pytest.approx(given / np.sqrt(2), rel=0.3)


def test_data_tell_the_size_of_what_was_measured():
    data = pinn.Data("u", {"x": np.linspace(0, 1, 9), "u": np.full(9, 5e5)})
    found = sizes(X, "u_xx", [data])["u"]
    assert found.value == pytest.approx(5e5) and found.by == "data_u"


@pytest.mark.parametrize("size", [1e6, 1e-6])
def test_a_source_tells_the_size_of_what_it_brings_about(size):
    """-u_xx = pi^2 A sin(pi x) has the solution A sin(pi x)."""
    found = sizes(X, f"u_xx + pi**2*{size}*{SIN}", [pinn.Dirichlet("u", 0)])
    assert found["u"].by == "e" and size / 5 < found["u"].value < 5 * size


@pytest.mark.parametrize("start", [1.0, 1e4])
@pytest.mark.parametrize("hard", [False, True])
def test_growth_tells_the_size_at_which_it_ends(start, hard):
    found = sizes(T, "u_t - u*(1 - u/K)", [pinn.Initial("u", start, hard=hard)],
                  constants={"K": 1e6})  # fmt: skip
    assert found["u"].by == "e" and 2e5 < found["u"].value < 5e6


def test_several_unknowns_are_of_one_size_where_they_are_multiplied():
    found = sizes(
        T, {"s": "S_t + S*I/1e6", "i": "I_t - S*I/1e6 + 0.2*I"},
        [pinn.Initial("S", 999_000), pinn.Initial("I", 1000)], ["S", "I"],
    )  # fmt: skip
    assert 2e5 < found["S"].value < 5e6 and 2e5 < found["I"].value < 5e6


@pytest.mark.parametrize("equation", [
    "u_t + u*u_x - 0.003*u_xx",  # is linear until u is 0.003 times as large
    "u_tt - u_xx",
    "u_t - u_xx - u + u**3",
    "u_xx + 2500*pi**2*sin(50*pi*x)",  # waves that are fast, and no larger than one
    "u_t - exp(u) + 1",
    "u_t - 3*u_xx",
])  # fmt: skip
def test_an_equation_that_may_be_of_size_one_tells_nothing(equation):
    found = sizes(X * T, equation, [pinn.Initial("u", SIN), pinn.Dirichlet("u", 0)])
    assert found["u"].by == "initial_u"


@pytest.mark.parametrize("equation", [
    "integral(exp(s - x)*at(u, x=s), s, 0, x) - 1e6", lambda s: s.u_xx - 1e6 * s.diff(s.u, "x"),
    lambda s: s.u_xx + 1e7,
])  # fmt: skip
def test_of_equations_that_only_a_network_can_run_nothing_is_told(equation):
    found = sizes(X, equation, [pinn.Dirichlet("u", 0)])
    assert found == {} or 1e5 < found["u"].value < 1e7


@pytest.mark.parametrize("area", [
    "q*sqrt(1 + q_z**2)", "(1 + q)*sqrt(1 + q_z**2)", "sqrt(1 + q_z**2)/q",
])  # fmt: skip
def test_rounding_of_terms_that_cancel_tells_no_size(area):
    """Of a film of revolution, and of a shortest way: with 1e16 of q only rounding is left."""
    line, ends = pinn.Interval("z", -1, 1), [pinn.Dirichlet("q", 2)]
    found = sizes(line, f"variation({area}, q)", ends, unknowns="q")
    assert found["q"][:2] == (2.0, "dirichlet_q")


@pytest.mark.parametrize("given", [0.0131, 0.04, 1e-4])
def test_an_unknown_is_as_large_as_another_makes_it_whatever_the_ends_have(given):
    """v starts at 0 and hardly moves at the ends, where u moves it by as much as u is."""
    ends = [pinn.Dirichlet(name, given) for name in "uv"]
    found = sizes(
        X * T, {"e": "u_t + v_xx - v*(u**2 + v**2)", "f": "v_t - u_xx + u*(u**2 + v**2)"},
        [pinn.Initial("u", "2*sin(pi*x)"), pinn.Initial("v", 0), *ends], ["u", "v"],
    )  # fmt: skip
    assert 0.3 < found["v"].value < 10 and not found["v"].is_told


def test_what_starts_small_and_nothing_moves_stays_so():
    found = sizes(X * T, "u_t - 0.01*u_xx", [pinn.Initial("u", f"0.02*{SIN}")])
    assert found["u"].value == pytest.approx(0.02 / np.sqrt(2), rel=0.3) and found["u"].is_told
