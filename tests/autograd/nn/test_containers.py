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


def test_parameter_dict_is_a_dictionary_of_parameters():
    constants = nn.ParameterDict({"nu": T.tensor(0.1), "a": nn.Parameter(T.zeros(3))})
    constants["mu"] = T.ones(1)
    assert list(constants) == ["nu", "a", "mu"] and list(reversed(constants)) == ["mu", "a", "nu"]
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in constants.values())
    assert [name for name, _ in constants.named_parameters()] == ["nu", "a", "mu"]
    assert constants.get("nu") is constants["nu"] and constants.get("none", 3) == 3
    constants["nu"] = T.tensor(0.2)
    assert list(constants.keys()) == ["nu", "a", "mu"] and constants.nu.item() == T.tensor(0.2)
    assert constants.setdefault("nu", T.zeros(1)) is constants["nu"]
    assert constants.setdefault("new", T.zeros(1)).shape == (1,)
    name, last = constants.popitem()
    assert name == "new" and last.shape == (1,) and "new" not in constants
    assert constants.pop("mu").item() == 1.0 and len(constants) == 2
    del constants["a"]
    assert dict(constants.items()) == {"nu": constants["nu"]}
    constants.clear()
    assert len(constants) == 0 and repr(constants) == "ParameterDict()"


def test_parameter_dicts_join_and_share_what_they_hold():
    first = nn.ParameterDict([("u", T.ones(2))])
    second = first.copy()
    assert second["u"] is first["u"] and second is not first
    both = first | {"v": T.zeros(1)}
    assert list(both) == ["u", "v"] and both["u"] is first["u"] and list(first) == ["u"]
    assert list({"v": T.zeros(1)} | first) == ["v", "u"]
    first |= second.fromkeys(["w", "x"], T.ones(1))
    assert list(first) == ["u", "w", "x"]
    assert repr(first.copy()).splitlines()[1] == "  (u): float32 of shape [2]"


def test_a_module_saves_and_trains_what_a_parameter_dict_holds():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.constants = nn.ParameterDict({"nu": T.tensor(2.0)})

        def forward(self, x):
            return x * self.constants["nu"]

    net, other = Net(), Net()
    net(T.tensor(3.0)).backward()
    T.optim.SGD(net.parameters(), lr=0.1).step()
    other.load_state_dict(net.state_dict())
    assert list(net.state_dict()) == ["constants.nu"]
    assert other.constants["nu"].item() == pytest.approx(1.7)


def test_what_a_parameter_dict_does_not_take():
    constants = nn.ParameterDict()
    with pytest.raises(TypeError, match="expected a Tensor, got float"):
        constants["nu"] = 0.1
    with pytest.raises(KeyError, match="must not be empty or contain '.'"):
        constants["a.b"] = T.ones(1)
    with pytest.raises(KeyError, match="attribute 'values' of ParameterDict already exists"):
        constants["values"] = T.ones(1)
    with pytest.raises(KeyError, match="'nu'; this ParameterDict has"):
        constants["nu"]
