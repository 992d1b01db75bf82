"""Containers of modules and parameters."""

import pytest

import autograd as T
from autograd import nn


def test_sequential_calls_in_order_and_slices():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    x = T.rand(4, 2)
    assert net(x).tolist() == net[2](net[1](net[0](x))).tolist()
    assert len(net) == 3 and net[-1] is net[2]
    assert isinstance(net[:2], nn.Sequential) and net[:2](x).shape == (4, 3)
    net.append(nn.Identity())
    assert len(net) == 4
    named = nn.Sequential({"first": nn.Linear(2, 2), "act": nn.Sin()})
    assert [n for n, _ in named.named_parameters()] == ["first.weight", "first.bias"]
    with pytest.raises(IndexError, match="out of range for a Sequential of 4"):
        net[4]


def test_module_list_registers_and_edits():
    layers = nn.ModuleList([nn.Linear(2, 2)])
    layers.append(nn.Tanh()).extend([nn.Linear(2, 1)])
    assert layers.insert(1, nn.Sin()) is layers
    assert [type(m).__name__ for m in layers] == ["Linear", "Sin", "Tanh", "Linear"]
    assert [n for n, _ in layers.named_parameters()] == ["0.weight", "0.bias", "3.weight", "3.bias"]
    del layers[1]
    layers[1] = nn.SiLU()
    assert [type(m).__name__ for m in layers] == ["Linear", "SiLU", "Linear"]
    with pytest.raises(TypeError, match="ModuleList takes a Module, got int"):
        layers.append(3)
    with pytest.raises(TypeError, match="ModuleList takes a Module, got str"):
        layers.insert(0, "x")
    assert len(layers) == 3


def test_module_dict_registers_by_name():
    heads = nn.ModuleDict({"u": nn.Linear(2, 1), "v": nn.Linear(2, 1)})
    heads["w"] = nn.Tanh()
    assert list(heads) == ["u", "v", "w"] and "u" in heads and len(heads) == 3
    assert len(list(heads.parameters())) == 4
    assert isinstance(heads.pop("w"), nn.Tanh)
    with pytest.raises(KeyError, match="this ModuleDict has"):
        heads["w"]


def test_parameter_list_makes_parameters():
    values = nn.ParameterList([T.ones(2), nn.Parameter(T.zeros(3))])
    values.append(T.ones(1))
    assert [tuple(p.shape) for p in values.parameters()] == [(2,), (3,), (1,)]
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in values)
    values[0] = T.zeros(4)
    assert values[0].shape == (4,)
    with pytest.raises(TypeError, match="expected a Tensor"):
        values.append(3.0)
