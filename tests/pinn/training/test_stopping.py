"""Callbacks that stop training, callbacks that fail, and limits of the whole."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import pinn
from pinn.training import loop
from pinn.training.callbacks import notify

PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
    reference={"u": "exp(-t)"},
)  # fmt: skip
SMALL = {"model": pinn.MLP(width=5, depth=1), "sampling": pinn.Sampling(interior=20)}
STAGES = [pinn.Adam(10), pinn.LBFGS(10)]


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


@pytest.fixture
def clock(monkeypatch):
    """Training's clock, a hundredth of a second later each time it is read."""
    ticks = itertools.count()
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: 0.01 * next(ticks)))


def test_a_limit_of_the_whole_ends_the_running_stage_and_begins_no_other(clock):
    stages = [pinn.Adam(10**6), pinn.LBFGS(5)]
    report = pinn.solve(PROBLEM, **SMALL, training=stages, seconds=0.5).report
    assert [stage.name for stage in report.stages] == ["adam"]
    assert (report.stop_reason, report.steps > 0) == ("time limit", True)
    assert "time limit of 0.5 s for all stages reached after step" in report.message
    assert 0.5 <= report.wall_seconds < 0.6


def test_the_default_stages_share_a_limit(clock):
    report = pinn.solve(PROBLEM, **SMALL, seconds=2.0).report
    assert [stage.name for stage in report.stages] == ["adam", "ssbroyden"]
    assert 0.4 <= report.stages[0].seconds < 0.5
    assert 2.0 <= report.wall_seconds < 2.1


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
def test_a_limit_is_a_positive_number(seconds):
    with pytest.raises(ValueError, match="seconds: expected a"):
        pinn.solve(PROBLEM, seconds=seconds)
