"""Rows of a Jacobian from one reverse sweep, against one sweep a row."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.jets import Sum, partials
from autograd.plan import optimize, trace
from autograd.plan.chunks import Chunked
from autograd.plan.passes.per_row import CannotSplitRows, split_rows

rng = np.random.default_rng(0)


def linear(x, p, k):
    return T.nn.functional.linear(x, p[2 * k], p[2 * k + 1])


def tanh_network(p, x, t):
    h = T.tanh(linear(T.cat([x, t], dim=1), p, 0))
    return linear(T.tanh(linear(h, p, 1)), p, 2)


def residual_network(p, x, t):
    h = T.sin(linear(T.cat([x, t], dim=1), p, 0))
    h = h + T.tanh(h @ p[2] * p[6] + p[3])
    return linear(h * (1 - h) + h, p, 2)


def gated_network(p, x, t):
    """Two branches mixed by gates, as in a modified MLP."""
    z = T.cat([x, t], dim=1)
    u, v = T.tanh(linear(z, p, 0)), T.sigmoid(linear(z * 2, p, 0))
    g = T.sigmoid(linear(u, p, 1))
    return linear(g * u + (1 - g) * v, p, 2)


def factorised_network(p, x, t):
    """Weights that are products of parameters."""
    h = T.tanh(T.nn.functional.linear(T.cat([x, t], dim=1), T.exp(p[1])[:, None] * p[0], p[1]))
    return linear(h, p, 2) * T.exp(p[6])


SHAPES = [(5, 2), (5,), (5, 5), (5,), (1, 5), (1,), ()]


def parameters():
    return [T.tensor(0.6 * rng.normal(size=s), requires_grad=True) for s in SHAPES]


def heat(fn, x, t, s):
    total = Sum((((1,), 1.0), ((0, 0), -0.5)))
    d = partials(fn, [x, t], [(0,)], [total])
    return (d[total] + fn(x, t) * d[(0,)] * T.exp(s)).reshape(-1)


def value(fn, x, t, s):
    return fn(x, t).reshape(-1) * s


def coefficient_alone(fn, x, t, s):
    return fn(x, t).reshape(-1) + s * s + T.sin(s) * x.reshape(-1)


@pytest.mark.parametrize("count", [1, 2, 5, 6, 13])
@pytest.mark.parametrize("chunk", [1, 4, 100])
@pytest.mark.parametrize("residual", [heat, value, coefficient_alone])
@pytest.mark.parametrize(
    "network", [tanh_network, residual_network, gated_network, factorised_network]
)
def test_rows_equal_one_sweep_a_row(network, residual, count, chunk):
    p = parameters()
    points = [rng.normal(size=(count, 1)) for _ in range(2)]

    def rows_of(x, t):
        return residual(lambda *z: network(p, *z), x, t, p[6])

    def fn(rows):
        x, t, seed = rows
        r = rows_of(x, t)
        shares = T.grad(r, p, seed.reshape(-1), materialize_grads=True)
        return [r.detach(), T.cat([g.reshape(-1) for g in shares])]

    step = Chunked(fn, p, ["rows", "per_row"], chunk=chunk, executor="numpy")
    r, found = step([*points, np.ones((count, 1))])
    eager = rows_of(*(T.tensor(a) for a in points))
    expected = np.stack([
        np.concatenate([
            g.numpy().ravel()
            for g in T.grad(eager[k], p, retain_graph=True, materialize_grads=True)
        ])
        for k in range(count)
    ])  # fmt: skip
    np.testing.assert_allclose(r, eager.detach().numpy(), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)


def test_a_network_that_mixes_points_is_refused():
    p = T.tensor(rng.normal(size=(2, 2)), requires_grad=True)

    def fn(x, seed, _):
        mixed = (x @ p) * (x @ p).mean(0)  # every row depends on all points
        return T.grad(mixed.sum(1), p, seed.reshape(-1))

    program = optimize(trace(fn, [T.tensor(rng.normal(size=(6, 2))), T.ones(6, 1).double(), p])[0])
    with pytest.raises(CannotSplitRows):
        split_rows(program, [0], 2)


def test_an_output_that_does_not_depend_on_the_rows_is_zero():
    def fn(x, seed):
        return [(x * seed).sum(1), T.zeros(3, dtype=T.float64)]

    program = trace(fn, [T.tensor(rng.normal(size=(4, 2))), T.ones(4, 1).double()])[0]
    split = split_rows(program, [1], 2)
    assert split.outputs[1].shape == (4, 3) and not split.outputs[1].data.any()


def test_nested_derivatives_keep_their_rows():
    """Their sweep splits a join of columns, and contracts rows with a constant of ones."""
    p = parameters()[:6]
    points, seed = rng.uniform(-1, 1, (9, 2)), np.ones((9, 1))

    def residual(x, t):
        u = tanh_network(p, x.requires_grad_(), t.requires_grad_())
        u_x, u_t = T.grad(u, [x, t], T.ones_like(u), create_graph=True)
        (u_xx,) = T.grad(u_x, x, T.ones_like(u), create_graph=True)
        return (u_t + u * u_x - u_xx).reshape(-1)

    def fn(rows):
        *columns, ones = rows
        gradients = T.grad(residual(*columns), p, ones.reshape(-1), materialize_grads=True)
        return [T.cat([g.reshape(-1) for g in gradients])]

    columns = [points[:, :1].copy(), points[:, 1:].copy()]
    (found,) = Chunked(fn, p, ["per_row"], executor="numpy")([*columns, seed])
    for k in range(9):
        one = [T.tensor(column[k : k + 1]) for column in columns]
        (expected,) = fn([*one, T.tensor(seed[k : k + 1])])
        np.testing.assert_allclose(found[k], expected.numpy(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_single_number_that_all_points_share(shape):
    """Its gradient is summed over points and then over what it was broadcast to."""
    factor = T.tensor(rng.normal(size=shape), requires_grad=True)
    weight = T.tensor(rng.normal(size=(4, 2)), requires_grad=True)
    points, seed = rng.uniform(-1, 1, (7, 1)), np.ones((7, 1))

    def fn(rows):
        x, ones = rows
        waves = T.cat([T.cos(x * 3.0 * factor), T.sin(x * 3.0 * factor)], dim=1)
        r = T.nn.functional.linear(waves, weight).sum(1)
        gradients = T.grad(r, [factor, weight], ones.reshape(-1))
        return [T.cat([g.reshape(-1) for g in gradients])]

    (found,) = Chunked(fn, [factor, weight], ["per_row"], executor="numpy")([points, seed])
    for k in range(7):
        (expected,) = fn([T.tensor(points[k : k + 1]), T.tensor(seed[k : k + 1])])
        np.testing.assert_allclose(found[k], expected.numpy(), rtol=1e-11, atol=1e-13)
