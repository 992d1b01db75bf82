"""Callbacks that stop training, callbacks that fail, and limits of the whole."""

from types import SimpleNamespace

import numpy as np
import pytest

import pinn
from autograd import ranks
from pinn.objective import Objective
from pinn.optimizers.least_squares.damped import DampedLeastSquares
from pinn.training import loop
from pinn.training.callbacks import notify
from pinn.training.experiment import Experiment

PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
    reference={"u": "exp(-t)"},
)  # fmt: skip
SMALL = {"model": pinn.MLP(width=5, depth=1), "sampling": pinn.Sampling(interior=20)}
STAGES = [pinn.Adam(10), pinn.LBFGS(10)]


def train_only(stages, *callbacks, **limits):
    experiment = Experiment(PROBLEM, **SMALL)
    return loop.train(experiment.objective(), stages, callbacks, **limits)


def at(step, act):
    return lambda record: act() if record.step == step else None


def enough():
    raise StopIteration("good enough")


@pytest.mark.parametrize(
    ("act", "said"),
    [(lambda: True, ""), (lambda: np.bool_(True), ""), (enough, ": good enough")],
)
@pytest.mark.parametrize("step", [1, 4, 10, 13])
def test_a_callback_stops_training_and_keeps_its_solution(act, said, step):
    records, ended = [], []

    class Last(pinn.Callback):
        def on_step(self, record):
            records.append(record)

        def on_end(self, solution):
            ended.append(solution)

    callbacks = [at(step, act), Last()]
    solution = pinn.solve(PROBLEM, **SMALL, training=STAGES, callbacks=callbacks)
    report = solution.report
    assert (report.stop_reason, report.steps) == ("stopped by callback", step)
    assert report.message == f"stopped by a callback after step {step}{said}"
    assert solution.theta.tobytes() == records[-1].theta.tobytes()
    assert len(records) == step  # the callbacks behind it hear of the step as well
    assert report.rel_l2["u"] > 0 and ended == [solution]
    assert report.stages[-1].reason == "stopped by callback"


@pytest.mark.parametrize("event", ["on_start", "on_stage_start", "on_stage_end"])
def test_every_event_may_stop(event):
    class Stopping(pinn.Callback):
        pass

    setattr(Stopping, event, lambda self, argument: True)
    report = pinn.solve(PROBLEM, **SMALL, training=STAGES, callbacks=[Stopping()]).report
    assert report.stop_reason == "stopped by callback"
    assert report.steps == (10 if event == "on_stage_end" else 0)


def test_what_is_no_plain_true_asks_for_nothing():
    assert notify([lambda r: [1], lambda r: "yes", lambda r: 1], "on_step", None) is None
    assert notify([lambda r: None, lambda r: True, lambda r: False], "on_step", None) == ""


@pytest.mark.parametrize("step", [1, 7, 12])
def test_an_error_in_a_callback_has_the_solution_so_far(step):
    records = []
    callbacks = [records.append, at(step, lambda: 1 / 0)]
    with pytest.raises(ZeroDivisionError) as caught:
        pinn.solve(PROBLEM, **SMALL, training=STAGES, callbacks=callbacks)
    solution = caught.value.solution
    assert solution.theta.tobytes() == records[-1].theta.tobytes()
    assert (solution.report.stop_reason, solution.report.steps) == ("failed", step)
    assert solution.report.message == f"ZeroDivisionError after step {step}: division by zero"
    assert solution.report.history[-1]["step"] == step
    assert np.isfinite(solution.evaluate(t=0.5)["u"])
    assert f"the attribute `solution` of this exception: {step} steps" in caught.value.__notes__[0]
    pinn.solve(PROBLEM, **SMALL, training=[pinn.Adam(2)], start=solution)


def test_an_error_after_training_has_the_solution_as_well(monkeypatch):
    monkeypatch.setattr(pinn.solving, "recovery", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        pinn.solve(PROBLEM, **SMALL, training=[pinn.Adam(5)])
    solution = caught.value.solution
    assert (solution.report.stop_reason, solution.report.steps) == ("step limit", 5)
    assert "the attribute `solution` of this exception: 5 steps" in caught.value.__notes__[0]


@pytest.fixture
def clock(monkeypatch):
    """Training's clock: an evaluation takes a second, the first one that records `recording`."""
    now = SimpleNamespace(seconds=0.0, recording=1.0, evaluations=0)
    plain = Objective.value_and_gradient

    def timed(objective, theta):
        now.seconds += 1.0 if now.evaluations else now.recording
        now.evaluations += 1
        return plain(objective, theta)

    monkeypatch.setattr(Objective, "value_and_gradient", timed)
    monkeypatch.setattr(ranks, "time", SimpleNamespace(perf_counter=lambda: now.seconds))
    return now


@pytest.mark.parametrize(("recording", "told"), [(1.0, False), (7.0, True), (19.9, True)])
def test_a_limit_of_the_whole_ends_the_running_stage_and_begins_no_other(clock, recording, told):
    clock.recording = recording
    stages = [pinn.Adam(10**6), pinn.LBFGS(5)]
    with pytest.warns(pinn.UnsolvedWarning):
        report = pinn.solve(PROBLEM, **SMALL, training=stages, seconds=20.5).report
    assert [stage.name for stage in report.stages] == ["adam"]
    # The first step is at a theta that has been evaluated: the later ones take a second each.
    assert report.stop_reason == "time limit"
    assert 19.5 < report.wall_seconds <= max(20.5, recording + 1)
    assert report.message.startswith("time limit of 20.5 s for all stages reached after step")
    assert told == (f"the first evaluation took {recording:.2g} s of it" in report.message)


def test_a_recording_that_takes_the_whole_limit_leaves_no_step_and_says_so(clock):
    clock.recording = 30.0
    with pytest.warns(pinn.UnsolvedWarning):
        report = pinn.solve(PROBLEM, **SMALL, seconds=20.0).report
    assert (report.stop_reason, report.steps, clock.evaluations) == ("time limit", 0, 1)
    assert report.message == (
        "time limit of 20 s for all stages reached after step 0: recording and compiling the "
        "step's programs took 30 s of it and left no time for a step; give it more"
    )
    assert np.isfinite(report.loss)


@pytest.mark.parametrize("recording", [1.0, 50.0])
def test_the_recording_is_not_in_the_limit_of_the_first_stage(clock, recording):
    clock.recording = recording
    stages = [pinn.Adam(10**6, seconds=20.5), pinn.Adam(10**6, seconds=10.5)]
    report = train_only(stages)
    assert [stage.steps for stage in report.stages] == [20, 10]
    assert clock.seconds == recording + 30


def test_a_first_step_that_takes_long_counts_and_is_told_of(clock):
    def slow(record):
        clock.seconds += 15.0 if record.step == 1 else 0.0

    report = train_only([pinn.Adam(10**6, seconds=20.5)], slow)
    assert report.stages[0].steps == 5  # 16 seconds, and one each
    assert "after step 5; its first step took 15 s of it" in report.message


def test_the_default_stages_share_a_limit(clock):
    clock.recording = 30.0
    report = pinn.solve(PROBLEM, **SMALL, seconds=100.0).report
    assert [stage.name for stage in report.stages] == ["adam", "ssbroyden"]
    assert report.stages[0].steps in (19, 20)
    # A step of the second stage takes an evaluation or a few.
    assert 95 < report.wall_seconds < 105


@pytest.fixture
def algebra(clock, monkeypatch):
    """Each damping that Levenberg-Marquardt tries takes a second, as `seconds` says of the step."""
    algebra = SimpleNamespace(seconds=lambda step: 4.0, solved=0)
    plain_jacobian, plain_damped = Objective.jacobian, DampedLeastSquares.damped

    def jacobian(objective, theta, out=None):
        clock.seconds += 0.0 if algebra.solved else 2.0  # the first one records
        return plain_jacobian(objective, theta, out)

    def damped(linear, damping, scale):
        algebra.solved += 1
        clock.seconds += algebra.seconds(algebra.solved)
        return plain_damped(linear, damping, scale)

    monkeypatch.setattr(Objective, "jacobian", jacobian)
    monkeypatch.setattr(DampedLeastSquares, "damped", damped)
    return algebra


# A second for the first evaluation, two for the programs of the Jacobian, four for each step.
@pytest.mark.parametrize(("limit", "steps"), [(6.5, 1), (9.0, 1), (10.9, 1), (11.1, 2), (15.2, 3)])
def test_no_long_step_is_begun_that_would_end_after_the_limit(clock, algebra, limit, steps):
    report = train_only([pinn.LevenbergMarquardt(1000)], seconds=limit)
    assert (report.reason.value, report.steps) == ("time limit", steps)
    assert clock.seconds == max(7, 3 + 4 * steps)


def test_a_step_that_takes_longer_than_those_before_it_tells_how_long_the_next_one_takes(
    clock, algebra
):
    algebra.seconds = lambda step: 1.0 if step < 6 else 3.0
    report = train_only([pinn.LevenbergMarquardt(1000)], seconds=16.5)
    assert report.steps == 7 and clock.seconds == 14.0  # one more would end at 17


def test_a_stage_begins_no_step_that_one_of_its_kind_found_too_long(clock, algebra):
    stages = [pinn.LevenbergMarquardt(2), pinn.LevenbergMarquardt(1000)]
    report = train_only(stages, seconds=14.0)
    assert report.steps == 2 and clock.seconds == 11.0
    assert report.message.startswith("time limit of 14 s for all stages reached after step 2")


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
def test_a_limit_is_a_positive_number(seconds):
    with pytest.raises(ValueError, match="seconds: expected a"):
        pinn.solve(PROBLEM, seconds=seconds)


@pytest.fixture
def search(clock, monkeypatch):
    """Each loss that Gauss-Newton's search tries takes a second; `told`: what it is told of one."""
    search = SimpleNamespace(tried=0, told=lambda losses: losses)
    plain = Objective.losses_at

    def losses_at(objective, thetas):
        clock.seconds += len(thetas)
        search.tried += len(thetas)
        return [search.told(losses) for losses in plain(objective, thetas)]

    monkeypatch.setattr(Objective, "losses_at", losses_at)
    return search


def test_a_step_whose_search_goes_on_beyond_the_limit_ends_with_the_lowest_it_has_found(search):
    whole = train_only([pinn.GaussNewton(1)])
    tried, search.tried = search.tried, 0
    assert tried > 12 and whole.steps == 1  # the loss at the start, and along the directions
    cut = train_only([pinn.GaussNewton(1)], seconds=10.5)
    assert (cut.reason.value, cut.steps) == ("time limit", 0)
    assert search.tried < 12
    start = Experiment(PROBLEM, **SMALL).objective()
    assert whole.loss <= cut.loss < start.value(start.theta)
    assert cut.loss == start.value(cut.theta)


def test_a_search_that_finds_nothing_lower_ends_a_quarter_beyond_the_limit(search):
    search.told = lambda losses: dict.fromkeys(losses, float(search.tried))
    cut = train_only([pinn.GaussNewton(1)], seconds=8.5)
    assert (cut.reason.value, cut.steps) == ("time limit", 0)
    assert 8 < search.tried <= 11
    start = Experiment(PROBLEM, **SMALL).objective()
    assert cut.theta.tobytes() == start.theta.tobytes()
