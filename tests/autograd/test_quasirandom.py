"""Sobol's sequence, as PyTorch and scipy have it."""

import numpy as np
import pytest
from scipy.stats import qmc

import autograd as T

FIRST = [[0, 0, 0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75], [0.375, 0.375, 0.625]]


def test_points_go_on_from_draw_to_draw():
    points = T.quasirandom.SobolEngine(3)
    assert points.draw(2, dtype=T.float64).tolist() == FIRST[:2]
    assert points.draw(3).tolist() == FIRST[2:]
    assert points.num_generated == 5
    assert points.reset().fast_forward(3).draw().tolist() == FIRST[3:4]


def test_points_of_a_power_of_two_lie_evenly():
    drawn = T.quasirandom.SobolEngine(2, scramble=True, seed=3).draw_base2(6, dtype=T.float64)
    expected = qmc.Sobol(2, scramble=True, seed=3).random_base2(6)
    np.testing.assert_array_equal(drawn.numpy(), expected)
    counts, *_ = np.histogram2d(*drawn.numpy().T, bins=8, range=[[0, 1]] * 2)
    assert (counts == 1).all()


def test_the_usual_generator_decides_how_points_are_scrambled():
    drawn = []
    for seed in (0, 0, 1):
        T.manual_seed(seed)
        drawn.append(T.quasirandom.SobolEngine(2, scramble=True).draw(4).tolist())
    assert drawn[0] == drawn[1] != drawn[2]


def test_there_are_numbers_for_as_many_dimensions_as_scipy_has():
    assert T.quasirandom.SobolEngine.MAXDIM == qmc.Sobol.MAXDIM


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="dimension is 1 to"):
        T.quasirandom.SobolEngine(0)
    with pytest.raises(ValueError, match="1 or more, got 0"):
        T.quasirandom.SobolEngine(1).draw(0)


def test_any_number_of_points_is_those_of_one_after_the_other():
    for scramble in (False, True):
        drawn = T.quasirandom.SobolEngine(4, scramble, seed=5).draw(37, dtype=T.float64)
        one = qmc.Sobol(4, scramble=scramble, seed=5)
        np.testing.assert_array_equal(drawn.numpy(), [one.random(1)[0] for _ in range(37)])
    points = T.quasirandom.SobolEngine(3)
    assert points.fast_forward(0).draw().tolist() == FIRST[:1] and points.num_generated == 1
