"""Adam: against the papers' algorithms written out."""

import numpy as np
import pytest

import pinn
from pinn.objective import Layout
from pinn.optimizers import StopReason, minimize

CURVATURE = np.array([1.0, 10.0, 0.1])


def bowl(theta):
    return 0.5 * float(theta @ (CURVATURE * theta)), CURVATURE * theta


def test_steps_equal_the_algorithm():
    seen = []
    start = np.array([1.0, -2.0, 3.0])
    stage = pinn.Adam(steps=5, learning_rate=0.1, beta1=0.8, beta2=0.9, epsilon=1e-3)
    end = minimize(stage, bowl, start, seen.append)
    theta, m, v = start.copy(), np.zeros(3), np.zeros(3)
    for t in range(1, 6):
        assert seen[t - 1].number == t
        np.testing.assert_allclose(seen[t - 1].theta, theta, rtol=1e-14)
        assert seen[t - 1].loss == pytest.approx(bowl(theta)[0], rel=1e-14)
        g = CURVATURE * theta
        m = 0.8 * m + 0.2 * g
        v = 0.9 * v + 0.1 * g * g
        theta = theta - 0.1 * (m / (1 - 0.8**t)) / (np.sqrt(v / (1 - 0.9**t)) + 1e-3)
    np.testing.assert_allclose(end.theta, theta, rtol=1e-14)
    assert (end.reason, end.message) == (StopReason.STEPS, "all 5 steps done")


def test_it_finds_the_minimum_with_a_falling_rate():
    stage = pinn.Adam(800, learning_rate=0.1, schedule=pinn.ExponentialDecay(final_rate=1e-4))
    end = minimize(stage, bowl, np.array([1.0, -2.0, 3.0]))
    assert np.abs(end.theta).max() < 1e-4


LAYOUT = Layout.of([
    ("model.weight0", (2, 3), False), ("model.bias0", (2,), False), ("k", (), True),
])  # fmt: skip


def test_decay_is_apart_from_the_gradient_and_leaves_biases_and_coefficients_alone():
    """Loshchilov and Hutter's algorithm 2, written out."""
    curvature = np.linspace(0.5, 4, LAYOUT.size)

    def curved(theta):
        return 0.5 * float(theta @ (curvature * theta)), curvature * theta

    rng = np.random.default_rng(0)
    start = rng.standard_normal(LAYOUT.size)
    schedule, seen = pinn.CosineDecay(final_rate=0.02), []
    stage = pinn.Adam(6, learning_rate=0.1, schedule=schedule, weight_decay=0.3)
    end = minimize(stage, curved, start, seen.append, layout=LAYOUT)
    decay = np.where(np.arange(LAYOUT.size) < 6, 0.3, 0.0)
    theta, m, v = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for t in range(1, 7):
        rate = 0.02 + 0.08 * 0.5 * (1 + np.cos(np.pi * (t - 1) / 5))
        g = curvature * theta
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        adam = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        theta = theta - rate * (adam + decay * theta)
    np.testing.assert_allclose(end.theta, theta, rtol=1e-13)


def test_the_state_has_the_gradient_of_its_step():
    seen = []
    minimize(pinn.Adam(steps=2), bowl, np.ones(3), seen.append)
    np.testing.assert_allclose(seen[0].state["first"], 0.1 * CURVATURE)
    np.testing.assert_allclose(seen[0].state["second"], 0.001 * CURVATURE**2)
    assert [int(step.state["number"]) for step in seen] == [1, 2]


@pytest.mark.parametrize("stop", [1, 7, 20])
def test_a_resumed_run_gives_the_same_bits(stop):
    stage = pinn.Adam(20, learning_rate=0.1, schedule=pinn.ExponentialDecay(1e-3), warmup=4)
    whole, rest = [], []
    end = minimize(stage, bowl, np.array([1.0, -2.0, 3.0]), whole.append)
    at = whole[stop - 1]
    resumed = minimize(stage, bowl, at.theta, rest.append, at.state)
    assert resumed.theta.tobytes() == end.theta.tobytes()
    for a, b in zip(whole[stop:], rest, strict=True):
        assert (a.number, a.loss, a.theta.tobytes()) == (b.number, b.loss, b.theta.tobytes())
        assert a.state.keys() == b.state.keys()
        assert all(a.state[name].tobytes() == b.state[name].tobytes() for name in a.state)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 0}, "adam: steps"),
        ({"learning_rate": 0}, "adam: learning_rate: expected a number > 0"),
        ({"learning_rate": float("nan")}, "adam: learning_rate"),
        ({"final_rate": 1e-4}, "adam: final_rate: unknown argument; .* did you mean 'schedule'"),
        ({"schedule": "cosine"}, "adam: schedule: expected a schedule such as pinn.CosineDecay"),
        ({"weight_decay": -1}, "adam: weight_decay: expected a number >= 0"),
        ({"warmup": -1}, "adam: warmup: expected a whole number >= 0"),
        ({"steps": 9, "warmup": 9}, "adam: warmup: expected fewer than the 9 steps of the stage"),
        ({"beta1": 1.0}, "adam: beta1: expected a number >= 0 and < 1"),
        ({"beta2": -0.1}, "adam: beta2"),
        ({"epsilon": 0}, "adam: epsilon"),
        ({"seconds": 0}, "adam: seconds"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pinn.Adam(**arguments)
