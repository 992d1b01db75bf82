"""Setups: points by block and draw."""

import numpy as np

import pinn
from pinn.training.setup import Setup

PROBLEM = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - u_xx", "b": "u_x"},
    [pinn.Initial("u", 0), pinn.Dirichlet("u", 0)],
)  # fmt: skip


def points(seed=0, number=0, **counts):
    return Setup.checked(PROBLEM, sampling=pinn.Sampling(**counts), seed=seed).draw_points(number)


def test_blocks_have_their_own_points():
    drawn = points()
    assert {name: array.shape for name, array in drawn.items()} == {
        "heat": (2500, 2), "b": (2500, 2), "initial_u": (100, 2), "dirichlet_u": (200, 2),
    }  # fmt: skip
    assert not np.isin(drawn["heat"], drawn["b"]).any()


def test_another_count_of_one_block_leaves_the_others_alone():
    few, many = points(), points(initial=7)
    assert len(many["initial_u"]) == 7
    for name in ("heat", "b", "dirichlet_u"):
        np.testing.assert_array_equal(few[name], many[name])


def test_draws_and_seeds_differ_and_repeat():
    first = points()["heat"]
    np.testing.assert_array_equal(first, points()["heat"])
    for other in (points(number=1), points(seed=1)):
        assert not np.isin(first, other["heat"]).any()


def test_defaults_are_filled_in():
    setup = Setup.checked(PROBLEM)
    assert setup.model == pinn.MLP()
    assert setup.sampling == pinn.Sampling()
    assert setup.training == tuple(pinn.default_training(0))
    assert list(setup.weights) == ["heat", "b", "initial_u", "dirichlet_u"]
    assert (setup.precision, setup.device) == ("float64", "cpu")
