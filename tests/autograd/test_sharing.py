"""What the rules of a node share between passes: made once, freed with the graph, never stale."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import autograd as T
from autograd.ops.registry import REGISTRY, Op
from autograd.saved import saved_tensors_hooks

X = np.random.default_rng(0).uniform(0.2, 0.8, (5, 3))
FUNCTIONS = ["tanh", "sin", "exp", "log", "sqrt", "sigmoid", "asin", "atan", "erf", "reciprocal"]


@pytest.fixture
def applied(monkeypatch):
    """The names of the operations whose forward ran."""
    found = []
    for name in ("tanh", "tanh_slope", "tanh_derivative"):
        op = REGISTRY[name]
        monkeypatch.setattr(op, "on_host", None)  # which may hold the forward
        monkeypatch.setattr(
            op, "forward",
            lambda *a, _run=op.forward, _name=name, **k: found.append(_name) or _run(*a, **k),
        )  # fmt: skip
    return found


def leaf():
    return T.tensor(X, requires_grad=True)


def test_nested_passes_make_the_slope_once(applied):
    x = leaf()
    y = T.tanh(x)
    (first,) = T.grad(y.sum(), x, create_graph=True)
    (second,) = T.grad(first.sum(), x, create_graph=True)
    (again,) = T.grad(y.sum(), x, create_graph=True)
    T.grad((first * second + again).sum(), x)
    assert applied.count("tanh_slope") == 1
    assert applied.count("tanh_derivative") == 2  # one each of the orders 2 and 3


def test_passes_that_are_not_recorded_keep_nothing(applied):
    x = leaf()
    y = T.tanh(x)
    T.grad(y.sum(), x, retain_graph=True)
    assert not y.grad_fn.shared
    T.grad(y.sum(), x)
    assert applied.count("tanh_slope") == 2


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shared_and_separate_nodes_give_the_same_derivatives(name):
    def derivatives(separate):
        x = leaf()
        y = getattr(T, name)(x)
        of = getattr(T, name)(x) if separate else y
        (first,) = T.grad(y.sum(), x, create_graph=True)
        (other,) = T.grad(of.sum(), x, create_graph=True)
        (second,) = T.grad((first * other).sum(), x, create_graph=True)
        (third,) = T.grad((second * first).sum(), x)
        return [d.detach().numpy() for d in (first, other, second, third)]

    for shared, separate in zip(derivatives(False), derivatives(True), strict=True):
        np.testing.assert_allclose(shared, separate, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_graph_with_shared_nodes_is_no_cycle(name):
    gc.collect()
    gc.disable()
    try:
        x = leaf()
        y = getattr(T, name)(x)
        (first,) = T.grad(y.sum(), x, create_graph=True)
        (second,) = T.grad(first.sum(), x, create_graph=True)
        gone = [weakref.ref(node) for node in (y.grad_fn, first.grad_fn, second.grad_fn)]
        del y, first, second
        assert [reference() for reference in gone] == [None] * 3
    finally:
        gc.enable()


def test_freeing_the_graph_frees_what_is_shared():
    x = leaf()
    y = T.tanh(x)
    T.grad(y.sum(), x, create_graph=True)
    assert list(y.grad_fn.shared) == ["derivative"]
    T.grad(y.sum(), x, retain_graph=False)
    assert not y.grad_fn.shared
    with pytest.raises(RuntimeError, match="through the graph a second time"):
        T.grad(y.sum(), x)


def test_a_value_that_was_overwritten_is_refused_in_later_passes_too():
    x = leaf()
    y = T.tanh(x)
    total = y.sum()
    T.grad(total, x, create_graph=True)
    with T.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        T.grad(total, x)


def test_shared_values_go_through_the_hooks_of_saved_tensors():
    kept, x = [], leaf()

    def pack(tensor):
        kept.append(tensor.numpy().copy())
        return len(kept) - 1

    with saved_tensors_hooks(pack, lambda k: T.tensor(kept[k])):
        y = T.tanh(x)
        (first,) = T.grad(y.sum(), x, create_graph=True)
        (second,) = T.grad(first.sum(), x, create_graph=True)
    t = np.tanh(X)
    np.testing.assert_allclose(first.detach().numpy(), 1 - t * t, rtol=1e-14)
    np.testing.assert_allclose(second.detach().numpy(), -2 * t * (1 - t * t), rtol=1e-13)
    assert any(np.allclose(values, 1 - t * t) for values in kept)


def test_a_maker_that_asks_for_the_gradient_is_refused():
    with pytest.raises(ValueError, match="a rule asks for"):
        Op(
            "test_sharing_gradient", lambda xp, x: x, {"x": lambda g, made: g},
            shared={"made": lambda g: g},
        )  # fmt: skip


def test_a_saved_value_is_one_tensor_for_all_passes():
    x = leaf()
    z = x * 2 + 1
    node = (z * (x - 1)).grad_fn
    assert node.argument("x") is node.argument("x")
    assert node.argument("x").grad_fn is z.grad_fn
    output = T.exp(z).grad_fn
    assert output.argument("out") is not output.argument("out")  # or it would refer to itself
    assert (x * z).grad_fn.argument("x") is x


def test_a_saved_tensor_that_is_looked_at_is_ones_own():
    x = leaf()
    z = x * 2 + 1
    y = (z * z).sum()
    expected = T.grad(T.grad(y, x, create_graph=True)[0].sum(), x, retain_graph=True)[0]
    square = y.grad_fn.next_functions[0][0]
    square._saved_x.detach_()
    found = T.grad(T.grad(y, x, create_graph=True)[0].sum(), x)[0]
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_a_saved_value_that_was_unpacked_is_refused_when_it_is_overwritten():
    x = leaf()
    z = x * 2
    y = (z * z).sum()
    T.grad(y, x, retain_graph=True)
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        T.grad(y, x)


def test_a_hook_unpacks_each_time():
    x = leaf()
    z = x * 2
    unpacked = []
    with saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(t) or t):
        y = (z * z).sum()
    T.grad(y, x, retain_graph=True)
    once = len(unpacked)
    T.grad(y, x)
    assert once == 2 and len(unpacked) == 4


def test_leaves_that_get_other_memory_keep_what_was_saved():
    w, x = leaf(), T.tensor(X + 1, requires_grad=True)
    y = (w * x).sum()
    T.grad(y, x, retain_graph=True)
    w.data = T.zeros(*X.shape, dtype=T.float64)
    (found,) = T.grad(y, x)
    np.testing.assert_array_equal(found.numpy(), X)
