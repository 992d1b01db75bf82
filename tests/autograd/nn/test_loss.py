"""Losses against their formulas, and gradients against differences."""

import math

import numpy as np
import pytest

import autograd as T
from autograd import nn

X = np.array([[0.3, -2.0, 1.1], [0.0, 4.0, -0.2]])
Y = np.array([[0.1, 1.0, 1.0], [0.5, 4.0, -3.0]])
D = X - Y


def smooth(d, beta):
    return np.where(np.abs(d) < beta, 0.5 * d**2 / beta, np.abs(d) - 0.5 * beta)


def huber(d, delta):
    return np.where(np.abs(d) < delta, 0.5 * d**2, delta * (np.abs(d) - 0.5 * delta))


CASES = [
    (nn.MSELoss, {}, D**2),
    (nn.L1Loss, {}, np.abs(D)),
    (nn.SmoothL1Loss, {"beta": 0.7}, smooth(D, 0.7)),
    (nn.SmoothL1Loss, {"beta": 0.0}, np.abs(D)),
    (nn.HuberLoss, {"delta": 0.7}, huber(D, 0.7)),
]


@pytest.mark.parametrize(("loss", "options", "expected"), CASES)
def test_values_of_each_reduction(loss, options, expected):
    x, y = T.tensor(X), T.tensor(Y)
    np.testing.assert_allclose(loss(reduction="none", **options)(x, y).numpy(), expected)
    assert loss(reduction="sum", **options)(x, y).item() == pytest.approx(expected.sum(), rel=1e-14)
    mean = loss(**options)(x, y)
    assert mean.shape == () and mean.item() == pytest.approx(expected.mean(), rel=1e-14)


@pytest.mark.parametrize(("loss", "options", "expected"), CASES)
def test_gradients_match_differences(loss, options, expected):
    x = T.tensor(X + 0.013, requires_grad=True)  # away from the kinks
    y = T.tensor(Y, requires_grad=True)
    assert T.gradcheck(loss(**options), (x, y))


def test_row_093_l1_loss_is_a_scalar():
    lin = nn.Linear(3, 5)
    loss = nn.L1Loss()(lin(T.rand(4, 3)), T.rand(4, 5))
    assert loss.shape == () and loss.requires_grad


def test_different_shapes_warn_at_the_callers_line():
    with pytest.warns(UserWarning, match="target size") as caught:
        nn.MSELoss()(T.zeros(3, 1), T.zeros(3))
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="target size") as caught:
        nn.functional.l1_loss(T.zeros(3, 1), T.zeros(3))
    assert caught[0].filename == __file__


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="not a valid value for reduction"):
        nn.MSELoss(reduction="average")
    with pytest.raises(RuntimeError, match="delta must be greater than 0"):
        nn.HuberLoss(delta=0.0)(T.zeros(1), T.zeros(1))
    with pytest.raises(RuntimeError, match="beta must not be negative"):
        nn.SmoothL1Loss(beta=-1.0)(T.zeros(1), T.zeros(1))


@pytest.mark.parametrize("loss", [nn.functional.huber_loss, nn.functional.smooth_l1_loss])
def test_an_infinite_residual_has_a_finite_gradient(loss):
    x = T.tensor([math.inf, -math.inf, 0.3, -4.0], dtype=T.float64, requires_grad=True)
    (g,) = T.grad(loss(x, T.zeros(4, dtype=T.float64), reduction="sum"), x, create_graph=True)
    assert g.tolist() == [1.0, -1.0, 0.3, -1.0]
    (h,) = T.grad(g.sum(), x)
    assert h.tolist() == [0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("loss", [nn.functional.huber_loss, nn.functional.smooth_l1_loss])
def test_the_curvature_at_a_residual_of_zero_is_that_of_the_square(loss):
    x = T.tensor([0.0], requires_grad=True)
    (g,) = T.grad(loss(x, T.zeros(1)), x, create_graph=True)
    (h,) = T.grad(g, x)
    assert (g.item(), h.item()) == (0.0, 1.0)
