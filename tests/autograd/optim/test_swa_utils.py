"""Averages of weights and the schedule that goes with them."""

import copy

import numpy as np
import pytest

import autograd as T
from autograd import nn, optim
from autograd.optim.swa_utils import (
    SWALR,
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
)

# Outputs of the averaged model, and the rates of 8 epochs, by PyTorch 2.13 in float64.
OUTPUTS = [0.09065372884380235, -0.03147200091226443]
RATES = [0.08828427124746191, 0.06, 0.0317157287525381, 0.02, 0.02, 0.02, 0.02, 0.02]


class Line(nn.Module):
    """A line with a buffer of its own."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(T.tensor(np.array([[1.0, 2.0]])))
        self.bias = nn.Parameter(T.tensor(np.array([0.5])))
        self.register_buffer("seen", T.tensor(np.array([0.0])))

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)


def trained(**options):
    """Return the averaged model, what each update saw and the rates."""
    net = Line()
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    average, rates = AveragedModel(net, **options), SWALR(optimizer, 0.02, 4)
    x, seen, last = T.tensor(np.array([[1.0, -1.0], [0.5, 2.0]])), [], []
    for step in range(8):
        optimizer.zero_grad()
        (net(x) ** 2).sum().backward()
        optimizer.step()
        net.seen.fill_(float(step))
        average.update_parameters(net)
        rates.step()
        seen.append(net.weight.detach().numpy().copy())
        last.append(optimizer.param_groups[0]["lr"])
    return average, seen, last, x


def test_the_mean_and_the_rates_are_pytorchs():
    average, seen, rates, x = trained()
    np.testing.assert_allclose(average(x).detach().numpy().ravel(), OUTPUTS, rtol=1e-12)
    np.testing.assert_allclose(rates, RATES, rtol=1e-12)
    assert average.n_averaged.item() == 8 and average.n_averaged.dtype == T.int64


@pytest.mark.parametrize(
    "options",
    [{}, {"avg_fn": get_swa_avg_fn()}, {"multi_avg_fn": get_swa_multi_avg_fn()}],
)
def test_every_update_counts_alike(options):
    average, seen, _, _ = trained(**options)
    found = average.module.weight.detach().numpy()
    np.testing.assert_allclose(found, np.mean(seen, axis=0), rtol=1e-13)
    assert average.module.seen.tolist() == [7.0]  # copied


@pytest.mark.parametrize(
    "options", [{"avg_fn": get_ema_avg_fn(0.7)}, {"multi_avg_fn": get_ema_multi_avg_fn(0.7)}]
)
def test_an_exponential_mean_forgets(options):
    average, seen, _, _ = trained(**options)
    expected = seen[0]
    for values in seen[1:]:
        expected = 0.7 * expected + 0.3 * values
    np.testing.assert_allclose(average.module.weight.detach().numpy(), expected, rtol=1e-13)


def test_buffers_are_averaged_on_request():
    average, _, _, _ = trained(use_buffers=True)
    assert average.module.seen.tolist() == [3.5]


def test_the_model_is_left_alone_and_the_average_goes_on_from_its_state():
    net = Line()
    average = AveragedModel(net, avg_fn=get_ema_avg_fn(0.5))
    average.update_parameters(net)
    with T.no_grad():
        net.weight += 1
    average.update_parameters(net)
    assert net.weight.tolist() == [[2.0, 3.0]]
    assert average.module.weight.tolist() == [[1.5, 2.5]] and average.module.weight.is_leaf
    other = AveragedModel(net, avg_fn=get_ema_avg_fn(0.5))
    other.load_state_dict(copy.deepcopy(average.state_dict()))
    for one in (average, other):
        one.update_parameters(net)
        assert one.module.weight.tolist() == [[1.75, 2.75]]
    assert sorted(average.state_dict()) == [
        "module.bias", "module.seen", "module.weight", "n_averaged",
    ]  # fmt: skip


@pytest.mark.parametrize("strategy", ["linear", "cos"])
def test_the_rate_goes_to_its_end_and_stays(strategy):
    optimizer = optim.SGD([{"params": [T.ones(1)]}, {"params": [T.ones(1)], "lr": 0.4}], lr=0.2)
    schedule = SWALR(optimizer, [0.1, 0.2], 5, strategy)
    rates = [schedule.get_last_lr()]
    optimizer.step()
    for _ in range(7):
        schedule.step()
        rates.append(schedule.get_last_lr())
    part = np.minimum(np.arange(8) / 5, 1)
    part = part if strategy == "linear" else (1 - np.cos(np.pi * part)) / 2
    expected = np.stack([0.2 - 0.1 * part, 0.4 - 0.2 * part], axis=1)
    np.testing.assert_allclose(rates, expected, rtol=1e-13)


def test_no_epochs_jump_and_a_state_goes_on():
    optimizer = optim.SGD([T.ones(1)], lr=0.2)
    assert SWALR(optimizer, 0.05, 0).get_last_lr() == [0.05]
    optimizer = optim.SGD([T.ones(1)], lr=0.2)
    one = SWALR(optimizer, 0.05, 6)
    optimizer.step()
    one.step()
    state = one.state_dict()
    other_optimizer = optim.SGD([T.ones(1)], lr=0.2)
    other = SWALR(other_optimizer, 0.05, 6)
    other.load_state_dict(state)
    other_optimizer.load_state_dict(optimizer.state_dict())
    one.step()
    other.step()
    assert one.get_last_lr() == other.get_last_lr()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda o: SWALR(o, 0.1, anneal_strategy="x"), "must be one of 'cos' or 'linear'"),
        (lambda o: SWALR(o, 0.1, -1), "anneal_epochs must be equal or greater than 0"),
        (lambda o: SWALR(o, [0.1, 0.2]), "Expected 1 swa_lrs"),
        (lambda o: get_ema_avg_fn(1.5), "Invalid decay value 1.5"),
        (lambda o: AveragedModel(Line(), None, get_swa_avg_fn(), get_swa_multi_avg_fn()), "one of"),
    ],
)
def test_arguments_that_do_not_fit(make, message):
    with pytest.raises(ValueError, match=message):
        make(optim.SGD([T.ones(1)], lr=0.1))
