"""BFGS, SSBFGS and SSBroyden beside scipy's BFGS: evaluations on closed problems."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipys
from scipy.optimize import rosen, rosen_der

import pinn
from pinn.optimizers import StopReason, minimize

SOLVERS = [pinn.BFGS, pinn.SSBFGS, pinn.SSBroyden]


def quadratic(size, condition):
    """A convex quadratic with its least value at 1."""
    q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((size, size)))
    matrix = (q * np.geomspace(1 / condition, 1, size)) @ q.T
    return lambda t: (0.5 * float((t - 1) @ matrix @ (t - 1)), matrix @ (t - 1))


def powell(theta):
    """Powell's singular function in groups of four, whose Hessian at the minimum has rank 2."""
    a, b, c, d = theta.reshape(-1, 4).T
    value = (a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4
    first, last = 2 * (a + 10 * b), 10 * (c - d)
    mixed, far = 4 * (b - 2 * c) ** 3, 40 * (a - d) ** 3
    slopes = [first + far, 10 * first + mixed, last - 2 * mixed, -last - far]
    return float(value.sum()), np.stack(slopes, axis=1).ravel()


def trigonometric(theta):
    """sum_i (n - sum_j cos t_j + i (1 - cos t_i) - sin t_i)^2, a sum of squares."""
    n = len(theta)
    i = np.arange(1, n + 1)
    cosine, sine = np.cos(theta), np.sin(theta)
    r = n - cosine.sum() + i * (1 - cosine) - sine
    jacobian = np.tile(sine, (n, 1)) + np.diag(i * sine - cosine)
    return float(r @ r), 2 * jacobian.T @ r


PROBLEMS = {
    "rosenbrock": (lambda t: (float(rosen(t)), rosen_der(t)), np.linspace(-0.5, 0.5, 10)),
    "quadratic": (quadratic(30, 1e4), np.zeros(30)),
    "powell": (powell, np.tile([3.0, -1.0, 0.0, 1.0], 3)),
    "trigonometric": (trigonometric, np.full(10, 0.1)),
}


def evaluations(solver, function, start):
    count = 0

    def counted(theta):
        nonlocal count
        count += 1
        return function(theta)

    stage = solver(transform="value", gradient_tolerance=1e-7)
    end = minimize(stage, counted, start.copy())
    assert end.reason == StopReason.CONVERGED
    return count, end.theta


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_evaluations_are_about_those_of_scipys_bfgs(name, solver):
    function, start = PROBLEMS[name]
    theirs = scipys(function, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    assert theirs.success
    count, theta = evaluations(solver, function, start)
    # Each search ends at the first step that will do, and where it ends decides all that follows.
    assert count <= 1.2 * theirs.nfev
    np.testing.assert_allclose(function(theta)[0], theirs.fun, rtol=0, atol=1e-9)
