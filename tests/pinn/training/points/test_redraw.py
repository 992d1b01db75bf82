"""Redraws that answer overfit, and those that keep a part of the points."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

import pinn
from pinn.config import ConfigError, load
from pinn.solution.storage import experiment_json, read_experiment
from pinn.training import Resume
from pinn.training.experiment import Experiment
from pinn.training.judging.fresh import FreshLoss, judging_points
from pinn.training.judging.judge import look_every
from pinn.training.looks import Looks
from pinn.training.loop import train
from pinn.training.points.redraw import RedrawOverfit, grown_count, overfit

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1)
PROBLEM = pinn.Problem(
    DOMAIN, ["u", "v"], {"first": "u_t - u_xx", "second": "v_t + u", "third": "u_x - v"},
    [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0), pinn.Neumann("v", 0, on="x=1"),
     pinn.PointValue("v", 0, x=0, t=1)],
)  # fmt: skip


def experiment(**settings):
    sampling = pinn.Sampling(**{"interior": 60, "candidates": 200, **settings})
    return Experiment(PROBLEM, pinn.MLP(width=4, depth=1), sampling, seed=3)


def residuals(points):
    return {name: 1.0 + p.coordinates[:, 0] for name, p in points.items()}


def rows(points):
    """The points as a set, with all that is attached to them."""
    columns = [points.coordinates, *(c[:, None] for c in points.columns.values())]
    return {row.tobytes() for row in np.concatenate(columns, axis=1)}


# ---- keep


@pytest.mark.parametrize("adaptive", ["rad", "even", None])
@pytest.mark.parametrize("method", ["latin-hypercube", "sobol"])
def test_a_share_of_the_points_stays_and_the_rest_is_drawn(adaptive, method):
    made = experiment(adaptive=adaptive, method=method, keep=0.75, blocks={"third": 40})
    before = made.draw_points()
    after = made.draw_points(1, residuals, before)
    for name, points in before.items():
        assert len(after[name]) == len(points)
        kept = len(rows(points) & rows(after[name]))
        whole = name == "value_v_x_0_t_1"  # it has one place
        assert kept == (1 if whole else round(0.75 * len(points)))
    assert after["first"] is after["second"]  # blocks that share their points go on to
    again = made.draw_points(1, residuals, before)
    other = made.draw_points(2, residuals, before)
    for name in ("first", "initial_u", "dirichlet_u"):
        assert rows(again[name]) == rows(after[name]) != rows(other[name])


def test_those_that_stay_are_typical_of_the_points():
    made = experiment(interior=4000, candidates=4000, keep=0.5, adaptive=None)
    before = made.draw_points()["first"]
    after = made.draw_points(1, None, made.draw_points())["first"]
    kept = after.coordinates[:2000]
    assert rows(after[np.arange(2000)]) <= rows(before)
    counts, _ = np.histogram(kept[:, 0], np.linspace(-1, 1, 11))
    assert stats.chisquare(counts).pvalue > 1e-3


def test_points_without_keep_are_those_of_before():
    plain, kept = experiment(), experiment(keep=0.0)
    before = plain.draw_points()
    for name, points in plain.draw_points(1, residuals, before).items():
        assert rows(kept.draw_points(1, residuals, before)[name]) == rows(points)
        if name in ("first", "initial_u"):
            assert not rows(points) & rows(before[name])


@pytest.mark.parametrize("settings", [
    {"adaptive": "r3"}, {"adaptive": "rar-d"}, {"blocks": {"initial_u": {"adaptive": "rar-g"}}},
])  # fmt: skip
def test_methods_that_keep_points_by_themselves_go_without(settings):
    with pytest.raises(ValueError, match="keep: expected 0 with .*, which keeps points by itself"):
        experiment(keep=0.5, **settings)
    assert experiment(**settings).sampling.keep == 0


# ---- growth


def test_numbers_of_points_grow_by_half_up_to_the_most():
    assert [grown_count(100, times, 400) for times in range(6)] == [100, 150, 225, 338, 400, 400]
    assert grown_count(100, 3, 50) == 100


@pytest.mark.parametrize("adaptive", ["rad", "r3", None])
@pytest.mark.parametrize("keep", [0.0, 0.5])
def test_blocks_that_grow_have_more_points(adaptive, keep):
    if keep and adaptive == "r3":
        return
    made = experiment(redraw="auto", adaptive=adaptive, keep=keep)
    before = made.draw_points()
    grown = {"first": 1, "initial_u": 2, "dirichlet_u": 9}
    after = made.draw_points(1, residuals, before, grown)
    assert {name: len(points) for name, points in after.items()} == {
        "first": 90, "second": 90, "third": 90, "initial_u": 225, "dirichlet_u": 800,
        "neumann_v_x_high": 200, "value_v_x_0_t_1": 1,
    }  # fmt: skip
    assert DOMAIN.contains(after["first"].coordinates).all()
    if adaptive != "r3":
        assert len(rows(before["first"]) & rows(after["first"])) == keep * 90
    most = experiment(redraw="auto", most=70, adaptive=adaptive)
    assert len(most.draw_points(1, residuals, before, grown)["first"]) == 70


def test_a_block_of_points_that_are_given_stays_as_it_is():
    made = experiment(redraw="auto", keep=0.5, blocks={"first": {"points": [[0, 1], [0.5, 0.5]]}})
    before = made.draw_points()
    after = made.draw_points(1, residuals, before, {"first": 3, "value_v_x_0_t_1": 3})
    for name in ("first", "value_v_x_0_t_1"):
        np.testing.assert_array_equal(after[name].coordinates, before[name].coordinates)


# ---- when points are overfitted


def look(step, fresh, present):
    return Looks.none(2).taken(step, np.array(fresh), np.array(present))


@pytest.mark.parametrize(
    ("fresh", "present", "drawn_at", "draws", "expected"),
    [
        ([1.9, 0.0], [1.0, 0.0], 900, 3, None),
        ([2.1, 0.0], [1.0, 0.0], 900, 0, ()),  # the first points are never too few
        ([2.1, 0.0], [1.0, 0.0], 900, 3, ("a",)),
        ([2.1, 0.1], [1.0, 0.01], 900, 3, ("a", "b")),
        ([2.3, 0.1], [1.0, 0.1], 100, 3, ("a",)),  # within a thousand steps
        ([np.nan, 0.0], [1.0, 0.0], 900, 3, None),
    ],
)
def test_points_are_overfitted_where_the_loss_on_others_is_twice_theirs(
    fresh, present, drawn_at, draws, expected
):
    found = overfit(look(1000, fresh, present), np.ones(2), ("a", "b"), drawn_at, draws, 100)
    assert (None if found is None else found.blocks) == expected
    if found is not None:
        assert f"times that on these, {1000 - drawn_at} steps after they were drawn" in found.why


def test_stages_of_few_long_steps_look_some_times_between_two_draws():
    assert look_every(pinn.SSBroyden()) == look_every(pinn.Adam()) == 100
    assert look_every(pinn.LevenbergMarquardt(redraw=25)) == 5
    assert look_every(pinn.LevenbergMarquardt(redraw=2)) == 1
    assert look_every(pinn.LevenbergMarquardt(redraw=10**6)) == 100
    soon = overfit(look(1000, [9.0, 0.0], [1.0, 0.0]), np.ones(2), ("a", "b"), 790, 3, 20)
    assert soon.blocks == ()  # ten looks are 200 steps
    objective = FEW.objective()
    result = train(objective, [pinn.LevenbergMarquardt(45, redraw=20)], apart=FreshLoss(
        objective, judging_points(FEW)))
    assert result.last.course.looks.steps.tolist() == list(range(4, result.steps + 1, 4))


def test_points_that_served_long_were_not_too_few():
    names = ("a", "b")
    late = look(20_000, [9.0, 0.0], [1.0, 0.0])
    assert overfit(late, np.ones(2), names, 19_000, 3, 100).blocks == ("a",)
    assert overfit(late, np.ones(2), names, 18_000, 3, 100).blocks == ("a",)  # a tenth of all steps
    assert overfit(late, np.ones(2), names, 17_900, 3, 100).blocks == ()
    assert overfit(late, np.array([1.0, 0.0]), names, 19_900, 3, 100).blocks == ("a",)
    assert overfit(late, np.array([0.0, 1.0]), names, 19_900, 3, 100) is None


# ---- in training


LINE = pinn.Problem(
    pinn.Interval("x", 0, 1), ["u"], {"e": "u_x - 10*cos(10*x)"}, [pinn.Dirichlet("u", 0, on="x=0")]
)  # fmt: skip
FEW = Experiment(
    LINE, pinn.MLP(12, 1), pinn.Sampling(interior=8, redraw="auto", adaptive="rad", keep=0.5),
)  # fmt: skip
STAGES = [pinn.Adam(100), pinn.SSBroyden(250)]


def run(callbacks=(), resume=None, setup=FEW):
    objective = setup.objective()

    def draw(number, grown):
        present = {block.name: block.points for block in objective.blocks}
        return setup.draw_points(
            number, lambda at: objective.residuals(objective.theta, at), present, grown
        )

    return train(
        objective, STAGES, callbacks, RedrawOverfit(draw), resume=resume,
        apart=FreshLoss(objective, judging_points(setup)), batches=setup.batches,
        weighting=setup.weighting,
    )  # fmt: skip


def test_points_that_are_fitted_alone_are_drawn_anew_and_become_more():
    records = []
    result = run([records.append])
    points = [d for d in result.decisions if d.what.startswith("new points")]
    assert points and all(d.step % 100 == 0 for d in points)
    assert any(d.what == "new points, more of them for e" for d in points)
    sizes = {r.draw: len(r.points["e"]) for r in records}
    assert sizes[0] == 8 and max(sizes.values()) > 8 and max(sizes.values()) <= 32
    assert sorted(sizes.values()) == list(sizes.values())
    # Each draw follows a look that saw the ratio.
    looks = records[-1].course.looks
    for decision in points:
        (k,) = np.flatnonzero(looks.steps == decision.step)
        assert looks.fresh[k].sum() > 2 * looks.present[k].sum()


def kept(record):
    state = {name: np.array(array) for name, array in record.solver_state.items()}
    return dataclasses.replace(record, solver_state=state)


@pytest.mark.parametrize("stop", [99, 100, 200, 201, 250])
def test_a_run_that_goes_on_draws_the_same_points(stop):
    records, rest = [], []
    whole = run([lambda record: records.append(kept(record))])
    assert max(d.step for d in whole.decisions) >= 200
    stages = whole.stages[: records[stop - 1].stage_index]
    result = run([rest.append], Resume(records[stop - 1], stages=stages))
    assert result.theta.tobytes() == whole.theta.tobytes()
    assert result.decisions == whole.decisions
    for a, b in zip(records[stop:], rest, strict=True):
        assert (a.draw, a.course.grown, a.course.drawn_at) == (
            b.draw, b.course.grown, b.course.drawn_at
        )
        assert a.points["e"].coordinates.tobytes() == b.points["e"].coordinates.tobytes()


@pytest.mark.parametrize("sampling", [
    {"batch": 5}, {"adaptive": None}, {"adaptive": "r3"}, {"method": "grid", "adaptive": None},
])  # fmt: skip
def test_it_works_with_batches_and_every_way_to_draw(sampling):
    given = {"interior": 8, "redraw": "auto", **sampling}
    setup = dataclasses.replace(FEW, sampling=pinn.Sampling(**given))
    one, other = run(setup=setup), run(setup=setup)
    assert one.theta.tobytes() == other.theta.tobytes()
    assert any(d.what.startswith("new points") for d in one.decisions)


def test_row_weights_do_not_count_as_overfit():
    # Causal weights are all but zero late in time: the weighted loss is much below the fresh one.
    problem = pinn.Problem(
        DOMAIN, ["u"], {"heat": "u_t - u_xx"},
        [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.MLP(8, 1), pinn.Sampling(interior=300, redraw="auto"), [pinn.Adam(201)],
        weighting=pinn.Causal(epsilons=[1e4]),
    )  # fmt: skip
    looks = solution.last.course.looks
    assert (looks.fresh[:, 0] < 2 * looks.present[:, 0]).all()
    assert sum(solution.last.losses.values()) < looks.present[-1].sum()


def test_hard_conditions_and_several_blocks():
    problem = pinn.Problem(
        DOMAIN, ["u"], {"heat": "u_t - u_xx", "other": "u_t - u_xx"},
        [pinn.Initial("u", "sin(pi*x)", hard=True), pinn.Dirichlet("u", 0, hard=True)],
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.MLP(8, 1), pinn.Sampling(interior=9, redraw="auto", keep=0.5),
        [pinn.SSBroyden(401)],
    )  # fmt: skip
    drawn = [d for d in solution.report.decisions if d.what.startswith("new points")]
    assert drawn
    grown = solution.last.course.grown
    points = solution.last.points
    assert points["heat"] is points["other"]
    assert len(points["heat"]) == grown_count(9, max(grown.values(), default=0), 36)


# ---- in files


def test_the_settings_are_declared_like_all_else(tmp_path):
    text = "problem:\n  domain: {t: {time: [0, 1]}}\n  unknowns: [u]\n" \
           "  equations: {decay: u_t + u}\n  conditions: [initial: {unknown: u, value: 1}]\n"
    (tmp_path / "a.yaml").write_text(text + "sampling: {redraw: auto, keep: 0.5, most: 4000}\n")
    config = load(tmp_path / "a.yaml")
    expected = pinn.Sampling(redraw="auto", keep=0.5, most=4000)
    assert config.experiment.sampling == expected
    (tmp_path / "b.yaml").write_text(config.text())
    assert load(tmp_path / "b.yaml").experiment.sampling == expected
    again = read_experiment(experiment_json(config.experiment), "file")
    assert again.sampling == expected
    (tmp_path / "c.yaml").write_text(text + "sampling: {redraw: aut}\n")
    said = "redraw: expected a whole number >= 1 or auto, got 'aut'; did you mean 'auto'"
    with pytest.raises(ConfigError, match=said):
        load(tmp_path / "c.yaml")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"redraw": "often"}, "redraw: expected a whole number >= 1 or auto, got 'often'"),
        ({"redraw": 0}, "redraw: expected a whole number >= 1"),
        ({"keep": 1.0}, "keep: expected a number >= 0 and < 1, got 1"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        pinn.Sampling(**settings)
