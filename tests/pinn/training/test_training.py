"""The training loop: reasons for stopping, callbacks."""

import time

import numpy as np
import pytest

import pinn
from pinn.optimizers import StopReason
from pinn.training.callbacks import check_callbacks
from pinn.training.experiment import Experiment
from pinn.training.history import STRIDE
from pinn.training.loop import Redraw, train

PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
    reference={"u": "exp(-t)"},
)  # fmt: skip


def objective(problem=PROBLEM):
    setup = Experiment(problem, pinn.MLP(width=5, depth=1), pinn.Sampling(interior=20))
    return setup.objective()


class Recorder(pinn.Callback):
    def __init__(self):
        self.events = []

    def on_stage_start(self, info):
        self.events.append(("start", info.name, info.index, info.count, info.steps))

    def on_step(self, record):
        self.events.append(record)

    def on_stage_end(self, report):
        self.events.append(("end", report.name, report.steps, report.reason))


def test_stages_run_in_turn_and_say_why_they_ended():
    recorder = Recorder()
    start = objective()
    before = start.value_and_gradient(start.theta).loss
    result = train(start, [pinn.Adam(20), pinn.LBFGS(15)], [recorder])
    assert [s.reason for s in result.stages] == [StopReason.STEPS] * 2
    assert [(s.name, s.steps, s.message) for s in result.stages] == [
        ("adam", 20, "all 20 steps done"), ("lbfgs", 15, "all 15 steps done")
    ]  # fmt: skip
    assert (result.steps, result.reason, result.message) == (35, "step limit", "all 15 steps done")
    assert result.loss == start.value_and_gradient(result.theta).loss < before
    assert result.stages[0].loss > result.stages[1].loss == result.loss
    np.testing.assert_array_equal(start.theta, result.theta)
    assert recorder.events[0] == ("start", "adam", 0, 2, 20)
    assert recorder.events[21] == ("end", "adam", 20, "step limit")
    assert recorder.events[22] == ("start", "lbfgs", 1, 2, 15)
    assert recorder.events[-1] == ("end", "lbfgs", 15, "step limit")


def test_records_tell_the_loss_at_their_theta():
    records = []
    checked = objective()
    train(objective(), [pinn.Adam(5, learning_rate=0.01), pinn.LBFGS(5)], [records.append])
    assert [r.step for r in records] == list(range(1, 11))
    assert [r.stage_step for r in records] == [1, 2, 3, 4, 5] * 2
    assert [r.stage for r in records] == ["adam"] * 5 + ["lbfgs"] * 5
    assert [r.learning_rate for r in records] == [0.01] * 5 + [None] * 5
    assert all(a.seconds <= b.seconds for a, b in zip(records, records[1:], strict=False))
    for record in records:
        evaluation = checked.value_and_gradient(record.theta)
        assert (record.loss, record.losses) == (evaluation.loss, evaluation.losses)
        assert not record.theta.flags.writeable
    line = records[0].as_dict()
    assert list(line) == ["step", "stage", "wall_s", "loss", "losses", "lr"]
    assert list(line["losses"]) == ["decay", "initial_u"]


def test_the_history_is_thinned():
    result = train(objective(), [pinn.Adam(34), pinn.LBFGS(4)])
    expected = [1, *range(STRIDE, 35, STRIDE), 34, 35, 38]
    assert [record["step"] for record in result.history] == expected


def test_a_time_limit_ends_a_stage_and_the_next_one_runs():
    result = train(objective(), [pinn.Adam(10**6, seconds=0.2), pinn.LBFGS(3)])
    assert [s.reason for s in result.stages] == [StopReason.TIME, StopReason.STEPS]
    assert 0.2 <= result.stages[0].seconds < 2
    assert "time limit of 0.2 s reached after step" in result.stages[0].message


def test_a_time_limit_ends_lbfgs():
    slow = [pinn.LBFGS(10**6, gradient_tolerance=0, seconds=0.15)]
    result = train(objective(), slow, [lambda record: time.sleep(0.05)])
    assert result.reason == StopReason.TIME
    assert result.loss == objective().value_and_gradient(result.theta).loss


def test_a_gradient_below_tolerance_ends_training():
    result = train(objective(), [pinn.LBFGS(gradient_tolerance=1e-3)])
    assert result.reason == StopReason.CONVERGED
    gradient = objective().value_and_gradient(result.theta).gradient
    assert np.abs(gradient).max() <= 1e-3


def interrupt_at(step):
    def callback(record):
        if record.step == step:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("step", [3, 12])
def test_ctrl_c_stops_and_keeps_the_last_step(step):
    records = []
    stages = [pinn.Adam(10), pinn.LBFGS(10)]
    result = train(objective(), stages, [records.append, interrupt_at(step)])
    assert (result.reason, result.steps) == (StopReason.INTERRUPTED, step)
    assert result.message == f"interrupted after step {step}"
    assert result.stages[-1].reason == StopReason.INTERRUPTED
    assert len(result.stages) == (1 if step <= 10 else 2)
    np.testing.assert_array_equal(result.theta, records[-1].theta)
    assert result.last is records[-1]
    assert result.history[-1]["step"] == step


def test_ctrl_c_between_stages():
    class Impatient(pinn.Callback):
        def on_stage_end(self, report):
            raise KeyboardInterrupt

    result = train(objective(), [pinn.Adam(10), pinn.LBFGS(10)], [Impatient()])
    assert (result.reason, result.steps) == (StopReason.INTERRUPTED, 10)


def test_ctrl_c_before_the_first_step():
    class Impatient(pinn.Callback):
        def on_stage_start(self, info):
            raise KeyboardInterrupt

    start = objective()
    theta = start.theta
    result = train(start, [pinn.Adam(10)], [Impatient()])
    assert (result.reason, result.steps, result.last) == (StopReason.INTERRUPTED, 0, None)
    np.testing.assert_array_equal(result.theta, theta)


def test_a_loss_that_is_not_finite_ends_training_and_names_the_block():
    records = []
    stages = [pinn.Adam(10, learning_rate=1e200), pinn.LBFGS()]
    result = train(objective(), stages, [records.append])
    assert result.reason == StopReason.DIVERGED
    assert [s.name for s in result.stages] == ["adam"]
    assert "block 'decay'" in result.message
    assert result.message.endswith(
        "after step 1, as after 3 tries with shorter steps; back at step 1"
    )
    np.testing.assert_array_equal(result.theta, records[-1].theta)
    assert np.isfinite(result.loss)


def test_a_start_that_is_not_finite_is_told_at_once():
    bad = pinn.Problem(pinn.Time("t", -1, 1), ["u"], {"root": "sqrt(t)*u"})
    result = train(objective(bad), [pinn.Adam(10)])
    assert (result.reason, result.steps) == (StopReason.DIVERGED, 0)
    assert "block 'root' is not finite at 10 of 20 points, first at t = -" in result.message


def test_points_are_drawn_anew_on_the_way():
    setup = Experiment(PROBLEM, pinn.MLP(width=5, depth=1), pinn.Sampling(interior=20))
    records = []
    stages = [pinn.Adam(9), pinn.LBFGS(10)]
    result = train(setup.objective(), stages, [records.append], Redraw(4, setup.draw_points))
    assert [r.draw for r in records] == [0] * 4 + [1] * 4 + [2] * 5 + [3] * 4 + [4] * 2
    assert [r.stage_step for r in records] == [*range(1, 10), *range(1, 11)]
    assert [s.message for s in result.stages] == ["all 9 steps done", "all 10 steps done"]
    for record in records:
        checked = setup.objective()
        checked.set_points(setup.draw_points(record.draw))
        assert record.loss == checked.value_and_gradient(record.theta).loss
    assert result.loss == records[-1].loss


def test_new_points_leave_adams_memory_alone():
    setup = Experiment(PROBLEM, pinn.MLP(width=5, depth=1), pinn.Sampling(interior=20))
    same = Redraw(3, lambda number: setup.draw_points(0))
    plain = train(setup.objective(), [pinn.Adam(10)])
    redrawn = train(setup.objective(), [pinn.Adam(10)], (), same)
    assert plain.theta.tobytes() == redrawn.theta.tobytes()


def test_an_error_in_a_callback_passes_through():
    with pytest.raises(ZeroDivisionError):
        train(objective(), [pinn.Adam(3)], [lambda record: 1 / 0])


def test_callbacks_are_functions_or_have_methods():
    with pytest.raises(TypeError, match="callbacks.0: expected a function .* on_step"):
        check_callbacks([3])
