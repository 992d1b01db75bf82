"""Affine layers: shapes, initial values, what is shown."""

import numpy as np
import pytest

import autograd as T
from autograd import nn


def test_a_layer_of_two_inputs():
    layer = nn.Bilinear(4, 3, 2, dtype=T.float64, generator=T.Generator().manual_seed(0))
    x, y = T.rand(5, 4, dtype=T.float64), T.rand(5, 3, dtype=T.float64)
    expected = np.einsum("ni,kij,nj->nk", x.numpy(), layer.weight.detach().numpy(), y.numpy())
    expected += layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(x, y).detach().numpy(), expected, rtol=1e-13)
    assert abs(layer.weight).max().item() <= 0.5 and abs(layer.bias).max().item() <= 0.5
    assert nn.Bilinear(4, 3, 2, bias=False).bias is None
    assert repr(layer) == "Bilinear(in1_features=4, in2_features=3, out_features=2, bias=True)"
    with pytest.raises(ValueError, match="in1_features must be > 0"):
        nn.Bilinear(0, 1, 1)
