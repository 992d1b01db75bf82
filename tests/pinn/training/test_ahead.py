"""Training whose steps are taken ahead on a device: told as if each had been taken by itself."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pinn
from autograd.ranks import OneRank
from autograd.strict import counted
from pinn.objective.weighting import Attention, Fixed, GradNorm
from pinn.optimizers.first_order.fixed_step import FixedStep
from pinn.training import ahead
from pinn.training.experiment import Experiment
from pinn.training.judging import judge
from pinn.training.loop import Redraw, train
from pinn.training.pace import Pace
from pinn.training.records import Resume

HEAT = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - 0.1*u_xx"},
    [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0.0)],
)  # fmt: skip
DECAY = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1.0, hard=True)]
)  # fmt: skip
# The condition draws u across the place where the equation has no value any more.
EDGE = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"e": "0.01*(u_t + log(1 - u))"}, [pinn.Initial("u", 2)]
)  # fmt: skip


@pytest.fixture
def stand_in(stand_in, monkeypatch):
    # There a step takes as long as hundreds on a GPU.
    monkeypatch.setattr(ahead, "_SECONDS", 1e3)
    return stand_in


def setup(device, problem=DECAY, **options):
    sampling = pinn.Sampling(interior=12, initial=4, boundary=4)
    settings = {"model": pinn.MLP(4, 1), "sampling": sampling, **options}
    return Experiment(problem, device=device, **settings)


class Kept:
    """Notes steps as they are told, and what had been asked of the device by then."""

    def __init__(self, counts=None):
        self.records, self.counts, self.seen, self.setbacks = [], counts, [], []

    def on_step(self, record):
        state = {name: np.array(array) for name, array in record.solver_state.items()}
        self.records.append(dataclasses.replace(record, solver_state=state))

    def on_setback(self, record):
        self.setbacks.append(str(record.setbacks[-1]))


class Watching(Kept):
    """Reads nothing of the state, which would bring it home."""

    def on_step(self, record):
        c = self.counts
        self.seen.append((c.launches, c.uploads, c.downloads, c.synchronisations))


def trained(device, stages, callbacks=(), every=None, problem=DECAY, resume=None, **options):
    experiment = setup(device, problem, **options)
    objective = experiment.objective()

    def draw(number):
        return experiment.draw_points(number, lambda at: objective.residuals(objective.theta, at))

    redraw = None if every is None else Redraw(every, draw)
    return train(
        objective, stages, callbacks, redraw, weighting=experiment.weighting, resume=resume,
        batches=experiment.batches,
    )  # fmt: skip


def test_steps_within_a_burst_ask_nothing_of_the_device_but_launches(stand_in):
    with counted() as counts:
        watching = Watching(counts)
        trained("cuda", [pinn.Adam(30)], [watching])
    asked = np.diff(watching.seen, axis=0)
    # the first two steps are taken one by one, all others before the third is told of
    assert (asked[2:] == 0).all() and len(asked) == 29
    assert asked[1, 1:].tolist() == [1, 1, 1]


def test_new_points_are_one_copy_and_so_is_what_goes_on_with_them(stand_in):
    with counted() as counts:
        watching = Watching(counts)
        sampling = pinn.Sampling(interior=12, adaptive=None)
        trained("cuda", [pinn.Adam(15)], [watching], every=5, sampling=sampling)
    asked = np.diff(watching.seen, axis=0)[4:]
    at = np.flatnonzero(asked[:, 1:].any(axis=1)) + 5
    assert at.tolist() == [5, 10]  # of the steps from 5 to 6, and from 10 to 11
    # points there; theta and rates there, losses and thetas back. The memory stays.
    assert asked[[0, 5], 1:].tolist() == [[2, 1, 1], [2, 1, 1]]


BATCHES = {"sampling": pinn.Sampling(interior=12, initial=7, boundary=4, batch=5)}
"""Parts of the points of two groups, and all of those of the third."""


@pytest.mark.parametrize("stage", [pinn.Adam(30), pinn.SOAP(30)])
def test_the_rows_of_all_batches_of_a_burst_go_there_in_one_copy(stand_in, stage):
    with counted() as counts:
        watching = Watching(counts)
        trained("cuda", [stage], [watching], problem=HEAT, **BATCHES)
    asked = np.diff(watching.seen, axis=0)
    assert (asked[2:] == 0).all() and len(asked) == 29
    # theta and rates, and the places; nothing of points
    assert asked[1, 1:].tolist() == [2, 1, 1]
    if stage.name == "adam":  # the first step of a burst shows that all is there, and is captured
        launches = 0
        for steps in (40, 60):
            watching = Watching(counts)
            with counted() as watching.counts:
                trained("cuda", [pinn.Adam(steps)], [watching], problem=HEAT, **BATCHES)
            last, launches = launches, np.diff(watching.seen, axis=0)[1, 0]
        assert launches - last == 20


def test_batches_go_on_after_new_points_with_one_copy_of_all_of_them(stand_in):
    sampling = pinn.Sampling(interior=12, initial=7, boundary=4, batch=5, adaptive=None)
    with counted() as counts:
        watching = Watching(counts)
        trained("cuda", [pinn.Adam(15)], [watching], every=5, problem=HEAT, sampling=sampling)
    asked = np.diff(watching.seen, axis=0)[4:]
    # points; theta and rates; places
    assert asked[[0, 5], 1:].tolist() == [[3, 1, 1], [3, 1, 1]]
    assert not asked[1:5].any() and not asked[6:].any()


@pytest.mark.parametrize("weighting", [Fixed({}), GradNorm(every=4), Attention(every=3)])
def test_how_long_bursts_are_changes_no_bit_of_steps_with_batches(gpu, monkeypatch, weighting):
    given = {**BATCHES, "problem": HEAT, "weighting": weighting}
    whole = Kept()
    expected = trained("cuda", [pinn.Adam(12, learning_rate=0.01)], [whole], 5, **given)
    monkeypatch.setattr(ahead, "_SECONDS", 0.0)
    one, rest = Kept(), Kept()
    result = trained("cuda", [pinn.Adam(12, learning_rate=0.01)], [one], 5, **given)
    again = trained(
        "cuda", [pinn.Adam(12, learning_rate=0.01)], [rest], 5,
        resume=Resume(whole.records[7]), **given,
    )  # fmt: skip
    for found in (result, again):
        assert found.theta.tobytes() == expected.theta.tobytes()
        assert found.losses == expected.losses
    for a, b in zip(whole.records, [*one.records[:8], *rest.records], strict=True):
        assert (a.step, a.losses, a.theta.tobytes()) == (b.step, b.losses, b.theta.tobytes())


def test_numbers_of_a_batch_that_are_not_finite_are_told_as_on_the_host(gpu):
    found = {}
    for device in ("cpu", "cuda"):
        kept = Kept()
        result = trained(
            device, [pinn.Adam(20, learning_rate=0.1)], [kept], problem=EDGE,
            sampling=pinn.Sampling(interior=12, batch=5),
        )  # fmt: skip
        found[device] = (
            [record.step for record in kept.records], kept.setbacks, result.reason,
            len(result.setbacks), [record.learning_rate for record in kept.records],
        )  # fmt: skip
    assert found["cuda"] == found["cpu"] and found["cpu"][3]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("problem, rate, every", [
    (HEAT, 0.01, 3), (EDGE, 0.1, 1),  # which has setbacks
])  # fmt: skip
def test_a_run_that_goes_on_is_judged_by_the_rows_of_one_that_did_not_stop(
    gpu, monkeypatch, device, problem, rate, every
):
    judged = []

    def noted(objective, theta, looks, weights):
        judged.append((looks.last, objective.weighted_rows(theta).tobytes()))

    monkeypatch.setattr(judge, "at_floor", noted)
    monkeypatch.setattr(judge, "_LOOK_EVERY", every)
    given = {"stages": [pinn.Adam(13, learning_rate=rate)], "problem": problem, **BATCHES}
    stops = []

    class Stops(Kept):
        def on_step(self, record):
            super().on_step(record)
            if record.step in (3, 4, 6, 9):
                stops.append((len(judged), self.records[-1]))  # is judged next

        def on_setback(self, record):
            super().on_setback(record)
            stops.append((len(judged), record))

    heard = Stops()
    result = trained(device, callbacks=[heard], **given)
    assert bool(heard.setbacks) == (problem is EDGE) and len(stops) >= 4
    whole = judged.copy()
    for seen, record in stops:
        judged.clear()
        again = trained(device, resume=Resume(record), **given)
        assert judged == whole[seen:]
        assert again.theta.tobytes() == result.theta.tobytes()


@pytest.mark.parametrize("count", [7, 3])  # more than a batch has, and fewer
def test_batches_are_of_the_points_that_a_callback_has_set(gpu, monkeypatch, count):
    found = {}
    for device, seconds in (("cpu", 1e3), ("cuda", 1e3), ("cuda", 0.0)):
        monkeypatch.setattr(ahead, "_SECONDS", seconds)
        experiment = setup(device, HEAT, **BATCHES)
        objective, kept = experiment.objective(), Kept()

        def fewer(record, objective=objective):
            if record.step == 5:
                some = {name: points[:count] for name, points in record.points.items()}
                objective.set_points(some)

        train(
            objective, [pinn.Adam(12, learning_rate=0.01)], [kept, fewer],
            batches=experiment.batches,
        )  # fmt: skip
        found[device, seconds] = kept.records
    expected = found["cpu", 1e3]
    assert [len(record.points["heat"]) for record in expected] == [12] * 5 + [count] * 7
    for records in (found["cuda", 1e3], found["cuda", 0.0]):
        for a, b in zip(records, expected, strict=True):
            assert a.losses == pytest.approx(b.losses, rel=1e-8)
            np.testing.assert_allclose(a.theta, b.theta, rtol=0, atol=1e-9)
    for a, b in zip(found["cuda", 1e3], found["cuda", 0.0], strict=True):
        assert a.theta.tobytes() == b.theta.tobytes()


def test_batches_are_of_the_points_of_a_draw_of_fewer(gpu):
    found = {}
    for device in ("cpu", "cuda"):
        experiment = setup(device, HEAT, **BATCHES)
        points, kept = experiment.draw_points(), Kept()

        def fewer(number, points=points):
            return {name: some[: 12 - 4 * number] for name, some in points.items()}

        train(
            experiment.objective(), [pinn.Adam(11, learning_rate=0.01)], [kept],
            Redraw(4, fewer), batches=experiment.batches,
        )  # fmt: skip
        found[device] = kept.records
    for a, b in zip(found["cuda"], found["cpu"], strict=True):
        assert a.losses == pytest.approx(b.losses, rel=1e-8)
        np.testing.assert_allclose(a.theta, b.theta, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "weighting", [Fixed({"heat": 2.0}), GradNorm(every=4), Attention(every=4)]
)
@pytest.mark.parametrize("sampling", [{}, {"batch": 6}])
def test_a_run_is_that_of_the_host(gpu, weighting, sampling):
    found = {}
    for device in ("cpu", "cuda"):
        kept = Kept()
        result = trained(
            device, [pinn.Adam(12, learning_rate=0.01), pinn.LBFGS(2)], [kept], every=5,
            problem=HEAT, weighting=weighting,
            sampling=pinn.Sampling(interior=12, initial=4, boundary=4, **sampling),
        )  # fmt: skip
        found[device] = result, kept.records
    (here, expected), (there, records) = found["cpu"], found["cuda"]
    for a, b in zip(records, expected, strict=True):
        assert (a.step, a.stage, a.stage_step, a.draw) == (b.step, b.stage, b.stage_step, b.draw)
        np.testing.assert_allclose(a.loss, b.loss, rtol=1e-8)
        np.testing.assert_allclose(a.theta, b.theta, rtol=0, atol=1e-9)
        assert a.losses == pytest.approx(b.losses, rel=1e-8)
        assert a.weights == pytest.approx(b.weights, rel=1e-8)
    assert (there.reason, there.message) == (here.reason, here.message)
    assert [line["step"] for line in there.history] == [line["step"] for line in here.history]


@pytest.mark.parametrize("stop", [1, 3, 7, 9, 14, 20])
def test_a_run_that_goes_on_gives_the_same_bits(gpu, stop):
    stages = [pinn.Adam(20, learning_rate=0.01, schedule=pinn.CosineDecay())]
    whole, rest = Kept(), Kept()
    result = trained("cuda", stages, [whole], every=7)
    again = trained("cuda", stages, [rest], every=7, resume=Resume(whole.records[stop - 1]))
    assert again.theta.tobytes() == result.theta.tobytes() and again.losses == result.losses
    for a, b in zip(whole.records[stop:], rest.records, strict=True):
        assert (a.step, a.draw, a.loss, a.theta.tobytes()) == (
            b.step, b.draw, b.loss, b.theta.tobytes()
        )  # fmt: skip
        for name in a.solver_state:
            assert a.solver_state[name].tobytes() == b.solver_state[name].tobytes()


def test_how_long_bursts_are_changes_no_bit(gpu, monkeypatch):
    ends = []
    for seconds in (1e3, 0.0):
        monkeypatch.setattr(ahead, "_SECONDS", seconds)
        ends.append(trained("cuda", [pinn.Adam(12, learning_rate=0.01)], every=5))
    assert ends[0].theta.tobytes() == ends[1].theta.tobytes()
    assert ends[0].losses == ends[1].losses


def test_numbers_that_are_not_finite_lead_back_to_the_step_they_do_on_the_host(gpu):
    found = {}
    for device in ("cpu", "cuda"):
        kept = Kept()
        result = trained(device, [pinn.Adam(20, learning_rate=0.1)], [kept], problem=EDGE)
        found[device] = (
            [record.step for record in kept.records], [s.step for s in result.setbacks],
            result.reason, [record.learning_rate for record in kept.records],
        )  # fmt: skip
        assert all("block 'e' is not finite at " in one for one in kept.setbacks)
    assert found["cuda"] == found["cpu"]
    assert found["cuda"][1][0] > 2


def test_a_callback_that_stops_within_a_burst_stops_at_its_step(gpu):
    stages = [pinn.Adam(12, learning_rate=0.01)]
    kept = Kept()
    trained("cuda", stages, [kept])
    result = trained("cuda", stages, [lambda record: record.step == 7])
    assert (result.reason, result.steps) == ("stopped by callback", 7)
    assert result.theta.tobytes() == kept.records[6].theta.tobytes()
    assert result.loss == kept.records[6].loss


def test_ctrl_c_while_steps_are_told_ends_at_the_last_one_told(gpu):
    def stop(record):
        if record.step == 7:
            raise KeyboardInterrupt

    result = trained("cuda", [pinn.Adam(12)], [stop])
    assert (result.reason, result.steps) == ("interrupted", 7)


def test_a_limit_in_time_loses_no_step_that_was_taken(gpu, monkeypatch):
    take, taken = FixedStep.take, []

    def noted(step, there):
        taken.extend(step._steps)
        take(step, there)

    monkeypatch.setattr(FixedStep, "take", noted)
    monkeypatch.setattr(OneRank, "clock", lambda ranks: 0.01 * len(taken))
    result = trained("cuda", [pinn.Adam(10**6, seconds=0.2)])
    assert result.reason == "time limit" and 18 <= result.steps == len(taken) <= 20


PACE = Pace(0.0)
for _moment in (1.0, 1.001):  # a step that records, and one of a millisecond
    PACE.step_ended(_moment)


def test_a_burst_ends_at_the_next_look_and_before_new_points_and_weights():
    def steps(step, stage=None, left=np.inf, weighting=None, redraw=None, pace=PACE):
        return ahead.steps_ahead(
            step, stage or pinn.Adam(), pace, left, weighting, redraw, step
        )

    assert steps(0, pace=Pace(0.0)) == 1  # records
    assert [steps(step) for step in (0, 1, 99, 100)] == [100, 99, 1, 100]
    assert steps(1, left=0.0205) == 20
    assert steps(1, left=0.0) == 1
    every = Redraw(30, dict)
    assert [steps(step, redraw=every) for step in (1, 29, 30)] == [29, 1, 1]
    assert [steps(step, weighting=GradNorm(every=10)) for step in (1, 8, 10)] == [9, 2, 10]
    assert steps(1, weighting=Fixed({})) == 99


def test_a_burst_takes_a_quarter_of_a_second_at_most():
    pace = Pace(0.0)
    for moment in (1.0, 1.1):
        pace.step_ended(moment)
    assert ahead.steps_ahead(1, pinn.Adam(), pace, np.inf, None, None, 1) == 2


@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
def test_a_whole_run_is_that_of_the_host(gpu):
    given = {
        "sampling": pinn.Sampling(interior=16, initial=4, boundary=8, redraw=5),
        "training": [pinn.Adam(12, learning_rate=0.01)], "model": pinn.MLP(4, 1),
    }  # fmt: skip
    here = pinn.solve(HEAT, device="cpu", **given)
    there = pinn.solve(HEAT, device="cuda", **given)
    assert there.report.loss == pytest.approx(here.report.loss, rel=1e-9)
    assert there.report.fresh_loss == pytest.approx(here.report.fresh_loss, rel=1e-9)
    x = np.linspace(0, 1, 5)
    np.testing.assert_allclose(
        there.evaluate(x=x, t=x)["u"], here.evaluate(x=x, t=x)["u"], rtol=0, atol=1e-10
    )
