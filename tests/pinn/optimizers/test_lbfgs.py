"""L-BFGS: the formulas written out, scipy's beside it, exact resumption, honest reasons to stop."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipys
from scipy.optimize import rosen, rosen_der

import pinn
from pinn.optimizers import StopReason, minimize
from pinn.optimizers.lbfgs import RecentPairs


def rosenbrock(theta):
    return float(rosen(theta)), rosen_der(theta)


START = np.array([-1.2, 1.0, 0.5, -0.7])


def run(evaluate, start=START, **settings):
    seen = []
    return minimize(pinn.LBFGS(**settings), evaluate, start, seen.append), seen


def saved(step):
    return {name: np.array(array) for name, array in step.state.items()}


# ---- the pairs


def dense(pairs, size):
    """The BFGS matrix of the pairs from gamma I, formula (7.19) of Nocedal and Wright in full."""
    s, y = pairs[-1]
    H = np.eye(size) * (y @ s) / (y @ y)
    for s, y in pairs:
        V = np.eye(size) - np.outer(y, s) / (y @ s)
        H = V.T @ H @ V + np.outer(s, s) / (y @ s)
    return H


@pytest.mark.parametrize("memory", [1, 3, 10])
def test_h_is_the_bfgs_matrix_of_the_last_pairs(memory):
    rng = np.random.default_rng(0)
    size, kept = 6, []
    q, _ = np.linalg.qr(rng.standard_normal((size, size)))
    matrix = (q * np.geomspace(1, 10, size)) @ q.T
    H = RecentPairs(size, memory)
    for number in range(8):
        s = rng.standard_normal(size)
        kept.append((s, matrix @ s))
        if number:
            H.learn(*kept[-1], np.nan)
        else:
            assert H.begin(*kept[-1])
        expected = dense(kept[-memory:], size)
        columns = np.stack([-H.direction(e)[0] for e in np.eye(size)], axis=1)
        # Each pair's two rank-one changes round once, with quotients |s| |y| / y's of at most 10.
        bound = 100 * np.finfo(float).eps * memory * np.linalg.cond(expected)
        np.testing.assert_allclose(columns, expected, rtol=0, atol=bound * np.abs(expected).max())


@pytest.mark.parametrize("y", [(-1.0, -2.0), (0.0, 0.0), (2.0, -1.0), (2.0, -1.0 + 2e-16)])
def test_a_pair_without_positive_curvature_is_left_out(y):
    H = RecentPairs(2, 3)
    assert not H.begin(np.array([1.0, 2.0]), np.array(y))
    assert H.begin(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    H.learn(np.array([1.0, 2.0]), np.array(y), np.nan)
    np.testing.assert_array_equal(H.direction(np.array([3.0, 5.0]))[0], [-1.5, -2.5])


def test_a_pair_whose_curvature_has_no_inverse_is_left_out():
    tiny = np.array([1e-160, 0.0])
    assert not RecentPairs(2, 3).begin(tiny, tiny)


# ---- descent


@pytest.mark.parametrize("size", [4, 20, 100])
def test_rosenbrock_takes_about_the_evaluations_of_scipys(size):
    start = np.random.default_rng(0).uniform(-2, 2, size)
    options = {"maxcor": 50, "gtol": 1e-9, "ftol": 0, "maxiter": 10_000, "maxfun": 100_000}
    theirs = scipys(rosen, start, jac=rosen_der, method="L-BFGS-B", options=options)
    evaluations = []

    def counted(theta):
        evaluations.append(theta)
        return rosenbrock(theta)

    end, seen = run(counted, start, gradient_tolerance=1e-9)
    assert end.reason == StopReason.CONVERGED
    # The least eigenvalue of the Hessian at the minimum is 0.4, and both gradients are below 1e-9.
    bound = 2 * 1e-9 * np.sqrt(size) / 0.39
    np.testing.assert_allclose(end.theta, theirs.x, rtol=0, atol=bound)
    assert len(evaluations) < 1.25 * theirs.nfev
    assert seen[-1].state["evaluations"] == len(evaluations)
    assert [step.number for step in seen] == list(range(1, len(seen) + 1))
    assert all(step.loss == rosen(step.theta) for step in seen)
    assert all(a.loss > b.loss for a, b in zip(seen, seen[1:], strict=False))
    np.testing.assert_array_equal(seen[-1].theta, end.theta)


@pytest.mark.parametrize("transform", ["log", "sqrt", "value"])
def test_all_transforms_find_the_minimum_of_a_quadratic(transform):
    rng = np.random.default_rng(4)
    q, _ = np.linalg.qr(rng.standard_normal((30, 30)))
    matrix, centre = (q * np.geomspace(1, 100, 30)) @ q.T, rng.standard_normal(30)

    def evaluate(theta):
        d = theta - centre
        return 0.7 + 0.5 * float(d @ matrix @ d), matrix @ d

    end, _ = run(evaluate, np.zeros(30), transform=transform, gradient_tolerance=1e-6)
    assert end.reason == StopReason.CONVERGED
    np.testing.assert_allclose(end.theta, centre, rtol=0, atol=1e-6 * np.sqrt(30))


def test_steps_done():
    end, seen = run(rosenbrock, steps=7)
    assert (end.reason, end.message, len(seen)) == (StopReason.STEPS, "all 7 steps done", 7)


def test_gradient_below_tolerance():
    end, seen = run(rosenbrock, gradient_tolerance=1e-2)
    assert end.reason == StopReason.CONVERGED
    assert np.abs(rosen_der(end.theta)).max() <= 1e-2
    assert "not above the tolerance 1.0e-02" in end.message


def test_a_start_at_the_minimum_takes_no_step():
    end, seen = run(rosenbrock, np.ones(4))
    assert (end.reason, seen) == (StopReason.CONVERGED, [])
    assert "after 0 steps" in end.message


def test_a_small_loss_is_no_reason_to_stop():
    def tiny(theta):
        loss, gradient = rosenbrock(theta)
        return 1e-9 * loss, 1e-9 * gradient

    end, _ = run(tiny, np.full(4, 0.5), gradient_tolerance=1e-17)
    np.testing.assert_allclose(end.theta, 1, atol=1e-5)


@pytest.mark.parametrize(
    ("evaluations", "reason", "why"),
    [
        (2, StopReason.LINE_SEARCH, "in 2 evaluations"),
        (50, StopReason.NO_DECREASE, "most likely at the limit of rounding"),
    ],
)
def test_a_loss_that_only_rises_leaves_theta_alone(evaluations, reason, why):
    losses = iter(range(10_000))
    end, seen = run(lambda theta: (float(next(losses)), 2 * theta), line_search=evaluations)
    assert (end.reason, seen) == (reason, [])
    assert "after 0 steps a line search along the gradient found no lower loss" in end.message
    assert why in end.message
    assert "largest component of the gradient" in end.message
    np.testing.assert_array_equal(end.theta, START)


@pytest.mark.parametrize("stop", [1, 2, 5, 17])
def test_a_resumed_run_gives_the_same_bits(stop):
    start = np.random.default_rng(6).uniform(-2, 2, 9)
    stage, states, whole, rest = pinn.LBFGS(steps=40, memory=4), {}, [], []

    def keep(step):
        whole.append(step)
        states[step.number] = saved(step)

    end = minimize(stage, rosenbrock, start, keep)
    resumed = minimize(stage, rosenbrock, whole[stop - 1].theta, rest.append, states[stop])
    assert resumed.theta.tobytes() == end.theta.tobytes()
    for a, b in zip(whole[stop:], rest, strict=True):
        assert (a.number, a.loss, a.theta.tobytes()) == (b.number, b.loss, b.theta.tobytes())
    for name, array in states[40].items():
        assert array.tobytes() == saved(rest[-1])[name].tobytes(), name


def test_the_state_of_another_memory_is_refused():
    seen = []
    minimize(pinn.LBFGS(steps=3, memory=5), rosenbrock, START, lambda s: seen.append(saved(s)))
    with pytest.raises(ValueError, match="lbfgs: expected pair_steps of shape .6, 4., got .5, 4."):
        minimize(pinn.LBFGS(memory=6), rosenbrock, START, state=seen[-1])


def test_what_was_handed_out_does_not_change_later():
    kept, start = [], START.copy()
    minimize(pinn.LBFGS(9), rosenbrock, start, lambda s: kept.append((s.theta, s.theta.copy())))
    np.testing.assert_array_equal(start, START)
    for now, then in kept:
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 0}, "lbfgs: steps"),
        ({"memory": 0}, "lbfgs: memory"),
        ({"transform": "exp"}, "lbfgs: transform: expected one of log, sqrt, value"),
        ({"gradient_tolerance": -1}, "lbfgs: gradient_tolerance"),
        ({"line_search": 0}, "lbfgs: line_search"),
        ({"seconds": -1}, "lbfgs: seconds"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pinn.LBFGS(**arguments)
