"""Problems that zero solves are told of, before training and after it."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis import solved_by_zero
from pinn.diagnosis.posed.homogeneous import branching
from pinn.diagnosis.posed.statement import Statement

X, Y = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)
T1 = pinn.Time("t", 0, 1)
BC, IC, P = pinn.Dirichlet, pinn.Initial, pinn.Problem
MODE = {"mode": "u_xx + pi**2*u"}


@pytest.mark.parametrize("problem, named", [
    (P(X, ["u"], MODE, [BC("u", 0)]), "u = 0 solves the equation 'mode' and all conditions on 'u'"),
    (P(X, ["u"], MODE, [BC("u", 0, hard=True)]), "u = 0 solves the equation 'mode'"),
    (P(T1, ["u"], {"root": "u_t - 2*sqrt(abs(u))"}, [IC("u", 0)]), "u = 0 solves"),
    (P(T1, ["u", "v"], {"a": "u_t - v", "b": "v_t + u"}, [IC("u", 0), IC("v", 0)]),
     "u = v = 0 solves the equations 'a', 'b' and all conditions, "),
])  # fmt: skip
def test_what_zero_solves_is_told(problem, named):
    (sentence,) = solved_by_zero(problem)
    assert sentence.startswith(named) and "a homogeneous problem" in sentence


TABLE = {"x": np.linspace(0.1, 0.9, 5), "u": np.array([0, 0, 1e-3, 0, 0.0])}


@pytest.mark.parametrize("problem", [
    P(X, ["u"], MODE, [BC("u", 0), pinn.PointValue("u", 1, x=0.5)]),
    P(X, ["u"], MODE, [BC("u", 0), pinn.Data("u", TABLE)]),
    P(X, ["u"], {"source": "u_xx + exp(-(x - 0.5)**2/1e-5)"}, [BC("u", 0)]),
    P(X * Y, ["u"], {"laplace": "laplacian(u)"},
      [BC("u", 0, on=["x=0", "x=1"]), BC("u", "where(abs(x - 0.5) < 0.01, 1, 0)", on="y=1")]),
    P(X, ["u"], {"pole": "u_xx - 1/u"}, [BC("u", 0)]),
    P(X, ["u"], MODE, []),
])  # fmt: skip
def test_what_something_makes_other_than_zero_is_not(problem):
    assert solved_by_zero(problem) == []


def test_it_is_said_by_check_and_at_the_end():
    problem = P(X, ["u"], MODE, [BC("u", 0)])
    assert any("u = 0 solves" in one for one in problem.check(model=pinn.MLP(4, 1)).advice)
    solution = pinn.solve(
        problem, pinn.MLP(4, 1), pinn.Sampling(interior=9), [pinn.SSBroyden(60)], error_bars=False
    )
    assert any("u = 0 solves" in one for one in solution.report.error_estimate.remarks)
    assert "homogeneous" in str(solution.report)


SINE = "laplacian(u) + k*sin(u)"


def told_to_branch(domain, equation, conditions, **constants):
    problem = P(domain, ["u"], {"e": equation}, conditions, constants=constants)
    return list(branching(Statement(problem)))


@pytest.mark.parametrize("domain, equation, k", [
    (X, "u_xx + k*sin(u)", 20), (X * Y, SINE, 20), (X, "2*u_xx + k*u*(1 - u)", 20),
])  # fmt: skip
def test_solutions_that_branch_off_zero_are_told_above_the_first_eigenvalue(domain, equation, k):
    """The eigenvalues of -laplacian with u = 0 around: pi^2, and twice that in the square."""
    (said,) = told_to_branch(domain, equation, [BC("u", 0)], k=k)
    assert "other solutions branch off it" in said
    assert told_to_branch(domain, equation, [BC("u", 0)], k=9) == []


@pytest.mark.parametrize("domain, equation, conditions", [
    (X, "u_xx + k*u", [BC("u", 0)]),
    (X, "u_xx + k*sin(u) + 1", [BC("u", 0)]),
    (X, "u_xx - k*sin(u)", [BC("u", 0)]),
    (X * T1, "u_t - u_xx - k*sin(u)", [BC("u", 0), IC("u", 0)]),
    (X, "u_xx + k*sin(u)", [BC("u", 0, on="x=0"), pinn.Neumann("u", 0, on="x=1")]),
])  # fmt: skip
def test_other_problems_are_not_said_to_branch(domain, equation, conditions):
    assert told_to_branch(domain, equation, conditions, k=30) == []


@pytest.mark.parametrize("problem", [
    P(pinn.Time("t", 0, 100), ["T"],
      {"c": "T_t + 0.1*T - where(t > 40 and t < 40.001, 1e4, 0)"}, [IC("T", 0)]),
    P(X * Y, ["u"], {"disc": "laplacian(u) + where((x - 0.3)**2 + (y - 0.4)**2 < 1e-6, 1, 0)"},
      [BC("u", 0)]),
    P(X * T1, ["u"], {"heat": "u_t - u_xx"}, [BC("u", 0), IC("u", "exp(-(x - 0.4)**2/1e-12)")]),
])  # fmt: skip
def test_sources_that_no_even_point_meets_make_it_other_than_zero(problem):
    assert solved_by_zero(problem) == []
