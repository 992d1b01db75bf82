"""Samplers of the unit cube."""

import numpy as np
import pytest
from scipy.special import roots_sh_legendre
from scipy.stats import qmc

import pinn
from pinn.sampling import LATTICES, METHODS, grid, latin_hypercube, stream

RANDOM = [name for name in METHODS if name not in LATTICES]


@pytest.mark.parametrize("method", RANDOM)
@pytest.mark.parametrize(("n", "dimensions"), [(1, 1), (7, 1), (100, 2), (129, 5)])
def test_points_have_the_shape_asked_for_and_lie_in_the_cube(method, n, dimensions):
    points = METHODS[method](n, dimensions, stream(3, "a"))
    assert points.shape == (n, dimensions)
    assert points.dtype == np.float64
    assert (points >= 0).all() and (points <= 1).all()


@pytest.mark.parametrize("method", METHODS)
def test_the_same_stream_gives_the_same_bits(method):
    first, second = (METHODS[method](64, 2, stream(3, "a")) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("method", RANDOM)
def test_a_second_draw_is_other_points(method):
    rng = stream(3, "a")
    first, second = (METHODS[method](64, 2, rng) for _ in range(2))
    assert not np.isin(first, second).any()


@pytest.mark.parametrize("method", ["latin-hypercube", "sobol", "halton"])
def test_low_discrepancy(method):
    n = 256
    uniform = [qmc.discrepancy(METHODS["uniform"](n, 2, stream(s, "a"))) for s in range(5)]
    other = [qmc.discrepancy(METHODS[method](n, 2, stream(s, "a"))) for s in range(5)]
    assert max(other) < min(uniform)


@pytest.mark.parametrize("n", [1, 10, 97])
def test_a_latin_hypercube_has_one_point_in_every_slab(n):
    points = latin_hypercube(n, 3, stream(0, "a"))
    slabs = np.sort(np.floor(points * n).astype(int), axis=0)
    assert (slabs == np.arange(n)[:, None]).all()


@pytest.mark.parametrize(
    ("n", "counts"), [(2500, (50, 50)), (100, (5, 5, 4)), (1, (1, 1)), (17, (17,)), (7, (3, 2))]
)
def test_a_grid_is_even_and_no_larger_than_asked(n, counts):
    points = grid(n, len(counts), stream(0, "a"))
    assert len(points) == np.prod(counts)
    for column, count in zip(points.T, counts, strict=True):
        np.testing.assert_allclose(np.unique(column), (np.arange(count) + 0.5) / count)


@pytest.mark.parametrize("n", [2, 3, 12])
def test_gauss_legendre_integrates_polynomials(n):
    nodes = METHODS["gauss-legendre"](n, 1, stream(0, "a"))[:, 0]
    expected, weights = roots_sh_legendre(n)
    np.testing.assert_allclose(nodes, expected, rtol=1e-12)
    powers = np.arange(2 * n)
    np.testing.assert_allclose(nodes ** powers[:, None] @ weights, 1 / (powers + 1), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_chebyshev_points_are_zeros(n):
    points = METHODS["chebyshev"](n, 1, stream(0, "a"))[:, 0]
    assert len(np.unique(points)) == n
    polynomial = np.polynomial.chebyshev.Chebyshev.basis(n)
    np.testing.assert_allclose(polynomial(2 * points - 1), 0, atol=1e-13)


@pytest.mark.parametrize("method", LATTICES)
def test_lattices_have_the_sides_of_a_grid(method):
    points = METHODS[method](100, 3, stream(0, "a"))
    assert [len(np.unique(column.round(12))) for column in points.T] == [5, 5, 4]
    assert ((points > 0) & (points < 1)).all()


def test_streams_are_found_by_name_and_seed():
    draws = {
        path: stream(*path).random()
        for path in [(0, "a"), (0, "b"), (1, "a"), (0, "a", "b"), (0, "b", "a"), (0,)]
    }
    assert len(set(draws.values())) == len(draws)
    assert stream(0, "a").random() == draws[(0, "a")]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"interior": 0}, ValueError, "sampling: interior: expected a whole number >= 1, got 0"),
        ({"initial": -3}, ValueError, "sampling: initial"),
        ({"boundary": 2.5}, TypeError, "sampling: boundary: expected a whole number >= 1, got 2.5"),
        ({"interior": True}, TypeError, "got True"),
        ({"redraw": 0}, ValueError, "sampling: redraw: expected a whole number >= 1, got 0"),
        ({"method": "sobel"}, ValueError, "sampling: method: .*; did you mean 'sobol'"),
    ],
)
def test_bad_settings_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        pinn.Sampling(**arguments)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 101, 300])
def test_gauss_legendre_nodes_are_the_zeros_of_the_polynomial(n):
    expected = (1 + np.polynomial.legendre.leggauss(n)[0]) / 2
    found = METHODS["gauss-legendre"](n, 1, None)[:, 0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-16)
