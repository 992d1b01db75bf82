"""Whether rows are linear in theta, as the objective tells, against what the text says."""

from dataclasses import replace

import numpy as np
import pytest

import pinn
from pinn.models import RandomFeatures
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1)
WALL = pinn.Dirichlet("u", "cos(x)*t")
LINEAR = {
    "heat": "u_t - 0.1*u_xx - exp(-x**2)",
    "coefficients of the place": "u_t + (1 + x**2)*u_x - where(x > 0, t, 1)*u",
    "an integral": "u_t - integral(at(u, x=s)*cos(s), s, 0, 1)",
    "fourth order": "u_xxxx + u_tt",
}
OTHERS = {
    "burgers": "u_t + u*u_x - 0.1*u_xx",
    "a cube": "u_xxxx + u**3",
    "a fraction": "u_t + u/(1 + u**2)",
    "in a corner alone": "u_t - u_xx + where(x > 0.9, 1, 0)*u**2",
}


def objective(equation=LINEAR["heat"], conditions=(WALL,), model=None, **options):
    problem = pinn.Problem(DOMAIN, ["u"], {"flow": equation}, conditions)
    model = model or RandomFeatures(40, (0.5, 4.0))
    sampling = pinn.Sampling(interior=600, boundary=80)
    return Experiment(problem, model=model, sampling=sampling, **options).objective()


def with_integrals(equation):
    return equation.replace("integral(u*cos(s), s, 0, x)", "integral(u, x=-1..x)")


@pytest.mark.parametrize("name", LINEAR)
def test_linear_equations_have_one_jacobian(name):
    found = objective(LINEAR[name])
    assert found.is_linear
    rng = np.random.default_rng(3)
    one, other = (found.jacobian(rng.standard_normal(found.size))[1] for _ in range(2))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(one).max())


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_told(name):
    assert not objective(OTHERS[name]).is_linear


def test_networks_that_are_trained_inside_are_not_linear():
    assert not objective(model=pinn.MLP(width=6, depth=1)).is_linear


def test_conditions_count():
    assert objective(conditions=[WALL, pinn.Initial("u", "sin(x)")]).is_linear
    assert not objective(conditions=[pinn.Operator("u**2 - x", on="t=0")]).is_linear


def test_a_hard_condition_is_linear():
    assert objective(conditions=[replace(WALL, hard=True)]).is_linear


def test_where_nothing_is_finite_there_is_nothing_linear():
    assert not objective("u_t - log(u)").is_linear


def test_theta_may_be_read_again_afterwards():
    found = objective()
    theta = found.theta + 0.3
    before = found.weighted_rows(theta)
    assert found.is_linear
    np.testing.assert_array_equal(found.weighted_rows(theta), before)
