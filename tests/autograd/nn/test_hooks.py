"""Hooks of modules: what they are given, what they change, when they are called."""

import copy
import pickle

import pytest

import autograd as T
from autograd import nn
from autograd.jets import NoTaylorRule, partials


class Scaled(nn.Module):
    def forward(self, x, scale=1.0):
        if scale == 0:
            raise ValueError("a scale of 0")
        return x * scale


def doubled(module, args):
    return args[0] * 2


def test_a_pre_hook_sees_and_changes_the_arguments():
    net, seen = Scaled(), []
    net.register_forward_pre_hook(lambda module, args: seen.append((module, args)))
    handle = net.register_forward_pre_hook(doubled)
    x = T.tensor([1.0, 2.0])
    assert net(x).tolist() == [2.0, 4.0] and seen == [(net, (x,))]
    handle.remove()
    handle.remove()
    assert net(x).tolist() == [1.0, 2.0]
    net.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    assert net(x).tolist() == [2.0, 3.0]


def test_a_hook_sees_the_arguments_and_changes_the_output():
    net, seen = Scaled(), []
    net.register_forward_pre_hook(doubled)
    net.register_forward_hook(lambda module, args, output: seen.append((args, output)))
    net.register_forward_hook(lambda module, args, output: output + 1)
    assert net(T.tensor(1.0), scale=3.0).item() == 7.0
    (((changed,), output),) = seen
    assert changed.item() == 2.0 and output.item() == 6.0


def test_hooks_may_be_given_the_keywords():
    net, seen = Scaled(), []

    def larger(module, args, kwargs):
        return args, {"scale": kwargs["scale"] + 1}

    net.register_forward_pre_hook(larger, with_kwargs=True)
    net.register_forward_hook(
        lambda module, args, kwargs, output: seen.append((kwargs, output.item())), with_kwargs=True
    )
    net(T.tensor(2.0), scale=2.0)
    assert seen == [({"scale": 3.0}, 6.0)]
    net.register_forward_pre_hook(lambda *given: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="None or a tuple of .new_args, new_kwargs.*got 3"):
        net(T.tensor(2.0), scale=2.0)


def test_the_order_is_that_of_registration_but_for_those_that_go_first():
    net, order = Scaled(), []
    for name, first in (("a", False), ("b", True), ("c", False), ("d", True)):
        net.register_forward_hook(lambda *given, name=name: order.append(name), prepend=first)
        net.register_forward_pre_hook(lambda *given, name=name: order.append(name), prepend=first)
    net(T.tensor(1.0))
    assert order == ["d", "b", "a", "c"] * 2


def test_a_handle_is_a_context():
    net = Scaled()
    with net.register_forward_hook(lambda module, args, output: output * 10):
        assert net(T.tensor(1.0)).item() == 10.0
    assert net(T.tensor(1.0)).item() == 1.0


def test_after_an_error_only_those_that_are_always_called_are():
    net, seen = Scaled(), []
    net.register_forward_hook(lambda *given: seen.append("not this one"))
    net.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
    with pytest.raises(ValueError, match="a scale of 0"):
        net(T.tensor(1.0), 0)
    assert seen == [None]

    def fails(module, args, output):
        raise RuntimeError("and the hook too")

    net.register_forward_hook(fails, always_call=True)
    with (
        pytest.warns(UserWarning, match="silenced as another error .*: and the hook too"),
        pytest.raises(ValueError, match="a scale of 0"),
    ):
        net(T.tensor(1.0), 0)
    with pytest.raises(RuntimeError, match="and the hook too"):
        net(T.tensor(1.0))


def test_hooks_are_copied_and_saved_with_the_module_and_each_has_its_own():
    net = Scaled()
    net.register_forward_pre_hook(doubled)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other(T.tensor(1.0)).item() == 2.0
        other.register_forward_pre_hook(doubled)
        assert other(T.tensor(1.0)).item() == 4.0
    assert net(T.tensor(1.0)).item() == 2.0 and Scaled()(T.tensor(1.0)).item() == 1.0


def test_a_module_needs_its_init_before_its_hooks():
    class Bare(nn.Module):
        def __init__(self):
            self.register_forward_hook(print)

    with pytest.raises(AttributeError, match="call super.*at the start of Bare"):
        Bare()


def test_derivatives_of_any_kind_go_through_hooks():
    net = nn.Sequential(nn.Sin(), Scaled())
    net[0].register_forward_hook(lambda module, args, output: output**2)
    x = T.tensor([[0.3], [0.7]], dtype=T.float64, requires_grad=True)
    # sin(x)^2 has the derivatives sin(2x), 2 cos(2x)
    (slope,) = T.grad(net(x).sum(), x, create_graph=True)
    (bend,) = T.grad(slope.sum(), x)
    found = partials(net, [x.detach()], [(0,), (0, 0)])
    for ours in (slope, found[(0,)]):
        assert T.allclose(ours, T.sin(2 * x))
    for ours in (bend, found[(0, 0)]):
        assert T.allclose(ours, 2 * T.cos(2 * x))


def test_a_recorded_function_sees_that_hooks_come_and_go():
    net = nn.Sequential(nn.Linear(1, 3), nn.Tanh(), nn.Linear(3, 1))

    @T.compile
    def total(x):
        return net(x).sum()

    x, factor = T.rand(4, 1), [2.0]
    plain = total(x).item()
    handle = net[2].register_forward_hook(lambda module, args, output: output * factor[0])
    assert total(x).item() == pytest.approx(2 * plain)
    factor[0] = 5.0
    assert total(x).item() == pytest.approx(5 * plain)
    handle.remove()
    assert total(x).item() == plain


# ---- on the way back

W = T.tensor([[0.3, -0.7], [1.1, 0.2]], dtype=T.float64)


def two_layers():
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Tanh(), nn.Linear(2, 2, bias=False))
    with T.no_grad():
        net.double()[0].weight.copy_(W)
        net[2].weight.copy_(W.t())
    return net


def point():
    return T.tensor([[0.5, -0.3]], dtype=T.float64, requires_grad=True)


def test_a_backward_hook_sees_the_gradients_behind_and_before_its_module():
    net, x, seen = two_layers(), point(), []
    net[1].register_full_backward_hook(lambda *given: seen.append(given))
    net[1].register_full_backward_pre_hook(lambda *given: seen.append(given))
    net(x).sum().backward()
    inner = x.detach() @ W.t()
    behind = T.ones(1, 2, dtype=T.float64) @ W.t()
    (module, before), (same, (entering,), (leaving,)) = seen
    assert module is same is net[1]
    assert T.allclose(before[0], behind) and T.allclose(leaving, behind)
    assert T.allclose(entering, behind * (1 - inner.tanh() ** 2))
    assert T.allclose(x.grad, entering @ W)


def test_backward_hooks_change_gradients_and_go():
    net, x = two_layers(), point()
    (plain,) = T.grad(net(x).sum(), x)
    twice = net[1].register_full_backward_hook(lambda module, entering, leaving: (2 * entering[0],))
    thrice = net[1].register_full_backward_pre_hook(lambda module, leaving: 3 * leaving[0])
    assert T.allclose(T.grad(net(x).sum(), x)[0], 6 * plain)
    recorded = T.compile(lambda x: net(x).sum())
    assert T.allclose(T.grad(recorded(x), x)[0], 6 * plain)
    twice.remove()
    assert T.allclose(T.grad(net(x).sum(), x)[0], 3 * plain)
    assert T.allclose(T.grad(recorded(x), x)[0], 3 * plain)
    thrice.remove()
    assert T.allclose(T.grad(net(x).sum(), x)[0], plain)


def test_second_derivatives_go_through_backward_hooks_once():
    net, x, calls = two_layers(), point(), []
    (slope,) = T.grad(net(x).sum(), x, create_graph=True)
    (plain,) = T.grad((slope**2).sum(), x)
    net[1].register_full_backward_hook(lambda *given: calls.append(1))
    (slope,) = T.grad(net(x).sum(), x, create_graph=True)
    (bend,) = T.grad((slope**2).sum(), x)
    assert T.allclose(bend, plain) and len(calls) == 1
    for _ in range(2):
        net(x).sum().backward()
    assert len(calls) == 3


class Several(nn.Module):
    def forward(self, a, b, count):
        return a * b, b + count, 5 * a


def test_what_has_no_gradient_is_none_or_zero():
    net, seen = Several(), []
    net.register_full_backward_hook(lambda module, *grads: seen.append(grads))
    a, b = T.tensor([1.0, 2.0], requires_grad=True), T.tensor([3.0, 4.0])
    net(a, b, 7)[0].sum().backward()
    ((entering, leaving),) = seen
    assert entering[0].tolist() == [3, 4] and entering[1].tolist() == [0, 0] and entering[2] is None
    assert leaving[0].tolist() == [1, 1] and leaving[1] is None and leaving[2] is None


def test_where_no_input_has_a_gradient_the_hook_sees_those_of_the_output():
    net, seen = two_layers(), []
    handle = net[0].register_full_backward_hook(lambda *given: seen.append(given[1:]))
    net(point().detach()).sum().backward()
    ((entering, (leaving,)),) = seen
    assert entering == (None,) and leaving.shape == (1, 2)
    handle.remove()
    net[0].register_full_backward_hook(lambda *given: (T.ones(1, 2),))
    with pytest.raises(RuntimeError, match="no input requires gradient should always return None"):
        net(point().detach()).sum().backward()


def test_backward_hooks_that_do_not_fit_say_so():
    class Named(nn.Module):
        def forward(self, x):
            return {"x": x}

    net, x = Named(), point()
    net.register_full_backward_hook(print)
    with pytest.warns(UserWarning, match="a Tensor or a tuple of Tensors but received dict"):
        net(x)
    net = two_layers()
    net[1].register_full_backward_hook(lambda *given: (x, x))
    with pytest.raises(RuntimeError, match="number of grad_input, got 2, but expected 1"):
        net(x).sum().backward()
    with pytest.raises(NoTaylorRule, match="in layer '1' .Tanh. has no Taylor rule"):
        partials(net, [x.detach()], [(0,)])
