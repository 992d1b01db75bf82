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
    update_bn,
)
from autograd.utils.data import DataLoader, TensorDataset

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


def with_norms():
    T.manual_seed(0)
    double = {"dtype": T.float64}
    return nn.Sequential(
        nn.Linear(3, 4, **double), nn.BatchNorm1d(4, momentum=0.3, **double), nn.Tanh(),
        nn.Dropout(0.0), nn.BatchNorm1d(4, track_running_stats=False, **double),
        nn.Linear(4, 2, **double), nn.BatchNorm1d(2, momentum=None, **double),
    )  # fmt: skip



def by_hand(net, batches):
    """Return the means over batches of the mean and the variance that reach each layer."""
    found = {name: [] for name, _ in net.named_children()}
    for y in batches:
        for name, layer in net.named_children():
            found[name].append((y.mean(0).numpy(), y.var(0).numpy()))
            if isinstance(layer, nn.BatchNorm1d):
                deviation = (y.var(0, correction=0) + layer.eps).sqrt()
                y = (y - y.mean(0)) / deviation * layer.weight.detach() + layer.bias.detach()
            else:
                y = layer(y).detach()
    return {name: np.mean(pairs, 0) for name, pairs in found.items()}


@pytest.mark.parametrize("kind", ["loader", "tensors", "tuples"])
def test_statistics_become_the_means_over_the_batches(kind):
    average = AveragedModel(with_norms())
    net = average.module
    x = T.tensor(np.random.default_rng(0).normal(size=(12, 3)))
    batches = [x[:5], x[5:10], x[10:]]
    loader = {
        "loader": DataLoader(TensorDataset(x, x[:, :1]), batch_size=5),
        "tensors": batches,
        "tuples": [(batch, None) for batch in batches],
    }[kind]
    with T.no_grad():  # what was there before does not count
        net[1].running_mean.fill_(7.0)
        net[1].num_batches_tracked.fill_(5)
        net[1].weight.copy_(T.tensor([1.0, 2.0, -1.0, 0.5]))
    average.train()
    net[6].eval()
    update_bn(loader, average, device="cpu")
    expected = by_hand(net, batches)
    for k in (1, 6):
        mean, variance = expected[str(k)]
        np.testing.assert_allclose(net[k].running_mean.numpy(), mean, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(net[k].running_var.numpy(), variance, rtol=1e-12)
        assert net[k].num_batches_tracked.item() == 3
    assert [net[k].momentum for k in (1, 4, 6)] == [0.3, 0.1, None]
    assert average.training and net[1].training and not net[6].training


def test_a_loader_that_fails_leaves_modes_and_momenta_as_they_were():
    def failing():
        yield T.ones(2, 3, dtype=T.float64)
        raise ValueError("on purpose")

    net = with_norms().eval()
    with pytest.raises(ValueError, match="on purpose"):
        update_bn(failing(), net)
    assert net[1].momentum == 0.3 and not any(m.training for m in net.modules())
    plain, asked = nn.Linear(3, 2), []
    update_bn((asked.append(k) for k in range(3)), plain)
    assert asked == [] and plain.training
