"""RAR-D, RAR-G and R3: which points stay, which come, and how many there are at most."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import pinn
from pinn.sampling import ADAPTIVE, Draw, Points, stream


def draw(present, residual, *, count=None, number=0, several=(), **settings):
    """A draw on [0, 1] of points with a residual that is a function of x."""
    rng = stream(number, "adaptive")
    functions = [residual, *several]
    count = len(present) if count is None else count
    sampling = pinn.Sampling(**settings).of_block("a", count, True)
    return Draw(
        count=count,
        present=Points(np.asarray(present, dtype=float)[:, None]),
        anew=lambda: pytest.fail("asked for"),
        even=lambda n: Points(rng.random((n, 1))),
        residuals=lambda points: [f(points.coordinates[:, 0]) for f in functions],
        sampling=sampling,
        rng=rng,
    )  # fmt: skip


def x_of(points):
    return points.coordinates[:, 0]


PRESENT = np.linspace(0, 1, 40)


def test_rar_g_adds_the_worst():
    seen = draw(PRESENT, lambda x: np.sin(9 * x), added=7, candidates=500)
    candidates = stream(0, "adaptive").random(500)
    found = x_of(ADAPTIVE["rar-g"](seen))
    np.testing.assert_array_equal(found[:40], PRESENT)
    worst = candidates[np.argsort(-np.abs(np.sin(9 * candidates)))[:7]]
    np.testing.assert_array_equal(np.sort(found[40:]), np.sort(worst))


def test_rar_g_of_several_equations_has_them_in_shares_of_their_means():
    # A thousand times the scale of the other counts no more: the sum is that of x / 0.5 and of
    # (1 - x)^4 / 0.2 at even points, which is largest at x = 0.
    seen = draw(PRESENT, lambda x: 1000 * x, several=[lambda x: (1 - x) ** 4], added=5)
    assert x_of(ADAPTIVE["rar-g"](seen))[40:].max() < 0.05


def test_rar_d_adds_by_the_density():
    added = np.concatenate([
        x_of(ADAPTIVE["rar-d"](draw(
            PRESENT, lambda x: x, number=number, added=40, candidates=4000, rad_power=2, rad_floor=0
        )))[40:]
        for number in range(50)
    ])  # fmt: skip
    edges = np.linspace(0, 1, 11)
    counts, _ = np.histogram(added, edges)
    assert stats.chisquare(counts, len(added) * np.diff(edges**3)).pvalue > 1e-3
    assert stats.chisquare(counts).pvalue < 1e-6


@pytest.mark.parametrize("name", ["rar-d", "rar-g"])
def test_points_are_added_until_there_are_the_most(name):
    present, sizes = PRESENT, []
    for number in range(5):
        settings = {"count": 40, "number": number, "added": 15, "most": 70}
        seen = draw(present, np.cos, **settings)
        present = x_of(ADAPTIVE[name](seen))
        sizes.append(len(present))
    assert sizes == [55, 70, 70, 70, 70]
    np.testing.assert_array_equal(present[:40], PRESENT)


def test_defaults_add_a_twentieth_up_to_twice_as_many():
    settings = pinn.Sampling().of_block("a", 2500, True)
    assert (settings.added, settings.most) == (125, 5000)
    assert pinn.Sampling().of_block("a", 3, True).added == 1


def test_r3_retains_what_is_above_the_mean_and_draws_the_others_anew():
    residual = np.where(PRESENT > 0.7, -3.0, 0.1)
    seen = draw(PRESENT, lambda x: np.where(x > 0.7, -3.0, 0.1))
    found = x_of(ADAPTIVE["r3"](seen))
    stays = PRESENT[np.abs(residual) > np.abs(residual).mean()]
    np.testing.assert_array_equal(found[: len(stays)], stays)
    np.testing.assert_array_equal(
        found[len(stays) :], stream(0, "adaptive").random((40 - len(stays), 1))[:, 0]
    )
    assert len(found) == 40


def test_r3_of_a_residual_that_is_the_same_everywhere_draws_all_anew():
    for size in (0.0, 2.0):
        found = x_of(ADAPTIVE["r3"](draw(PRESENT, lambda x, size=size: np.full(len(x), size))))
        assert len(found) == 40 and not np.isin(found, PRESENT).any()


def test_r3_accumulates_where_the_residual_is_large():
    # Points above the mean stay for good; evenly drawn ones fill them up.
    present = PRESENT
    for number in range(30):
        present = x_of(ADAPTIVE["r3"](draw(present, lambda x: x > 0.9, number=number)))
    assert np.mean(present > 0.9) > 0.4


def test_r3_keeps_points_without_a_finite_residual():
    def residual(x):
        return np.where(x == PRESENT[7], np.nan, np.where(x == PRESENT[9], np.inf, 1.0))

    found = x_of(ADAPTIVE["r3"](draw(PRESENT, residual)))
    np.testing.assert_array_equal(found[:2], PRESENT[[7, 9]])


def test_r3_keeps_to_the_number_that_is_asked_for():
    found = x_of(ADAPTIVE["r3"](draw(PRESENT, lambda x: x > 0.2, count=10)))
    assert len(found) == 10


def test_even_is_what_the_method_gives():
    points = Points(np.ones((3, 1)))
    seen = draw(PRESENT, np.cos)
    assert ADAPTIVE["even"](Draw(**{**vars(seen), "anew": lambda: points})) is points
