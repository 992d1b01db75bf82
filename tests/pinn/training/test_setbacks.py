"""Numbers that are not finite: back to the last good step, shorter steps, three tries."""

import dataclasses

import numpy as np
import pytest

import pinn
from pinn.objective.weighting import Weights
from pinn.optimizers import Stage, StageEnd, Step, StopReason
from pinn.sampling import Points
from pinn.training.experiment import Experiment
from pinn.training.loop import Redraw, train
from pinn.training.records import MOST_SETBACKS, Resume

# A first step of Adam has the length of its rate in every number: 0.3 makes u + 0.6 negative.
ROOTED = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"e": "u_t + u*log(u + 0.6)"}, [pinn.Initial("u", 0.1)]
)
DECAY = pinn.Problem(pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)])


def objective(problem=ROOTED):
    return Experiment(problem, pinn.MLP(width=5, depth=1), pinn.Sampling(interior=20)).objective()


def kept(record):
    state = {name: np.array(array) for name, array in record.solver_state.items()}
    return dataclasses.replace(record, solver_state=state)


class Heard(pinn.Callback):
    def __init__(self):
        self.steps, self.setbacks = [], []

    def on_step(self, record):
        self.steps.append(kept(record))

    def on_setback(self, record):
        self.setbacks.append(kept(record))


def test_a_rate_that_is_too_large_is_halved_until_it_is_not():
    heard = Heard()
    result = train(objective(), [pinn.Adam(30, learning_rate=1.0)], [heard])
    assert (result.reason, result.steps) == (StopReason.STEPS, 30)
    assert result.loss < 0.1 and np.isfinite(result.theta).all()
    assert [record.step for record in heard.steps] == list(range(1, 31))
    assert [record.learning_rate for record in heard.steps] == [1.0] + [0.125] * 29
    assert [s.attempt for s in result.setbacks] == [1, 2, 3]
    assert [s.step for s in result.setbacks] == [1, 1, 1]
    assert "block 'e' is not finite at " in result.setbacks[0].what
    assert "log(u + 0.6) is nan there for u + 0.6 = -" in result.setbacks[0].what
    assert result.setbacks[0].what.endswith("operation to give it is 'log', after step 1")
    assert str(result.setbacks[1]).endswith(
        "; adam goes on from step 1 with shorter steps, try 2 of 3"
    )
    assert [record.setbacks for record in heard.setbacks] == [
        result.setbacks[:k] for k in (1, 2, 3)
    ]
    assert [line["step"] for line in result.history] == [1, 10, 20, 30]


def test_after_three_tries_the_last_good_step_is_the_result():
    heard, start = Heard(), objective()
    result = train(start, [pinn.Adam(30, learning_rate=3.0), pinn.LBFGS()], [heard])
    assert (result.reason, result.steps) == (StopReason.DIVERGED, 1)
    assert len(result.setbacks) == MOST_SETBACKS == len(heard.setbacks)
    assert result.message.endswith("as after 3 tries with shorter steps; back at step 1")
    assert [stage.name for stage in result.stages] == ["adam"]
    np.testing.assert_array_equal(result.theta, heard.steps[0].theta)
    np.testing.assert_array_equal(start.theta, result.theta)
    assert result.loss == start.value_and_gradient(result.theta).loss
    assert result.last.step == 1 and result.last.setbacks == result.setbacks


def test_a_start_without_a_value_is_no_matter_of_steps():
    problem = pinn.Problem(pinn.Time("t", 0, 1), ["u"], {"e": "u_t + log(u - 9)"})
    result = train(objective(problem), [pinn.Adam(10)])
    assert (result.reason, result.steps, result.setbacks) == (StopReason.DIVERGED, 0, ())
    assert "log(u - 9) is nan there" in result.message


class Leaping(Stage):
    """Walks down to a step from which it leaps to where nothing has a value."""

    steps, seconds, name = 9, None, "leaping"

    def __init__(self, losses, recovers=True):
        self.losses, self.recovers = losses, recovers

    def run(self, function, theta, state=None):
        number = int(state["number"]) if state else 0
        leaps = not state or "slow" not in state
        while number < self.steps:
            number += 1
            # The last bias is u everywhere: the loss is (u + 0.6) log ... and grows with it.
            theta = theta.copy()
            theta[-1] = self.losses[number - 1]
            if leaps and number == 6:
                theta[-1] = -10.0
            found = function.value_and_gradient(theta)
            yield Step(number, theta, found.loss, state={"number": np.array(number)})
        return StageEnd(theta, StopReason.STEPS, "done")

    def slower(self, number, state, tries):
        return {**state, "slow": np.array(tries)} if self.recovers else None


def test_an_explosion_is_undone_with_the_steps_that_led_to_it():
    """The loss grew a millionfold at steps 4 and 5: step 3 is the last good one."""
    heard = Heard()
    stage = Leaping([0.3, 0.2, 0.1, 1e4, 1e6, 0.1, 0.1, 0.1, 0.1])
    result = train(objective(), [stage], [heard])
    assert [record.step for record in heard.steps] == [1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9]
    assert [record.is_good for record in heard.steps[:5]] == [True] * 3 + [False] * 2
    assert (heard.setbacks[0].step, result.setbacks[0].step) == (3, 3)
    assert result.setbacks[0].what.endswith(", after step 5")
    assert (result.steps, result.reason) == (9, StopReason.STEPS)


def test_a_solver_without_shorter_steps_ends_at_the_last_good_one():
    stage = Leaping([0.3, 0.2, 0.1, 1e4, 1e6, 0.1, 0.1, 0.1, 0.1], recovers=False)
    result = train(objective(), [stage, pinn.Adam(5)])
    assert (result.reason, result.steps, result.setbacks) == (StopReason.DIVERGED, 3, ())
    assert result.message.endswith("'log', after step 5; back at step 3")


def points(*bad):
    """Draws of evenly spaced points; those of the numbers in `bad` hold t = 0, where 1/t is."""

    def draw(number):
        t = np.linspace(0.0 if number in bad else 0.01 * (number + 1), 1, 15)
        return {"e": Points(t[:, None]), "initial_u": Points(np.zeros((1, 1)))}

    return draw


SINGULAR = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"e": "u_t + u/t"}, [pinn.Initial("u", 0.1)]
)


@pytest.mark.parametrize("stage", [pinn.Adam(12), pinn.LBFGS(12), pinn.SSBroyden(12)])
def test_points_without_a_value_are_drawn_again(stage):
    heard = Heard()
    start = objective(SINGULAR)
    start.set_points(points()(0))
    result = train(start, [stage], [heard], Redraw(5, points(1)))
    assert (result.reason, result.steps) == (StopReason.STEPS, 12)
    (setback,) = result.setbacks
    assert setback.step == 5
    assert "first at t = 0: u/t is " in setback.what
    assert [record.step for record in heard.steps] == list(range(1, 13))
    assert [record.draw for record in heard.steps] == [0] * 5 + [2] * 5 + [3] * 2


def test_points_that_never_have_a_value_end_training_on_the_last_good_ones():
    start = objective(SINGULAR)
    start.set_points(points()(0))
    result = train(start, [pinn.SSBroyden(12)], [], Redraw(5, points(1, 2, 3, 4)))
    assert (result.reason, result.steps, len(result.setbacks)) == (StopReason.DIVERGED, 5, 3)
    assert result.loss == start.value_and_gradient(result.theta).loss
    assert result.last.points["e"].coordinates.min() == 0.01


def test_a_quasi_newton_stage_begins_anew_with_a_tenth_of_the_first_step():
    stage = pinn.SSBroyden(9)
    usual, slow = [], []
    train(objective(DECAY), [stage], [lambda r: usual.append(kept(r))])
    record = dataclasses.replace(usual[3], solver_state=stage.slower(4, {}, tries=2))
    train(objective(DECAY), [stage], [lambda r: slow.append(kept(r))], resume=Resume(record))
    assert [r.stage_step for r in slow] == [5, 6, 7, 8, 9]
    assert slow[0].solver_state["reach"] == pytest.approx(0.01)
    # From the gradient, by a step whose first trial was short, and only downhill.
    step = slow[0].theta - record.theta
    gradient = objective(DECAY).value_and_gradient(record.theta).gradient
    assert step @ gradient / np.linalg.norm(step) / np.linalg.norm(gradient) == pytest.approx(-1)
    assert all(a.loss > b.loss for a, b in zip([record, *slow], slow, strict=False))


@pinn.declared
class Blind(pinn.Weighting):
    """Weights by the losses, which are nan where a residual has no value."""

    every: int = 4

    def update(self, view, weights, state):
        return Weights(dict(view.losses)), state


def test_weights_without_a_value_count_as_numbers_that_are_not_finite():
    start = objective(SINGULAR)
    start.set_points(points()(0))
    stages = [pinn.Adam(12)]
    result = train(start, stages, [], Redraw(5, points(1)), weighting=Blind())
    assert (result.reason, result.steps, len(result.setbacks)) == (StopReason.STEPS, 12, 1)
    assert "first at t = 0" in result.setbacks[0].what
    start.set_points(points(0)(0))
    result = train(start, stages, weighting=Blind())
    assert (result.reason, result.steps) == (StopReason.DIVERGED, 0)


@pytest.mark.parametrize("stop", [1, 2, 7])
def test_a_run_that_goes_on_after_a_setback_gives_the_same_bits(stop):
    stages, heard, rest = [pinn.Adam(12, learning_rate=1.0)], Heard(), Heard()
    whole = train(objective(), stages, [heard])
    result = train(objective(), stages, [rest], resume=Resume(heard.steps[stop - 1]))
    assert result.theta.tobytes() == whole.theta.tobytes()
    assert result.setbacks == whole.setbacks
    assert [r.loss for r in rest.steps] == [r.loss for r in heard.steps[stop:]]


def test_a_callback_may_stop_at_a_setback():
    class Enough(pinn.Callback):
        def on_setback(self, record):
            raise StopIteration("that is enough")

    result = train(objective(), [pinn.Adam(30, learning_rate=1.0)], [Enough()])
    assert (result.reason, result.steps) == (StopReason.CALLBACK, 1)
    assert "that is enough" in result.message


def test_batches_and_setbacks_work_together():
    """A batch whose numbers are not finite is one more step to go back from; the rest goes on."""

    def run():
        heard = Heard()
        solution = pinn.solve(
            ROOTED, pinn.MLP(width=5, depth=1), pinn.Sampling(interior=20, batch=6, redraw=None),
            [pinn.Adam(30, learning_rate=1.0), pinn.LBFGS(2)], callbacks=[heard],
        )  # fmt: skip
        return solution, heard

    (one, heard), (other, _) = run(), run()
    assert 1 <= len(one.report.setbacks) <= MOST_SETBACKS
    assert len(heard.setbacks) == len(one.report.setbacks)
    rates = [record.learning_rate for record in heard.steps if record.step <= 30]
    assert min(rates) == 0.5 ** len(one.report.setbacks)  # each halves it
    assert one.report.steps >= 30 and np.isfinite(one.theta).all()
    assert np.array_equal(one.theta, other.theta)  # the same batches, and the same way back
