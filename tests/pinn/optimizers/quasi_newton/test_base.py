"""What every quasi-Newton solver has of the descent they share, by one with an H of its own."""

from typing import Literal

import numpy as np
import pytest

from pinn.optimizers import StopReason, minimize
from pinn.optimizers.quasi_newton.base import Curvature, QuasiNewton
from pinn.schema import Count, NonNegative, declared

HESSIAN = np.diag([1.0, 3.0, 10.0])
CENTRE = np.array([1.0, -2.0, 0.5])


class Number(Curvature):
    """H = gamma I, gamma = y's / y'y of the last pair."""

    names = ("gamma",)
    version, gamma = 0, 1.0

    def direction(self, gradient):
        return -self.gamma * gradient, -self.gamma * float(gradient @ gradient)

    def begin(self, s, y):
        self.learn(s, y, np.nan)
        return True

    def learn(self, s, y, sbs):
        self.version, self.gamma = self.version + 1, float(y @ s / (y @ y))

    def is_positive_definite(self):
        return self.gamma > 0

    def array(self, name):
        return np.array(self.gamma)

    def restore(self, arrays):
        self.version, self.gamma = self.version + 1, float(arrays["gamma"])

    def copy(self, other):
        return False


@declared
class Scaled(QuasiNewton):
    """A solver is an H and the settings of the descent."""

    name = "scaled"

    steps: Count = 100
    transform: Literal["log", "sqrt", "value"] = "value"
    gradient_tolerance: NonNegative = 1e-8
    line_search: Count = 30

    def curvature(self, size, there):
        assert (size, there) == (3, None)
        return Number()


def bowl(theta):
    d = theta - CENTRE
    return 0.5 * float(d @ HESSIAN @ d) + 1e-3, HESSIAN @ d


def run(stage, start, state=None):
    seen = []
    return minimize(stage, bowl, start, seen.append, state), seen


@pytest.mark.parametrize("transform", ["log", "sqrt", "value"])
def test_an_h_is_all_that_a_solver_has_to_bring(transform):
    end, seen = run(Scaled(transform=transform), np.zeros(3))
    assert end.reason is StopReason.CONVERGED
    np.testing.assert_allclose(end.theta, CENTRE, atol=1e-7)
    before = np.zeros(3)
    for step in seen[:5]:  # along the gradient, as this H says
        moved, slope = step.theta - before, -bowl(before)[1]
        cosine = moved @ slope / (np.linalg.norm(moved) * np.linalg.norm(slope))
        assert cosine == pytest.approx(1, rel=1e-9)
        before = step.theta


def test_it_goes_on_from_a_state_with_the_same_bits():
    states = []

    def look(step):
        states.append((step, {name: np.array(array) for name, array in step.state.items()}))

    end = minimize(Scaled(), bowl, np.zeros(3), look)
    step, state = states[3]
    rest, _ = run(Scaled(), step.theta, state)
    assert rest.theta.tobytes() == end.theta.tobytes() and rest.message == end.message


def test_shorter_steps_forget_h_and_begin_with_a_tenth():
    lengths = []
    for tries in (1, 2):
        state, tried = Scaled().slower(5, {"gamma": np.array(3.0)}, tries), []
        assert state["number"] == 5 and "gamma" not in state

        def function(theta, tried=tried):
            tried.append(theta)
            return bowl(theta)

        minimize(Scaled(steps=6), function, np.zeros(3), state=state)
        start, first = tried[:2]
        lengths.append(np.linalg.norm(first - start))
    # of 1.01, the first trial of a run that begins anew
    assert lengths == pytest.approx([0.101, 0.0101])
