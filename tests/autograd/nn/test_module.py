"""Modules: registration, walking, modes, moving, saving (rows 90-99)."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.strict import strict_cuda


def make_net(seed=0):
    g = T.Generator().manual_seed(seed)
    return nn.Sequential(nn.Linear(2, 4, generator=g), nn.Tanh(), nn.Linear(4, 1, generator=g))


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 2)
        self.scale = nn.Parameter(T.ones(2))
        self.register_buffer("offset", T.zeros(2))
        self.register_buffer("counter", T.tensor(0), persistent=False)
        self.label = "plain attribute"

    def forward(self, x):
        return self.inner(x) * self.scale + self.offset


def test_row_090_parameter_is_a_leaf_that_requires_grad():
    p = nn.Parameter(T.rand(3))
    assert isinstance(p, T.Tensor)
    assert p.is_leaf is True and p.requires_grad is True
    a = T.rand(3, requires_grad=True)
    from_non_leaf = nn.Parameter(a * 2)
    assert from_non_leaf.is_leaf and from_non_leaf.grad_fn is None
    from_non_leaf.sum().backward()
    assert a.grad is None


def test_parameter_shares_memory_with_its_data():
    data = T.zeros(2)
    p = nn.Parameter(data)
    with T.no_grad():
        data.fill_(3.0)
    assert p.tolist() == [3.0, 3.0]


def test_parameter_refuses_what_is_not_a_floating_tensor():
    with pytest.raises(TypeError, match="expected a Tensor, got list"):
        nn.Parameter([1.0])
    with pytest.raises(RuntimeError, match=r"(?i)only tensors of floating point"):
        nn.Parameter(T.tensor([1, 2]))
    assert nn.Parameter(T.tensor([1, 2]), requires_grad=False).requires_grad is False


def test_row_091_linear_shapes():
    lin = nn.Linear(3, 5)
    assert lin.weight.shape == (5, 3) and lin.bias.shape == (5,)
    assert lin(T.rand(7, 3)).shape == (7, 5)
    assert lin(T.rand(3)).shape == (5,)
    assert lin(T.rand(2, 7, 3)).shape == (2, 7, 5)
    assert nn.Linear(3, 5, bias=False).bias is None


def test_row_092_gradients_reach_weight_and_bias_only():
    lin = nn.Linear(3, 5)
    x = T.rand(4, 3)
    y = lin(x)
    loss = y.sum()
    loss.backward()
    assert lin.weight.grad is not None and lin.bias.grad is not None
    assert x.grad is None
    with pytest.warns(UserWarning, match="not a leaf"):
        assert y.grad is None
    with pytest.warns(UserWarning, match="not a leaf"):
        assert loss.grad is None
    np.testing.assert_allclose(
        lin.weight.grad.numpy(), np.tile(x.numpy().sum(0), (5, 1)), rtol=1e-6
    )
    assert lin.bias.grad.tolist() == [4.0] * 5


def test_row_094_frozen_parameter_gets_no_gradient():
    lin = nn.Linear(3, 5)
    lin.weight.requires_grad = False
    lin(T.rand(2, 3)).sum().backward()
    assert lin.weight.grad is None and lin.bias.grad is not None


def test_row_095_eval_returns_self_and_keeps_gradients():
    net = make_net()
    assert net.eval() is net
    assert all(m.training is False for m in net.modules())
    y = net(T.rand(2, 2)).sum()
    y.backward()
    assert all(p.grad is not None for p in net.parameters())
    assert net.train() is net and net[0].training is True


def test_row_096_eval_with_no_grad_records_nothing():
    net = make_net().eval()
    with T.no_grad():
        y = net(T.rand(2, 2))
    assert y.requires_grad is False and y.grad_fn is None


def test_row_097_conversion_keeps_identity_and_leafness():
    net = make_net()
    before = list(net.parameters())
    net(T.rand(2, 2)).sum().backward()
    assert net.double() is net
    assert net.to("cpu") is net
    after = list(net.parameters())
    assert all(a is b for a, b in zip(before, after, strict=True))
    assert all(p.is_leaf and p.requires_grad and p.dtype == T.float64 for p in after)
    assert all(p.grad.dtype == T.float64 for p in after)
    net(T.rand(2, 2, dtype=T.float64)).sum().backward()
    net.to(T.float32)
    assert net[0].weight.dtype == T.float32
    net.to(T.zeros(1, dtype=T.float64))
    assert net[0].weight.dtype == T.float64


def test_row_097_on_the_strict_device():
    with strict_cuda():
        net = make_net()
        before = list(net.parameters())
        net.cuda()
        assert all(p.device.type == "cuda" and p.is_leaf for p in before)
        assert all(a is b for a, b in zip(before, net.parameters(), strict=True))
        net(T.rand(2, 2).cuda()).sum().backward()
        assert all(p.grad.device.type == "cuda" for p in before)
        net.cpu()
        assert all(p.device.type == "cpu" and p.grad.device.type == "cpu" for p in before)


def test_to_refuses_integer_dtypes_and_leaves_integer_buffers():
    net = Scaled()
    with pytest.raises(TypeError, match="floating point"):
        net.to(T.int64)
    net.double()
    assert net.counter.dtype == T.int64 and net.offset.dtype == T.float64


def test_row_098_grad_fn_leads_to_the_accumulator_of_the_parameter():
    lin = nn.Linear(3, 5)
    y = lin(T.rand(2, 3))
    nodes = [n for n, _ in y.grad_fn.next_functions if n is not None]
    assert {id(n.variable) for n in nodes} == {id(lin.weight), id(lin.bias)}


def test_row_099_attributes_register_parameters_modules_and_buffers():
    net = Scaled()
    assert [n for n, _ in net.named_parameters()] == ["scale", "inner.weight", "inner.bias"]
    assert [n for n, _ in net.named_modules()] == ["", "inner"]
    assert [n for n, _ in net.named_buffers()] == ["offset", "counter"]
    assert list(net.children()) == [net.inner]
    assert list(net.state_dict()) == ["scale", "offset", "inner.weight", "inner.bias"]
    assert net.get_parameter("inner.bias") is net.inner.bias
    del net.scale
    assert not hasattr(net, "scale")
    with pytest.raises(AttributeError, match="'Scaled' object has no attribute 'scale'"):
        net.scale  # noqa: B018


def test_assignment_keeps_the_kind_of_a_registered_name():
    net = Scaled()
    with pytest.raises(TypeError, match="cannot assign 'Tensor' to 'scale'"):
        net.scale = T.ones(2)
    net.scale = None
    assert [n for n, _ in net.named_parameters()] == ["inner.weight", "inner.bias"]
    net.offset = T.ones(2)
    assert dict(net.named_buffers())["offset"].tolist() == [1.0, 1.0]
    net.label = nn.Parameter(T.ones(1))
    assert "label" in dict(net.named_parameters())


def test_registration_before_init_is_refused():
    class Early(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter(T.ones(1))

    with pytest.raises(AttributeError, match="before Module.__init__"):
        Early()


def test_registration_refuses_bad_names_and_values():
    net = Scaled()
    with pytest.raises(KeyError, match="must not be empty or contain"):
        net.register_buffer("a.b", T.ones(1))
    with pytest.raises(KeyError, match="already exists"):
        net.register_buffer("label", T.ones(1))
    with pytest.raises(TypeError, match="takes a Tensor"):
        net.register_buffer("b", 3)
    with pytest.raises(TypeError, match="nn.Parameter"):
        net.register_parameter("p", T.ones(1))
    with pytest.raises(TypeError, match="is not a Module"):
        net.add_module("m", 3)
    with pytest.raises(AttributeError, match="it has .*'inner'"):
        net.get_submodule("outer")
    with pytest.raises(AttributeError, match="it has .*'inner.weight'"):
        net.get_parameter("inner.scale")


def test_shared_parameters_and_modules_come_once():
    lin = nn.Linear(2, 2)
    net = nn.Sequential(lin, nn.Tanh(), lin)
    assert len(list(net.parameters())) == 2
    assert len(list(net.modules())) == 3
    assert len(net.state_dict()) == 4
    other = nn.Linear(2, 2)
    other.weight = lin.weight
    assert len(list(nn.ModuleList([lin, other]).parameters())) == 3


def test_apply_visits_children_first():
    seen = []
    net = make_net()
    assert net.apply(seen.append) is net
    assert seen == [net[0], net[1], net[2], net]


def test_zero_grad_and_requires_grad():
    net = make_net()
    net(T.rand(2, 2)).sum().backward()
    kept = net[0].weight.grad
    net.zero_grad(set_to_none=False)
    assert net[0].weight.grad is kept and kept.tolist() == [[0.0, 0.0]] * 4
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    assert net.requires_grad_(False) is net
    assert not net(T.rand(2, 2)).requires_grad


def test_state_dict_loads_into_another_module_in_place():
    source, target = make_net(0), make_net(1)
    kept = target[0].weight
    array = kept._data
    result = target.load_state_dict(source.state_dict())
    assert result.missing_keys == [] and result.unexpected_keys == []
    assert str(result) == repr(result) == "<All keys matched successfully>"
    assert target[0].weight is kept and kept._data is array
    x = T.rand(3, 2)
    assert target(x).tolist() == source(x).tolist()
    arrays = {name: t.numpy() for name, t in source.state_dict().items()}
    make_net(2).load_state_dict(arrays)


def test_load_state_dict_lists_everything_and_changes_nothing():
    net = make_net()
    before = copy.deepcopy(net.state_dict())
    state = net.state_dict()
    del state["0.bias"]
    state["0.weight"] = T.zeros(3, 2)
    state["2.bias"] = T.zeros(1) + 7
    state["extra"] = T.zeros(1)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    text = str(caught.value)
    assert "Error(s) in loading state_dict for Sequential" in text
    assert 'Missing key(s) in state_dict: "0.bias"' in text
    assert 'Unexpected key(s) in state_dict: "extra"' in text
    assert "size mismatch for 0.weight" in text and "[3, 2]" in text and "[4, 2]" in text
    assert all((net.state_dict()[k].numpy() == v.numpy()).all() for k, v in before.items())
    del state["0.weight"]
    missing, unexpected = found = net.load_state_dict(state, strict=False)
    assert str(found) == (
        "IncompatibleKeys(missing_keys=['0.weight', '0.bias'], unexpected_keys=['extra'])"
    )
    assert missing == ["0.weight", "0.bias"] and unexpected == ["extra"]
    assert net[2].bias.item() == 7


def test_loading_between_forward_and_backward_is_noticed():
    net = make_net()
    y = net(T.rand(2, 2)).sum()
    net.load_state_dict(make_net(1).state_dict())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_deepcopy_and_pickle_give_independent_modules():
    net = make_net()
    x = T.rand(3, 2)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other(x).tolist() == net(x).tolist()
        assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in other.parameters())
        with T.no_grad():
            other[0].weight.zero_()
        assert net[0].weight.tolist() != other[0].weight.tolist()


def test_modules_die_without_the_garbage_collector():
    gc.disable()
    try:
        net = make_net()
        net(T.rand(2, 2)).sum().backward()
        watch = weakref.ref(net), weakref.ref(net[0].weight)
        del net
        assert watch[0]() is None and watch[1]() is None
    finally:
        gc.enable()


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        nn.Module()(1)


def test_repr_shows_the_tree():
    assert repr(make_net()) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=4, bias=True)\n"
        "  (1): Tanh()\n"
        "  (2): Linear(in_features=4, out_features=1, bias=True)\n"
        ")"
    )


# ---- state with hooks, and what is more than tensors


class Counted(nn.Linear):
    """One whose state holds a number besides."""

    seen = 0

    def get_extra_state(self):
        return {"seen": self.seen}

    def set_extra_state(self, state):
        self.seen = state["seen"]


def test_the_state_may_hold_more_than_tensors():
    net, other = nn.Sequential(Counted(2, 1)), nn.Sequential(Counted(2, 1))
    net[0].seen = 5
    state = net.state_dict()
    assert list(state) == ["0.weight", "0.bias", "0._extra_state"]
    other.load_state_dict(state)
    assert other[0].seen == 5
    del state["0._extra_state"]
    with pytest.raises(RuntimeError, match="Missing key.*0._extra_state"):
        other.load_state_dict(state)
    with pytest.raises(RuntimeError, match="each module with extra state defines"):
        nn.Linear(1, 1).get_extra_state()


def test_a_state_may_be_added_to_another_with_the_tensors_themselves():
    net, state = nn.Linear(2, 1), {}
    found = net.state_dict(destination=state, prefix="net.", keep_vars=True)
    assert found is state and list(state) == ["net.weight", "net.bias"]
    assert state["net.weight"] is net.weight


def test_hooks_see_the_state_before_and_after_it_is_read():
    net, seen = nn.Sequential(nn.Linear(2, 1)), []
    net[0].register_state_dict_pre_hook(lambda *given: seen.append(given))

    def renamed(module, state, prefix, metadata):
        state[f"{prefix}kernel"] = state.pop(f"{prefix}weight")

    handle = net[0].register_state_dict_post_hook(renamed)
    assert list(net.state_dict()) == ["0.bias", "0.kernel"]
    assert seen == [(net[0], "0.", False)]
    handle.remove()
    assert list(net.state_dict()) == ["0.weight", "0.bias"]
    net.register_state_dict_post_hook(lambda *given: {})
    with pytest.raises(RuntimeError, match="must return None"):
        net.state_dict()


def test_hooks_change_what_is_loaded():
    net = nn.Sequential(nn.Linear(2, 1))

    def renamed(module, state, prefix, metadata, strict, missing, unexpected, errors):
        state[f"{prefix}weight"] = state.pop(f"{prefix}kernel")

    old = {"0.kernel": T.ones(1, 2), "0.bias": T.zeros(1)}
    handle = net[0].register_load_state_dict_pre_hook(renamed)
    assert net.load_state_dict(old) == ([], [])
    assert net[0].weight.tolist() == [[1, 1]] and "0.kernel" in old
    handle.remove()

    def forgives(module, keys):
        keys.missing_keys.clear()

    net.register_load_state_dict_post_hook(forgives)
    net.load_state_dict({"0.weight": 2 * T.ones(1, 2)})
    assert net[0].weight.tolist() == [[2, 2]]
    with pytest.raises(RuntimeError, match="(?s)Unexpected key.*What fits was loaded"):
        net.load_state_dict({"other": T.ones(1)})


def test_loading_may_put_the_tensors_in_place():
    net = nn.BatchNorm1d(2)
    state = {name: t.detach().clone() for name, t in net.double().state_dict().items()}
    net = nn.BatchNorm1d(2)
    net.load_state_dict(state, assign=True)
    assert net.weight.dtype == T.float64 and isinstance(net.weight, nn.Parameter)
    assert net.running_mean is state["running_mean"]
    assert np.shares_memory(net.weight._data, state["weight"]._data)


def test_buffers_and_modules_by_their_names():
    net = nn.Sequential(nn.BatchNorm1d(2), nn.Sequential(nn.Tanh()))
    assert net.get_buffer("0.running_var") is net[0].running_var
    with pytest.raises(AttributeError, match="no buffer '0.weight'; it has .'0.running_mean'"):
        net.get_buffer("0.weight")
    net.set_submodule("1.0", nn.ReLU())
    net.set_submodule("1.last", nn.Tanh())
    assert repr(net[1][0]) == "ReLU()" and len(net[1]) == 2
    for target, module, words in (("", nn.Tanh(), "without a target"), ("0", 3, "not a Module")):
        with pytest.raises(ValueError, match=words):
            net.set_submodule(target, module)
    with pytest.raises(AttributeError, match="no sub-module '1.other'"):
        net.set_submodule("1.other", nn.Tanh(), strict=True)


def test_other_dtypes_and_no_values():
    net = nn.BatchNorm1d(2).type(T.float64)
    assert net.weight.dtype == net.running_mean.dtype == T.float64
    weight = net.weight
    assert net.to_empty(device="cpu").weight is weight and weight.shape == (2,)


def test_a_buffer_is_registered_when_it_is_assigned():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Buffer(T.tensor([2.0]))
            self.count = nn.Buffer(T.zeros(()), persistent=False)

        def forward(self, x):
            return x * self.scale

    module = Scaled()
    assert [name for name, _ in module.named_buffers()] == ["scale", "count"]
    assert list(module.state_dict()) == ["scale"] and not list(module.parameters())
    module.count = T.ones(())
    assert module.count.item() == 1.0 and list(copy.deepcopy(module).state_dict()) == ["scale"]
    assert module.double().scale.dtype == T.float64
    assert module(T.ones(1)).tolist() == [2.0]
    again = pickle.loads(pickle.dumps(nn.Buffer(T.ones(2))))
    assert isinstance(again, nn.Buffer) and again.tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="expected a Tensor, got list"):
        nn.Buffer([1.0])
    layer = nn.Linear(1, 1)
    with pytest.raises(TypeError, match="takes a Parameter or None"):
        layer.weight = nn.Buffer(T.ones(1, 1))
