"""What a serious user expects of the engine beyond the numbered rows."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import autograd as T
from autograd import engine, nn
from autograd.forward import push
from autograd.function import Function, once_differentiable
from autograd.graph import Node
from autograd.ops.registry import REGISTRY, Op
from autograd.saved import SavedTensor, saved_tensors_hooks

SECOND_TIME = "backward through the graph a second time"
MODIFIED = "modified by an inplace operation"
REFUSED = "a leaf Variable that requires grad is being used in an in-place operation"


def leaf(values, dtype=np.float64):
    return T.tensor(values, dtype=dtype, requires_grad=True)


@pytest.fixture
def register():
    """Register operations for one test only."""
    names = []

    def make(name, forward, vjp, **options):
        names.append(name)
        return Op(name, forward, vjp, **options)

    yield make
    for name in names:
        del REGISTRY[name]


@pytest.fixture
def spy(register):
    """Return an identity operation that counts the runs of its rule."""
    runs = []

    def rule(g):
        runs.append(1)
        return g * 1

    op = register("spy", lambda xp, x: x + 0, {"x": rule})
    op.runs = runs
    return op


@pytest.fixture
def without_gc():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


# ---- accumulation


def test_fan_out_adds_every_use(dtype):
    x = leaf([2.0, 3.0], dtype)
    y = x * x + x * 3 + T.exp(x) / T.exp(x) * x
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.array([2.0, 3.0]) + 4, rtol=1e-5)


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_of_different_tensors_never_share_memory(create_graph, cycle_warning_given):
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    c = a + b
    c.retain_grad()
    seed = T.ones(2, dtype=T.float64)
    c.backward(seed, create_graph=create_graph)
    held = [a.grad, b.grad, c.grad, seed]
    for i, x in enumerate(held):
        for y in held[:i]:
            assert x is not y and not np.shares_memory(x._data, y._data)
    (a * 5).sum().backward()
    assert a.grad.tolist() == [6.0, 6.0]
    assert b.grad.tolist() == c.grad.tolist() == seed.tolist() == [1.0, 1.0]
    a.backward(seed)
    seed.zero_()
    assert a.grad.tolist() == [7.0, 7.0]


def test_fan_out_does_not_change_the_gradient_given():
    x = leaf([1.0, 2.0])
    seed = T.ones(2, dtype=T.float64)
    y = x + x
    y.backward(seed)
    assert seed.tolist() == [1.0, 1.0] and x.grad.tolist() == [2.0, 2.0]


def test_expanded_gradients_accumulate_into_writable_memory():
    x = leaf([1.0, 2.0, 3.0])
    for _ in range(3):
        x.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0]


def test_duplicate_and_dependent_roots():
    a = leaf([2.0])
    b = a * a
    assert T.grad([b, b], a, retain_graph=True)[0].tolist() == [8.0]
    assert [g.tolist() for g in T.grad(b, [a, a], retain_graph=True)] == [[4.0], [4.0]]
    c = b * 3
    T.autograd.backward([b, c])
    assert a.grad.tolist() == [16.0]
    b, a.grad = a * a, None
    T.autograd.backward([b * 3, b, a])
    assert a.grad.tolist() == [17.0]


def test_a_tensor_is_its_own_gradient_of_one():
    a = leaf([2.0])
    assert T.grad(a, a)[0].tolist() == [1.0]
    b = a * 2
    assert T.grad(b, b)[0].tolist() == [1.0]


# ---- backward(inputs=...)


def test_backward_for_chosen_inputs_only():
    a, b = leaf([2.0]), leaf([3.0])
    c = a * b
    d = c * c
    d.backward(inputs=[a], retain_graph=True)
    assert a.grad.tolist() == [36.0] and b.grad is None
    d.backward(inputs=[c], retain_graph=True)
    assert c.grad.tolist() == [12.0] and a.grad.tolist() == [36.0] and b.grad is None
    d.backward(inputs=a, retain_graph=True)
    assert a.grad.tolist() == [72.0]
    a.grad = None
    d.backward(inputs=[a, a])
    assert a.grad.tolist() == [36.0], "an input named twice counts once"


def test_backward_refuses_empty_and_plain_inputs():
    a = leaf([2.0])
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (a * a).backward(inputs=[])
    with pytest.raises(RuntimeError, match="does not require grad"):
        (a * a).backward(inputs=[T.ones(1)])
    with pytest.raises(TypeError, match="Tensor"):
        (a * a).backward(inputs=[3.0])


def test_nodes_that_no_input_needs_never_run(spy):
    a, b = leaf([2.0]), leaf([3.0])
    y = spy(a) * b
    assert T.grad(y, b, retain_graph=True)[0].tolist() == [2.0]
    assert spy.runs == []
    y.backward(inputs=[b], retain_graph=True)
    assert spy.runs == [] and a.grad is None
    middle = spy(a) * 2
    end = middle * b
    assert T.grad(end, middle)[0].tolist() == [3.0]
    assert spy.runs == [], "nothing below the input runs"
    assert T.grad(y, a)[0].tolist() == [3.0]
    assert spy.runs == [1]


def test_each_node_runs_once_whatever_the_fan_out(spy):
    x = leaf([1.5])
    y = spy(x * 2)
    z = y
    for _ in range(20):
        z = z + z * y
    T.grad(z, x)
    assert spy.runs == [1]


def test_plain_inputs_cost_no_vjp(register):
    asked = []
    op = register(
        "asked",
        lambda xp, x, y: x * y,
        {
            "x": lambda g, y: asked.append("x") or g * y,
            "y": lambda g, x: asked.append("y") or g * x,
        },
        dtype="promote",
        broadcasts=True,
    )
    op(leaf([1.0]), T.tensor([2.0], dtype=T.float64)).backward()
    assert asked == ["x"]
    x, y = leaf([1.0]), leaf([2.0])
    T.grad(op(x, y), y)
    op(x, y).backward(inputs=[y])
    assert asked == ["x", "y", "y"]


def test_what_lies_below_the_inputs_may_be_freed_already():
    x = leaf([2.0])
    middle = T.exp(x) * x
    middle.backward()
    assert T.grad(middle * 3, middle)[0].tolist() == [3.0]
    (middle * 3).backward(inputs=[middle])
    assert middle.grad.tolist() == [3.0]
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        T.grad(middle * 3, x)


# ---- failures


def test_a_failing_backward_accumulates_nothing(register):
    def fail(g):
        raise ArithmeticError("on purpose")

    op = register("failing", lambda xp, x: x + 0, {"x": fail})
    a, b = leaf([2.0]), leaf([3.0])
    for order in (lambda: a * 2 + op(b * 1), lambda: op(b * 1) + a * 2):
        y = order()
        middle = y * 1
        middle.retain_grad()
        with pytest.raises(ArithmeticError, match="on purpose"):
            (middle * 1).backward()
        assert a.grad is None and b.grad is None and middle.grad is None
    a.grad = T.tensor([7.0], dtype=T.float64)
    with pytest.raises(ArithmeticError):
        (a * 2 + op(b * 1)).backward()
    assert a.grad.tolist() == [7.0]
    assert T.is_grad_enabled()


def test_a_freed_branch_accumulates_nothing():
    a, b = leaf([2.0]), leaf([3.0])
    freed = b * b
    freed.backward()
    b.grad = None
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        (a * 2 + freed).backward()
    assert a.grad is None and b.grad is None


def test_a_failing_hook_accumulates_nothing():
    a, b = leaf([2.0]), leaf([3.0])

    def fail(g):
        raise KeyError("hook")

    b.register_hook(fail)
    with pytest.raises(KeyError):
        (a * b).backward()
    assert a.grad is None and b.grad is None


def test_wrong_numbers_of_gradients_are_refused():
    a = leaf([2.0])
    with pytest.raises(RuntimeError, match="2 tensors and 1 gradients"):
        T.autograd.backward([a * 1, a * 2], [T.ones(1, dtype=T.float64)])
    with pytest.raises(TypeError, match="element 0"):
        T.autograd.backward([3.0])


# ---- long chains, and no reference cycles


@pytest.mark.parametrize("kind", ["nothing saved", "saved"])
def test_a_chain_of_1e5_nodes_builds_runs_and_frees(kind, without_gc):
    step = {"nothing saved": lambda y: y + 1.0, "saved": lambda y: y * 1.0}[kind]
    x = leaf(0.0)
    y = x
    for _ in range(100_000):
        y = step(y)
    first = weakref.ref(y.grad_fn)
    assert sys.getrecursionlimit() <= 10_000
    y.backward(retain_graph=True)
    assert x.grad.item() == 1.0
    del y
    assert first() is None


def test_a_differentiated_chain_frees_without_recursion(without_gc):
    x = leaf(0.5)
    y = x
    for _ in range(10_000):
        y = y * 1.0001
    (g,) = T.grad(y, x, create_graph=True)
    assert g.item() == pytest.approx(1.0001**10_000, rel=1e-9)
    del y, g


def cyclic_suspects():
    """Return graphs that keep outputs, inputs, hooks, views and themselves in reach."""

    def saves_its_output(x):
        return T.exp(x) + T.tanh(x) + T.sqrt(T.exp(x))

    def hooks_and_retains(x):
        y = x * x
        y.retain_grad()
        y.register_hook(lambda g: g * 2)
        y.register_hook(lambda g: y.shape and g)
        return y * y

    def in_place(x):
        y = x * 1
        y.mul_(x)
        y += y
        y[0] = x[1] * 2
        y[1:].mul_(3)
        return y * y

    def views(x):
        y = (x * x).reshape(3, 1)
        z = y[1:]
        w = z.T
        return (y.sum() + z.sum() + w.sum()) * x

    def higher(x):
        (g,) = T.grad(T.exp(x * x).sum(), x, create_graph=True)
        (h,) = T.grad(T.sin(g).sum(), x, create_graph=True)
        return h * g

    def custom(x):
        class Cube(Function):
            @staticmethod
            def forward(ctx, x):
                y = x * x * x
                ctx.save_for_backward(x, y)
                return y

            @staticmethod
            def backward(ctx, g):
                x, y = ctx.saved_tensors
                return 3 * g * y / x

        return Cube.apply(x) * x

    return [saves_its_output, in_place, views, higher, custom]


@pytest.mark.parametrize("suspect", cyclic_suspects(), ids=lambda f: f.__name__)
@pytest.mark.parametrize("then", ["nothing", "backward", "retained", "grad", "create_graph"])
def test_graphs_die_at_once_without_the_garbage_collector(suspect, then, without_gc):
    suspect(leaf([0.5, 0.7, 0.9]))  # fills caches
    gc.collect()
    before = sum(issubclass(type(o), (Node, SavedTensor)) for o in gc.get_objects())
    x = leaf([0.5, 0.7, 0.9])
    y = suspect(x)
    loss = y.sum()
    watched = [weakref.ref(o) for o in (x, y, loss, y.grad_fn, loss.grad_fn)]
    result = None
    if then == "backward":
        loss.backward()
    elif then == "retained":
        loss.backward(retain_graph=True)
    elif then == "grad":
        result = T.grad(loss, x)
    elif then == "create_graph":
        result = T.grad(loss, x, create_graph=True)
    del x, y, loss, result
    assert [w() for w in watched] == [None] * 5
    after = sum(issubclass(type(o), (Node, SavedTensor)) for o in gc.get_objects())
    assert after == before


def test_a_failing_backward_leaves_no_cycle(register, without_gc):
    op = register("fails_once", lambda xp, x: x + 0, {"x": lambda g: 1 / 0})
    x = leaf([1.0])
    y = op(x * x)
    watched = weakref.ref(x), weakref.ref(y.grad_fn)
    try:
        y.backward()
    except ZeroDivisionError:
        pass
    del x, y
    assert [w() for w in watched] == [None, None]


# ---- gradients that meet at a place


def branches(x):
    """Return a function of an inner tensor that gradients reach in three ways."""
    h = T.sin(x)
    return h * 2 + T.exp(h) + h**2


def test_gradients_that_meet_are_added_in_memory_that_is_there(monkeypatch):
    x = leaf([0.3, -0.7])
    (expected,) = T.grad(branches(x).sum(), x, create_graph=True)
    loss = branches(x).sum()
    monkeypatch.setattr(engine, "_add_op", lambda *_: pytest.fail("a new array"))
    (found,) = T.grad(loss, x)
    np.testing.assert_array_equal(found.numpy(), expected.detach().numpy())


def test_what_a_recorded_pass_adds_is_recorded():
    x = leaf([0.3, -0.7])
    (first,) = T.grad(branches(x).sum(), x, create_graph=True)
    (second,) = T.grad(first.sum(), x)
    h, slope = np.sin(x.numpy(force=True)), np.cos(x.numpy(force=True))
    expected = (np.exp(h) + 2) * slope**2 - (2 + np.exp(h) + 2 * h) * h
    np.testing.assert_allclose(second.numpy(), expected, rtol=1e-14)


def test_a_gradient_that_went_to_two_places_is_added_to_in_neither():
    """The gradient of a sum is one tensor for both its terms; more reaches the first alone."""
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    x, y = a * 1, b * 1
    loss = (x * 7 + (x + y) * 5).sum()  # backward meets what was made last first
    of_a, of_b = T.grad(loss, [a, b])
    assert of_a.tolist() == [12.0, 12.0] and of_b.tolist() == [5.0, 5.0]


class Keeping(Function):
    """Twice its input; what it returns from backward is kept, as a tensor, an array or a view."""

    @staticmethod
    def forward(ctx, x, kept, kind):
        ctx.kept, ctx.kind = kept, kind
        return x * 2

    @staticmethod
    def backward(ctx, g):
        result = g * 2
        ctx.kept.append({
            "tensor": result, "array": result._data, "view": result._data[:1],
            "exported": memoryview(result._data),
        }[ctx.kind])  # fmt: skip
        return result, None, None


@pytest.mark.parametrize("kind", ["tensor", "array", "view", "exported"])
def test_a_gradient_that_somebody_keeps_stays_as_it_was(kind):
    a, kept = leaf([1.0, 2.0]), []
    x = a * 1
    (found,) = T.grad((x * 3).sum() + Keeping.apply(x, kept, kind).sum(), a)
    assert found.tolist() == [5.0, 5.0]
    assert set(np.asarray(getattr(kept[0], "_data", kept[0])).tolist()) == {2.0}


def test_gradients_given_from_outside_stay_as_they_were():
    a = leaf([1.0, 2.0])
    x = a * 1
    seed = T.tensor([10.0, 20.0], dtype=T.float64)
    (found,) = T.grad([x, x * 3], a, [seed, seed])
    assert found.tolist() == [40.0, 80.0] and seed.tolist() == [10.0, 20.0]


def test_a_gradient_that_a_hook_keeps_stays_as_it_was():
    a, seen = leaf([1.0, 2.0]), []
    x = a * 1
    z, y = x * 3, x + 1
    y.register_hook(lambda g: seen.append(g))
    (z + y * 4).sum().backward()
    assert seen[0].tolist() == [4.0, 4.0] and a.grad.tolist() == [7.0, 7.0]


# ---- hooks


def test_hooks_run_in_order_and_may_replace():
    a = leaf([2.0])
    b = a * 3
    order = []
    b.register_hook(lambda g: order.append(("first", g.tolist())))
    b.register_hook(lambda g: g * 10)
    b.register_hook(lambda g: order.append(("third", g.tolist())))
    (b * 1).backward()
    assert order == [("first", [1.0]), ("third", [10.0])]
    assert a.grad.tolist() == [30.0]


def test_hooks_can_be_removed():
    a = leaf([2.0])
    calls = []
    handle = a.register_hook(lambda g: calls.append("one"))
    other = a.register_hook(lambda g: calls.append("two"))
    (a * 3).backward()
    handle.remove()
    handle.remove()
    (a * 3).backward()
    with other:
        (a * 3).backward()
    (a * 3).backward()
    assert calls == ["one", "two", "two", "two"]


def test_a_hook_sees_the_whole_gradient_once():
    a = leaf([2.0])
    seen = []
    a.register_hook(lambda g: seen.append(g.tolist()))
    b = a * 1
    b.register_hook(lambda g: seen.append(g.tolist()))
    (b * 2 + b * 3 + a * 10).backward()
    assert seen == [[5.0], [15.0]]


def test_a_leaf_used_before_it_is_switched_off_gets_nothing():
    x, y = leaf([2.0]), leaf([3.0])
    z = x * y
    x.requires_grad_(False)
    z.backward()
    assert x.grad is None and y.grad.tolist() == [2.0]


def test_replacing_the_data_of_a_leaf_leaves_old_graphs_right():
    x = leaf([1.0, 2.0])
    y = x * x
    x.data = T.tensor([5.0, 6.0], dtype=T.float64)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0] and x.tolist() == [5.0, 6.0]


def test_a_hook_on_a_leaf_changes_what_is_accumulated_and_returned():
    a = leaf([2.0])
    a.register_hook(lambda g: g * 5)
    (a * 1).backward()
    assert a.grad.tolist() == [5.0]
    assert T.grad(a * 1, a)[0].tolist() == [5.0]


def test_hooks_are_differentiated_through():
    a = leaf([2.0])
    b = a * a
    b.register_hook(lambda g: g * a)
    (g,) = T.grad(b, a, create_graph=True)
    assert g.tolist() == [8.0]  # 2 a * a
    assert T.grad(g, a)[0].tolist() == [8.0]  # d(2 a^2)/da


def test_wrong_hooks_are_refused():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        T.ones(2).register_hook(lambda g: g)
    a = leaf([2.0, 3.0])
    with a.register_hook(lambda g: 3.0), pytest.raises(TypeError, match="Tensor"):
        (a * 1).sum().backward()
    with a.register_hook(lambda g: g.sum()), pytest.raises(RuntimeError, match="shape"):
        (a * 1).sum().backward()
    assert a.grad is None


# ---- versions and in-place changes


def test_a_changed_saved_tensor_is_found():
    x = leaf([1.0, 2.0])
    for change in (
        lambda t: t.add_(1),
        lambda t: t.mul_(2),
        lambda t: t.zero_(),
        lambda t: t.__setitem__(0, 5.0),
        lambda t: t[1:].add_(1),
        lambda t: t.detach().add_(1),
        lambda t: t.reshape(2, 1).fill_(3),
    ):
        for use in (lambda t: t * t, T.exp, T.sin):
            y = x * 1
            z = use(y)
            change(z if use is T.exp else y)
            with pytest.raises(RuntimeError, match=MODIFIED) as error:
                z.sum().backward()
            assert "version" in str(error.value)
            assert x.grad is None


def test_a_node_has_attributes_for_what_it_saved_alone():
    x = T.tensor([2.0], requires_grad=True)
    node = (x * 3).grad_fn
    assert node._saved_y == 3 and not hasattr(node, "_saved_x") and not hasattr(node, "other")


def test_changes_of_what_was_not_saved_are_fine():
    x = leaf([1.0, 2.0])
    y = x * 3
    z = y + 1
    y.mul_(2)
    z.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_changes_under_no_grad_are_found_and_through_data_are_not():
    x = leaf([1.0, 2.0])
    y = x * x
    with T.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()
    y = x * x
    x.data.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 8.0]


def test_leaves_that_require_grad_refuse_changes():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    for change in (
        lambda: x.add_(1),
        lambda: x.zero_(),
        lambda: x.copy_(T.zeros(2, 2)),
        lambda: x.__iadd__(1),
        lambda: x.__setitem__(0, 1.0),
        lambda: x[0].mul_(2),
        lambda: x.T[0:1].fill_(0),
        lambda: x.view(4).__setitem__(2, 1.0),
    ):
        with pytest.raises(RuntimeError, match=REFUSED):
            change()
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]] and x.is_leaf
    with T.no_grad():
        x.add_(1)
        x[0] = 0.0
        x[1].mul_(2)
    assert x.tolist() == [[0.0, 0.0], [8.0, 10.0]]
    assert x.is_leaf is True and x.requires_grad is True
    (x * x).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [16.0, 20.0]]


IN_PLACE = {
    "add_": (lambda t, o: t.add_(o), lambda t, o: t + o),
    "sub_": (lambda t, o: t.sub_(o), lambda t, o: t - o),
    "mul_": (lambda t, o: t.mul_(o), lambda t, o: t * o),
    "div_": (lambda t, o: t.div_(o), lambda t, o: t / o),
    "copy_": (lambda t, o: t.copy_(o), lambda t, o: o.expand(t.shape) * 1),
    "fill_": (lambda t, o: t.fill_(o[0]), lambda t, o: o[0].expand(t.shape) * 1),
    "zero_": (lambda t, o: t.zero_() + o, lambda t, o: t * 0 + o),
    "clamp_": (lambda t, o: t.clamp_(0.2, 0.8) + o, lambda t, o: T.clamp(t, 0.2, 0.8) + o),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_operations_equal_their_twins(name, dtype):
    in_place, twin = IN_PLACE[name]

    def run(operation):
        rng = np.random.default_rng(5)
        x, o = leaf(rng.uniform(0, 1, (2, 3)), dtype), leaf(rng.uniform(0.5, 1, 3), dtype)
        t = x * 2
        y = operation(t, o)
        if operation is in_place and name not in ("zero_", "clamp_"):
            assert y is t and t.requires_grad and not t.is_leaf
        (y * y * T.tensor(rng.uniform(-1, 1, (2, 3)), dtype=dtype)).sum().backward()
        grads = [np.zeros(v.shape) if v.grad is None else v.grad.numpy() for v in (x, o)]
        return [y.detach().numpy(), *grads]

    for found, expected in zip(run(in_place), run(twin), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_in_place_operators():
    x = leaf([1.0, 2.0])
    y = x * 1
    same = y
    y += 1
    y *= x
    y -= x
    y /= 2
    assert y is same
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]  # y = x^2 / 2


def test_in_place_use_of_itself_is_right_or_refused():
    x = leaf([2.0, 3.0])
    y = x * 1
    y += y
    y -= y * 3
    y.sum().backward()
    assert y.tolist() == [-8.0, -12.0] and x.grad.tolist() == [-4.0, -4.0]
    y = x * 1
    y *= y
    assert y.tolist() == [4.0, 9.0]
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_in_place_changes_that_cannot_be_are_refused():
    whole = T.tensor([1, 2])
    with pytest.raises(RuntimeError, match="can't be cast"):
        whole.add_(1.5)
    with pytest.raises(RuntimeError, match="can't be cast"):
        whole.div_(2)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        whole.add_(T.ones(3, 2, dtype=T.int64))
    with pytest.raises(RuntimeError, match="single memory location"):
        T.ones(1).expand(3).add_(1)
    assert whole.tolist() == [1, 2]
    assert whole.mul_(3).tolist() == [3, 6]


@pytest.mark.parametrize(
    "overwrite", [lambda t: t.zero_(), lambda t: t.fill_(3.0), lambda t: t.copy_(T.ones(2))]
)
def test_an_overwritten_tensor_stays_in_the_graph(overwrite):
    x = leaf([1.0, 2.0])
    y = x * 1
    overwrite(y)
    assert y.requires_grad is True and y.is_leaf is False
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_arrays_as_operands_are_copied():
    x = leaf([1.0, 2.0])
    array = np.array([3.0, 4.0])
    for combine in (lambda: x * array, lambda: array * x, lambda: T.mul(x, array)):
        x.grad, array[:] = None, [3.0, 4.0]
        y = combine()
        array[:] = 100.0
        y.sum().backward()
        assert x.grad.tolist() == [3.0, 4.0]
    y = np.float64(3.0) * x
    assert isinstance(y, T.Tensor) and y.requires_grad is True


def test_in_place_is_refused_in_forward_mode():
    def change(x):
        y = x * 2
        y.mul_(3)
        return y

    with pytest.raises(RuntimeError, match="forward mode follows values"):
        push(change, [leaf([1.0])], [T.ones(1, dtype=T.float64)])


def test_in_place_on_plain_data_with_a_recorded_operand_joins_the_graph():
    w = leaf([2.0])
    base = T.zeros(3, dtype=T.float64)
    base[1:2].copy_(w * 3)
    assert base.requires_grad is True and base.is_leaf is False
    (base * base).sum().backward()
    assert w.grad.tolist() == [36.0]


def test_retain_grad_and_hooks_around_a_change():
    x = leaf([1.0, 2.0])
    y = x * 1
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.retain_grad()
    y.mul_(3)
    assert y.retains_grad is True
    y.sum().backward()
    assert seen == [[3.0, 3.0]], "the hook belongs to the value it was registered on"
    assert y.grad.tolist() == [1.0, 1.0], "the gradient is that of the present value"
    base = x * 1
    view = base[0]
    view.retain_grad()
    base.mul_(2)
    assert view.retains_grad is True
    (view * 5).backward()
    assert view.grad.item() == 5.0


# ---- views


def test_a_changed_base_is_seen_by_its_views():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    base = x * 1
    row, column = base[0], base.T[1]
    base.mul_(10)
    assert row.tolist() == [10.0, 20.0] and column.tolist() == [20.0, 40.0]
    (row.sum() + 2 * column.sum()).backward()
    assert x.grad.tolist() == [[10.0, 30.0], [0.0, 20.0]]


def test_a_changed_view_is_seen_by_its_base_and_other_views():
    x, w = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([5.0, 6.0])
    base = x * 1
    row, column = base[0], base[:, 1]
    row.mul_(w)
    assert base.tolist() == [[5.0, 12.0], [3.0, 4.0]]
    assert column.tolist() == [12.0, 4.0]
    (base.sum() + column.sum()).backward()
    assert x.grad.tolist() == [[5.0, 12.0], [1.0, 2.0]]
    assert w.grad.tolist() == [1.0, 4.0]


def test_a_view_of_a_view_writes_through():
    x = leaf(np.arange(8.0).reshape(2, 4))
    base = x * 1
    inner = base.T[1:3][0]
    inner.copy_(inner.clone() ** 2)
    assert base.tolist() == [[0.0, 1.0, 2.0, 3.0], [4.0, 25.0, 6.0, 7.0]]
    base.sum().backward()
    assert x.grad.tolist() == [[1.0, 2.0, 1.0, 1.0], [1.0, 10.0, 1.0, 1.0]]


def test_views_know_their_base_and_version():
    base = T.zeros(3)
    view = base[1:][0:1]
    assert view._base is base and base._base is None
    base.add_(1)
    assert view._version == base._version
    view.add_(1)
    assert view._version == base._version
    assert base.clone()._base is None


def test_each_of_several_views_writes_through():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    base = x * 1
    first, second = base.chunk(2)
    first.mul_(3)
    second.add_(first)
    base.unbind(0)[3].mul_(x[0])
    assert base.tolist() == [3.0, 6.0, 6.0, 10.0]
    base.sum().backward()
    assert x.grad.tolist() == [16.0, 6.0, 1.0, 1.0]


def test_a_view_made_without_recording_stays_a_constant():
    x = leaf([1.0, 2.0])
    base = x * 1
    with T.no_grad():
        view = base[0:1]
    again = view.reshape(1, 1)
    base.mul_(3)
    for v in (view, again):
        assert v.tolist() in ([3.0], [[3.0]])
        assert v.requires_grad is False and v.is_leaf is True
        with pytest.raises(RuntimeError, match="view made in no_grad mode"):
            v.mul_(2)
    with T.no_grad():
        view.mul_(2)
    assert base.tolist() == [6.0, 6.0]
    plain, w = T.zeros(2, dtype=T.float64), leaf([5.0])
    with T.no_grad():
        view = plain[0:1]
    view.copy_(w)
    (plain * plain).sum().backward()
    assert w.grad.tolist() == [10.0]


def test_hooks_on_views_and_on_rebased_views():
    x = leaf([1.0, 2.0])
    base = x * 1
    view = base[0]
    seen = []
    view.register_hook(lambda g: seen.append(g.item()))
    (view * 3 + base.sum()).backward()
    assert seen == [3.0] and x.grad.tolist() == [4.0, 1.0]


def test_indexed_changes_of_elements():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    y[0] += x[1]
    y[1:] *= 2
    assert y.tolist() == [3.0, 4.0, 6.0]
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 3.0, 2.0]
    shifted = T.arange(5.0)
    shifted[1:] = shifted[:-1]
    assert shifted.tolist() == [0.0, 0.0, 1.0, 2.0, 3.0]
    repeated = T.zeros(3)
    repeated[T.tensor([0, 0])] += 1
    assert repeated.tolist() == [1.0, 0.0, 0.0]


def in_place_program(x, w):
    y = x * w
    top = y[0]
    top.mul_(T.sin(top.clone()))
    y.T[2].add_(w[:2])
    y[1, :2] = y[0, 1:].clone() * x[0, 0]
    flat = y.reshape(6)
    flat[4:].mul_(flat[:2].clone())
    return T.exp(y * 0.1)


def plain_program(x, w):
    y = x * w
    top = y[0] * T.sin(y[0])
    bottom = y[1]
    top = T.cat([top[:2], top[2:3] + w[0]])
    bottom = T.cat([bottom[:2], bottom[2:3] + w[1]])
    bottom = T.cat([top[1:] * x[0, 0], bottom[2:3]])
    bottom = T.cat([bottom[:1], bottom[1:] * top[:2]])
    return T.exp(T.stack([top, bottom]) * 0.1)


def test_a_program_of_changes_equals_its_functional_form():
    rng = np.random.default_rng(8)
    x, w = leaf(rng.uniform(0.5, 1.5, (2, 3))), leaf(rng.uniform(0.5, 1.5, 3))
    found, expected = in_place_program(x, w), plain_program(x, w)
    np.testing.assert_allclose(found.tolist(), expected.tolist(), rtol=1e-14)
    for a, b in zip(T.grad(found.sum(), (x, w)), T.grad(expected.sum(), (x, w)), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-13)
    assert T.gradcheck(in_place_program, (x, w), order=2)


# ---- setitem

SETITEM = {
    "integer": lambda: 1,
    "negative": lambda: -1,
    "slice": lambda: slice(0, 3, 2),
    "tuple": lambda: (slice(None), 1),
    "ellipsis": lambda: (..., 0),
    "none": lambda: (None, 2),
    "list": lambda: [0, 2],
    "index tensor": lambda: T.tensor([2, 0]),
    "pair of index tensors": lambda: (T.tensor([0, 2]), T.tensor([1, 1])),
    "mask": lambda: T.tensor([[True, False], [False, True], [False, False]]),
    "row mask": lambda: T.tensor([True, False, True]),
}


@pytest.mark.parametrize("name", SETITEM)
@pytest.mark.parametrize("on_view", [False, True])
def test_setitem_takes_values_and_gives_gradients(name, on_view):
    index = SETITEM[name]()
    rng = np.random.default_rng(2)
    values, replaced = rng.uniform(1, 2, (3, 2)), np.zeros((3, 2))
    plain = index.numpy() if isinstance(index, T.Tensor) else index
    if isinstance(index, tuple):
        plain = tuple(k.numpy() if isinstance(k, T.Tensor) else k for k in index)
    region = values[plain]
    new = rng.uniform(3, 4, region.shape)
    replaced[plain] = 1

    x, v = leaf(values), leaf(new)
    y = x * 1
    target = y.T.T if on_view else y
    target[index] = v
    expected = values.copy()
    expected[plain] = new
    assert y.tolist() == expected.tolist()
    weights = rng.uniform(-1, 1, (3, 2))
    (y * T.tensor(weights)).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), weights * (1 - replaced))
    np.testing.assert_allclose(v.grad.numpy(), weights[plain], rtol=1e-15)


def test_setitem_broadcasts_numbers_and_smaller_tensors():
    x, v = leaf(np.ones((3, 2))), leaf([5.0, 6.0])
    y = x * 1
    y[1:] = v
    y[0] = 7
    assert y.tolist() == [[7.0, 7.0], [5.0, 6.0], [5.0, 6.0]]
    y.sum().backward()
    assert v.grad.tolist() == [2.0, 2.0] and x.grad.tolist() == [[0.0] * 2] * 3


def test_setitem_takes_arrays_and_casts():
    y = T.zeros(3)
    y[:2] = np.array([1.0, 2.0])
    y[2] = T.tensor(3, dtype=T.int64)
    assert y.tolist() == [1.0, 2.0, 3.0] and y.dtype == np.float32
    with pytest.raises((RuntimeError, ValueError)):
        y[:2] = T.ones(3)
    with pytest.raises(IndexError):
        y[7] = 1.0
    assert y.tolist() == [1.0, 2.0, 3.0]


# ---- copies, pickles, numpy


@pytest.mark.parametrize("how", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_leaves_are_copied_and_pickled_with_their_grad(how, dtype):
    x = leaf([[1.0, 2.0]], dtype)
    (x * x).sum().backward()
    y = how(x)
    assert y is not x and y.tolist() == x.tolist() and y.dtype == dtype
    assert y.is_leaf is True and y.requires_grad is True
    assert y.grad.tolist() == [[2.0, 4.0]] and y.grad is not x.grad
    with T.no_grad():
        y.add_(1)
    y.grad.add_(1)
    assert x.tolist() == [[1.0, 2.0]] and x.grad.tolist() == [[2.0, 4.0]]
    plain = how(T.tensor([1, 2]))
    assert plain.requires_grad is False and plain.dtype == np.int64 and plain.grad is None
    parameter = how(nn.Parameter(T.tensor([1.0], dtype=dtype)))
    assert isinstance(parameter, nn.Parameter) and parameter.requires_grad is True


def test_deepcopy_keeps_what_is_shared_shared():
    x = leaf([1.0])
    a, b = copy.deepcopy([x, x])
    assert a is b and a is not x
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    twin = copy.deepcopy(model)
    assert [p.tolist() for p in twin.parameters()] == [p.tolist() for p in model.parameters()]
    assert all(p is not q for p, q in zip(twin.parameters(), model.parameters(), strict=True))


def test_non_leaves_are_neither_copied_nor_pickled():
    y = leaf([1.0]) * 2
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(y)
    with pytest.raises(RuntimeError, match="detach"):
        pickle.dumps(y)
    assert copy.deepcopy(y.detach()).tolist() == [2.0]


def test_numpy_of_a_tensor_that_requires_grad_is_refused():
    x = leaf([1.0, 2.0])
    for attempt in (x.numpy, (x * 2).numpy, lambda: np.asarray(x), lambda: np.sin(x * 1)):
        with pytest.raises((RuntimeError, TypeError)) as error:
            attempt()
        if attempt.__class__ is not type(lambda: None):
            assert "requires grad" in str(error.value)
            assert "tensor.detach().numpy()" in str(error.value)
    assert x.detach().numpy().tolist() == [1.0, 2.0]
    assert x.numpy(force=True).tolist() == [1.0, 2.0]
    plain = T.tensor([1.0, 2.0])
    plain.numpy()[0] = 9
    assert plain.tolist() == [9.0, 2.0], "memory is shared"


# ---- sub-gradients

SUBGRADIENTS = {
    "abs at 0": (lambda x: T.abs(x), [0.0], [0.0]),
    "relu at 0": (lambda x: T.relu(x), [0.0, -1.0, 1.0], [0.0, 0.0, 1.0]),
    "sign": (lambda x: T.sign(x), [0.0, 2.0], [0.0, 0.0]),
    "maximum tie": (lambda x: T.maximum(x, T.zeros_like(x)), [0.0], [0.5]),
    "minimum tie": (lambda x: T.minimum(x, T.zeros_like(x)), [0.0], [0.5]),
    "maximum with itself": (lambda x: T.maximum(x, x), [3.0], [1.0]),
    "max tie": (lambda x: x.max(), [1.0, 1.0], [0.5, 0.5]),
    "amax of three, two tie": (lambda x: T.amax(x), [2.0, 1.0, 2.0], [0.5, 0.0, 0.5]),
    "amin tie": (lambda x: T.amin(x), [1.0, 1.0], [0.5, 0.5]),
    "clamp at its ends": (lambda x: T.clamp(x, 0.0, 1.0), [0.0, 1.0, 2.0], [1.0, 1.0, 0.0]),
    "norm at 0": (lambda x: x.norm(), [0.0, 0.0], [0.0, 0.0]),
    "power 0 at 0": (lambda x: x**0, [0.0], [0.0]),
    "power 1 at 0": (lambda x: x**1, [0.0], [1.0]),
    "power 2 at 0": (lambda x: x**2, [0.0], [0.0]),
    "power 2.0 at 0": (lambda x: x**2.0, [0.0], [0.0]),
    "0 to a power": (lambda x: T.pow(0.0, x), [2.0], [0.0]),
    "0 to a tensor power": (lambda x: T.zeros_like(x) ** x, [2.0, 0.0], [0.0, 0.0]),
    "sinc at 0": (lambda x: T.sinc(x), [0.0], [0.0]),
    "hypot at 0": (lambda x: T.hypot(x, T.zeros_like(x)), [0.0], [0.0]),
    "prod with a zero": (lambda x: x.prod(), [0.0, 3.0], [3.0, 0.0]),
    "prod with two zeros": (lambda x: x.prod(), [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
    "masked infinity": (
        lambda x: T.where(x > 0, T.log(T.where(x > 0, x, T.ones_like(x))), x),
        [0.0, 1.0],
        [1.0, 1.0],
    ),
}


@pytest.mark.parametrize("name", SUBGRADIENTS)
def test_subgradients(name, dtype):
    function, at, expected = SUBGRADIENTS[name]
    x = leaf(at, dtype)
    (gradient,) = T.grad(function(x).sum(), x)
    assert gradient.tolist() == expected


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 2.0, 3.0])
def test_powers_at_zero_give_no_nan_at_any_order(exponent):
    x = leaf([0.0])
    y = x**exponent
    for order in range(5):
        expected = float(math.factorial(order)) if order == exponent else 0.0
        assert y.item() == expected
        if not y.requires_grad:
            break
        (y,) = T.grad(y.sum(), x, create_graph=True, materialize_grads=True)


@pytest.mark.parametrize("function", [lambda x: x.norm(), lambda x: T.sinc(x).sum()])
def test_second_derivatives_at_zero_are_finite(function):
    x = leaf([0.0, 0.0])
    (g,) = T.grad(function(x), x, create_graph=True)
    (h,) = T.grad(g.sum(), x)
    assert np.isfinite(h.numpy()).all()


def test_second_derivative_of_sinc_at_zero():
    x = leaf([0.0])
    (g,) = T.grad(T.sinc(x), x, create_graph=True)
    np.testing.assert_allclose(T.grad(g, x)[0].numpy(), [-(np.pi**2) / 3], rtol=1e-12)


def test_differentiating_a_once_differentiable_result_raises():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = leaf([3.0])
    assert T.grad(Square.apply(x), x)[0].tolist() == [6.0]
    (g,) = T.grad(Square.apply(x) * x, x, create_graph=True)
    assert g.tolist() == [27.0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        T.grad(g, x)
    (g,) = T.grad(Square.apply(x), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.backward()


# ---- threads


def in_threads(count, work):
    errors = []
    barrier = threading.Barrier(count)

    def run(number):
        try:
            barrier.wait()
            work(number)
        except Exception as error:  # handed to the main thread
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors, errors


def test_concurrent_backward_on_shared_leaves_loses_nothing():
    w = leaf(np.ones(50))

    def work(number):
        for _ in range(50):
            x = T.tensor(np.full(50, number + 1.0))
            (w * x).sum().backward()

    in_threads(6, work)
    assert w.grad.tolist() == [50.0 * (1 + 2 + 3 + 4 + 5 + 6)] * 50


def test_threads_that_meet_at_a_new_leaf_share_its_sink():
    for _ in range(30):
        w = leaf([1.0, 1.0])
        in_threads(4, lambda number, w=w: (w * 2).sum().backward())
        assert w.grad.tolist() == [8.0, 8.0]


def test_concurrent_backward_through_a_shared_graph():
    w = leaf(np.ones(5))
    shared = T.exp(w) * T.sin(w)

    def work(number):
        for _ in range(20):
            (shared * (number + 1)).sum().backward(retain_graph=True)

    in_threads(4, work)
    expected = 20 * 10 * np.exp(1) * (np.sin(1) + np.cos(1))
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-12)


def test_modes_belong_to_their_thread():
    seen = {}

    def work(number):
        mode = T.no_grad() if number % 2 else T.enable_grad()
        for _ in range(100):
            with mode.clone():
                x = leaf([1.0])
                seen.setdefault(number, set()).add((x * x).requires_grad)

    in_threads(4, work)
    assert seen == {0: {True}, 1: {False}, 2: {True}, 3: {False}}
    assert T.is_grad_enabled() is True


# ---- anomaly mode


def test_anomaly_mode_names_the_operation_the_line_and_the_input():
    x, y = leaf([0.0]), leaf([0.0])
    with T.detect_anomaly():
        z = x / y  # the line to be shown
        with pytest.raises(RuntimeError, match="returned nan") as error:
            z.backward(T.zeros(1, dtype=T.float64))
    text = str(error.value)
    assert "DivBackward0" in text
    assert "the line to be shown" in text and __file__ in text
    assert "'x'" in text
    assert x.grad is None and y.grad is None


def test_anomaly_mode_is_off_by_default_and_left_again():
    x = leaf([0.0])
    (x / x.detach()).backward(T.zeros(1, dtype=T.float64))
    assert np.isnan(x.grad.numpy()).all()
    with T.set_detect_anomaly(True):
        pass
    T.set_detect_anomaly(True)
    T.set_detect_anomaly(False)
    (x / x.detach()).backward(T.zeros(1, dtype=T.float64))


# ---- saved-tensor hooks


def test_saved_tensor_hooks_pack_and_unpack():
    packed, unpacked = [], []

    def pack(tensor):
        assert tensor.requires_grad is False
        packed.append(tensor.tolist())
        return tensor.numpy().copy()

    def unpack(array):
        unpacked.append(array.tolist())
        return T.tensor(array)

    x = leaf([1.0, 2.0])
    with saved_tensors_hooks(pack, unpack):
        y = x * x
        z = T.exp(y)
    after = z * 2
    assert packed == [[1.0, 2.0], [1.0, 2.0], np.exp([1.0, 4.0]).tolist()]
    assert unpacked == []
    (g,) = T.grad(after.sum(), x, create_graph=True)
    expected = 4 * np.array([1.0, 2.0]) * np.exp([1.0, 4.0])
    np.testing.assert_allclose(g.detach().numpy(), expected, rtol=1e-15)
    assert unpacked
    (h,) = T.grad(g.sum(), x)
    value = np.array([1.0, 2.0])
    np.testing.assert_allclose(h.numpy(), (4 + 8 * value**2) * np.exp(value**2), rtol=1e-14)


def test_saved_tensor_hooks_nest_and_end():
    calls = []

    def hooks(name):
        return saved_tensors_hooks(lambda t: calls.append(name) or t, lambda t: t)

    x = leaf([1.0])
    with hooks("outer"):
        with hooks("inner"):
            T.exp(x)
        T.exp(x)
    T.exp(x)
    assert calls == ["inner", "outer"]


def test_an_unpack_hook_has_to_return_a_tensor():
    x = leaf([1.0])
    with saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = T.sin(x)
    with pytest.raises(TypeError, match="must return a Tensor"):
        y.backward()
    assert x.grad is None


def test_saved_tensor_hooks_are_reachable_where_users_look():
    assert T.autograd.graph.saved_tensors_hooks is saved_tensors_hooks


# ---- batched gradients


def test_batched_gradients_keep_the_graph_when_asked():
    x = leaf([1.0, 2.0])
    y = x * x
    basis = T.eye(2, dtype=T.float64)
    (rows,) = T.grad(y, x, basis, is_grads_batched=True, create_graph=True)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]] and rows.requires_grad
    assert T.grad(rows.sum(), x)[0].tolist() == [2.0, 2.0]
    T.grad(y, x, basis, is_grads_batched=True)
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        T.grad(y, x, basis, is_grads_batched=True)
    with pytest.raises(RuntimeError, match="batch dimension"):
        T.grad(x * x, x, T.tensor(1.0, dtype=T.float64), is_grads_batched=True)


def test_batched_gradients_of_unused_inputs():
    x, unused = leaf([1.0, 2.0]), leaf([1.0])
    basis = T.eye(2, dtype=T.float64)
    result = T.grad(x * x, [x, unused], basis, is_grads_batched=True, allow_unused=True)
    assert result[1] is None
    result = T.grad(x * x, [x, unused], basis, is_grads_batched=True, materialize_grads=True)
    assert result[1].tolist() == [[0.0], [0.0]]


def test_only_inputs_is_taken_and_changes_nothing():
    x = T.tensor([3.0], requires_grad=True)
    (slope,) = T.autograd.grad(outputs=x * x, inputs=x, create_graph=True, only_inputs=True)
    assert slope.item() == 6 and slope.requires_grad
    with pytest.warns(FutureWarning, match="only_inputs=False is deprecated and ignored"):
        (slope,) = T.grad(x * x, x, only_inputs=False)
    assert slope.item() == 6
