"""The history of a run: as many lines at most, however long it is."""

import pytest

import pinn
from pinn.training import history
from pinn.training.experiment import Experiment
from pinn.training.history import STRIDE, History, steps_between_lines, stride_at
from pinn.training.loop import train
from pinn.training.records import StepRecord

PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
)  # fmt: skip
STAGES = [pinn.Adam(37), pinn.Adam(80), pinn.Adam(23)]
ENDS = [1, 37, 38, 117, 118, 140]


def record(step):
    return StepRecord(
        step=step, stage="adam", stage_index=0, stage_step=step, stage_steps=10**9, loss=1.0,
        losses={"a": 1.0}, learning_rate=None, seconds=0.0, theta=None,
    )  # fmt: skip


def run(callbacks=(), resume=None):
    model, points = pinn.MLP(width=3, depth=1), pinn.Sampling(interior=5)
    return train(Experiment(PROBLEM, model, points).objective(), STAGES, callbacks, resume=resume)


def steps_of(lines):
    return [line["step"] for line in lines]


@pytest.fixture
def short(monkeypatch):
    """Histories of eight lines, besides the ends of stages."""
    monkeypatch.setattr(history, "MOST", 8)


def test_a_run_of_days_has_no_more_lines_than_one_of_minutes(monkeypatch):
    monkeypatch.setattr(history, "MOST", 50)
    told, counts = History(), []
    for step in range(1, 16 * 50 * STRIDE + 1):
        told.add(record(step), ())
        counts.append(len(told.lines))
    assert max(counts) <= 51 and min(counts[500:]) >= 25
    assert steps_of(told.lines) == [1, *range(160, 8001, 160)]


def test_lines_are_thinned_and_both_ends_of_every_stage_stay(short):
    regular = {80: 10, 81: 20, 140: 20, 160: 20, 161: 40}
    assert {step: stride_at(step) for step in regular} == regular
    expected = sorted({*ENDS, *range(20, 141, 20)})
    assert steps_of(run().history) == expected


@pytest.mark.parametrize("stop", [36, 37, 38, 79, 80, 81, 82, 118, 139])
def test_a_run_that_goes_on_has_the_lines_of_one_that_never_stopped(short, stop):
    whole = run()
    rest = run(resume=run([lambda record: record.step == stop]).resume)
    assert [{**line, "wall_s": 0} for line in rest.history] == [
        {**line, "wall_s": 0} for line in whole.history
    ]


def test_few_steps_have_lines_of_their_own_and_many_one_for_a_hundred():
    def lines(steps):
        return [step for step in range(1, steps + 1) if step % steps_between_lines(step) == 0]

    assert lines(12) == list(range(1, 13))
    assert 20 <= len(lines(40)) <= 40 and len(lines(180)) < 60
    assert lines(100_000)[-3:] == [99_800, 99_900, 100_000]
