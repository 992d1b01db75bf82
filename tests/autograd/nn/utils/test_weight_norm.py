"""Weights as lengths and directions."""

import copy
import pickle

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.jets import partials
from autograd.nn.utils.weight_norm import with_lengths
from autograd.testing import OpCase, check_op

BOTH = [nn.utils.weight_norm, nn.utils.parametrizations.weight_norm]
NAMES = [
    ["bias", "weight_g", "weight_v"],
    ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"],
]


def test_values_and_derivatives():
    check_op(
        OpCase(
            "slices", lambda g, v: with_lengths(g, v, 0),
            [((3, 1), (3, 2)), ((2, 1, 1), (2, 3, 2))],
            reference=lambda g, v: (
                g * v / np.sqrt((v**2).sum(tuple(range(1, v.ndim)), keepdims=True))
            ),
        )
    )  # fmt: skip
    check_op(
        OpCase(
            "all", lambda g, v: with_lengths(g, v, None), [((), (3, 2))],
            reference=lambda g, v: g * v / np.linalg.norm(v),
        )
    )  # fmt: skip


@pytest.mark.parametrize(("norm", "names"), list(zip(BOTH, NAMES, strict=True)))
@pytest.mark.parametrize(("dim", "shape"), [(0, (4, 1)), (1, (1, 3)), (None, ())])
def test_nothing_changes_but_what_is_learned(norm, names, dim, shape):
    layer = nn.Linear(3, 4, dtype=T.float64)
    weight, x = layer.weight.detach().clone(), T.rand(5, 3, dtype=T.float64)
    plain = layer(x)
    assert norm(layer, dim=dim) is layer
    assert T.allclose(layer(x), plain) and T.allclose(layer.weight, weight)
    assert list(layer.state_dict()) == names
    assert layer.state_dict()[names[1]].shape == shape
    with T.no_grad():
        dict(layer.named_parameters())[names[1]].mul_(2.0)
    assert T.allclose(layer.weight, 2 * weight)
    layer(x).sum().backward()
    assert all(p.grad is not None for p in layer.parameters())
    layer.weight = weight * 3
    assert T.allclose(layer.weight, 3 * weight)
    if norm is BOTH[0]:
        nn.utils.remove_weight_norm(layer)
    else:
        nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert list(layer.state_dict()) == ["bias", "weight"] and T.allclose(layer.weight, 3 * weight)


@pytest.mark.parametrize("norm", BOTH)
def test_copies_have_weights_of_their_own(norm):
    layer = norm(nn.Linear(2, 2))
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert T.equal(other.weight, layer.weight)
        with T.no_grad():
            for parameter in other.parameters():
                parameter.add_(1.0)
        assert not T.equal(other.weight, layer.weight)


@pytest.mark.parametrize("norm", BOTH)
def test_derivatives_of_any_kind_go_through(norm):
    net = nn.Sequential(norm(nn.Linear(1, 4)), nn.Tanh(), norm(nn.Linear(4, 1))).double()

    def loss(x):
        u = net(x)
        (slope,) = T.grad(u.sum(), x, create_graph=True)
        return ((slope + u) ** 2).mean()

    x = T.rand(6, 1, dtype=T.float64, requires_grad=True)
    (slope,) = T.grad(net(x).sum(), x)
    assert T.allclose(partials(net, [x.detach()], [(0,)])[(0,)], slope, rtol=1e-12)
    parameters, recorded = list(net.parameters())[:5], T.compile(loss, points="x")
    for _ in range(2):
        for ours, plain in zip(
            T.grad(recorded(x), parameters), T.grad(loss(x), parameters), strict=True
        ):
            assert T.allclose(ours, plain, rtol=1e-11)
        with T.no_grad():  # which is seen at the next call
            for parameter in net.parameters():
                parameter.mul_(1.1)


def test_other_layers_and_other_names():
    layer = nn.utils.weight_norm(nn.LSTM(2, 3), "weight_hh_l0")
    assert "weight_hh_l0_g" in layer.state_dict() and layer(T.rand(4, 1, 2))[0].shape == (4, 1, 3)
    layer = nn.utils.weight_norm(nn.Conv2d(2, 3, 2))
    assert layer.weight_g.shape == (3, 1, 1, 1)
    with pytest.raises(RuntimeError, match="two weight_norm hooks on the same parameter weight"):
        nn.utils.weight_norm(layer)
    with pytest.raises(AttributeError, match="no parameter 'other'"):
        nn.utils.weight_norm(layer, "other")
    with pytest.raises(ValueError, match="'bias' not found"):
        nn.utils.remove_weight_norm(layer, "bias")
    with pytest.raises(KeyError, match="'weight' of Conv2d already exists"):
        layer.register_parameter("weight", nn.Parameter(T.ones(1)))
    assert "weight" in dir(layer)
