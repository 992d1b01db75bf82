"""Equations with next to no points for the network are told of before training."""

import warnings

import pytest

import pinn

X, T = pinn.Interval("x", 0, 1), pinn.Time("t", 0, 1)
HEAT = pinn.Problem(
    X * T, ["u"], {"heat": "u_t - u_xx"}, [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0)]
)
MODEL = pinn.MLP()  # 921 trainable numbers


def said(sampling, model=MODEL):
    return pinn.check(HEAT, model, sampling, [pinn.Adam(10)]).advice


@pytest.mark.parametrize("redraw", [None, 500, "auto"])
def test_five_points_for_hundreds_of_numbers_are_told_of(redraw):
    (advice,) = said(pinn.Sampling(interior=5, redraw=redraw))
    assert advice.startswith("equation 'heat' has 5 points for 921 trainable numbers")
    assert "set sampling.interior to more (2500 where it is left out)" in advice


def test_the_points_of_one_equation_are_told_of_with_its_name():
    (advice,) = said(pinn.Sampling(blocks={"heat": 1}))
    assert "'heat' has 1 point for" in advice


@pytest.mark.parametrize("sampling", [
    pinn.Sampling(), pinn.Sampling(interior=100), pinn.Sampling(interior=5, redraw=1),
    pinn.Sampling(initial=5, boundary=5),
])  # fmt: skip
def test_enough_points_and_those_that_change_soon_are_not(sampling):
    assert said(sampling) == ()


def test_few_points_for_a_small_network_are_not():
    assert said(pinn.Sampling(interior=20), pinn.MLP(width=5, depth=1)) == ()


def test_a_usual_number_of_points_for_a_large_network_is_not():
    assert said(pinn.Sampling(interior=400), pinn.MLP(width=64, depth=4)) == ()


def test_what_is_told_of_comes_true():
    """A solution that is met at 4 points, and 100 times as far off as one that is met at 400."""
    problem = pinn.Problem(
        X, ["u"], {"poisson": "u_xx + pi**2*sin(pi*x)"}, [pinn.Dirichlet("u", 0, hard=True)],
        reference={"u": "sin(pi*x)"},
    )  # fmt: skip
    errors = []
    for count in (4, 400):
        points = pinn.Sampling(interior=count, redraw=None, adaptive=None)
        model = pinn.MLP(width=12, depth=2)
        found = pinn.check(problem, model, points, [pinn.SSBroyden(300)])
        assert len(found.advice) == (count == 4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pinn.ProblemWarning)
            report = pinn.solve(problem, model, points, [pinn.SSBroyden(300)]).report
        errors.append(report.rel_l2["u"])
    assert errors[0] > 100 * errors[1]
