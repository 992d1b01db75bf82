"""From the unit cube to a shape: exact counts, even points, lattices kept whole."""

import numpy as np
import pytest

from pinn.geometry.unit_cube import draw, kept_share, probes
from pinn.sampling import LATTICES, METHODS, stream

RANDOM = [name for name in METHODS if name not in LATTICES]


def quarter_disk(unit):
    points = unit.copy()
    points[np.hypot(*unit.T) > 1] = np.nan
    return points


@pytest.mark.parametrize("method", RANDOM)
@pytest.mark.parametrize("n", [1, 17, 500])
def test_as_many_points_as_asked_for_all_of_them_inside(method, n):
    points = draw(n, 2, quarter_disk, np.pi / 4, METHODS[method], stream(0, "a"))
    assert points.shape == (n, 2)
    assert (np.hypot(*points.T) <= 1).all()
    again = draw(n, 2, quarter_disk, np.pi / 4, METHODS[method], stream(0, "a"))
    assert points.tobytes() == again.tobytes()


@pytest.mark.parametrize("method", RANDOM)
def test_points_are_even(method):
    points = draw(4000, 2, quarter_disk, np.pi / 4, METHODS[method], stream(0, "a"))
    # Equal areas of equal shares: rings of radius sqrt(k/4), four standard deviations.
    counts, _ = np.histogram(np.hypot(*points.T) ** 2, np.linspace(0, 1, 5))
    assert np.abs(counts - 1000).max() < 4 * np.sqrt(4000 * 3 / 16)


def test_a_sequence_of_low_discrepancy_stays_one():
    def miss(method):
        counts = []
        for seed in range(20):
            rng = stream(seed, "a")
            points = draw(1000, 2, quarter_disk, np.pi / 4, METHODS[method], rng)
            counts.append((np.hypot(*points.T) < np.sqrt(0.5)).sum())
        return np.std(np.array(counts) - 500)

    assert miss("sobol") < 0.4 * miss("uniform")


@pytest.mark.parametrize("share", [1.0, 0.9, 1 / 4096])
def test_a_wrong_share_costs_draws_but_no_points(share):
    points = draw(300, 2, quarter_disk, share, METHODS["latin-hypercube"], stream(0, "a"))
    assert points.shape == (300, 2) and (np.hypot(*points.T) <= 1).all()


@pytest.mark.parametrize("n", [1, 10, 100, 1000])
def test_a_grid_is_whole_and_has_at_most_as_many_points(n):
    points = draw(n, 2, quarter_disk, np.pi / 4, METHODS["grid"], stream(0, "a"))
    assert 0.9 * n - 1 <= len(points) <= n
    # All cells of one grid whose centres lie inside.
    axes = [np.unique(column) for column in points.T]
    step = np.min([np.diff(axis).min(initial=1.0) for axis in axes])
    full = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    assert len(points) == (np.hypot(*full.T) <= 1).sum()
    assert step > 0.5 / np.sqrt(n / 0.7)


def test_a_place_without_points_is_an_error():
    def nowhere(unit):
        return np.full(unit.shape, np.nan)

    with pytest.raises(ValueError, match="found only 0 of 5 points"):
        draw(5, 2, nowhere, 1.0, METHODS["uniform"], stream(0, "a"))


def test_probes_are_even_and_give_the_share():
    assert kept_share(2, quarter_disk) == pytest.approx(np.pi / 4, abs=2e-3)
    assert kept_share(0, quarter_disk) == 1
    for d in (1, 2, 5):
        points = probes(4096, d)
        assert ((points > 0) & (points < 1)).all()
        np.testing.assert_allclose(points.mean(axis=0), 0.5, atol=2e-3)
        np.testing.assert_allclose((points**2).mean(axis=0), 1 / 3, atol=2e-3)


def piece(low, high):
    def place(unit):
        inside = ((unit > low) & (unit < high)).all(axis=1)
        return np.where(inside[:, None], unit, np.nan)

    return place


@pytest.mark.parametrize("method", LATTICES)
@pytest.mark.parametrize(
    ("dimensions", "low", "high"), [(1, 0.3, 0.3001), (1, 0, 1e-5), (2, 0.6, 0.602), (2, 0, 0.8)]
)
def test_a_lattice_of_a_small_piece_is_laid_over_the_piece(method, dimensions, low, high):
    asked = []

    def sampler(n, dimensions, rng):
        asked.append(n)
        return METHODS[method](n, dimensions, rng)

    place = piece(low, high)
    points = draw(100, dimensions, place, kept_share(dimensions, place), sampler, None)
    assert 80 <= len(points) <= 100 and max(asked) < 1000
    assert ((low < points) & (points < high)).all()
    # It reaches from end to end.
    assert np.ptp(points, axis=0).min() > 0.8 * (high - low)


@pytest.mark.parametrize("method", LATTICES)
def test_a_lattice_that_next_to_nothing_is_kept_of_ends_with_fewer_points(method):
    def comb(unit):
        return np.where(np.sin(3000 * unit) > 0.999, unit, np.nan)

    points = draw(100, 1, comb, kept_share(1, comb), METHODS[method], None)
    assert 1 <= len(points) <= 100

    def dust(unit):
        return np.where(unit == 1 / 3, unit, np.nan)

    with pytest.raises(ValueError, match="no lattice of up to 4096 points has one there; take an"):
        draw(10, 1, dust, 0.5, lambda n, d, rng: np.full((n, d), 0.1), None)
