"""The line search: conditions checked independently, and the trials of scipy's own."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

from pinn.optimizers.quasi_newton.line_search import Conditions, wolfe_step

# The functions of More and Thuente's section 5, with their start, c1 and c2.


def f1(a):
    return -a / (a * a + 2), (a * a - 2) / (a * a + 2) ** 2


def f2(a, beta=0.004):
    t = a + beta
    return t**5 - 2 * t**4, 5 * t**4 - 8 * t**3


def f3(a, beta=0.01, length=39):
    if a <= 1 - beta:
        value, slope = 1 - a, -1.0
    elif a >= 1 + beta:
        value, slope = a - 1, 1.0
    else:
        value, slope = (a - 1) ** 2 / (2 * beta) + beta / 2, (a - 1) / beta
    k = length * math.pi / 2
    return (
        value + 2 * (1 - beta) / (length * math.pi) * math.sin(k * a),
        slope + (1 - beta) * math.cos(k * a),
    )


def f4(a, b1=0.001, b2=0.01):
    def g(b):
        return math.sqrt(1 + b * b) - b

    left, right = math.sqrt((1 - a) ** 2 + b2**2), math.sqrt(a * a + b1**2)
    return g(b1) * left + g(b2) * right, -g(b1) * (1 - a) / left + g(b2) * a / right


CASES = [
    (f1, 1e-3, 1e-1), (f2, 1e-1, 1e-1), (f3, 1e-1, 1e-1), (f4, 1e-3, 1e-3), (f1, 1e-4, 0.9),
    (f2, 1e-4, 0.9), (f3, 1e-4, 0.9), (f4, 1e-4, 0.9),
]  # fmt: skip


def counted(function):
    seen = []

    def along(a):
        seen.append(a)
        return function(a)

    return along, seen


@pytest.mark.parametrize(("function", "c1", "c2"), CASES)
@pytest.mark.parametrize("first", [1e-3, 1e-1, 1.0, 10.0, 1e3])
def test_the_trials_are_those_of_scipy(function, c1, c2, first):
    dcsrch = pytest.importorskip("scipy.optimize._dcsrch")
    f0, d0 = function(0.0)
    theirs = []

    def phi(a):
        theirs.append(a)
        return function(a)[0]

    search = dcsrch.DCSRCH(phi, lambda a: function(a)[1], c1, c2, 1e-14, 1e-100, 1e100)
    expected = search(first, phi0=f0, derphi0=d0, maxiter=100)[0]
    along, ours = counted(function)
    alpha = wolfe_step(along, f0, d0, first, 100, Conditions(c1, c2))
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)
    assert alpha == pytest.approx(expected, rel=1e-8)
    f, d = function(alpha)
    assert f <= f0 + c1 * alpha * d0
    assert abs(d) <= c2 * abs(d0)


def test_steps_on_rosenbrock_satisfy_the_conditions_and_repeat_no_evaluation():
    rng = np.random.default_rng(0)
    for _ in range(200):
        x = rng.uniform(-2, 2, 6)
        g = rosen_der(x)
        p = -g * np.exp(rng.normal(size=6))
        along, seen = counted(lambda a, x=x, p=p: (rosen(x + a * p), rosen_der(x + a * p) @ p))
        alpha = wolfe_step(along, rosen(x), g @ p, 10 ** rng.uniform(-6, 0), 30, Conditions())
        assert rosen(x + alpha * p) <= rosen(x) + 1e-4 * alpha * (g @ p)
        assert abs(rosen_der(x + alpha * p) @ p) <= 0.9 * abs(g @ p)
        assert len(set(seen)) == len(seen)


def test_it_gives_up_after_as_many_steps_as_it_is_given():
    f0, d0 = f1(0.0)
    along, seen = counted(f1)
    assert wolfe_step(along, f0, d0, 1e-3, 2, Conditions()) is None
    assert len(seen) == 2


def hard_slices():
    """Slices with f(0) finite and f'(0) < 0 that have a step which satisfies the conditions."""
    def steep_wall(a):  # a minimum at 1e-9 of the first step, behind it a slope of 1e9
        return (a - 1e-9) ** 2 * 1e18, 2e18 * (a - 1e-9)

    def far(a):  # nothing happens for a million steps
        return -math.tanh(a / 1e6), -1e-6 / math.cosh(min(a / 1e6, 300.0)) ** 2

    def wiggly(a):  # a parabola with ripples as steep as itself
        return (a - 2) ** 2 + 0.3 * math.cos(20 * a), 2 * (a - 2) - 6 * math.sin(20 * a)

    def kink(a):  # not smooth at its minimum
        return abs(a - 0.7) ** 1.5, 1.5 * math.copysign(abs(a - 0.7) ** 0.5, a - 0.7)

    def quartic(a):  # flat at its minimum
        return (a - 3) ** 4, 4 * (a - 3) ** 3

    def log_spike(a):  # the logarithm of a loss that falls to zero
        loss = (a - 1) ** 2 + 1e-20
        return math.log(loss), 2 * (a - 1) / loss

    def walled(a):  # no value beyond 1/3
        if a >= 1 / 3:
            return math.inf, math.inf
        return -a - 1e-3 * math.log(1 / 3 - a), -1 + 1e-3 / (1 / 3 - a)

    def huge(a):  # its minimum fourteen orders below the first step
        return 1e200 * (a * a - 1e-14 * a), 1e200 * (2 * a - 1e-14)

    return [steep_wall, far, wiggly, kink, quartic, log_spike, walled, huge]


@pytest.mark.parametrize("function", hard_slices(), ids=lambda function: function.__name__)
@pytest.mark.parametrize("first", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("c2", [0.9, 0.1])
def test_hard_slices_need_no_second_search(function, first, c2):
    start, conditions = function(0.0), Conditions(1e-4, c2)
    along, seen = counted(function)
    alpha = wolfe_step(along, *start, first, 200, conditions)
    (f0, d0), (f, d) = start, function(alpha)
    assert alpha > 0 and f <= f0 + 1e-4 * alpha * d0 and abs(d) <= c2 * abs(d0)
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("first", [1.0, 1e-2])
def test_a_step_into_nowhere_is_shortened(first):
    def log_barrier(a):
        # Without a value beyond 1/3, with its minimum shortly before.
        if a >= 1 / 3:
            return math.inf, math.inf
        return -a - 1e-3 * math.log(1 / 3 - a), -1 + 1e-3 / (1 / 3 - a)

    along, seen = counted(log_barrier)
    start = log_barrier(0.0)
    alpha = wolfe_step(along, *start, first, 60, Conditions(1e-4, 0.1))
    assert Conditions(1e-4, 0.1).hold(start, alpha, log_barrier(alpha))
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: (a, -1.0),  # rises although the slope says otherwise
        lambda a: (-a, -1.0),  # falls for ever
        lambda a: (math.inf, math.inf),
        lambda a: (math.nan, math.nan),
    ],
)
def test_where_no_step_exists_none_is_returned_without_a_warning(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wolfe_step(function, 0.0, -1.0, 1.0, 30, Conditions()) is None


def test_exceptions_pass_through():
    def fail(a):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wolfe_step(fail, 0.0, -1.0, 1.0, 30, Conditions())
