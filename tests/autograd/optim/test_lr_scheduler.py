"""Learning rate schedules against their closed forms."""

import math

import numpy as np
import pytest

import autograd as T
from autograd import optim
from autograd.optim import lr_scheduler


def make_optimizer(lr=0.5):
    p = T.tensor([1.0], requires_grad=True)
    p.grad = T.tensor([0.0])
    return optim.SGD([{"params": [p]}], lr=lr)


def rates(optimizer, scheduler, epochs):
    found = []
    for _ in range(epochs):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


def cosine(epoch):
    return 0.1 + 0.4 * (1 + math.cos(math.pi * epoch / 5)) / 2


@pytest.mark.parametrize(
    ("make", "closed"),
    [
        (lambda o: lr_scheduler.StepLR(o, 3, 0.1), lambda e: 0.5 * 0.1 ** (e // 3)),
        (lambda o: lr_scheduler.ExponentialLR(o, 0.9), lambda e: 0.5 * 0.9**e),
        (lambda o: lr_scheduler.CosineAnnealingLR(o, 5, 0.1), cosine),
        (lambda o: lr_scheduler.LambdaLR(o, lambda e: 1 / (1 + e)), lambda e: 0.5 / (1 + e)),
    ],
)
def test_rates_follow_the_closed_form(make, closed):
    optimizer = make_optimizer()
    scheduler = make(optimizer)
    expected = [closed(epoch) for epoch in range(17)]
    np.testing.assert_allclose(rates(optimizer, scheduler, 17), expected, rtol=1e-12)
    assert scheduler.get_last_lr() == [optimizer.param_groups[0]["lr"]]


def test_two_schedulers_multiply():
    optimizer = make_optimizer()
    first = lr_scheduler.ExponentialLR(optimizer, 0.5)
    second = lr_scheduler.StepLR(optimizer, 2, 0.1)
    for _ in range(4):
        optimizer.step()
        first.step()
        second.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * 0.5**4 * 0.1**2)


def test_state_continues_the_schedule():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.CosineAnnealingLR(optimizer, 5, 0.1)
    rates(optimizer, scheduler, 7)
    state, groups = scheduler.state_dict(), optimizer.state_dict()
    assert "optimizer" not in state
    other = make_optimizer()
    resumed = lr_scheduler.CosineAnnealingLR(other, 5, 0.1)
    resumed.load_state_dict(state)
    other.load_state_dict(groups)
    assert rates(other, resumed, 6) == rates(optimizer, scheduler, 6)


def test_plateau_reduces_after_patience_and_waits_out_its_cooldown():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=2)
    found = []
    for metric in [3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0]:
        scheduler.step(T.tensor(metric))
        found.append(optimizer.param_groups[0]["lr"])
    # bad epochs: 3 and 4 reduce, 5 and 6 are cooldown, 7 and 8 reduce, then it improves
    assert found == [0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125]


def test_plateau_of_a_maximum_and_its_lower_bound():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.ReduceLROnPlateau(
        optimizer, "max", factor=0.1, patience=0, threshold=0.5, threshold_mode="abs", min_lr=0.2
    )
    scheduler.step(1.0)
    scheduler.step(1.6)
    assert optimizer.param_groups[0]["lr"] == 0.5
    scheduler.step(1.9)
    assert optimizer.param_groups[0]["lr"] == 0.2


def test_stepping_before_the_optimizer_warns():
    scheduler = lr_scheduler.ExponentialLR(make_optimizer(), 0.9)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()


def test_bad_arguments_are_refused():
    optimizer = make_optimizer()
    with pytest.raises(TypeError, match="is not an Optimizer"):
        lr_scheduler.StepLR(3, 1)
    with pytest.raises(ValueError, match="Expected 1 lr_lambdas"):
        lr_scheduler.LambdaLR(optimizer, [lambda e: 1.0, lambda e: 1.0])
    with pytest.raises(ValueError, match="factor should be < 1.0"):
        lr_scheduler.ReduceLROnPlateau(optimizer, factor=1.0)
    with pytest.raises(KeyError, match="initial_lr"):
        lr_scheduler.StepLR(make_optimizer(), 3, last_epoch=4)
