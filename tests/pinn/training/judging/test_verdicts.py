"""Ends that the run finds by itself: the target, the precision floor, and what more would bring."""

import math

import numpy as np
import pytest

import pinn
from pinn.config import load
from pinn.solution.storage import experiment_json, read_experiment
from pinn.training import Resume
from pinn.training.auto import Auto
from pinn.training.experiment import Experiment
from pinn.training.judging.fresh import FreshLoss, judging_points
from pinn.training.judging.rounding import Rounding, best_decrease, rounding_of_blocks
from pinn.training.judging.verdicts import outlook
from pinn.training.looks import Looks
from pinn.training.loop import train
from pinn.training.plan import Situation

PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
)  # fmt: skip
SMALL = {"model": pinn.MLP(width=6, depth=1), "sampling": pinn.Sampling(interior=20, redraw=None)}


def solve(training, **arguments):
    return pinn.solve(PROBLEM, **{**SMALL, "training": training, **arguments})


# ---- the target


@pytest.mark.parametrize("training", [[pinn.Adam(2000, learning_rate=1e-2)], [pinn.SSBroyden(999)]])
def test_training_ends_at_a_target_on_present_points_and_on_fresh_ones(training):
    records = []
    solution = solve(training, target=1e-4, callbacks=[records.append])
    report = solution.report
    assert report.stop_reason == "target reached"
    objective = solution.experiment.objective()
    apart = FreshLoss(objective, judging_points(solution.experiment))(solution.theta)
    assert max(report.loss, apart) <= 1e-4
    assert report.message == (
        f"the loss {report.loss:.3g}, {apart:.3g} on fresh points, is not above the target 0.0001, "
        f"after step {report.steps}"
    )
    # It is found within 2 % of all steps.
    fresh = FreshLoss(objective, judging_points(solution.experiment))
    reached = next(r.step for r in records if r.loss <= 1e-4 and fresh(r.theta) <= 1e-4)
    assert report.steps - reached <= max(1, 0.02 * report.steps)


def test_no_stage_follows_a_target():
    report = solve([pinn.Adam(5), pinn.LBFGS(5)], target=1e6).report
    assert [stage.steps for stage in report.stages] == [1]


def test_a_loss_on_few_points_alone_is_no_target():
    # Three points hold the equation down; between them nothing does.
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "u_x - 10*cos(10*x)"},
        [pinn.Dirichlet("u", 0, on="x=0")],
    )  # fmt: skip
    few = pinn.Sampling(interior=3, redraw=None)
    report = pinn.solve(
        problem, pinn.MLP(10, 1), few, [pinn.SSBroyden(150)], target=1e-4
    ).report
    assert report.loss < 1e-6 and report.stop_reason != "target reached"


def test_a_target_is_declared_like_all_else(tmp_path):
    experiment = Experiment(PROBLEM, target=1e-5)
    assert read_experiment(experiment_json(experiment), "file").target == 1e-5
    text = "problem:\n  domain: {t: {time: [0, 1]}}\n  unknowns: [u]\n" \
           "  equations: {decay: u_t + u}\n  conditions: [initial: {unknown: u, value: 1}]\n"
    (tmp_path / "a.yaml").write_text(text + "target: 1e-5\n")
    config = load(tmp_path / "a.yaml")
    assert config.experiment.target == 1e-5 and "target: 1.0e-05" in config.text()
    with pytest.raises(ValueError, match="target: expected a number > 0, got 0"):
        pinn.solve(PROBLEM, target=0)


@pytest.mark.parametrize("stop", [3, 40, 100])
def test_a_run_that_goes_on_ends_at_the_same_step(stop):
    setup, records = Experiment(PROBLEM, **SMALL), []

    def run(resume=None):
        objective = setup.objective()
        return train(
            objective, [pinn.Adam(2000, learning_rate=1e-2)], [records.append], target=1e-3,
            apart=FreshLoss(objective, judging_points(setup)), resume=resume,
        )  # fmt: skip

    whole = run()
    rest = run(Resume(records[stop - 1]))
    assert (rest.steps, rest.reason) == (whole.steps, "target reached")
    assert rest.theta.tobytes() == whole.theta.tobytes()


# ---- rounding


def rounding_at(precision, theta=None):
    """What is measured, and the rounding errors themselves: float32 against float64."""
    setup = Experiment(PROBLEM, **SMALL, precision=precision)
    objective = setup.objective()
    return objective, Rounding.at(objective, objective.theta if theta is None else theta)


def test_the_floor_is_the_sum_of_squares_of_rounding_errors():
    trained = solve([pinn.SSBroyden(300)])
    objective, found = rounding_at("float32", trained.theta)
    exact, fine = rounding_at("float64", trained.theta)
    theta = trained.theta
    errors = objective.weighted_rows(theta) - exact.weighted_rows(theta)
    assert found.floor == pytest.approx(np.sum(errors**2), rel=0.9)  # half a decade either way
    assert fine.floor == pytest.approx(found.floor * 2.0**-58, rel=0.95)
    assert found.loss == pytest.approx(objective.value(theta), rel=1e-6)
    assert objective.theta.tobytes() == np.float32(theta).astype(float).tobytes()


def test_the_rounding_errors_of_blocks_make_up_the_floor():
    objective, found = rounding_at("float32")
    theta = objective.theta
    points = {block.name: block.points for block in objective.blocks}
    by_block = rounding_of_blocks(objective, theta, points)
    assert len(by_block) == len(objective.blocks) and min(by_block.values()) > 0
    assert sum(size**2 for size in by_block.values()) == pytest.approx(found.floor, rel=1e-4)
    assert np.array_equal(objective.theta, theta)


def test_the_best_decrease_is_that_of_a_parabola():
    objective, _ = rounding_at("float64")
    theta = objective.theta
    gradient = objective.value_and_gradient(theta).gradient
    slope = objective.jvp(theta, gradient)
    expected = float(gradient @ gradient) ** 2 / (4 * float(slope @ slope))
    assert best_decrease(objective, theta) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_search_that_is_lost_in_rounding_ends_at_the_precision_floor(precision):
    report = solve([pinn.SSBroyden(5000)], precision=precision).report
    assert report.stop_reason == "precision floor"
    assert f"rounding error in {precision}" in report.message
    assert ("; float64 goes lower" in report.message) == (precision == "float32")
    assert f"after step {report.steps}" in report.message


def test_a_search_that_fails_far_from_it_does_not():
    # One evaluation a search is too few.
    report = solve([pinn.SSBroyden(50, line_search=1)]).report
    assert report.stop_reason in ("line search failed", "step limit")


def test_a_loss_that_is_rounding_alone_ends_training_for_every_solver():
    # The network begins as the exact solution, u = 0.1.
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"flat": "u_x"}, [pinn.Dirichlet("u", 0.1, on="x=0")],
    )  # fmt: skip
    given = {"model": pinn.MLP(3, 1), "sampling": pinn.Sampling(interior=10, redraw=None)}
    parameters = Experiment(problem, **given).initial_parameters()
    parts = parameters.named(0 * parameters.theta)
    parts["model.bias1"] = np.array([0.1])
    stages = [pinn.Adam(1000, learning_rate=1e-10), pinn.SSBroyden(3)]
    report = pinn.solve(
        problem, **given, training=stages, precision="float32", start=parts
    ).report
    assert (report.stop_reason, report.steps) == ("precision floor", 600)
    assert "is what rounding in float32 makes of zero, " in report.message
    assert report.message.endswith("; float64 goes lower, after step 600")
    assert [stage.name for stage in report.stages] == ["adam"]


# ---- what more would bring


@pytest.mark.parametrize(
    ("steps", "said"),
    [(150, ""), (600, "; over the last 300 steps the loss on fresh points fell by ")],
)
def test_a_run_at_its_limit_says_whether_more_would_help(steps, said):
    report = solve([pinn.Adam(steps)]).report
    assert report.stop_reason == "step limit"
    assert report.message.startswith(f"all {steps} steps done{said}")
    if said:
        assert report.message.endswith(" %: more of them would lower it further")


def test_one_that_hardly_fell_says_so():
    class Now:
        steps = 1000

        def fall(self, window):
            return 0.01

        def what_fell(self, window):
            return "the loss on fresh points"

    assert outlook(Now()) == (
        "; over the last 500 steps the loss on fresh points fell by no more than 5 %: more of them "
        "alone would hardly help"
    )


def situation(found, weights, weighed_at):
    """What a plan has to go by after the last of some looks."""
    return Situation(
        size=3, rows=9, precision="float64", seconds=None, number=1, steps=found.last,
        stage_step=found.last, loss=1.0, fresh_loss=1.0, stages=(), history=(), looks=found,
        weights=np.array(weights), left=None, weighed_at=weighed_at,
    )  # fmt: skip


@pytest.mark.parametrize("weighed_at", [0, 1000, 1001, 1999])
def test_a_fall_under_other_weights_than_those_of_the_log_is_told_as_such(weighed_at):
    # 1 + 100 * 0.01 falls to 1 + 100 * 0.001, whatever the weights were on the way.
    found = looks(*(
        (step, [1.0, 0.01 if step <= 1000 else 0.001], [1.0, 1.0]) for step in range(100, 2001, 100)
    ))  # fmt: skip
    now = situation(found, [1.0, 100.0], weighed_at)
    moved = ", by the weights of now all along," if weighed_at > 1000 else ""
    assert outlook(now) == (
        f"; over the last 1000 steps the loss on fresh points{moved} fell by 45 %: more of them "
        "would lower it further"
    )
    flat = looks(*((step, [1.0, 0.01], [1.0, 1.0]) for step in range(100, 4001, 100)))
    stalled = Auto().enough(pinn.SSBroyden(10**6), situation(flat, [1.0, 100.0], weighed_at + 2000))
    moved = ", by the weights of now all along," if weighed_at else ""
    assert stalled == f"over the last 2000 steps the loss on fresh points{moved} did not fall"


# ---- looks


def looks(*rows):
    found = Looks.none(2)
    for step, fresh, present in rows:
        found = found.taken(step, np.array(fresh), np.array(present))
    return found


def test_a_fall_is_between_the_lowest_losses_under_the_same_weights():
    found = looks(
        (100, [4.0, 1.0], [1.0, 1.0]), (200, [6.0, 1.0], [1.0, 1.0]), (300, [1.0, 1.0], [1.0, 1.0])
    )
    assert found.fall(np.array([1.0, 0.0]), 200) == pytest.approx(math.log(4))
    assert found.fall(np.array([1.0, 1.0]), 200) == pytest.approx(math.log(5 / 2))
    assert found.fall(np.array([0.0, 1.0]), 200) == 0
    assert found.fall(np.ones(2), 50) == found.fall(np.ones(2), 300) == math.inf
    assert looks((100, [math.nan] * 2, [1.0] * 2)).taken(
        200, np.ones(2), np.ones(2)
    ).fall(np.ones(2), 100) == math.inf


def test_overfit_is_the_loss_on_fresh_points_over_that_on_present_ones():
    found = looks((100, [4.0, 1.0], [1.0, 2.0]))
    assert found.overfit(np.array([1.0, 2.0])) == pytest.approx(6 / 5)
    np.testing.assert_allclose(found.overfit_blocks(), [4, 0.5])
    assert math.isnan(looks((100, [math.inf, 1], [1, 1])).overfit(np.ones(2)))


def test_looking_changes_no_bit():
    setup = Experiment(PROBLEM, **SMALL)

    def run(looking):
        objective = setup.objective()
        apart = FreshLoss(objective, judging_points(setup)) if looking else None
        return train(objective, [pinn.Adam(120), pinn.SSBroyden(130)], apart=apart)

    assert run(True).theta.tobytes() == run(False).theta.tobytes()
    course = run(True).last.course
    assert course.looks.steps.tolist() == [100, 200]
    assert (course.looks.fresh != course.looks.present).any(axis=1).all()


# ---- where a network is at its end


@pytest.mark.parametrize(("source", "further"), [("where(x > 0.3, 1, 0)", True), ("exp(x)", False)])
def test_of_features_that_are_at_their_end_it_is_said_what_may_go_lower(source, further):
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": f"u_xx - {source}"},
        [pinn.Dirichlet("u", 0, hard=True)],
    )  # fmt: skip
    features, points = pinn.RandomFeatures(30), pinn.Sampling(120)
    said = [
        pinn.solve(problem, features, points, seconds=seconds, error_bars=False).report.message
        for seconds in (None, 600.0)
    ]
    assert all("as low as this network goes" in one for one in said)
    assert said[0].endswith("whose layers are trained, may go lower") == further
    assert said[1].endswith("s of the limit are left") == further
    assert all(("a larger network" in one) == further for one in said)


def test_of_windows_of_features_no_larger_network_is_said_to_go_lower():
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"e": "u_t - where(t > 0.3, 1, 0)"}, [pinn.Initial("u", 0)]
    )
    windows = pinn.Windows(2, pinn.RandomFeatures(30))
    said = pinn.solve(problem, windows, pinn.Sampling(120), error_bars=False).report.message
    assert "as low as this network goes" in said and "larger" not in said
