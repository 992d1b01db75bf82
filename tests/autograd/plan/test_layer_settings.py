"""What the library's own layers and losses are set to is looked at at each call, as all else is."""

import dis
import inspect

import numpy as np
import pytest

import autograd as T
from autograd.plan.surroundings import _settings_of, surroundings

nn = T.nn
rng = np.random.default_rng(0)


def given(*shape):
    return T.tensor(rng.standard_normal(shape))


def set_all(layer):
    """Give a layer float64 parameters that are no zeros and no ones."""
    with T.no_grad():
        for parameter in layer.double().parameters():
            parameter.copy_(given(*parameter.shape))
    return layer


SETTINGS = [  # what makes a layer, the shape of its argument, what it is then set to
    (nn.LeakyReLU, (4, 3), {"negative_slope": 0.5}), (nn.ELU, (4, 3), {"alpha": 0.5}),
    (nn.CELU, (4, 3), {"alpha": 0.5}), (nn.Softplus, (4, 3), {"beta": 2.0, "threshold": 0.1}),
    (nn.Hardtanh, (4, 3), {"min_val": -0.1, "max_val": 0.2}),
    (lambda: nn.Threshold(0.1, 2.0), (4, 3), {"threshold": 0.5, "value": 7.0}),
    (nn.Hardshrink, (4, 3), {"lambd": 0.1}), (nn.GELU, (4, 3), {"approximate": "tanh"}),
    (lambda: nn.Softmax(0), (4, 3), {"dim": 1}), (nn.GLU, (4, 4), {"dim": 0}),
    (lambda: nn.Dropout(0.0), (4, 3), {"p": 1.0}),
    (lambda: nn.BatchNorm1d(3).eval(), (4, 3), {"eps": 0.1}),
    (lambda: nn.GroupNorm(2, 4), (4, 4, 3), {"eps": 0.1, "num_groups": 4}),
    (lambda: nn.InstanceNorm1d(3), (2, 3, 4), {"eps": 0.1}),
    (lambda: nn.RMSNorm(3), (2, 3), {"eps": 0.1}), (lambda: nn.LayerNorm(3), (2, 3), {"eps": 0.1}),
    (lambda: nn.LocalResponseNorm(2), (2, 3, 4), {"alpha": 1.0, "beta": 0.1, "k": 3.0, "size": 3}),
    (lambda: nn.Conv1d(3, 2, 2, padding=1), (2, 3, 6),
     {"stride": (2,), "dilation": (2,), "padding_mode": "circular"}),
    (lambda: nn.MaxPool1d(2), (2, 3, 6), {"kernel_size": 3, "stride": 1, "padding": 1}),
    (lambda: nn.AvgPool1d(2), (2, 3, 6), {"kernel_size": 3, "stride": 1}),
    (lambda: nn.Upsample(scale_factor=2), (2, 3, 6), {"mode": "linear", "scale_factor": 3}),
    (lambda: nn.ConstantPad1d(1, 0.0), (2, 3, 6), {"value": 2.0, "padding": (2, 0)}),
    (nn.Flatten, (2, 3, 6), {"start_dim": 0}),
    (lambda: nn.PixelShuffle(2), (1, 16, 2, 2), {"upscale_factor": 4}),
    (lambda: nn.Unflatten(1, (2, 3)), (2, 6), {"unflattened_size": (3, 2)}),
    (lambda: nn.TransformerEncoderLayer(4, 2, 8, 0.0), (2, 3, 4),
     {"norm_first": True, "activation": T.tanh}),
    (lambda: nn.LSTM(3, 2), (2, 3, 3), {"batch_first": True}),
    (lambda: nn.RNNCell(3, 2), (2, 3), {"_mode": "RNN_RELU"}),
]  # fmt: skip


@pytest.mark.parametrize("make, shape, settings", SETTINGS)
def test_a_layer_that_is_set_anew(make, shape, settings):
    layer, x = set_all(make()), given(*shape)

    def function(x):
        result = layer(x)
        return result[0] if isinstance(result, tuple) else result

    compiled = T.compile(function)
    for name, value in [(None, None), *settings.items()]:
        if name is not None:
            before = compiled(x)
            setattr(layer, name, value)
        found, expected = compiled(x).detach(), function(x).detach()
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
        if name is not None:  # and it matters
            assert before.shape != found.shape or not T.allclose(before.detach(), found)


LOSSES = [
    (nn.MSELoss, {"reduction": "sum"}), (nn.L1Loss, {"reduction": "none"}),
    (nn.HuberLoss, {"delta": 0.1}), (nn.SmoothL1Loss, {"beta": 0.1}),
    (nn.KLDivLoss, {"log_target": True, "reduction": "batchmean"}),
    (nn.CrossEntropyLoss, {"label_smoothing": 0.2, "weight": given(3)}),
    (nn.BCEWithLogitsLoss, {"pos_weight": given(3).abs(), "weight": given(3)}),
    (nn.PoissonNLLLoss, {"log_input": False, "full": True, "eps": 0.1}),
    (nn.SoftMarginLoss, {"reduction": "sum"}),
    (nn.PairwiseDistance, {"norm": 1.0, "eps": 0.5, "keepdim": True}),
    (nn.CosineSimilarity, {"dim": 0, "eps": 10.0}),
]  # fmt: skip


@pytest.mark.parametrize("make, settings", LOSSES)
def test_a_loss_that_is_set_anew(make, settings):
    loss, x, y = make(), given(4, 3).abs() + 0.1, given(4, 3).abs() + 0.1
    compiled = T.compile(lambda x: loss(x, y))
    for name, value in settings.items():
        before = compiled(x)
        setattr(loss, name, value)
        found, expected = compiled(x), loss(x, y)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        assert before.shape != found.shape or not T.allclose(before, found)


def test_another_loss_and_another_layer_of_the_same_class():
    x = T.tensor([3.0, -4.0])
    loss, net = nn.HuberLoss(delta=1.0), nn.Sequential(nn.LeakyReLU(0.1))
    of_loss, of_net = T.compile(lambda x: loss(x, x * 0)), T.compile(net)
    assert of_loss(x).item() == 3.0
    np.testing.assert_allclose(of_net(x), [3.0, -0.4], rtol=1e-6)
    loss, net[0] = nn.HuberLoss(delta=0.1), nn.LeakyReLU(0.9)
    np.testing.assert_allclose(of_loss(x), 0.1 * (2.95 + 3.95) / 2, rtol=1e-6)
    np.testing.assert_allclose(of_net(x), [3.0, -3.6], rtol=1e-6)


def test_another_convolution_of_the_same_weight():
    one, other = nn.Conv1d(1, 1, 2, bias=False), nn.Conv1d(1, 1, 2, stride=2, bias=False)
    other.weight = one.weight
    layer, x = one, T.arange(6.0).reshape(1, 1, 6)
    compiled = T.compile(lambda x: layer(x))
    assert compiled(x).shape == (1, 1, 5)
    layer = other
    assert compiled(x).shape == (1, 1, 3)


class Users(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.LeakyReLU(0.5)

    @T.compile
    def forward(self, x):
        return self.act(x)


class Steeper(nn.LeakyReLU):
    def forward(self, x):
        return super().forward(x) * 2


def test_a_layer_within_a_users_module_as_an_argument_and_as_the_base_of_a_users_class():
    x = T.tensor([-1.0])
    users, steeper, argument = Users(), Steeper(0.5), nn.LeakyReLU(0.5)
    of_steeper, of_argument = T.compile(steeper), T.compile(lambda layer, x: layer(x))
    for slope in (0.5, 0.25, 0.5):
        users.act.negative_slope = steeper.negative_slope = argument.negative_slope = slope
        assert users(x).item() == of_argument(argument, x).item() == -slope
        assert of_steeper(x).item() == -2 * slope


def test_what_a_users_class_counts_costs_no_recording():
    layer, x = Steeper(0.5), T.ones(2)
    compiled = T.compile(layer)
    compiled(x)
    layer.calls = 0
    compiled(x)
    known = len(compiled._recorded.known)
    for layer.calls in range(3):
        compiled(x)
    assert len(compiled._recorded.known) == known


def test_a_weight_that_is_computed_by_other_settings():
    layer, x = nn.Linear(3, 2), given(4, 3).float()
    compiled = T.compile(layer)
    for norm in (None, lambda one: nn.utils.parametrizations.weight_norm(one, dim=None),
                 lambda one: nn.utils.parametrizations.spectral_norm(one.eval())):  # fmt: skip
        if norm is not None:
            norm(layer)
        np.testing.assert_allclose(compiled(x).detach(), layer(x).detach(), rtol=1e-5)


SIZES = {  # that layers keep for those who ask, and do not read when they are called
    "num_features", "affine", "in1_features", "in2_features", "in_features", "out_features",
    "in_channels", "out_channels", "num_channels", "num_parameters", "num_embeddings",
    "embedding_dim", "sparse", "scale_grad_by_freq", "elementwise_affine", "nhead", "num_layers",
    "nonlinearity",  # as a mode, which they read
}  # fmt: skip


def _stored(kind):
    """Return the attributes that the constructors of a class and of its bases set."""
    constructors = [vars(one)["__init__"] for one in kind.__mro__ if "__init__" in vars(one)]
    return {
        step.argval for one in constructors if inspect.isfunction(one)
        for step in dis.get_instructions(one) if step.opname == "STORE_ATTR"
    }  # fmt: skip


LAYERS = {
    name: kind for name, kind in vars(nn).items()
    if isinstance(kind, type) and issubclass(kind, nn.Module) and kind is not nn.Module
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_all_that_a_layer_is_made_with_is_followed_or_a_size(name):
    """A setting that only a function beside the class reads would not be followed."""
    kind = LAYERS[name]
    parts = {"weight", "bias"}  # parameters, which are read whatever the names
    one_word = {"padding_mode"} if "Transpose" in name else set()
    assert _stored(kind) - _settings_of(kind).keys() - SIZES - parts - one_word == set()


def test_a_layer_without_settings_costs_no_further_place():
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    names = [name for name, _ in surroundings({"net": net}).named]
    assert len(names) == 3 + 3 + 2  # the modules, whether each trains, weight and bias
