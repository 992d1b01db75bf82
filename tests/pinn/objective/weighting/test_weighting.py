"""The interface of weightings, driven by a scheme that is defined here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

import pinn
from pinn.objective import Objective
from pinn.objective.weighting import WEIGHTINGS, Fixed, View, Weighting, Weights, reweigh
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1)
PROBLEM = pinn.Problem(
    DOMAIN, ["u"], {"burgers": "u_t + u*u_x - nu*u_xx"},
    [pinn.Initial("u", "-sin(pi*x)"), pinn.Dirichlet("u", 0.0)], constants={"nu": 0.05},
)  # fmt: skip


@dataclass(frozen=True)
class InverseNorms(Weighting):
    """Weights in proportion to 1/|gradient|, averaged; rows of one block weigh less in time."""

    every: int | None = 5
    memory: float = 0.9

    def update(self, view: View, weights: Weights, state: Mapping[str, np.ndarray]):
        norms = np.array([np.linalg.norm(view.gradients[name]) for name in view.names])
        fresh = norms.sum() / norms
        kept = self.memory * state["mean"] + (1 - self.memory) * fresh if state else fresh
        later = np.exp(-view.points["burgers"].coordinates[:, 1])
        blocks = dict(zip(view.names, kept.tolist(), strict=True))
        return Weights(blocks, {"burgers": later}), {"mean": kept}


def objective():
    sampling = pinn.Sampling(interior=30, initial=8, boundary=8)
    return Experiment(PROBLEM, pinn.MLP(width=5, depth=2), sampling, seed=3).objective()


def descend(objective: Objective, weighting, theta, state, first, last):
    """Gradient descent, with weights chosen on the way."""
    weights = []
    for step in range(first, last):
        if weighting.is_due(step):
            state = reweigh(weighting, View(objective, theta, step), state)
        weights.append(objective.weights)
        theta = theta - 1e-3 * objective.value_and_gradient(theta).gradient
    return theta, state, weights


def test_a_scheme_from_outside_weighs_blocks_and_rows():
    started = objective()
    theta, state, weights = descend(started, InverseNorms(), started.theta, {}, 0, 12)
    assert weights[0] == weights[4] != weights[5] == weights[9] != weights[10]
    other = objective()
    norms = {n: np.linalg.norm(g) for n, g in other.gradients(other.theta).items()}
    for name, norm in norms.items():
        assert weights[0][name] * norm == pytest.approx(sum(norms.values()), rel=1e-12)
    residual = started.residuals(theta)["burgers"]
    times = started.blocks[0].points.coordinates[:, 1]
    losses = started.losses(theta)
    assert losses["burgers"] == pytest.approx(np.mean(np.exp(-times) * residual**2), rel=1e-12)
    expected = sum(started.weights[name] * loss for name, loss in losses.items())
    assert started.value(theta) == pytest.approx(expected, rel=1e-12)


def test_a_run_goes_on_from_its_weights_and_state_with_the_same_bits():
    whole = objective()
    expected, _, _ = descend(whole, InverseNorms(), whole.theta, {}, 0, 12)
    first = objective()
    theta, state, _ = descend(first, InverseNorms(), first.theta, {}, 0, 7)
    kept = {name: array.copy() for name, array in state.items()}
    second = objective()
    second.set_weights(first.weights, first.row_weights)
    found, _, _ = descend(second, InverseNorms(), theta, kept, 7, 12)
    np.testing.assert_array_equal(found, expected)


def test_fixed_weights_are_those_of_the_objective():
    weighting = WEIGHTINGS["fixed"]({"initial_u": 10.0})
    assert weighting == Fixed({"initial_u": 10.0})
    started = objective()
    state = reweigh(weighting, View(started, started.theta), {})
    assert state == {}
    assert started.weights == {"burgers": 1.0, "initial_u": 10.0, "dirichlet_u": 1.0}
    given = Experiment(PROBLEM, pinn.MLP(), weighting={"initial_u": 10.0}).objective().weights
    assert given == started.weights


def test_when_a_scheme_is_due():
    assert [step for step in range(12) if InverseNorms().is_due(step)] == [0, 5, 10]
    assert InverseNorms().is_due(3, new_points=True)
    assert [step for step in range(12) if Fixed().is_due(step)] == [0]
    assert not Fixed().is_due(3, new_points=True)


def test_a_block_that_is_not_there_is_refused():
    started = objective()
    with pytest.raises(ValueError, match="got 'inital_u'; did you mean 'initial_u'"):
        reweigh(Fixed({"inital_u": 1.0}), View(started, started.theta), {})


def test_a_view_computes_what_is_asked_for_once(monkeypatch):
    started = objective()
    called = []
    for name in ("losses", "residuals", "gradients", "kernel_diagonals"):
        method = getattr(Objective, name)

        def counted(self, theta, name=name, method=method):
            called.append(name)
            return method(self, theta)

        monkeypatch.setattr(Objective, name, counted)
    theta = started.theta
    view = View(started, theta, step=4)
    assert called == [] and view.step == 4
    assert view.names == list(view.points) == list(view.residuals) == list(view.residuals)
    assert called == ["residuals"]
    rows, jacobian = started.jacobian(theta)
    diagonal = np.concatenate([view.kernel_diagonals[n] / len(view.points[n]) for n in view.names])
    np.testing.assert_allclose(diagonal, (jacobian**2).sum(1), rtol=1e-11)
    np.testing.assert_allclose(
        sum(view.gradients.values()), 2 * jacobian.T @ rows, rtol=0, atol=1e-12
    )
    assert sum(view.losses.values()) == pytest.approx(rows @ rows, rel=1e-12)
    assert called.count("gradients") == called.count("kernel_diagonals") == 1
