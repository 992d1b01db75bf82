"""Constants that are used nowhere are told of, and no others."""

import pytest

import pinn
from pinn.training.experiment import Experiment
from pinn.training.unused import unused_constants

X, T = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
NU = "constants.Nu is used nowhere; did you mean 'nu'?"
K = "constants.K is used nowhere, so its value changes nothing; use it, or leave it out"
NETWORK = pinn.MLP(width=4, depth=1)
FEW = pinn.Sampling(interior=20, initial=5, boundary=4)


def heat(constants, equation="u_t - nu*u_xx", conditions=(), **more):
    constants = {"nu": 0.1, **constants}
    return pinn.Problem(X * T, ["u"], {"heat": equation}, conditions, constants, **more)


def told(problem, model=NETWORK, sampling=FEW, **more):
    return unused_constants(Experiment(problem, model, sampling, **more))


def test_a_misspelt_constant_is_told_with_the_one_that_was_meant():
    assert told(heat({"Nu": 0.05, "K": 3})) == [NU, K]


def test_check_and_solve_tell_of_it_before_training():
    ends = [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0.0)]
    problem = heat({"Nu": 0.05}, conditions=ends)
    assert pinn.check(problem, NETWORK, FEW).warnings == (NU,)
    with pytest.warns(pinn.ProblemWarning) as caught:
        solution = pinn.solve(problem, NETWORK, FEW, [pinn.Adam(1)], error_bars=False)
    assert NU in map(str, (one.message for one in caught))
    assert NU in solution.report.warnings


def test_a_parameter_may_have_been_meant():
    problem = pinn.Problem(
        T, ["u"], {"e": "u_t - rate*u"}, constants={"Rate": 2}, parameters={"rate": 1.0}
    )
    assert told(problem) == ["constants.Rate is used nowhere; did you mean 'rate'?"]


@pytest.mark.parametrize("given", [
    {"equation": "u_t - nu*diff(K*u, x, x)"},
    {"equation": "u_t - nu*u_xx + at(u, t=t - K)"},
    {"equation": "u_t - nu*u_xx - 0*K"},
    {"equation": "u_t - nu*u_xx - integral(u, x, -K, K)"},
    {"equation": pinn.Equation("u_t - nu*u_xx", on="x < K/9")},
    {"conditions": [pinn.Initial("u", "K*x")]},
    {"conditions": [pinn.Initial("u", "K*x", hard=True)]},
    {"conditions": [pinn.Robin("u", "K", 1.0, 0.0)]},
    {"conditions": [pinn.Operator("u_t - K")]},
    {"conditions": [pinn.Dirichlet("u", 0.0, hard=True, power="K/2")]},
    {"regions": {"left": "x < K/9"}},
    {"piecewise": {"k": {"elsewhere": "K"}}},
    {"piecewise": {"flux": {"elsewhere": "-K*u_x"}}},
    {"reference": {"u": "K*x"}},
    {"constants": {"K": 3, "L": "2*K"}, "equation": "u_t - nu*u_xx - L"},
    {"constants": {"K": 3, "L": "2*K"}, "equation": "u_t - nu*u_xx - L*a",
     "fields": [pinn.Field("a", ["x"], model=pinn.MLP(3, 1, features=["x", "sin(nu*x)"]))]},
    {"fields": [pinn.Field("a", ["x"], model=pinn.MLP(3, 1, features=["x", "sin(K*x)"]))],
     "equation": "u_t - nu*u_xx - a"},
])  # fmt: skip
def test_a_constant_that_is_used_in_one_place_is_not_told(given):
    assert told(heat(**{"constants": {"K": 3}, **given})) == []


@pytest.mark.parametrize("value", [3, -0.3, "1/3", 1e-7])
def test_nor_is_one_that_the_model_or_the_points_use(value):
    problem = heat({"K": value})
    by_model = Experiment(problem, pinn.MLP(4, 1, features=["x", "t", "sin(K*x)"]), FEW)
    assert unused_constants(by_model) == []
    assert unused_constants(Experiment(**by_model.arguments)) == []  # numbers by now
    density = pinn.Sampling(interior=20, density="exp(-abs(K)*x**2)")
    assert told(problem, sampling=density) == []


def test_nor_one_that_a_shipped_reference_needs():
    problem = pinn.Problem(
        X * T, ["u"], {"burgers": "u_t + u*u_x - 0.01/pi*u_xx"}, constants={"nu": "0.01/pi"},
        reference="cole-hopf",
    )
    assert told(problem) == []


@pytest.mark.parametrize("given", [
    {"equation": lambda s: s.u_t - s.nu * s.u_xx},
    {"conditions": [pinn.Initial("u", lambda s: s.x)]},
    {"conditions": [pinn.Initial("u", lambda s: s.x, hard=True)]},
    {"reference": lambda s: s.x},
])  # fmt: skip
def test_nothing_is_told_where_a_function_may_use_any(given):
    assert told(heat({"K": 3}, **given)) == []
