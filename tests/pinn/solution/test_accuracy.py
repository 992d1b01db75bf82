"""Test points and errors."""

import math

import numpy as np
import pytest

import pinn
from pinn.evaluation.test_grid import test_points as points_of
from pinn.solution.accuracy import TestSet

X, Y, TIME = pinn.Interval("x", -1, 1), pinn.Interval("y", 0, 2), pinn.Time("t", 0, 1)


@pytest.mark.parametrize(
    ("domain", "shape"),
    [
        (X * TIME, (257, 101)),
        (TIME * X, (101, 257)),
        (X * Y, (161, 161)),
        (TIME, (1001,)),
        (X * Y * TIME, (29, 29, 29)),
    ],
)
def test_a_grid_with_the_bounds(domain, shape):
    points = points_of(domain)
    assert points.shape == (math.prod(shape), len(shape))
    for column, count, (low, high) in zip(points.T, shape, domain.bounds.values(), strict=True):
        assert np.unique(column).size == count
        assert (column.min(), column.max()) == (low, high)


def test_random_points_in_many_dimensions():
    domain = pinn.Box(*(pinn.Interval(f"x{i}", i, i + 2) for i in range(6)))
    points = points_of(domain)
    assert points.shape == (26_000, 6)
    assert ((points > range(6)) & (points < np.arange(6) + 2)).all()
    np.testing.assert_array_equal(points, points_of(domain))


def made(reference, training=()):
    problem = pinn.Problem(TIME, ["u"], {"e": "u_t"}, reference=reference)
    return TestSet(problem, training)


def test_errors_equal_their_definition():
    errors = made({"u": "1 + t"}).errors(lambda t: {"u": 1 + t + 0.01 * t**2})
    t = np.linspace(0, 1, 1001)
    expected = 0.01 * np.sqrt(np.sum(t**4) / np.sum((1 + t) ** 2))
    assert errors.rel_l2["u"] == pytest.approx(expected, rel=1e-12)
    assert errors.max_error["u"] == pytest.approx(0.01)


def test_a_reference_that_vanishes_has_no_relative_error():
    errors = made({"u": "0"}).errors(lambda t: {"u": 0.5 * t})
    assert math.isnan(errors.rel_l2["u"])
    assert errors.max_error["u"] == 0.5


def test_no_reference_no_errors():
    assert made(None).errors(lambda t: pytest.fail("evaluated")) == ({}, {})


def test_points_of_the_training_are_left_out():
    seen = [np.array([[0.25], [0.123]]), np.array([[0.0]])]
    points = made({"u": "t"}, seen).points
    assert len(points) == 1001 - 3 and not np.isin([0.0, 0.25, 0.123], points).any()


@pytest.mark.parametrize("method", ["grid", "latin-hypercube", "sobol"])
def test_no_test_point_was_trained_on(method):
    problem = pinn.Problem(
        X * TIME, ["u"], {"e": "u_t"}, [pinn.Initial("u", 0), pinn.Dirichlet("u", 0)],
        reference={"u": "0"},
    )  # fmt: skip
    from pinn.training.experiment import Experiment

    trained = Experiment(problem, sampling=pinn.Sampling(method=method)).draw_points()
    trained = [points.coordinates for points in trained.values()]
    test = {tuple(p) for p in TestSet(problem, trained).points}
    assert not test & {tuple(p) for points in trained for p in points}
    assert len(test) > 25_000
