"""Rows 100-112: derivatives as PINNs use them."""

from __future__ import annotations

import gc
import resource
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import autograd as T
from autograd import functional, nn
from autograd.ops.registry import OpNode


def points(dtype, *shape, seed=0):
    values = np.random.default_rng(seed).uniform(-1, 1, shape)
    return T.tensor(values, dtype=dtype, requires_grad=True)


def tolerance(dtype):
    return 1e-12 if dtype == np.float64 else 2e-5


def mlp(dtype, inputs=2, width=8):
    T.manual_seed(0)
    return nn.Sequential(
        nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
        nn.Linear(width, 1),
    ).to(dtype)  # fmt: skip


def second_derivative(model, x):
    u = model(x)
    (first,) = T.grad(u, x, T.ones_like(u), create_graph=True)
    return T.grad(first[:, 0].sum(), x, create_graph=True)[0][:, 0]


def resident_bytes():
    status = Path("/proc/self/statm")
    if not status.exists():
        pytest.skip("the resident memory is read from /proc")
    return int(status.read_text().split()[1]) * resource.getpagesize()


def test_row_100_backward_with_a_vector_is_linear_in_it(dtype):
    rng = np.random.default_rng(0)
    x = points(dtype, 3)
    matrix = T.tensor(rng.uniform(-1, 1, (2, 3)), dtype=dtype)

    def pulled(v):
        x.grad = None
        T.sin(matrix @ x).backward(T.tensor(v, dtype=dtype))
        return x.grad.numpy()

    v, w = rng.uniform(-1, 1, (2, 2)).astype(dtype)
    a = matrix.numpy()
    jacobian = np.cos(a @ x.detach().numpy())[:, None] * a
    rtol = tolerance(dtype)
    np.testing.assert_allclose(pulled(v), jacobian.T @ v, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(
        pulled(2 * v - 3 * w), 2 * pulled(v) - 3 * pulled(w), rtol=rtol, atol=rtol
    )


def test_row_101_ones_as_gradient_equal_the_sum(dtype):
    x = points(dtype, 5)
    y = T.exp(x) * T.sin(x)
    (with_ones,) = T.grad(y, x, T.ones_like(y), retain_graph=True)
    (of_sum,) = T.grad(y.sum(), x)
    assert with_ones.tolist() == of_sum.tolist()


def test_row_102_the_sum_trick_is_wrong_where_elements_mix(dtype):
    x = points(dtype, 4)
    y = T.softmax(x, 0)
    (trick,) = T.grad(y.sum(), x)
    s = np.exp(x.detach().numpy()) / np.exp(x.detach().numpy()).sum()
    assert np.abs(trick.numpy() - s * (1 - s)).max() > 0.1, "not the elementwise derivative"
    with pytest.raises(RuntimeError, match="depends on more than x_i"):
        functional.elementwise_derivative(T.softmax(x, 0), x)
    right = functional.elementwise_derivative(T.sin(x), x)
    np.testing.assert_allclose(right.numpy(), np.cos(x.detach().numpy()), rtol=tolerance(dtype))


def test_row_103_the_full_jacobian_two_ways(dtype):
    x = points(dtype, 3)
    y = T.stack([x[0] * x[1], T.sin(x[2]), x[0] * x[0], x[1] / x[2]])
    basis = T.eye(4, dtype=dtype)
    looped = np.stack([T.grad(y, x, basis[k], retain_graph=True)[0].numpy() for k in range(4)])
    (batched,) = T.grad(y, x, basis, is_grads_batched=True)
    assert batched.shape == (4, 3)
    np.testing.assert_array_equal(batched.numpy(), looped)
    a, b, c = x.detach().numpy()
    expected = [[b, a, 0], [0, 0, np.cos(c)], [2 * a, 0, 0], [0, 1 / c, -b / c**2]]
    np.testing.assert_allclose(looped, expected, rtol=tolerance(dtype), atol=tolerance(dtype))


def test_row_104_hessian_and_jacobian_products(dtype):
    rng = np.random.default_rng(4)
    x = points(dtype, 3)
    v = T.tensor(rng.uniform(-1, 1, 3), dtype=dtype)
    rtol = tolerance(dtype)
    value = x.detach().numpy()

    (g,) = T.grad((T.sin(x).sum()) * x[0], x, create_graph=True)
    (hv,) = T.grad((g * v).sum(), x)
    hessian = np.diag(-np.sin(value) * value[0])
    hessian[0] += np.cos(value)
    hessian[:, 0] += np.cos(value)
    np.testing.assert_allclose(hv.numpy(), hessian @ v.numpy(), rtol=rtol, atol=rtol)
    also = functional.hvp(lambda x: T.sin(x).sum() * x[0], x, v)[1]
    np.testing.assert_allclose(also.detach().numpy(), hv.numpy(), rtol=rtol, atol=rtol)

    y = T.stack([x[0] * x[1], T.sin(x[2])])
    w = T.zeros(2, dtype=dtype, requires_grad=True)
    (vjp,) = T.grad(y, x, w, create_graph=True)
    (jv,) = T.grad(vjp, w, v)
    a, b, c = value
    p, q, r = v.numpy()
    np.testing.assert_allclose(jv.numpy(), [b * p + a * q, np.cos(c) * r], rtol=rtol, atol=rtol)


def test_row_105_u_xx_is_linear_in_memory(dtype):
    model = mlp(dtype)

    def peak(n):
        x = points(dtype, n, 2)
        tracemalloc.start()
        second_derivative(model, x)
        bytes_at_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return bytes_at_peak

    peak(100)
    small, large = peak(10_000), peak(20_000)
    assert large <= 2.2 * small
    assert large < 20_000 * 20_000 * dtype.itemsize / 10


def test_row_106_a_thousand_steps_without_the_garbage_collector():
    dtype = np.dtype(np.float64)
    model = mlp(dtype, width=6)
    optimizer = T.optim.Adam(model.parameters(), lr=1e-3)
    x = points(dtype, 500, 2)
    gc.collect()
    gc.disable()
    try:
        for step in range(1000):
            optimizer.zero_grad()
            residual = second_derivative(model, x) - 1
            (residual * residual).mean().backward()
            optimizer.step()
            if step == 199:
                before = resident_bytes()
        grown = resident_bytes() - before
        assert gc.collect() == 0, "the steps left cycles behind"
    finally:
        gc.enable()
    assert grown < 4 * 2**20


def test_row_107_one_sweep_gives_u_x_and_u_t(dtype, monkeypatch):
    x, t = points(dtype, 5, seed=1), points(dtype, 5, seed=2)
    u = T.sin(x) * T.exp(t)
    runs = []
    run = OpNode.run
    monkeypatch.setattr(OpNode, "run", lambda self, *a: runs.append(self.name()) or run(self, *a))
    u_x, u_t = T.grad(u, [x, t], T.ones_like(u))
    assert sorted(runs) == ["ExpBackward0", "MulBackward0", "SinBackward0"]
    a, b = x.detach().numpy(), t.detach().numpy()
    rtol = tolerance(dtype)
    np.testing.assert_allclose(u_x.numpy(), np.cos(a) * np.exp(b), rtol=rtol)
    np.testing.assert_allclose(u_t.numpy(), np.sin(a) * np.exp(b), rtol=rtol)


def test_row_108_chunks_and_checkpoint_give_the_same_gradient():
    model = mlp(np.dtype(np.float64), width=16)
    data = points(np.dtype(np.float64), 4000, 2).detach()
    parameters = list(model.parameters())[:-1]  # u_xx does not depend on the last bias

    def whole():
        x = data.clone().requires_grad_()
        (second_derivative(model, x) ** 2).sum().backward()

    def chunked():
        for start in range(0, 4000, 500):
            x = data[start : start + 500].clone().requires_grad_()
            (second_derivative(model, x) ** 2).sum().backward()

    def checkpointed():
        for start in range(0, 4000, 500):
            x = data[start : start + 500].clone().requires_grad_()
            u_xx = T.checkpoint(lambda x: second_derivative(model, x), x)
            (u_xx**2).sum().backward()

    def gradients(train):
        model.zero_grad()
        tracemalloc.start()
        train()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return [np.array(p.grad.numpy()) for p in parameters], peak

    gradients(chunked)
    expected, at_once = gradients(whole)
    for train in (chunked, checkpointed):
        found, peak = gradients(train)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max())
        assert peak < at_once / 4


def test_row_109_a_slice_made_afterwards_is_no_ancestor(dtype):
    message = "appears to not have been used in the graph"
    X = points(dtype, 6, 2)
    u = T.sin(X[:, 0:1]) * T.exp(X[:, 1:2])
    with pytest.raises(RuntimeError, match=message):
        T.grad(u.sum(), X[:, 0:1])
    (u_X,) = T.grad(u.sum(), X)
    x, t = X[:, 0:1], X[:, 1:2]
    split_first = T.cat([x, t], 1)
    u = T.sin(split_first[:, 0:1]) * T.exp(split_first[:, 1:2])
    (u_x,) = T.grad(u.sum(), x)
    a, b = X.detach().numpy().T
    expected = (np.cos(a) * np.exp(b))[:, None]
    np.testing.assert_allclose(u_x.numpy(), expected, rtol=tolerance(dtype))
    np.testing.assert_allclose(u_X[:, 0:1].numpy(), expected, rtol=tolerance(dtype))


def test_row_110_a_loop_over_samples_works_and_is_documented_as_slow(dtype):
    X = points(dtype, 6, 2)
    u = T.sin(X[:, 0]) * X[:, 1]
    (at_once,) = T.grad(u.sum(), X, retain_graph=True)
    for i in range(6):
        (gradient,) = T.grad(u[i], X, retain_graph=True)
        expected = np.zeros((6, 2), dtype)
        expected[i] = at_once[i].numpy()
        np.testing.assert_array_equal(gradient.numpy(), expected)
    assert "O(N^2)" in T.grad.__doc__


def test_row_111_u_x_independent_of_x(dtype):
    x, t = points(dtype, 5, seed=1), points(dtype, 5, seed=2)

    def u_x():
        u = x * t
        return T.grad(u.sum(), x, create_graph=True)[0].sum()

    with pytest.raises(RuntimeError, match="appears to not have been used in the graph") as error:
        T.grad(u_x(), x)
    assert "allow_unused=True" in str(error.value)
    assert T.grad(u_x(), x, allow_unused=True) == (None,)
    (u_xx,) = T.grad(u_x(), x, materialize_grads=True)
    assert u_xx.tolist() == [0.0] * 5 and u_xx.dtype == dtype


def test_row_112_grad_for_a_non_leaf(dtype):
    x = T.tensor([2.0], dtype=dtype, requires_grad=True)
    y = x * x
    z = y * y * y
    result = T.grad(z, [y, x])
    assert result[0].tolist() == [48.0] and result[1].tolist() == [192.0]
    assert y.retains_grad is False
    with pytest.warns(UserWarning, match="not a leaf"):
        assert y.grad is None
