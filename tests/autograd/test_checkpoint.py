"""checkpoint(): the same derivatives with less memory, whoever asks for them."""

import gc
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import autograd as T
from autograd import checkpoint, nn
from autograd.strict import strict_cuda


class Counter:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


def make_net():
    g = T.Generator().manual_seed(0)
    return nn.Sequential(
        nn.Linear(2, 8, generator=g),
        nn.Tanh(),
        nn.Linear(8, 8, generator=g),
        nn.Tanh(),
        nn.Linear(8, 1, generator=g),
    ).double()


def points(n=6):
    return T.tensor(np.random.default_rng(4).normal(size=(n, 2)), requires_grad=True)


def gradients(net, x, loss):
    net.zero_grad()
    x.grad = None
    loss.backward()
    tensors = [x, *net.parameters()]
    return [np.zeros(()) if t.grad is None else t.grad.numpy().copy() for t in tensors]


def assert_same(found, expected):
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_array_equal(f, e)


def test_row_108_backward_gives_the_same_bits():
    net, x = make_net(), points()
    expected = gradients(net, x, (net(x) ** 2).sum())
    counted = Counter(net)
    loss = (checkpoint(counted, x) ** 2).sum()
    assert counted.calls == 1
    assert_same(gradients(net, x, loss), expected)
    assert counted.calls == 2


def test_grad_for_some_of_the_inputs():
    net, x = make_net(), points()
    expected = T.grad(net(x).sum(), [x, net[2].weight])
    found = T.grad(checkpoint(net, x).sum(), [x, net[2].weight])
    assert_same([f.numpy() for f in found], [e.numpy() for e in expected])


def test_higher_derivatives_through_create_graph():
    net, x = make_net(), points()

    def third(call):
        u = call(x)
        for _ in range(2):
            (u,) = T.grad(u.sum(), x, create_graph=True)
        return gradients(net, x, (u**2).sum())

    assert_same(third(lambda x: checkpoint(net, x)), third(net))


def test_derivatives_taken_inside_the_function():
    net, x = make_net(), points()

    def residual(x):
        u = net(x)
        (g,) = T.grad(u.sum(), x, create_graph=True)
        (h,) = T.grad(g[:, 0].sum(), x, create_graph=True)
        return ((g[:, 1] + u[:, 0] * g[:, 0] - 0.1 * h[:, 0]) ** 2).sum()

    expected = gradients(net, x, residual(x))
    counted = Counter(residual)
    assert_same(gradients(net, x, checkpoint(counted, x)), expected)
    assert counted.calls == 2


def test_row_108_chunks_with_checkpoints_accumulate_the_same_gradient():
    net, x = make_net(), points(12)
    expected = gradients(net, x, (net(x) ** 2).sum())
    loss = sum(checkpoint(lambda c: (net(c) ** 2).sum(), x[k : k + 4]) for k in range(0, 12, 4))
    for f, e in zip(gradients(net, x, loss), expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-12, atol=1e-15)


def test_the_graph_can_be_kept():
    net, x = make_net(), points()
    y = checkpoint(net, x).sum()
    first = T.grad(y, x, retain_graph=True)[0].tolist()
    assert T.grad(y, x)[0].tolist() == first
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        T.grad(y, x)


def test_is_grads_batched_and_second_order_checks():
    x = points(3)

    def function(v):
        return T.tanh(v) * T.exp(-v * v)

    (rows,) = T.grad(
        checkpoint(function, x), x, T.eye(6).double().reshape(6, 3, 2), is_grads_batched=True
    )
    (expected,) = T.grad(function(x), x, T.eye(6).double().reshape(6, 3, 2), is_grads_batched=True)
    np.testing.assert_array_equal(rows.numpy(), expected.numpy())
    assert T.gradcheck(lambda v: checkpoint(function, v), x, 3)


def test_values_are_dropped_and_not_kept_afterwards():
    n, depth = 50_000, 20
    size = n * 8
    x = T.tensor(np.linspace(-1, 1, n), requires_grad=True)

    def chain(v):
        for _ in range(depth):
            v = T.tanh(v)
        return v

    tracemalloc.start()
    y = checkpoint(chain, x)
    held = tracemalloc.get_traced_memory()[0]
    assert held < 2.5 * size
    tracemalloc.reset_peak()
    y.sum().backward(retain_graph=True)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (depth + 8) * size
    assert after < 4.5 * size


def test_segments_bound_the_peak():
    n, depth, segments = 50_000, 8, 8
    size = n * 8
    x = T.tensor(np.linspace(-1, 1, n), requires_grad=True)

    def chain(v):
        for _ in range(depth):
            v = T.tanh(v)
        return v

    tracemalloc.start()
    y = x
    for _ in range(segments):
        y = checkpoint(chain, y)
    y.sum().backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (depth + segments + 8) * size  # without checkpoints it is above 64


def test_nested_checkpoints():
    net, x = make_net(), points()
    expected = gradients(net, x, (net(x) ** 2).sum())

    def outer(v):
        return checkpoint(net[2:], checkpoint(net[:2], v))

    assert_same(gradients(net, x, (checkpoint(outer, x) ** 2).sum()), expected)


def test_keywords_and_several_outputs():
    x, w = points(), T.tensor(2.0, dtype=T.float64, requires_grad=True)

    def function(v, *, scale):
        return T.sin(v) * scale, T.exp(v), "label"

    a, b, label = checkpoint(function, x, scale=w)
    assert label == "label"
    found = T.grad((a * b).sum(), (x, w))
    a, b, _ = function(x, scale=w)
    expected = T.grad((a * b).sum(), (x, w))
    assert_same([f.numpy() for f in found], [e.numpy() for e in expected])


def test_random_numbers_are_drawn_again():
    x = points()
    own = T.Generator().manual_seed(3)

    def noisy(v, generator):
        noise = T.randn(6, 2, dtype=T.float64)
        return T.sin(v) * noise + T.exp(v) * T.rand(6, 2, generator=generator, dtype=T.float64)

    T.manual_seed(1)
    state = own.get_state()
    expected = T.grad(noisy(x, own).sum(), x)[0].tolist()
    T.manual_seed(1)
    own.set_state(state)
    y = checkpoint(noisy, x, own).sum()
    following = T.rand(1).item(), T.rand(1, generator=own).item()
    T.manual_seed(2)
    after = T.rand(1).item()
    T.manual_seed(2)
    assert T.grad(y, x)[0].tolist() == expected
    assert T.rand(1).item() == after  # the streams go on where they were
    assert T.rand(1, generator=own).item() != following[1]


def test_without_gradients_nothing_is_kept():
    x = points()
    with T.no_grad():
        y = checkpoint(T.sin, x)
    assert y.grad_fn is None
    assert checkpoint(T.sin, x.detach()).grad_fn is None


def test_a_second_run_that_differs_is_refused():
    x = points()

    def alternating(other):
        calls = []

        def function(v):
            calls.append(1)
            return T.sin(v).sum() if len(calls) == 1 else other(v)

        return function

    cases = [
        (lambda v: T.sin(v[:3]).sum(), "different metadata .*saved tensor 0 had shape"),
        (lambda v: T.sin(v.float()).sum(), "different metadata .*dtype float64.*dtype float32"),
        (lambda v: (T.sin(v) * T.cos(v)).sum(), "different number of tensors"),
        (lambda v: v.sum(), r"different number of tensors .*: \d and then 0"),
    ]
    for other, words in cases:
        y = checkpoint(alternating(other), x)
        with pytest.raises(RuntimeError, match=words):
            y.backward()
    assert x.grad is None


def test_an_argument_changed_in_place_is_noticed():
    x = points()
    inner = x * 1.0
    y = checkpoint(lambda v: T.sin(v * 2), inner).sum()
    inner.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    net = make_net()
    y = checkpoint(net, x).sum()
    with T.no_grad():
        net[2].weight.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_the_reentrant_form_is_refused():
    with pytest.raises(ValueError, match="cannot work with grad"):
        checkpoint(T.sin, points(), use_reentrant=True)
    checkpoint(T.sin, points(), use_reentrant=False)


def test_graphs_die_at_once_with_the_collector_off():
    gc.collect()
    gc.disable()
    try:
        x = points()
        y = checkpoint(lambda v: T.tanh(T.sin(v)), x)
        (g,) = T.grad(y.sum(), x, create_graph=True)
        watch = [weakref.ref(t) for t in (x, y, g, y.grad_fn)]
        del x, y, g
        assert [w() for w in watch] == [None] * 4
    finally:
        gc.enable()


def test_threads_share_one_segment():
    net, x = make_net(), points()
    y = checkpoint(net, x).sum()
    expected = T.grad(net(x).sum(), x)[0].tolist()
    results = [None] * 4

    def work(k):
        results[k] = T.grad(y, x, retain_graph=True)[0].tolist()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_on_the_strict_device():
    with strict_cuda():
        net = make_net().cuda()
        x = points().detach().cuda().requires_grad_()
        expected = T.grad(net(x).sum(), x)[0].tolist()
        assert T.grad(checkpoint(net, x).sum(), x)[0].tolist() == expected


@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_segments_of_a_sequence_are_run_again_but_the_last(segments):
    steps = [Counter(f) for f in (T.sin, T.cos, T.exp, T.tanh, lambda x: x * x)]
    x = T.tensor([0.3, 0.7], dtype=T.float64, requires_grad=True)
    expected = x.sin().cos().exp().tanh() ** 2
    found = T.utils.checkpoint.checkpoint_sequential(steps, segments, x)
    assert found.tolist() == expected.tolist()
    (slope,) = T.grad(found.sum(), x)
    np.testing.assert_allclose(slope.numpy(), T.grad(expected.sum(), x)[0].numpy(), rtol=1e-13)
    again = 5 // segments * (segments - 1)
    assert [step.calls for step in steps] == [2] * again + [1] * (5 - again)


def test_a_sequential_is_taken_apart_and_bad_numbers_are_refused():
    net = make_net()
    x = T.rand(3, net[0].in_features, dtype=net[0].weight.dtype)
    sequential = T.utils.checkpoint.checkpoint_sequential
    assert sequential(net, 2, x, use_reentrant=False).tolist() == net(x).tolist()
    for segments in (0, 100):
        with pytest.raises(ValueError, match=f"segments, as there are functions, got {segments}"):
            sequential(net, segments, x)
