"""The line search: conditions checked independently, and the trials of scipy's own."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import line_search, rosen, rosen_der

from pinn.optimizers.wolfe import Conditions, more_thuente, wolfe_step

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
    alpha = more_thuente(along, f0, d0, first, 100, Conditions(c1, c2))
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


def test_where_the_first_search_gives_up_scipys_goes_on():
    f0, d0 = f1(0.0)
    assert more_thuente(f1, f0, d0, 1e-3, 2, Conditions()) is None
    along, seen = counted(f1)
    alpha = wolfe_step(along, f0, d0, 1e-3, 2, Conditions())
    assert Conditions().hold((f0, d0), alpha, f1(alpha))
    assert len(set(seen)) == len(seen) > 2
    expected = line_search(
        lambda x: f1(x[0])[0], lambda x: np.array([f1(x[0])[1]]), np.zeros(1), np.ones(1),
        old_old_fval=f0 - 1e-3 * d0 / 2.02,
    )[0]  # fmt: skip
    assert alpha == pytest.approx(expected, rel=1e-12)


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
