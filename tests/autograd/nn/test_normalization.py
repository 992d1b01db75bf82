"""Normalisation layers."""

import numpy as np

import autograd as T
from autograd import nn


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
