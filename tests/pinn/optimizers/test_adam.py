"""Adam: against the paper's algorithm written out, and its rates."""

import numpy as np
import pytest

import pinn
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
    stage = pinn.Adam(steps=800, learning_rate=0.1, final_rate=1e-4)
    end = minimize(stage, bowl, np.array([1.0, -2.0, 3.0]))
    assert np.abs(end.theta).max() < 1e-4


def test_the_rate_falls_geometrically_between_its_ends():
    stage = pinn.Adam(steps=5, learning_rate=1e-1, final_rate=1e-5)
    assert [stage.rate(n) for n in range(1, 6)] == pytest.approx([1e-1, 1e-2, 1e-3, 1e-4, 1e-5])
    assert pinn.Adam(steps=5, learning_rate=0.3).rate(4) == 0.3
    assert pinn.Adam(steps=1, learning_rate=0.3, final_rate=0.1).rate(1) == 0.3


def test_the_state_has_the_gradient_of_its_step():
    seen = []
    minimize(pinn.Adam(steps=2), bowl, np.ones(3), seen.append)
    np.testing.assert_allclose(seen[0].state["first"], 0.1 * CURVATURE)
    np.testing.assert_allclose(seen[0].state["second"], 0.001 * CURVATURE**2)
    assert [int(step.state["number"]) for step in seen] == [1, 2]


@pytest.mark.parametrize("stop", [1, 7, 20])
def test_a_resumed_run_gives_the_same_bits(stop):
    stage = pinn.Adam(steps=20, learning_rate=0.1, final_rate=1e-3)
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
        ({"final_rate": -1}, "adam: final_rate"),
        ({"beta1": 1.0}, "adam: beta1: expected a number >= 0 and < 1"),
        ({"beta2": -0.1}, "adam: beta2"),
        ({"epsilon": 0}, "adam: epsilon"),
        ({"seconds": 0}, "adam: seconds"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pinn.Adam(**arguments)
