"""Normalisation layers."""

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.jets import partials


def test_a_layer_has_mean_zero_and_variance_one_before_it_is_trained():
    layer = nn.LayerNorm(50, dtype=T.float64)
    y = layer(T.rand(4, 50, dtype=T.float64) * 7 + 3).detach().numpy()
    np.testing.assert_allclose(y.mean(-1), 0, atol=1e-14)
    np.testing.assert_allclose(y.var(-1), 1, rtol=1e-4)
    y = nn.LayerNorm([2, 3], elementwise_affine=False)(T.rand(4, 2, 3))
    np.testing.assert_allclose(y.numpy().mean((-1, -2)), 0, atol=1e-6)


def test_what_a_layer_has_and_shows():
    layer = nn.LayerNorm((2, 3))
    assert layer.weight.shape == layer.bias.shape == (2, 3)
    assert list(nn.LayerNorm(3, bias=False).state_dict()) == ["weight"]
    assert not nn.LayerNorm(3, elementwise_affine=False).state_dict()
    assert repr(layer) == "LayerNorm((2, 3), eps=1e-05, elementwise_affine=True, bias=True)"
    with T.no_grad():
        layer.weight.uniform_()
        layer.bias.normal_()
    layer.reset_parameters()
    assert layer.weight.tolist() == [[1] * 3] * 2 and layer.bias.tolist() == [[0] * 3] * 2


def test_root_mean_squares_are_one_and_no_mean_is_taken_away():
    x = T.rand(4, 50, dtype=T.float64) + 3
    y = nn.RMSNorm(50, dtype=T.float64)(x).detach().numpy()
    np.testing.assert_allclose((y**2).mean(-1), 1)
    np.testing.assert_allclose(y, x.numpy() / np.sqrt((x.numpy() ** 2).mean(-1, keepdims=True)))


def test_groups_of_channels_have_mean_zero_and_variance_one():
    y = nn.GroupNorm(2, 6, dtype=T.float64)(T.rand(4, 6, 30, dtype=T.float64) * 5)
    groups = y.detach().numpy().reshape(4, 2, -1)
    np.testing.assert_allclose(groups.mean(-1), 0, atol=1e-14)
    np.testing.assert_allclose(groups.var(-1), 1, rtol=1e-4)
    with pytest.raises(ValueError, match=r"num_channels \(5\) must be divisible by num_groups \(2"):
        nn.GroupNorm(2, 5)


def test_what_further_layers_have_and_show():
    assert repr(nn.RMSNorm(3)) == "RMSNorm((3,), eps=None, elementwise_affine=True)"
    assert repr(nn.GroupNorm(2, 4)) == "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"
    assert repr(nn.LocalResponseNorm(2)) == "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)"
    assert list(nn.RMSNorm(3).state_dict()) == ["weight"]
    assert list(nn.GroupNorm(1, 2, bias=False).state_dict()) == ["weight"]
    assert not nn.GroupNorm(1, 2, affine=False).state_dict()
    x = T.rand(2, 4, 3)
    assert T.equal(nn.LocalResponseNorm(2)(x), nn.functional.local_response_norm(x, 2))


@pytest.mark.parametrize("layer", [nn.LayerNorm(6), nn.RMSNorm(6), nn.GroupNorm(2, 6)], ids=repr)
def test_derivatives_in_the_coordinates_go_forward_through_layers(layer):
    net = nn.Sequential(nn.Linear(1, 6), layer, nn.Tanh(), nn.Linear(6, 1)).double()
    x = T.rand(5, 1, dtype=T.float64, requires_grad=True)
    (slope,) = T.grad(net(x).sum(), x, create_graph=True)
    (bend,) = T.grad(slope.sum(), x)
    found = partials(net, [x.detach()], [(0,), (0, 0)])
    assert T.allclose(found[(0,)], slope, rtol=1e-10) and T.allclose(found[(0, 0)], bend, rtol=1e-8)
