"""L-BFGS: minima that are known, and honest reasons for stopping."""

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

import pinn
from pinn.optimizers import StopReason


def rosenbrock(theta):
    return float(rosen(theta)), rosen_der(theta)


START = np.array([-1.2, 1.0, 0.5, -0.7])


def run(evaluate, start=START, **settings):
    seen = []
    return pinn.LBFGS(**settings).minimize(evaluate, start.copy(), seen.append), seen


def test_it_finds_the_minimum_of_rosenbrock():
    end, seen = run(rosenbrock)
    np.testing.assert_allclose(end.theta, 1, atol=1e-8)
    assert end.reason in (StopReason.CONVERGED, StopReason.NO_DECREASE)
    assert [step.number for step in seen] == list(range(1, len(seen) + 1))
    assert all(step.loss == rosen(step.theta) for step in seen)
    np.testing.assert_array_equal(seen[-1].theta, end.theta)


def test_steps_done():
    end, seen = run(rosenbrock, steps=7)
    assert (end.reason, end.message, len(seen)) == (StopReason.STEPS, "all 7 steps done", 7)


def test_gradient_below_tolerance():
    end, seen = run(rosenbrock, gradient_tolerance=1e-2)
    assert end.reason == StopReason.CONVERGED
    assert np.abs(rosen_der(end.theta)).max() <= 1e-2
    assert "below the tolerance 1.0e-02" in end.message


def test_a_start_at_the_minimum_takes_no_step():
    end, seen = run(rosenbrock, np.ones(4))
    assert (end.reason, seen) == (StopReason.CONVERGED, [])
    assert "after 0 steps" in end.message


def test_a_small_loss_is_no_reason_to_stop():
    # scipy's own default tolerances would stop here before the first step.
    def tiny(theta):
        loss, gradient = rosenbrock(theta)
        return 1e-9 * loss, 1e-9 * gradient

    end, _ = run(tiny, gradient_tolerance=1e-17)
    np.testing.assert_allclose(end.theta, 1, atol=1e-5)


def test_no_further_decrease():
    def flat_floor(theta):
        loss = max(float(theta @ theta), 1.0)
        return loss, 2 * theta

    end, _ = run(flat_floor)
    assert end.reason in (StopReason.NO_DECREASE, StopReason.LINE_SEARCH)
    assert "largest component of the gradient" in end.message


@pytest.mark.parametrize(
    ("evaluations", "reason", "message"),
    [
        (2, StopReason.LINE_SEARCH, "after 0 steps 2 evaluations along the gradient found"),
        (50, StopReason.NO_DECREASE, "after 0 steps a line search ended without a lower loss"),
    ],
)
def test_a_loss_that_only_rises_leaves_theta_alone(evaluations, reason, message):
    losses = iter(range(10_000))
    end, seen = run(lambda theta: (float(next(losses)), 2 * theta), line_search=evaluations)
    assert (end.reason, seen) == (reason, [])
    assert message in end.message
    np.testing.assert_array_equal(end.theta, START)


def test_what_callbacks_were_given_does_not_change_later():
    kept = []
    pinn.LBFGS(steps=9).minimize(
        rosenbrock, START.copy(), lambda step: kept.append((step.theta, step.theta.copy()))
    )
    for now, then in kept:
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("where", ["evaluate", "on_step"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, StopIteration, ZeroDivisionError])
def test_exceptions_pass_through(where, kind):
    if kind is StopIteration and where == "on_step":
        pytest.skip("scipy takes StopIteration in a callback as its own signal")
    count = 0

    def fail(value):
        nonlocal count
        count += 1
        if count == 4:
            raise kind
        return value

    evaluate = (lambda t: fail(rosenbrock(t))) if where == "evaluate" else rosenbrock
    with pytest.raises(kind):
        pinn.LBFGS().minimize(evaluate, START.copy(), fail if where == "on_step" else id)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 0}, "lbfgs: steps"),
        ({"memory": 0}, "lbfgs: memory"),
        ({"gradient_tolerance": -1}, "lbfgs: gradient_tolerance"),
        ({"line_search": 0}, "lbfgs: line_search"),
        ({"seconds": -1}, "lbfgs: seconds"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pinn.LBFGS(**arguments)
