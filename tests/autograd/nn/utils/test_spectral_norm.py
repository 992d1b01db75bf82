"""Weights of largest singular value 1."""

import numpy as np
import pytest

import autograd as T
from autograd import nn

BOTH = [nn.utils.spectral_norm, nn.utils.parametrizations.spectral_norm]
NAMES = [
    ["bias", "weight_orig", "weight_u", "weight_v"],
    [
        "bias", "parametrizations.weight.original", "parametrizations.weight.0._u",
        "parametrizations.weight.0._v",
    ],
]  # fmt: skip


def largest(weight):
    return np.linalg.norm(weight.detach().numpy(), 2)


@pytest.mark.parametrize(("norm", "names"), list(zip(BOTH, NAMES, strict=True)))
def test_the_largest_singular_value_becomes_one(norm, names):
    T.manual_seed(0)
    layer = nn.Linear(5, 4, dtype=T.float64)
    weight = layer.weight.detach().clone()
    norm(layer, n_power_iterations=100)
    assert list(layer.state_dict()) == names
    assert layer.weight.detach().numpy() == pytest.approx(weight.numpy() / largest(weight))
    with T.no_grad():
        dict(layer.named_parameters())[names[1]].mul_(3.0)
    assert largest(layer.weight) == pytest.approx(1)


@pytest.mark.parametrize("norm", BOTH)
def test_vectors_move_while_training_alone(norm):
    layer = norm(nn.Linear(5, 4, dtype=T.float64))
    buffers = list(layer.buffers())
    before = [one.clone() for one in buffers]
    layer.eval()
    x = T.rand(3, 5, dtype=T.float64)
    found = layer(x)
    assert all(map(T.equal, buffers, before))
    recorded = T.compile(lambda x: layer(x).sum())
    assert T.allclose(recorded(x), found.sum())
    layer.train()
    with pytest.raises(T.TraceError, match="vectors of a spectral norm.*eval"):
        recorded(x)
    layer(x)
    assert not all(map(T.equal, buffers, before))


def test_the_gradient_is_that_for_constant_vectors():
    layer = nn.utils.spectral_norm(nn.Linear(3, 2, bias=False, dtype=T.float64)).eval()
    u, v = layer.weight_u.numpy(), layer.weight_v.numpy()
    weight = layer.weight_orig.detach().numpy()
    (found,) = T.grad(layer.weight[0, 1], layer.weight_orig)
    sigma = u @ weight @ v
    expected = -weight[0, 1] / sigma**2 * np.outer(u, v)
    expected[0, 1] += 1 / sigma
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_removing_leaves_the_weight_that_is_read():
    layer = nn.utils.spectral_norm(nn.ConvTranspose2d(2, 3, 2))
    assert layer.weight_u.shape == (3,) and layer.weight_v.shape == (8,)
    weight = layer.eval().weight.detach().clone()
    nn.utils.remove_spectral_norm(layer)
    assert T.equal(layer.weight, weight) and list(layer.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="spectral_norm of 'weight' not found"):
        nn.utils.remove_spectral_norm(layer)


def test_a_vector_is_divided_by_its_length():
    layer = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4), "bias")
    assert layer.bias.norm().item() == pytest.approx(1)


@pytest.mark.parametrize("norm", BOTH)
def test_what_does_not_fit_is_refused(norm):
    with pytest.raises(ValueError, match="n_power_iterations to be positive.*=0"):
        norm(nn.Linear(2, 2), n_power_iterations=0)
    with pytest.raises(AttributeError, match="other"):
        norm(nn.Linear(2, 2), "other")
    layer = nn.utils.spectral_norm(nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="two spectral_norm hooks"):
        nn.utils.spectral_norm(layer)
