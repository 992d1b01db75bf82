"""Schedules: rates against closed formulas, in training, in files, and what is refused."""

import math

import numpy as np
import pytest

import pinn
from pinn.config import ConfigError, load
from pinn.optimizers import SCHEDULES, minimize
from pinn.schema import declared, dump


def rates(steps, losses=None, **settings):
    """The rates of the steps of Adam on a function that returns these losses."""
    left, seen = list(losses or [1.0] * (steps + 1)), []
    stage = pinn.Adam(steps, **settings)
    minimize(stage, lambda theta: (left.pop(0), np.ones(1)), np.ones(1), seen.append)
    return [step.learning_rate for step in seen]


def test_a_rate_is_constant_by_default():
    assert rates(3, learning_rate=0.3) == [0.3] * 3


def test_an_exponential_rate_falls_by_the_same_factor():
    falls = pinn.ExponentialDecay(final_rate=1e-5)
    expected = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]
    assert rates(5, learning_rate=0.1, schedule=falls) == pytest.approx(expected, rel=1e-14)
    assert rates(1, learning_rate=0.1, schedule=falls) == [0.1]


def test_a_cosine_rate_is_half_a_period():
    falls = pinn.CosineDecay(final_rate=0.2)
    third = 0.2 + 0.8 * (1 + math.sqrt(0.5)) / 2
    expected = [1.0, third, 0.6, 1.2 - third, 0.2]
    assert rates(5, learning_rate=1.0, schedule=falls) == pytest.approx(expected, rel=1e-14)
    assert rates(3, learning_rate=1.0, schedule=pinn.CosineDecay()) == [1.0, 0.5, 0.0]
    assert rates(1, learning_rate=0.1, schedule=falls) == [0.1]


def test_a_plateau_halves_the_rate_after_so_many_steps_without_improvement():
    losses = [4, 3, 3, 2.9999, 3.5, 2, 2, 2, 2, 1.5, 1.5]
    falls = pinn.PlateauDecay(factor=0.5, patience=3, improvement=0.01, final_rate=0.3)
    # lowest:  4  3  -  -  -  2  -  -  -  1.5: the third step without one is the first lower rate
    expected = [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.3, 0.3]
    assert rates(10, losses, learning_rate=1.0, schedule=falls) == expected


def test_a_plateau_knows_losses_below_zero():
    falls = pinn.PlateauDecay(factor=0.5, patience=1, improvement=0.1)
    assert rates(4, [-1, -2, -2.1, -3, -4], schedule=falls, learning_rate=1.0) == [1, 1, 0.5, 0.5]


@pytest.mark.parametrize("schedule", [
    pinn.ConstantRate(), pinn.ExponentialDecay(0.1), pinn.CosineDecay(), pinn.PlateauDecay(),
])  # fmt: skip
def test_a_warm_up_rises_linearly_to_the_first_rate_of_the_schedule(schedule):
    found = rates(9, learning_rate=0.8, schedule=schedule, warmup=3)
    assert found[:4] == pytest.approx([0.2, 0.4, 0.6, 0.8], rel=1e-15)
    assert found[3:] == rates(6, learning_rate=0.8, schedule=schedule)


def test_a_plateau_waits_for_the_end_of_the_warm_up():
    falls = pinn.PlateauDecay(factor=0.5, patience=2)
    assert rates(6, learning_rate=1.0, schedule=falls, warmup=2)[2:] == [1, 1, 0.5, 0.5]


@pytest.mark.parametrize("stop", range(1, 12))
def test_a_plateau_goes_on_from_any_step(stop):
    def bowl(theta):
        return float(theta @ theta) + 1, 2 * theta

    falls = pinn.PlateauDecay(factor=0.5, patience=2, improvement=0.2)
    stage = pinn.Adam(12, learning_rate=0.3, schedule=falls, warmup=2)
    whole, rest = [], []
    end = minimize(stage, bowl, np.array([1.0, -2.0]), whole.append)
    at = whole[stop - 1]
    resumed = minimize(stage, bowl, at.theta, rest.append, at.state)
    assert len({step.learning_rate for step in whole}) > 4
    assert resumed.theta.tobytes() == end.theta.tobytes()
    assert [a.learning_rate for a in whole[stop:]] == [b.learning_rate for b in rest]


def test_shorter_steps_are_a_share_of_the_schedule():
    stage = pinn.Adam(6, learning_rate=1.0, schedule=pinn.CosineDecay())
    whole, rest = [], []
    minimize(stage, lambda theta: (1.0, np.ones(1)), np.ones(1), whole.append)
    state = stage.slower(2, whole[1].state, 3)
    minimize(stage, lambda theta: (1.0, np.ones(1)), whole[1].theta, rest.append, state)
    expected = [step.learning_rate / 8 for step in whole[2:]]
    assert [step.learning_rate for step in rest] == expected


# ---- declarations


TEXT = """\
problem:
  domain: {t: {time: [0, 1]}}
  unknowns: [u]
  equations: {decay: u_t + u}
  conditions: [initial: {unknown: u, value: 1}]
training:
  - adam: {steps: 40, learning_rate: 0.01, warmup: 4, schedule: SCHEDULE}
"""


@pytest.mark.parametrize("written, schedule", [
    ("constant", pinn.ConstantRate()),
    ("cosine", pinn.CosineDecay()),
    ("{exponential: {final_rate: 1e-3/2}}", pinn.ExponentialDecay(5e-4)),
    ("{cosine: {final_rate: 1e-5}}", pinn.CosineDecay(1e-5)),
    ("{plateau: {factor: 0.1, patience: 7, improvement: 0, final_rate: 1e-6}}",
     pinn.PlateauDecay(0.1, 7, 0.0, 1e-6)),
])  # fmt: skip
def test_a_config_says_the_same_and_is_written_back(tmp_path, written, schedule):
    path = tmp_path / "decay.yaml"
    path.write_text(TEXT.replace("SCHEDULE", written))
    config = load(path)
    expected = pinn.Adam(40, learning_rate=0.01, warmup=4, schedule=schedule)
    assert config.experiment.training == (expected,)
    path.write_text(config.text())
    assert load(path).experiment.training == (expected,)


@pytest.mark.parametrize("written, said", [
    ("exponential", "training.0.adam.schedule.exponential.final_rate: missing; expected a number"),
    ("{exponential: {final_rate: 0}}", "final_rate: expected a number > 0"),
    ("cosin", "expected one schedule out of constant, exponential, cosine, plateau, got 'cosin'; "
     "did you mean 'cosine'?"),
    ("{plateau: {factor: 1}}", "schedule.plateau.factor: expected a number > 0 and < 1"),
    ("{plateau: {final_rate: 0.1}}", "expected at most the learning rate 0.01, got 0.1"),
    ("0.1", "expected one schedule out of constant, exponential, cosine, plateau, got '0.1'"),
])  # fmt: skip
def test_a_mistake_in_a_config_is_told_with_its_place(tmp_path, written, said):
    path = tmp_path / "decay.yaml"
    path.write_text(TEXT.replace("SCHEDULE", written))
    with pytest.raises(ConfigError) as raised:
        load(path)
    assert said in str(raised.value) and f"{path}:7: " in str(raised.value)


def test_a_schedule_of_a_users_own_goes_where_those_that_ship_go():
    @declared
    class Saw(pinn.Schedule):
        """Half the rate in every other step."""

        def rate(self, learning_rate, step, steps, memory):
            return learning_rate / (1 + step % 2)

    SCHEDULES.add("saw", Saw)
    try:
        assert rates(3, learning_rate=1.0, schedule=Saw()) == [0.5, 1.0, 0.5]
        assert dump(pinn.Adam(schedule=Saw()))["schedule"] == {"saw": {}}
    finally:
        SCHEDULES.remove("saw")
