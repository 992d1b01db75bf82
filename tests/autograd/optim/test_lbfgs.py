"""L-BFGS and its line search on problems with known answers."""

import math

import numpy as np
import pytest

import autograd as T
from autograd import optim
from autograd.optim.wolfe import Point, cubic_minimum, strong_wolfe


def rosenbrock(p):
    return 100 * (p[1] - p[0] ** 2) ** 2 + (1 - p[0]) ** 2


def minimise(function, start, steps=1, **options):
    p = T.tensor(np.array(start), dtype=T.float64, requires_grad=True)
    optimizer = optim.LBFGS([p], line_search_fn="strong_wolfe", **options)

    def closure():
        optimizer.zero_grad()
        loss = function(p)
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return p.detach().numpy(), optimizer


def test_rosenbrock_reaches_its_minimum():
    found, _ = minimise(rosenbrock, [-1.2, 1.0], max_iter=100, max_eval=200, tolerance_change=1e-14)
    np.testing.assert_allclose(found, [1.0, 1.0], atol=1e-6)


# What PyTorch 2.13's L-BFGS with strong_wolfe evaluates from (-1.2, 1, .5, -.7), in order.
PYTORCHS = [
    139.7,
    40.77395820279,
    8.269786803362,
    4.02925678611,
    3.750100759934,
    3.7120835332,
    3.706800593302,
    3.706687723107,
    3.706682588011,
    3.706679089119,
    3.706663449095,
    3.706627713085,
    3.706521944487,
    3.706178241554,
    3.709100751999,
    3.705221027615,
]


def test_the_closure_is_called_at_the_points_where_pytorch_calls_it():
    seen = []

    def chained(p):
        loss = (100 * (p[1:] - p[:-1] ** 2) ** 2 + (1 - p[:-1]) ** 2).sum()
        seen.append(loss.item())
        return loss

    minimise(chained, [-1.2, 1.0, 0.5, -0.7], lr=1, max_iter=30)
    # Rounding grows by the condition of the Hessian, 1e3 to 1e4, from one step to the next few.
    np.testing.assert_allclose(seen[: len(PYTORCHS)], PYTORCHS, rtol=1e-9)


def test_a_quadratic_ends_at_the_solution_of_its_linear_system():
    rng = np.random.default_rng(3)
    half = rng.normal(size=(5, 5))
    matrix, right = half @ half.T + np.eye(5), rng.normal(size=5)
    a, b = T.tensor(matrix), T.tensor(right)
    found, _ = minimise(
        lambda p: 0.5 * p.dot(a @ p) - b.dot(p), np.zeros(5), max_iter=50, tolerance_change=1e-16
    )
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right), atol=1e-6)


def test_limits_of_iterations_and_evaluations_hold():
    _, optimizer = minimise(rosenbrock, [-1.2, 1.0], max_iter=7, max_eval=1000)
    (state,) = optimizer.state.values()
    assert state["n_iter"] == 7
    _, optimizer = minimise(rosenbrock, [-1.2, 1.0], max_iter=1000, max_eval=9)
    (state,) = optimizer.state.values()
    assert state["func_evals"] == 9


def test_a_minimum_is_left_alone():
    found, optimizer = minimise(rosenbrock, [1.0, 1.0])
    assert found.tolist() == [1.0, 1.0]
    (state,) = optimizer.state.values()
    assert state["func_evals"] == 1


def test_a_region_where_the_loss_is_not_finite_is_avoided():
    found, _ = minimise(lambda p: (p[0] - T.log(p[0])) + p[1] ** 2, [0.01, 1.0], max_iter=60)
    np.testing.assert_allclose(found, [1.0, 0.0], atol=1e-5)


def line(function, slope):
    def evaluate(t):
        return Point(t, function(t), None, slope(t))

    return evaluate


@pytest.mark.parametrize("first", [1e-3, 0.1, 1.0, 30.0])
def test_the_point_found_fulfils_both_wolfe_conditions(first):
    evaluate = line(
        lambda t: math.cosh(t - 2) + 0.3 * math.sin(3 * t),
        lambda t: math.sinh(t - 2) + 0.9 * math.cos(3 * t),
    )
    start = evaluate(0.0)
    found = strong_wolfe(evaluate, start, first, 1.0).point
    assert found.value <= start.value + 1e-4 * found.step * start.slope
    assert abs(found.slope) <= 0.9 * abs(start.slope)


def test_a_wall_of_nan_is_bisected():
    evaluate = line(
        lambda t: (t - 0.3) ** 2 if t < 0.5 else math.nan,
        lambda t: 2 * (t - 0.3) if t < 0.5 else math.nan,
    )
    found = strong_wolfe(evaluate, evaluate(0.0), 64.0, 1.0)
    assert found.point.value < 0.09 and found.evaluations <= 25


def test_the_cubic_minimum_is_exact_for_cubics():
    def cubic(t):
        return Point(t, t**3 - 3 * t, None, 3 * t**2 - 3)

    assert cubic_minimum(cubic(0.2), cubic(2.5), 0.2, 2.5) == pytest.approx(1.0, abs=1e-12)
    assert cubic_minimum(cubic(2.5), cubic(0.2), 0.2, 2.5) == pytest.approx(1.0, abs=1e-12)
    assert cubic_minimum(cubic(0.2), cubic(2.5), 1.5, 2.5) == 1.5
