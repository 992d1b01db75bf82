"""Jets are differentiable: gradients, Jacobian rows and products, by several independent ways."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.jets import Sum, partials

N = 5
rng = np.random.default_rng(2)
X, TIME = rng.uniform(-1, 1, (N, 1)), rng.uniform(0, 1, (N, 1))
SIZES = [(4, 2), (4,), (3, 4), (3,), (1, 3), (1,)]
THETA = rng.normal(size=sum(int(np.prod(s)) for s in SIZES)) * 0.7
TOTAL = Sum((((1,), 1.0), ((0, 0), -0.3)))


def unpack(theta):
    parts, start = [], 0
    for shape in SIZES:
        size = int(np.prod(shape))
        parts.append(T.tensor(theta[start : start + size].reshape(shape), requires_grad=True))
        start += size
    return parts


def model(parameters):
    def fn(x, t):
        h = T.cat([x, t], dim=1)
        h = T.tanh(T.nn.functional.linear(h, parameters[0], parameters[1]))
        h = T.sin(T.nn.functional.linear(h, parameters[2], parameters[3]))
        return T.nn.functional.linear(h, parameters[4], parameters[5])

    return fn


def by_jets(parameters):
    """The residual u_t - 0.3 u_xx + u u_x + u_xxx u_xt."""
    fn, x, t = model(parameters), T.tensor(X), T.tensor(TIME)
    d = partials(fn, [x, t], [(0,), (0, 0, 0), (0, 1)], [TOTAL])
    u = fn(x, t)
    return (d[TOTAL] + u * d[(0,)] + d[(0, 0, 0)] * d[(0, 1)]).reshape(-1)


def by_reverse_mode(parameters):
    x, t = T.tensor(X, requires_grad=True), T.tensor(TIME, requires_grad=True)

    def d(y, *coordinates):
        for c in coordinates:
            (y,) = T.grad(y, c, T.ones_like(y), create_graph=True)
        return y

    u = model(parameters)(x, t)
    total = d(u, t) - 0.3 * d(u, x, x)
    return (total + u * d(u, x) + d(u, x, x, x) * d(u, x, t)).reshape(-1)


def flat(gradients):
    return np.concatenate([g.detach().numpy().reshape(-1) for g in gradients])


def jacobian(residual, theta=THETA):
    parameters = unpack(theta)
    rows = residual(parameters)
    return np.stack([
        flat(T.grad(rows[k], parameters, retain_graph=True, materialize_grads=True))
        for k in range(N)
    ])  # fmt: skip


def values(theta):
    return by_jets(unpack(theta)).detach().numpy()


def test_residuals_agree():
    expected = by_reverse_mode(unpack(THETA)).detach().numpy()
    np.testing.assert_allclose(values(THETA), expected, rtol=1e-11, atol=1e-12)


def test_jacobian_rows_equal_nested_reverse_mode():
    np.testing.assert_allclose(jacobian(by_jets), jacobian(by_reverse_mode), rtol=1e-9, atol=1e-10)


def test_jacobian_columns_equal_finite_differences():
    rows = jacobian(by_jets)
    h = 1e-3
    for k in range(len(THETA)):
        step = np.zeros_like(THETA)
        step[k] = h
        f = [values(THETA + m * step) for m in (-3, -2, -1, 1, 2, 3)]
        slope = (-f[0] + 9 * f[1] - 45 * f[2] + 45 * f[3] - 9 * f[4] + f[5]) / (60 * h)
        np.testing.assert_allclose(rows[:, k], slope, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_jacobian_vector_products(strategy):
    direction = rng.normal(size=len(THETA))
    _, pushed = T.functional.jvp(
        lambda *p: by_jets(p), tuple(unpack(THETA)), tuple(p.detach() for p in unpack(direction)),
        strategy=strategy,
    )  # fmt: skip
    expected = jacobian(by_reverse_mode) @ direction
    np.testing.assert_allclose(pushed.numpy(), expected, rtol=1e-9, atol=1e-10)


def test_vector_jacobian_products():
    z = rng.normal(size=N)
    parameters = unpack(THETA)
    pulled = flat(T.grad(by_jets(parameters), parameters, T.tensor(z)))
    np.testing.assert_allclose(pulled, jacobian(by_reverse_mode).T @ z, rtol=1e-9, atol=1e-10)


def test_second_derivatives_in_the_parameters():
    direction = rng.normal(size=len(THETA))

    def hessian_times(residual):
        parameters = unpack(THETA)
        gradients = T.grad((residual(parameters) ** 2).sum(), parameters, create_graph=True)
        product = sum((g * v).sum() for g, v in zip(gradients, unpack(direction), strict=True))
        return flat(T.grad(product, parameters))

    np.testing.assert_allclose(
        hessian_times(by_jets), hessian_times(by_reverse_mode), rtol=1e-8, atol=1e-8
    )


def test_gradients_in_the_coordinates_go_through_jets():
    # d/dx of the u_xx of a sweep is u_xxx
    parameters = unpack(THETA)
    x, t = T.tensor(X, requires_grad=True), T.tensor(TIME)
    found = partials(model(parameters), [x, t], [(0, 0), (0, 0, 0)])
    (third,) = T.grad(found[(0, 0)].sum(), x)
    np.testing.assert_allclose(third.numpy(), found[(0, 0, 0)].detach().numpy(), rtol=1e-10)


@pytest.mark.parametrize("recorded", [True, False], ids=["grad mode", "no_grad"])
def test_a_mode_that_is_put_back_is_that_of_the_sweep(recorded):
    def fn(x):
        with T.set_grad_enabled(T.is_grad_enabled()):
            y = T.sin(x)
        before = T.is_grad_enabled()
        T.set_grad_enabled(False)
        factor = T.cos(x)
        T.set_grad_enabled(before)
        return factor * T.exp(x) + y

    x = T.tensor([[0.3], [1.2]], dtype=T.float64, requires_grad=True)
    (expected,) = T.grad(fn(x).sum(), x)
    with T.set_grad_enabled(recorded):
        found = partials(fn, [x if recorded else x.detach()], [(0,)])
    np.testing.assert_allclose(found[0,].detach(), expected, rtol=1e-14)


@pytest.mark.parametrize("recorded", [True, False], ids=["grad mode", "no_grad"])
def test_what_is_computed_in_no_grad_is_a_constant(recorded):
    def fn(x):
        with T.no_grad():
            factor = T.sin(x)
        with T.no_grad(), T.enable_grad():
            other = T.cos(x)
        return factor * x + 2 * other

    x = T.tensor([[0.3], [1.2]], dtype=T.float64, requires_grad=True)
    (expected,) = T.grad(fn(x).sum(), x)
    with T.set_grad_enabled(recorded):
        found = partials(fn, [x if recorded else x.detach()], [(0,)])
        assert T.is_grad_enabled() is recorded
    np.testing.assert_allclose(found[0,].detach(), expected, rtol=1e-14)
    np.testing.assert_allclose(expected, -T.sin(x).detach(), rtol=1e-14)
