"""Counts and methods of single blocks, densities, and points of the user's own."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy import stats

import pinn
from pinn.config import ConfigError, load
from pinn.sampling import BlockSampling, Points, stream, thinned
from pinn.schema import dump
from pinn.solution.storage import experiment_json, read_experiment
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 2)
PROBLEM = pinn.Problem(
    DOMAIN, ["u", "v"], {"first": "u_t - nu*u_xx", "second": "v_t + u"},
    [pinn.Initial("u", 0), pinn.Dirichlet("v", 0), pinn.Neumann("u", 0, on="x=1"),
     pinn.PointValue("v", 0, x=0, t=1)], constants={"nu": 0.1},
)  # fmt: skip
WALL = "neumann_u_x_high"


def experiment(blocks=None, seed=3, **settings):
    made = pinn.Sampling(**{"interior": 60, "blocks": blocks or {}, **settings})
    return Experiment(PROBLEM, pinn.MLP(width=4, depth=1), made, seed=seed)


def coordinates(drawn):
    return {name: points.coordinates for name, points in drawn.items()}


def sizes(made, *arguments):
    return {name: len(points) for name, points in made.draw_points(*arguments).items()}


# ---- counts and methods


def test_a_block_has_its_own_count_and_method():
    plain = coordinates(experiment().draw_points())
    blocks = {"initial_u": 7, "second": {"count": 33, "method": "sobol"}, WALL: {"method": "grid"}}
    drawn = coordinates(experiment(blocks).draw_points())
    assert {name: len(array) for name, array in drawn.items()} == {
        "first": 60, "second": 33, "initial_u": 7, "dirichlet_v": 200, WALL: 200,
        "value_v_x_0_t_1": 1,
    }  # fmt: skip
    np.testing.assert_allclose(np.diff(np.sort(drawn[WALL][:, 1])), 2 / 200, rtol=1e-9)
    for name in ("first", "dirichlet_v"):
        np.testing.assert_array_equal(drawn[name], plain[name])
    # Equal settings share: two equations asked for 33 points have the same ones.
    same = experiment({"first": 33, "second": 33}).draw_points()
    assert same["first"] is same["second"]


def test_a_block_may_be_drawn_where_its_residual_is_and_another_may_not():
    def residuals(points):
        asked.append({name: len(p) for name, p in points.items()})
        return {name: 1000.0 * (p.coordinates[:, 0] > 0.5) for name, p in points.items()}

    asked = []
    made = experiment({"initial_u": {"adaptive": "rad"}, "second": {"adaptive": "even"}})
    drawn = coordinates(made.draw_points(1, residuals))
    assert asked == [{"first": 480}, {"initial_u": 800}]
    # A density of 1 and of 1 + 4 on a quarter: five out of eight there.
    assert np.mean(drawn["first"][:, 0] > 0.5) > 0.45
    assert np.mean(drawn["initial_u"][:, 0] > 0.5) > 0.45
    np.testing.assert_array_equal(drawn["second"], coordinates(made.draw_points(1))["second"])


def test_columns_of_points_go_with_them():
    made = experiment({WALL: {"adaptive": "rar-g"}}, added=5)
    before = made.draw_points()[WALL]
    ones = made.draw_points(
        1, lambda at: {n: np.ones(len(p)) for n, p in at.items()}, {WALL: before}
    )[WALL]
    assert len(ones) == 205
    np.testing.assert_array_equal(ones.coordinates[:200], before.coordinates)
    np.testing.assert_array_equal(ones.columns["normal_x"], 1)


def test_adaptive_points_of_every_method_repeat_and_stay_inside():
    for adaptive in ("rad", "rar-d", "rar-g", "r3", "even"):
        made = experiment(adaptive=adaptive)
        def residuals(points):
            return {name: p.coordinates[:, 1] for name, p in points.items()}
        first, again = (made.draw_points(2, residuals)["first"].coordinates for _ in range(2))
        np.testing.assert_array_equal(first, again)
        assert DOMAIN.contains(first).all()
        assert len(first) == (63 if adaptive.startswith("rar") else 60)


def test_fresh_points_are_as_many_or_enough_to_judge_by():
    made = experiment({"initial_u": 7, "first": {"points": [[0, 1]]}})
    fresh = made.collocation.fresh("fresh")
    assert len(fresh["initial_u"]) == 200  # for 7
    assert fresh["value_v_x_0_t_1"].coordinates.tolist() == [[0.0, 1.0]]


# ---- density


def test_points_follow_a_density():
    drawn = coordinates(experiment(interior=4000, density="exp(-x)*t + nu").draw_points())
    x, t = drawn["first"].T
    np.testing.assert_array_equal(drawn["first"], drawn["second"])
    edges = np.linspace(-1, 1, 9)
    # of x alone: the integral over t is 2 exp(-x) + 2 nu
    parts = -2 * np.diff(np.exp(-edges)) + 0.2 * np.diff(edges)
    counts, _ = np.histogram(x, edges)
    assert stats.chisquare(counts, 4000 * parts / parts.sum()).pvalue > 1e-3
    edges = np.linspace(0, 2, 9)
    parts = (np.e - 1 / np.e) * np.diff(edges**2) / 2 + 0.2 * np.diff(edges)
    counts, _ = np.histogram(t, edges)
    assert stats.chisquare(counts, 4000 * parts / parts.sum()).pvalue > 1e-3
    even = coordinates(experiment().draw_points())
    np.testing.assert_array_equal(drawn["initial_u"], even["initial_u"])


def test_points_of_a_condition_follow_a_density():
    drawn = experiment({"dirichlet_v": {"density": "t*where(x < 0, 3, 1)", "count": 2000}})
    x, t = drawn.draw_points()["dirichlet_v"].coordinates.T
    assert len(t) == 2000
    counts = np.histogram(t, np.linspace(0, 2, 9))[0]
    assert stats.chisquare(counts, 2000 * np.diff(np.linspace(0, 1, 9) ** 2)).pvalue > 1e-3
    assert stats.binomtest(int((x < 0).sum()), 2000, 0.75).pvalue > 1e-3


def test_candidates_follow_the_density_too():
    def residuals(points):
        asked.append(points["first"].coordinates[:, 0])
        return {name: np.ones(len(p)) for name, p in points.items()}

    asked = []
    experiment(density="where(x < 0, 1, 0)").draw_points(1, residuals)
    assert (asked[0] < 0).all()


DENSITIES = [
    ("x", r"density: expected 'x' to be finite and not negative, got -[0-9.]+ at x = -"),
    ("1/(x - x)", "density: expected .* to be finite and not negative, got inf"),
    ("0*x", "found only 0 of 60 points in proportion to the density"),
]


@pytest.mark.parametrize(("text", "said"), DENSITIES)
def test_a_density_that_is_none_is_refused(text, said):
    made = experiment(density=text)
    with pytest.raises(ValueError, match=said):
        made.draw_points()


def test_a_density_of_unknown_names_is_refused_at_once():
    for settings in ({"density": "exp(-y)"}, {"blocks": {"first": {"density": "exp(-y)"}}}):
        with pytest.raises(ValueError, match="sampling.density: .*y"):
            experiment(**settings)


def test_thinning_takes_points_of_all_parts():
    rng = stream(0, "a")
    parts = Points(np.repeat([[0.0], [1.0]], 8192, axis=0))
    found = thinned(lambda n: parts, 100, lambda points: np.ones(len(points)), rng)
    assert 30 < found.coordinates.sum() < 70


# ---- own points

ROWS = [[0.0, 0.5], [-1.0, 2.0], [0.25, 0.0]]


@pytest.mark.parametrize(
    "points",
    [ROWS, np.array(ROWS), {"t": [0.5, 2, 0], "x": np.array([0, -1, 0.25])}, "points.csv",
     "points.npz", "points.txt"],
)  # fmt: skip
def test_own_points_are_used_as_they_are(points, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_text("x,t\n0,0.5\n-1,2\n0.25,0\n")
    np.savetxt("points.txt", ROWS)
    np.savez("points.npz", t=np.array(ROWS)[:, 1], x=np.array(ROWS)[:, 0])
    made = experiment({"first": {"points": points}})
    first = made.draw_points()
    np.testing.assert_array_equal(first["first"].coordinates, ROWS)
    assert len(first["second"]) == 60
    later = made.draw_points(2, lambda at: {n: np.ones(len(p)) for n, p in at.items()})
    np.testing.assert_array_equal(later["first"].coordinates, ROWS)
    again = read_experiment(experiment_json(made), "file")
    assert again.sampling == made.sampling
    objective = made.objective()
    assert objective.rows == 3 + 60 + 100 + 200 + 200 + 1


def test_own_points_at_the_start_and_on_the_boundary():
    blocks = {
        "initial_u": {"points": {"x": [-1, 0.5]}},
        "dirichlet_v": {"points": [[-1, 0.5], [1, 1.5]]},
    }
    drawn = coordinates(experiment(blocks).draw_points())
    np.testing.assert_array_equal(drawn["initial_u"], [[-1, 0], [0.5, 0]])
    np.testing.assert_array_equal(drawn["dirichlet_v"], [[-1, 0.5], [1, 1.5]])


WRONG = [
    ("first", "x,t\n0,1\n\n0,3\n", "<file>:4: expected a point of the domain .*, got x = 0, t = 3"),
    ("first", "x,t\n0,1\nnan,1\n", "<file>:3: column 'x': expected a finite number, got nan"),
    ("first", "0,1\n0,3\n", "<file>:2: expected a point of the domain .*, got x = 0, t = 3"),
    ("first", "x,y\n0,1\n", "<file>: expected a column for each of x, t and no other, got x, y"),
    ("first", "x\n0\n", "<file>: no column 't'; its columns are x"),
    ("initial_u", "x,t\n0,0\n0,1\n", "<file>:3: expected a point of t=0, got x = 0, t = 1"),
    ("dirichlet_v", "x,t\n1,0\n0,1\n", "<file>:3: expected a point of x=-1, x=1, got x = 0, t"),
    ("value_v_x_0_t_1", "x,t\n1,0\n", "<file>: expected no points of your own for this block"),
]


@pytest.mark.parametrize(("block", "text", "said"), WRONG)
def test_own_points_that_do_not_fit_are_told_with_file_and_line(block, text, said, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=said.replace("<file>", re.escape(str(path)))) as raised:
        experiment({block: {"points": str(path)}}).objective()
    assert f"sampling.blocks.{block}.points" in str(raised.value)


def test_a_file_that_is_not_there_is_missed_in_training_and_not_in_loading(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x,t\n0,0.5\n")
    made = experiment({"first": {"points": str(path)}})
    text = experiment_json(made)
    path.unlink()
    again = read_experiment(text, "file")
    with pytest.raises(ValueError, match="cannot read .*points.csv: No such file"):
        again.draw_points()


# ---- what is refused

REFUSED = [
    ({"frist": 9}, "sampling.blocks.frist: expected a block out of first, .*did you mean 'first'"),
    ({"first": 0}, "blocks.first.count: expected a whole number >= 1, got 0"),
    ({"first": {"cuont": 9}}, "blocks.first.cuont: unknown argument; .*did you mean 'count'"),
    ({"first": {"method": "sobel"}}, "method: .*did you mean 'sobol'"),
    ({"first": {"points": ROWS, "count": 4}}, "blocks.first.*count: expected none of it beside"),
    ({"first": {"points": [["a", 1]]}}, "points: expected the path of a CSV or npz file"),
    ({"first": {"points": [[np.nan, 1]]}}, "points: .*finite number, got nan"),
    ({"value_v_x_0_t_1": 4}, "value_v_x_0_t_1.count: expected nothing of it: where this block"),
    ({"first": {"count": 900}}, "candidates: expected at least the 900 points of first, got 600"),
]


@pytest.mark.parametrize(("blocks", "said"), REFUSED)
def test_settings_that_do_not_fit_are_refused(blocks, said):
    with pytest.raises((ValueError, TypeError), match=said):
        experiment(blocks, candidates=600)


def test_ends_of_an_interval_are_what_they_are():
    line = pinn.Problem(pinn.Interval("x", 0, 1), ["u"], {"a": "u_xx"}, [pinn.Dirichlet("u", 0)])
    decay = pinn.Problem(pinn.Time("t", 0, 1), ["u"], {"a": "u_t + u"}, [pinn.Initial("u", 1)])
    for problem, name in ((line, "dirichlet_u"), (decay, "initial_u")):
        made = Experiment(problem, sampling=pinn.Sampling(batch=1))
        assert len(made.draw_points()[name]) == {"dirichlet_u": 2, "initial_u": 1}[name]
        for settings in (5, {"adaptive": "rad"}):
            with pytest.raises(ValueError, match=f"{name}.*where this block holds says its points"):
                Experiment(problem, sampling=pinn.Sampling(blocks={name: settings}))


def test_own_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match="expected rows of 2 numbers, x, t, got 3"):
        experiment({"first": {"points": [[0, 0, 0]]}}).draw_points()


# ---- files

HEAD = """\
problem: {domain: {x: [-1, 1], t: {time: [0, 2]}}, unknowns: u, equations: {heat: u_t - u_xx},
  conditions: [initial: {unknown: u, value: 0}]}
"""


def test_a_config_says_the_same(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(HEAD + """\
sampling:
  density: 1 + x**2
  batch: 64
  blocks:
    initial_u: 20
    heat: {count: 5e3, method: sobol, adaptive: r3}
""")
    expected = pinn.Sampling(
        density="1 + x**2", batch=64,
        blocks={"initial_u": 20, "heat": {"count": 5000, "method": "sobol", "adaptive": "r3"}},
    )  # fmt: skip
    config = load(path)
    assert config.experiment.sampling == expected
    assert expected.blocks["initial_u"] == BlockSampling(count=20)
    assert dump(config.experiment)["sampling"]["blocks"]["initial_u"] == 20
    path.write_text(config.text())
    assert load(path).experiment.sampling == expected


@pytest.mark.parametrize(
    "points", [ROWS, {"x": [0.0, 0.5], "t": [1.0, 2.0]}, "points.csv"]
)  # fmt: skip
def test_a_config_may_hold_points_or_name_their_file(points, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(HEAD + f"sampling: {{blocks: {{heat: {{points: {json.dumps(points)}}}}}}}\n")
    config = load(path)
    assert config.experiment.sampling.blocks["heat"] == BlockSampling(
        points=tmp_path / points if points == "points.csv" else points
    )
    path.write_text(config.text())
    assert load(path).experiment.sampling == config.experiment.sampling


CONFIGS = [
    ("{initial: 20}", "sampling.blocks.initial: expected a block out of heat, initial_u"),
    ("{heat: many}", "sampling.blocks.heat: expected a whole number >= 1, got 'many'"),
    ("{heat: {cuont: 3}}", "sampling.blocks.heat.cuont: unknown key; valid keys: count, method"),
    ("{heat: {points: {x: [a]}}}", "sampling.blocks.heat.points.x.0: expected a number"),
    ("{heat: {points: [[1], [1, 2]]}}", "sampling.blocks.heat.points: expected a list of rows of"),
    ("{heat: {points: a.csv, count: 3}}", "sampling.blocks.heat.count: expected none of it"),
]


@pytest.mark.parametrize(("blocks", "said"), CONFIGS)
def test_a_mistake_in_a_config_is_told_at_its_line_and_key(blocks, said, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(HEAD + f"sampling:\n  blocks: {blocks}\n")
    with pytest.raises(ConfigError) as raised:
        load(path)
    assert str(raised.value).startswith(f"{path}:4: {said}")
