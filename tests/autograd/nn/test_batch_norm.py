"""Layers whose statistics are kept from batch to batch."""

import numpy as np
import pytest

import autograd as T
from autograd import nn

RNG = np.random.default_rng(3)


def test_what_a_layer_has_and_shows():
    layer = nn.BatchNorm1d(3)
    assert list(layer.state_dict()) == [
        "weight", "bias", "running_mean", "running_var", "num_batches_tracked"
    ]  # fmt: skip
    assert layer.running_var.tolist() == layer.weight.tolist() == [1, 1, 1]
    assert layer.num_batches_tracked.dtype == T.int64 and layer.num_batches_tracked.shape == ()
    assert repr(nn.BatchNorm2d(3, momentum=None)) == (
        "BatchNorm2d(3, eps=1e-05, momentum=None, affine=True, bias=True, "
        "track_running_stats=True)"
    )
    assert list(nn.BatchNorm1d(3, bias=False, track_running_stats=False).state_dict()) == ["weight"]
    assert not nn.InstanceNorm1d(3).state_dict()
    assert len(nn.InstanceNorm3d(3, affine=True, track_running_stats=True).state_dict()) == 5
    assert nn.BatchNorm1d(3, dtype=T.float64).double().num_batches_tracked.dtype == T.int64


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (nn.BatchNorm1d, (6, 3)), (nn.BatchNorm1d, (4, 3, 5)), (nn.BatchNorm2d, (4, 3, 2, 5)),
        (nn.BatchNorm3d, (4, 3, 2, 2, 2)),
    ],
)  # fmt: skip
def test_training_normalises_by_the_batch_and_evaluation_by_what_was_kept(kind, shape):
    layer = kind(3, dtype=T.float64)
    mean, variance = np.zeros(3), np.ones(3)
    for _ in range(3):
        x = RNG.normal(2, 3, shape)
        found = layer(T.tensor(x)).detach().numpy()
        values = np.moveaxis(x, 1, 0).reshape(3, -1)
        mean = 0.9 * mean + 0.1 * values.mean(1)
        variance = 0.9 * variance + 0.1 * values.var(1, ddof=1)
        normed = np.moveaxis(found, 1, 0).reshape(3, -1)
        np.testing.assert_allclose(normed.mean(1), 0, atol=1e-14)
        np.testing.assert_allclose(normed.var(1), 1, rtol=1e-4)
    np.testing.assert_allclose(layer.running_mean.numpy(), mean)
    np.testing.assert_allclose(layer.running_var.numpy(), variance)
    assert layer.num_batches_tracked.item() == 3
    kept = [numbers.reshape(1, 3, *(1,) * (len(shape) - 2)) for numbers in (mean, variance)]
    expected = (x - kept[0]) / np.sqrt(kept[1] + 1e-5)
    np.testing.assert_allclose(layer.eval()(T.tensor(x)).detach().numpy(), expected)
    assert layer.num_batches_tracked.item() == 3


def test_without_momentum_the_running_numbers_are_averages_of_all_batches():
    layer = nn.BatchNorm1d(2, momentum=None, dtype=T.float64)
    batches = RNG.normal(1, 2, (4, 5, 2))
    for x in batches:
        layer(T.tensor(x))
    np.testing.assert_allclose(layer.running_mean.numpy(), batches.mean((0, 1)))
    np.testing.assert_allclose(layer.running_var.numpy(), batches.var(1, ddof=1).mean(0))
    layer.reset_parameters()
    assert layer.num_batches_tracked.item() == 0 and layer.running_var.tolist() == [1, 1]


def test_what_is_not_tracked_is_normalised_by_the_batch_in_evaluation_too():
    layer = nn.BatchNorm1d(2, track_running_stats=False, affine=False)
    x = T.rand(5, 2)
    assert T.equal(layer(x), layer.eval()(x))


def test_statistics_that_are_no_longer_tracked_stay():
    layer = nn.BatchNorm1d(2)
    layer.track_running_stats = False
    layer(T.rand(5, 2))
    assert layer.running_mean.tolist() == [0, 0] and layer.num_batches_tracked.item() == 0


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (nn.InstanceNorm1d, (3, 5)), (nn.InstanceNorm2d, (3, 2, 4)),
        (nn.InstanceNorm3d, (3, 2, 2, 2)),
    ],
)
def test_instances_are_normalised_alone_or_in_a_batch(kind, shape):
    layer = kind(3, dtype=T.float64)
    x = T.tensor(RNG.normal(2, 3, (4, *shape)))
    batch = layer(x)
    for one, expected in zip(x, batch, strict=True):
        assert T.allclose(layer(one), expected)
        values = expected.numpy().reshape(3, -1)
        np.testing.assert_allclose(values.mean(1), 0, atol=1e-14)
    tracked = kind(3, track_running_stats=True, affine=True, dtype=T.float64)
    assert T.allclose(tracked(x), batch)
    assert tracked.running_mean.abs().sum().item() > 0
    assert not T.allclose(tracked.eval()(x), batch)


@pytest.mark.parametrize(
    ("layer", "shape", "words"),
    [
        (nn.BatchNorm1d(3), (3,), r"expected 2D or 3D input \(got 1D input"),
        (nn.BatchNorm2d(3), (2, 3, 4), r"expected 4D input \(got 3D"),
        (nn.BatchNorm3d(3), (2, 3), "expected 5D input"),
        (nn.InstanceNorm2d(3), (2, 3), "expected 3D or 4D input"),
        (nn.InstanceNorm1d(3, affine=True), (2, 4, 5), r"dim=1 to match num_features \(3\).*4"),
        (nn.BatchNorm1d(3), (1, 3), "more than 1 value per channel"),
    ],
)
def test_inputs_of_other_shapes_are_refused(layer, shape, words):
    with pytest.raises(ValueError, match=words):
        layer(T.zeros(*shape))


def test_a_compiled_loss_takes_a_layer_in_evaluation():
    net = nn.Sequential(nn.Linear(1, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1)).double()
    for _ in range(3):
        net(T.rand(20, 1, dtype=T.float64))

    def loss(x):
        u = net(x)
        (slope,) = T.grad(u.sum(), x, create_graph=True)
        return ((slope + u) ** 2).mean()

    x = T.rand(9, 1, dtype=T.float64, requires_grad=True)
    with pytest.raises(T.TraceError, match="track_running_stats=False"):
        T.compile(loss)(x)
    net.eval()
    recorded = T.compile(loss, points="x")
    parameters = list(net.parameters())
    for ours, plain in zip(
        T.grad(recorded(x), parameters, allow_unused=True),
        T.grad(loss(x), parameters, allow_unused=True),
        strict=True,
    ):
        assert (ours is None and plain is None) or T.allclose(ours, plain, rtol=1e-12)


def test_a_state_without_versions_may_lack_the_count_as_older_ones_do():
    layer = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    layer(T.rand(4, 2))
    plain = {k: v.clone() for k, v in layer.state_dict().items() if "tracked" not in k}
    fresh = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    found = fresh.load_state_dict(plain)
    assert found.missing_keys == [] and fresh[1].num_batches_tracked == 0
    np.testing.assert_array_equal(fresh[1].running_mean, layer[1].running_mean)

    class Versioned(dict):
        _metadata = {"": {"version": 1}, "0": {"version": 1}, "1": {"version": 2}}

    with pytest.raises(RuntimeError, match=r'Missing key.*"1.num_batches_tracked"'):
        fresh.load_state_dict(Versioned(plain))
    Versioned._metadata["1"]["version"] = 1
    assert fresh.load_state_dict(Versioned(plain)).missing_keys == []
    del plain["1.running_mean"]
    with pytest.raises(RuntimeError, match=r'Missing key.*"1.running_mean"'):
        fresh.load_state_dict(plain)
