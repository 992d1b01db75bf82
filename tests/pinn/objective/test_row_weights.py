"""Weights of the rows of a block: against the formula, in every form."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1)
PROBLEM = pinn.Problem(
    DOMAIN, ["u", "v"], {"first": "u_t - v_xx + u*v_x", "second": "v_t + u_xx - sin(u*v)"},
    [pinn.Initial("u", "cos(pi*x)"), pinn.Dirichlet("v", "x*t")],
)  # fmt: skip
WEIGHTS = {"first": 2.0, "initial_u": 5.0}
NAMES = ["first", "second", "initial_u", "dirichlet_v"]


def make(**options):
    sampling = pinn.Sampling(interior=23, initial=7, boundary=9)
    setup = Experiment(
        PROBLEM, pinn.MLP(width=5, depth=2), sampling, seed=1, weighting=WEIGHTS, **options
    )
    return setup.objective()


def some_theta(objective):
    return objective.theta + 0.2 * np.random.default_rng(2).standard_normal(objective.size)


def some_rows(objective):
    """For one block of a group of two, and for one alone."""
    r = np.random.default_rng(3)
    rows = {b.name: r.uniform(0, 2, b.rows) for b in objective.blocks}
    rows["second"][4] = 0.0
    return {name: rows[name] for name in ("second", "initial_u")}


@pytest.mark.parametrize("engine", ["recorded", "eager"])
def test_every_form_has_them(engine):
    objective = make(engine=engine)
    theta = some_theta(objective)
    plain, (rows, jacobian) = objective.residuals(theta), objective.jacobian(theta)
    v = some_rows(objective)
    objective.set_weights(WEIGHTS, v)
    factors = [np.sqrt(v.get(name, np.ones(len(plain[name])))) for name in NAMES]
    factors = np.concatenate(factors)
    rows, jacobian = rows * factors, jacobian * factors[:, None]

    def same(a, b):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * max(1, np.abs(b).max()))

    found = objective.value_and_gradient(theta)
    for name in NAMES:
        expected = np.mean(v.get(name, 1.0) * plain[name] ** 2)
        assert found.losses[name] == pytest.approx(expected, rel=1e-12)
        same(objective.residuals(theta)[name], plain[name])
    weights = dict.fromkeys(NAMES, 1.0) | WEIGHTS
    expected = sum(weights[name] * found.losses[name] for name in NAMES)
    assert found.loss == pytest.approx(expected, rel=1e-12)
    assert objective.value(theta) == pytest.approx(expected, rel=1e-12)
    same(found.gradient, 2 * jacobian.T @ rows)
    slopes = objective.gradients(theta)
    same(sum(weights[name] * slopes[name] for name in NAMES), found.gradient)
    same(objective.weighted_rows(theta), rows)
    same(objective.jacobian(theta)[1], jacobian)
    same(objective.gram(theta)[0], jacobian.T @ jacobian)
    r = np.random.default_rng(0)
    direction, z = r.standard_normal(objective.size), r.standard_normal(objective.rows)
    same(objective.jvp(theta, direction), jacobian @ direction)
    same(objective.vjp(theta, z), jacobian.T @ z)


def test_they_travel_with_the_points_through_chunks():
    problem = pinn.Problem(DOMAIN, ["u"], {"r": "u_t + u*u_x - u_xx"})
    sampling = pinn.Sampling(interior=5001)
    objective = Experiment(problem, pinn.MLP(width=20, depth=2), sampling).objective()
    v = np.random.default_rng(0).uniform(size=5001)
    objective.set_weights({}, {"r": v})
    theta = some_theta(objective)
    found = objective.value_and_gradient(theta)
    residual = objective.residuals(theta)["r"]
    assert found.loss == pytest.approx(np.mean(v * residual**2), rel=1e-12)
    step = 1e-5 * np.random.default_rng(1).standard_normal(objective.size)
    slope = objective.value(theta + step) - objective.value(theta - step)
    assert 2 * found.gradient @ step == pytest.approx(slope, rel=1e-7)


def test_ones_give_the_bits_of_none():
    objective = make()
    theta = some_theta(objective)
    before = objective.value_and_gradient(theta)
    objective.set_weights(WEIGHTS, {b.name: np.ones(b.rows) for b in objective.blocks})
    after = objective.value_and_gradient(theta)
    assert before.losses == after.losses
    np.testing.assert_array_equal(before.gradient, after.gradient)


def test_they_end_with_their_points_and_with_the_next_weights():
    objective = make()
    theta = some_theta(objective)
    before = objective.value(theta)
    objective.set_weights(WEIGHTS, some_rows(objective))
    assert set(objective.row_weights) == {"second", "initial_u"}
    objective.set_points({block.name: block.points for block in objective.blocks})
    assert objective.row_weights == {} and objective.value(theta) == before
    objective.set_weights(WEIGHTS, some_rows(objective))
    objective.set_weights(WEIGHTS)
    assert objective.row_weights == {} and objective.value(theta) == before


@pytest.mark.parametrize(
    ("weights", "rows", "message"),
    [
        ({"frist": 1}, {}, "expected a block out of .*got 'frist'; did you mean 'first'"),
        ({"first": -1}, {}, "first: expected a number >= 0"),
        ({}, {"initial_v": np.ones(7)}, "row weights: .*'initial_v'; did you mean 'initial_u'"),
        ({}, {"first": np.ones(7)}, r"row weights of block 'first': expected shape \(23,\).*\(7,"),
        ({}, {"initial_u": np.r_[1, np.nan, np.ones(5)]}, "finite numbers >= 0, got nan in row 1"),
        ({}, {"initial_u": -np.ones(7)}, "finite numbers >= 0, got -1.0 in row 0"),
    ],
)
def test_weights_that_cannot_be_are_refused_and_change_nothing(weights, rows, message):
    objective = make()
    objective.set_weights(WEIGHTS, some_rows(objective))
    theta = some_theta(objective)
    before = objective.value(theta)
    with pytest.raises(ValueError, match=message):
        objective.set_weights(weights, rows)
    assert objective.value(theta) == before
