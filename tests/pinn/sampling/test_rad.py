"""RAD: the distribution it draws from, its limits, and that equal streams give equal points."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import pinn
from pinn.sampling import rad_density, rad_rows, stream
from pinn.sampling.rad import draw_by_density
from pinn.solution.storage import experiment_json, read_experiment
from pinn.training.experiment import Experiment


@pytest.mark.parametrize(("power", "floor"), [(1, 1), (2, 0), (0.5, 3), (0, 1), (1, 0)])
def test_the_density_is_the_papers(power, floor):
    r = np.random.default_rng(0).standard_normal(50)
    p = np.abs(r) ** power / np.mean(np.abs(r) ** power) + floor
    np.testing.assert_allclose(rad_density(r, power, floor), p, rtol=1e-13)
    # The scale of the residual does not matter, however large or small.
    for scale in (1e-300, 1e200):
        np.testing.assert_allclose(rad_density(scale * r, power, floor), p, rtol=1e-12)


def test_a_residual_that_vanishes_or_is_not_finite():
    np.testing.assert_array_equal(rad_density(np.zeros(3), 1, 0), 1)
    np.testing.assert_array_equal(
        rad_density(np.array([1.0, np.nan, 3.0, -np.inf])), [1.5, math.inf, 2.5, math.inf]
    )
    np.testing.assert_array_equal(rad_density(np.full(2, np.nan)), math.inf)


def test_single_draws_follow_the_density():
    density = np.array([0.1, 1.0, 2.0, 4.0, 0.5, 0.0])
    rng = stream(1, "rad")
    counts = np.bincount([draw_by_density(density, 1, rng)[0] for _ in range(20_000)], minlength=6)
    assert counts[5] == 0
    expected = 20_000 * density[:5] / density.sum()
    assert stats.chisquare(counts[:5], expected).pvalue > 1e-3


def test_draws_without_replacement_are_those_one_after_the_other():
    # Every ordered triple out of five has the product of the conditional probabilities.
    w = np.array([1.0, 2.0, 3.0, 5.0, 8.0])
    probability = {}
    for triple in itertools.permutations(range(5), 3):
        left, chance = w.sum(), 1.0
        for i in triple:
            chance *= w[i] / left
            left -= w[i]
        probability[triple] = chance
    rng = stream(2, "rad")
    counts = dict.fromkeys(probability, 0)
    for _ in range(30_000):
        counts[tuple(int(i) for i in draw_by_density(w, 3, rng))] += 1
    observed = [counts[t] for t in probability]
    expected = [30_000 * p for p in probability.values()]
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def chi_square_of_points(power, floor, target):
    """The p-value of RAD points in [0, 1], r = x, against the integral of `target` over bins."""
    rng = stream(3, "rad")
    edges = np.linspace(0, 1, 11)
    # Few out of many candidates: drawing without replacement changes next to nothing.
    points = np.concatenate(
        [
            c[rad_rows([c[:, 0]], 100, rng, power, floor), 0]
            for c in (rng.random((20_000, 1)) for _ in range(100))
        ]
    )
    counts, _ = np.histogram(points, edges)
    return stats.chisquare(counts, len(points) * np.diff(target(edges))).pvalue


@pytest.mark.parametrize(
    ("power", "floor", "target"),
    [
        (1, 1, lambda x: (x**2 + x) / 2),  # density (2 x + 1) / 2
        (1, 0, lambda x: x**2),
        (2, 1, lambda x: (x**3 + x) / 2),
        (0, 1, lambda x: x),
        (1, 1e9, lambda x: x),
    ],
)
def test_points_follow_the_density_and_become_even_in_its_limits(power, floor, target):
    assert chi_square_of_points(power, floor, target) > 1e-3


def test_the_test_sees_another_density():
    assert chi_square_of_points(1, 1, lambda x: x) < 1e-6


def test_points_are_different_candidates():
    rng = stream(0, "rad")
    candidates = rng.random((500, 2))
    points = candidates[rad_rows([candidates[:, 0] ** 9], 400, rng)]
    assert points.shape == (400, 2)
    assert len(np.unique(points, axis=0)) == 400
    assert all((candidates == point).all(axis=1).any() for point in points)
    everything = candidates[rad_rows([candidates[:, 0]], 500, rng)]
    np.testing.assert_array_equal(np.unique(everything, axis=0), np.unique(candidates, axis=0))


def test_equal_streams_give_equal_points():
    candidates = stream(0, "c").random((300, 2))
    residual = np.sin(9 * candidates[:, 0])
    first, second, other = (
        candidates[rad_rows([residual], 50, stream(*path))]
        for path in [(4, "points", "u", "1"), (4, "points", "u", "1"), (4, "points", "u", "2")]
    )
    assert first.tobytes() == second.tobytes()
    assert first.tobytes() != other.tobytes()


def test_candidates_without_a_finite_residual_are_always_taken():
    candidates = np.arange(100.0)[:, None]
    residual = np.ones(100)
    residual[[7, 70]] = np.nan, np.inf
    for number in range(5):
        points = candidates[rad_rows([residual], 5, stream(number, "rad"))]
        assert {7.0, 70.0} <= set(points[:, 0])


def test_candidates_of_no_density_are_taken_last():
    residual = np.zeros(10)
    residual[[2, 5, 8]] = 1.0
    taken = draw_by_density(rad_density(residual, 1, 0), 5, stream(0, "rad"))
    assert set(taken[:3]) == {2, 5, 8} and len(set(taken)) == 5


def test_arrays_that_do_not_fit_are_refused():
    rng = stream(0, "rad")
    with pytest.raises(ValueError, match="expected at least 5 candidates to draw from, got 4"):
        rad_rows([np.ones(4)], 5, rng)
    with pytest.raises(ValueError, match="residuals of one shape"):
        rad_rows([np.ones(4), np.ones(3)], 2, rng)
    with pytest.raises(ValueError, match=r"shape \(n,\), got \(4, 1\)"):
        rad_density(np.ones((4, 1)))


PROBLEM = pinn.Problem(
    pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1), ["u", "v"],
    {"first": "u_t - u_xx", "second": "v_t + u"}, [pinn.Initial("u", 0), pinn.Dirichlet("v", 0)],
)  # fmt: skip


def setup(**settings):
    sampling = pinn.Sampling(**{"interior": 300, "redraw": 5, "candidates": 2000, **settings})
    return Experiment(PROBLEM, pinn.MLP(width=4, depth=1), sampling, seed=3)


def coordinates(drawn):
    return {name: points.coordinates for name, points in drawn.items()}


def test_new_interior_points_go_where_their_residuals_are():
    asked = []

    def residuals(points):
        asked.extend((name, p.coordinates.shape) for name, p in points.items())
        return {name: p.coordinates[:, "first second".split().index(name)]
                for name, p in points.items()}  # fmt: skip

    made = setup(adaptive="rad", rad_power=2, rad_floor=0)
    points = coordinates(made.draw_points(1, residuals))
    assert asked == [("first", (2000, 2)), ("second", (2000, 2))]
    assert {name: array.shape for name, array in points.items()} == {
        "first": (300, 2), "second": (300, 2), "initial_u": (100, 2), "dirichlet_v": (200, 2)
    }  # fmt: skip
    assert (np.abs(points["first"]) <= 1).all()
    # Equations that hold at the same places share their points; the density is the mean of
    # (3/2) x^2 on [-1, 1] and 3 t^2 on [0, 1]. A mean of 300 has a spread of 0.016, times four.
    np.testing.assert_array_equal(points["first"], points["second"])
    assert np.mean(np.abs(points["first"][:, 0])) == pytest.approx((3 / 4 + 1 / 2) / 2, abs=0.06)
    assert np.mean(points["first"][:, 1]) == pytest.approx((1 / 2 + 3 / 4) / 2, abs=0.06)
    plain = coordinates(made.draw_points(1))
    for name in ("initial_u", "dirichlet_v"):
        np.testing.assert_array_equal(points[name], plain[name])
    again = coordinates(made.draw_points(1, residuals))
    other = coordinates(made.draw_points(2, residuals))
    for name, array in points.items():
        assert array.tobytes() == again[name].tobytes() != other[name].tobytes()


def test_without_adaptive_sampling_no_residual_is_asked_for():
    made = setup(adaptive=None)
    points = coordinates(made.draw_points(2, lambda at: pytest.fail("asked")))
    for name, array in coordinates(made.draw_points(2)).items():
        np.testing.assert_array_equal(points[name], array)


def test_points_that_are_never_drawn_anew_need_no_adaptive_setting():
    made = setup(redraw=None)
    assert made.sampling.adaptive == "rad"
    assert made.draw_points()["first"].coordinates.shape == (300, 2)


def test_counts_that_are_left_out_go_by_the_number_of_coordinates():
    assert (pinn.Sampling().interior, pinn.Sampling().candidates) == (None, None)
    for dimension, interior, initial, boundary, candidates in (
        (1, 2000, 100, 200, 16_000), (2, 2500, 100, 200, 20_000), (3, 2500, 400, 800, 20_000),
        (4, 2500, 1000, 1500, 20_000), (9, 2500, 1000, 1500, 20_000),
    ):  # fmt: skip
        resolved = pinn.Sampling(redraw=7).resolved(dimension)
        assert resolved == pinn.Sampling(interior, initial, boundary, redraw=7)
        assert resolved.resolved(dimension) == resolved
        assert resolved.of_block("first", interior, True).candidates == candidates
    assert pinn.Sampling().of_block("first", 100, True).candidates == 800
    assert pinn.Sampling(candidates=9000).resolved(1).interior == 2000
    line = pinn.Problem(pinn.Interval("x", 0, 1), ["u"], {"a": "u_xx"}, [pinn.Dirichlet("u", 0)])
    for problem, count in ((PROBLEM, 2500), (line, 2000)):
        drawn = Experiment(problem).draw_points()
        assert drawn[next(iter(problem.equations))].coordinates.shape[0] == count


def test_fewer_candidates_than_the_points_that_are_left_out_are_refused():
    with pytest.raises(ValueError, match="candidates: expected at least the 2500 interior points"):
        setup(interior=None, candidates=600)


def test_the_settings_are_kept_in_a_file():
    made = setup(adaptive="rad", rad_floor=0.5)
    assert read_experiment(experiment_json(made), "file").sampling == made.sampling


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"adaptive": "rd"}, "adaptive: expected one of rad, rar-d, .*'rd'; did you mean"),
        ({"adaptive": "rad", "candidates": 9}, "candidates: expected at least the 300 interior"),
        ({"candidates": 0}, "sampling: candidates: expected a whole number >= 1"),
        ({"rad_power": -1}, "sampling: rad_power: expected a number >= 0"),
        ({"rad_floor": math.inf}, "sampling: rad_floor: expected a finite number"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        setup(**arguments)
