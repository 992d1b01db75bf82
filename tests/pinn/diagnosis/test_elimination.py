"""The elimination of the network: its two ways against a QR decomposition."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.diagnosis import elimination, recovery
from pinn.diagnosis.elimination import Elimination
from pinn.training.experiment import Experiment

X = pinn.Interval("x", 0, 1)
XS = np.linspace(0, 1, 30)


def objective(sigma=0.01, width=8, weight=1.0):
    noise = sigma * np.random.default_rng(0).standard_normal(len(XS))
    problem = pinn.Problem(
        X, ["u"], {"e": "u_xx + k*u - q"},
        [pinn.Dirichlet("u", 0), pinn.Data("u", {"x": XS, "u": np.sin(3 * XS) + noise},
                                           sigma=sigma)],
        parameters=[pinn.Parameter("k", 9.0), pinn.Parameter("q", 0.1)],
    )  # fmt: skip
    experiment = Experiment(problem, pinn.MLP(width, 2), pinn.Sampling(interior=80, method="grid"),
                            weighting={"e": weight})
    made = experiment.objective()
    made.parameters.load(made.theta + 0.3 * np.random.default_rng(1).standard_normal(made.size))
    return made


def by_qr(made, columns, ridge, column):
    _, jacobian = made.jacobian(made.theta)
    stacked = np.vstack([jacobian[:, columns], np.diag(ridge)])
    wanted = np.concatenate([jacobian[:, column], np.zeros(len(columns))])
    q, r = np.linalg.qr(stacked)
    x = np.linalg.solve(r, q.T @ wanted)
    left = (wanted - stacked @ x)[: made.rows]
    hat = np.linalg.norm(q[: made.rows][-len(XS) :]) ** 2
    return x, left, hat


# The ridge as a share of the norm: where the factor is exact, and where rounding decides.
@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("dense", [True, False])
def test_what_is_left_and_the_leverage_are_those_of_a_qr_decomposition(share, dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(elimination, "MOST_DENSE", 10)
    made = objective()
    columns = np.arange(made.size - 2)
    found = Elimination(made, columns, lambda norm: np.full(len(columns), share * norm))
    for column in (made.size - 2, made.size - 1):
        direction = np.zeros(made.size)
        direction[column] = 1.0
        x, left = found.eliminated(direction)
        _, wanted, hat = by_qr(made, columns, found.ridge, column)
        # what the conjugate gradients leave: the squares are minimal, so they are off by its square
        ours = left @ left + np.sum((found.ridge * x) ** 2)
        theirs = wanted @ wanted + np.sum((found.ridge * by_qr(
            made, columns, found.ridge, column)[0]) ** 2)
        assert ours == pytest.approx(theirs, rel=1e-6 if dense else 2e-2)
        assert ours > theirs * (1 - 1e-9)
    trace = found.leverage(made.blocks[-1])
    if dense:
        assert trace == pytest.approx(hat, rel=1e-3)
    else:  # a mean of random vectors: three of its standard deviations
        assert abs(trace - hat) < 3 * np.sqrt(2 * hat / 6)
    assert found.ended


@pytest.mark.parametrize("sigma", [1e-1, 1e-3, 1e-5])
def test_both_ways_give_the_same_standard_errors(sigma, monkeypatch):
    made = objective(sigma, width=6, weight=30.0)
    dense, _ = recovery(made)
    monkeypatch.setattr(elimination, "MOST_DENSE", 10)
    iterated, _ = recovery(made)
    for name, error in dense.standard_errors.items():
        assert iterated.standard_errors[name] == pytest.approx(error, rel=2e-2)
    one, two = (found.data["data_u"] for found in (dense, iterated))
    assert abs(one.freedom - two.freedom) < 3 * np.sqrt(2 * (one.rows - one.freedom) / 6)


def test_iterations_that_do_not_end_are_told_of(monkeypatch):
    made = objective()
    monkeypatch.setattr(elimination, "MOST_DENSE", 10)
    monkeypatch.setattr(elimination, "_MOST_STEPS", 3)
    warnings = [str(warning) for warning in recovery(made)[1]]
    assert any("standard errors are lower bounds" in text for text in warnings)
