"""Hooks of several tensors, and of leaves whose gradient has been added up."""

import copy
import pickle

import pytest

import autograd as T
from autograd import nn, optim

register = T.autograd.graph.register_multi_grad_hook


def leaves(*values):
    return [T.tensor(value, dtype=T.float64, requires_grad=True) for value in values]


def test_a_hook_of_all_is_called_once_with_all_gradients():
    a, b, unused = leaves(2.0, 3.0, 5.0)
    product = a * b
    calls = []
    handle = register([a, unused, product, b], calls.append)
    (product * product).backward()
    assert [g if g is None else g.item() for g in calls[0]] == [36.0, None, 12.0, 24.0]
    assert len(calls) == 1
    (a * 4).backward()  # reaches one of them
    assert [g if g is None else g.item() for g in calls[1]] == [4.0, None, None, None]
    handle.remove()
    handle.remove()
    (a * b).backward()
    assert len(calls) == 2


def test_a_hook_of_all_waits_for_those_that_the_pass_reaches_alone():
    a, b = leaves(2.0, 3.0)
    calls = []
    with register([a, b], calls.append):
        T.autograd.grad(a * b, a)
        assert len(calls) == 1 and calls[0][0].item() == 3.0 and calls[0][1] is None
        T.autograd.grad(a * b, [b, a])
        assert [g.item() for g in calls[1]] == [3.0, 2.0]
        (a * b).backward(inputs=[b])
        assert calls[2][0] is None and calls[2][1].item() == 2.0
    (a * b).backward()
    assert len(calls) == 3


def test_a_gradient_that_never_arrives_is_none():
    class First(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2, None

    a, b = leaves(2.0, 3.0)
    calls = []
    register([a, b], calls.append)
    First.apply(a, b).backward()
    assert len(calls) == 1 and calls[0][0].item() == 2.0 and calls[0][1] is None


def test_a_hook_of_any_is_called_with_the_first_gradient():
    a, b = leaves(2.0, 3.0)
    middle = a * b
    calls = []
    register([a, middle, b], calls.append, mode="any")
    (middle * 10).backward()
    assert [g.item() for g in calls] == [10.0]
    with pytest.raises(ValueError, match=r"mode must be one of \('all', 'any'\), got 'some'"):
        register([a], calls.append, mode="some")
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        register([T.ones(1)], calls.append)


def test_second_derivatives_go_through_what_the_hook_was_given():
    a, b = leaves(2.0, 3.0)
    found = []
    register([a, b], found.extend)
    T.autograd.grad(a**2 * b, [a, b], create_graph=True)
    assert found[0].requires_grad
    (second,) = T.autograd.grad(found[0], b, retain_graph=True)
    assert second.item() == 4.0


# ---- after a leaf's gradient has been added up


def test_a_hook_sees_the_leaf_with_its_gradient_after_each_backward():
    x = T.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append((p, p.grad.tolist())))
    (x * 3).sum().backward()
    (x * 3).sum().backward(inputs=[x])
    T.autograd.grad((x * 3).sum(), x)  # adds nothing up
    assert [(p is x, grad) for p, grad in seen] == [(True, [3.0, 3.0]), (True, [6.0, 6.0])]
    handle.remove()
    (x * 3).sum().backward()
    assert len(seen) == 2


def test_a_hook_may_step_an_optimizer_and_drop_the_gradient():
    T.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    other = copy.deepcopy(net)
    x = T.rand(5, 2, dtype=T.float64)
    own = {p: optim.SGD([p], lr=0.1, momentum=0.9) for p in net.parameters()}

    def step(p):
        own[p].step()
        p.grad = None

    for p in net.parameters():
        p.register_post_accumulate_grad_hook(step)
    usual = optim.SGD(other.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        net(x).pow(2).mean().backward()
        usual.zero_grad()
        other(x).pow(2).mean().backward()
        usual.step()
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert p.grad is None and p.tolist() == q.tolist()
    assert copy.deepcopy(next(net.parameters()))._after_accumulation is None


def test_hooks_that_cannot_be_called_are_refused():
    x = T.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        T.ones(2).register_post_accumulate_grad_hook(print)
    x.register_post_accumulate_grad_hook(lambda p: 3)
    with pytest.raises(TypeError, match="returned int; it has to return None"):
        x.sum().backward()


def test_compiled_functions_call_the_hooks_of_leaves_as_well():
    w = nn.Parameter(T.tensor([2.0]))
    calls, together = [], []
    w.register_post_accumulate_grad_hook(lambda p: calls.append(p.grad.item()))
    loss = T.compile(lambda x: (w * x).sum())
    loss(T.ones(3)).backward()
    with register([w], together.append):
        loss(T.ones(3)).backward()
    assert calls == [3.0, 6.0] and [g.item() for g in together[0]] == [3.0]


# ---- around the steps of an optimizer


def stepped(make=optim.SGD):
    p = nn.Parameter(T.tensor([1.0]))
    p.grad = T.tensor([1.0])
    return p, make([p], lr=0.5)


def test_hooks_are_called_before_and_after_a_step_with_its_arguments():
    p, optimizer = stepped()
    calls = []
    first = optimizer.register_step_pre_hook(lambda *given: calls.append(("pre", p.item(), given)))
    optimizer.register_step_post_hook(lambda *given: calls.append(("post", p.item(), given)))
    assert optimizer.step(closure := lambda: 3.0) == 3.0
    arguments = (optimizer, (optimizer, closure), {})
    assert calls == [("pre", 1.0, arguments), ("post", 0.5, arguments)]
    first.remove()
    optimizer.step()
    assert [what for what, *_ in calls] == ["pre", "post", "post"]


def test_a_hook_may_change_the_arguments_of_a_step():
    _, optimizer = stepped()
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: 7.0), kwargs))
    assert optimizer.step() == 7.0
    optimizer.register_step_pre_hook(lambda *given: 3)
    with pytest.raises(RuntimeError, match=r"return None or a tuple of \(new_args, new_kwargs\)"):
        optimizer.step()


def test_hooks_of_steps_of_their_own_are_called_once():
    class Twice(optim.SGD):
        def step(self, closure=None):
            super().step()
            return super().step(closure)

    p, optimizer = stepped(Twice)
    calls = []
    optimizer.register_step_post_hook(lambda *given: calls.append(p.item()))
    optimizer.step()
    assert calls == [0.0]
    q = nn.Parameter(T.tensor([1.0]))
    lbfgs = optim.LBFGS([q])
    lbfgs.register_step_post_hook(lambda *given: calls.append(q.item()))

    def closure():
        lbfgs.zero_grad()
        loss = (q - 2.0).pow(2).sum()
        loss.backward()
        return loss

    lbfgs.step(closure)
    assert calls[1:] == [q.item()] and abs(q.item() - 2) < 1e-5


def test_copies_and_pickles_of_an_optimizer_have_no_hooks():
    _, optimizer = stepped()
    optimizer.register_step_post_hook(lambda *given: None)  # which pickle refuses
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert not other._after_step.hooks
        other.step()
