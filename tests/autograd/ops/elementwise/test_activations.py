"""Activations: values and derivatives against mpmath and closed forms, kinks, tails."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import autograd
from autograd import Tensor
from autograd.ops.elementwise import activations
from autograd.testing import BINARY_SHAPES, OpCase, check_op


def _softplus(x):
    return mpmath.log(1 + mpmath.exp(x))


def _gelu_tanh(x):
    c, k = mpmath.sqrt(2 / mpmath.pi), mpmath.mpf("0.044715")
    return x * (1 + mpmath.tanh(c * (x + k * x**3))) / 2


# the constant 0.044715 is a double in the code: agreement to rounding, not to 40 digits
SMOOTH = {
    "softplus": (activations.softplus, _softplus),
    "softplus_beta": (lambda x: activations.softplus(x, beta=2.0), lambda x: _softplus(2 * x) / 2),
    "logsigmoid": (activations.logsigmoid, lambda x: -_softplus(-x)),
    "silu": (activations.silu, lambda x: x / (1 + mpmath.exp(-x))),
    "mish": (activations.mish, lambda x: x * mpmath.tanh(_softplus(x))),
    "gelu": (activations.gelu, lambda x: x * mpmath.ncdf(x)),
    "gelu_tanh": (lambda x: activations.gelu(x, approximate="tanh"), _gelu_tanh),
}

KINKED = {
    "relu": (activations.relu, lambda x: np.maximum(x, 0)),
    "leaky_relu": (lambda x: activations.leaky_relu(x, 0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    "elu": (lambda x: activations.elu(x, 0.7), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    "selu": (
        activations.selu,
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    ),
    "softsign": (activations.softsign, lambda x: x / (1 + np.abs(x))),
}


def derivatives(function, x: Tensor, order: int) -> list[Tensor]:
    values = [function(x)]
    for _ in range(order):
        values.append(autograd.grad(values[-1].sum(), x, create_graph=True)[0])
    return values


def count_nodes(tensor: Tensor) -> int:
    seen, stack = set(), [tensor.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack += [edge[0] for edge in node.edges if edge is not None]
    return len(seen)


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_to_order_six_agree_with_mpmath(name):
    ours, theirs = SMOOTH[name]
    points = np.array([-3.9, -2.2, -1.1, -0.3, 0.0, 0.4, 1.2, 2.6, 3.7])
    found = derivatives(ours, Tensor(points, requires_grad=True), 6)
    with mpmath.workdps(40):
        exact = np.array(
            [
                [
                    float(c * mpmath.factorial(k))
                    for k, c in enumerate(mpmath.taylor(theirs, mpmath.mpf(float(p)), 6))
                ]
                for p in points
            ]
        ).T
    for k, (values, expected) in enumerate(zip(found, exact, strict=True)):
        scale = np.max(np.abs(expected))
        np.testing.assert_allclose(
            values.detach().numpy() / scale,
            expected / scale,
            rtol=1e-11,
            atol=1e-12,
            err_msg=f"derivative {k}",
        )


@pytest.mark.parametrize("name", SMOOTH)
def test_every_shape_dtype_layout_and_device(name):
    check_op(OpCase(name, SMOOTH[name][0], order=2))
    check_op(OpCase(name, SMOOTH[name][0], shapes=[((3,),)], order=4))


@pytest.mark.parametrize("name", SMOOTH)
def test_each_derivative_has_a_graph_of_bounded_size(name):
    x = Tensor(np.full(3, 0.3), requires_grad=True)
    sizes = [count_nodes(d) for d in derivatives(SMOOTH[name][0], x, 9)]
    assert max(sizes[3:]) == min(sizes[3:]) <= 8


@pytest.mark.parametrize("name", KINKED)
def test_kinked_activations_away_from_the_kink(name):
    ours, reference = KINKED[name]
    rng = np.random.default_rng(5)

    def make(_, shape):
        return [rng.uniform(0.2, 2.0, shape) * rng.choice([-1.0, 1.0], shape)]

    check_op(OpCase(name, ours, make=make, reference=reference, order=3))


def test_derivatives_at_the_kink():
    for function, slope in [
        (activations.relu, 0.0),
        (lambda x: activations.leaky_relu(x, 0.1), 0.1),
        (lambda x: activations.elu(x, 0.7), 0.7),
        (activations.softsign, 1.0),
    ]:
        x = Tensor(np.zeros(2), requires_grad=True)
        y = function(x)
        assert np.array_equal(y.detach().numpy(), np.zeros(2))
        np.testing.assert_allclose(autograd.grad(y.sum(), x)[0].numpy(), [slope] * 2, rtol=1e-15)


def test_elu_derivatives_of_every_order():
    x = Tensor(np.array([-1.5, 2.0]), requires_grad=True)
    for order, values in enumerate(derivatives(lambda v: activations.elu(v, 0.7), x, 5)):
        if order:
            expected = [0.7 * math.exp(-1.5), 1.0 if order == 1 else 0.0]
            np.testing.assert_allclose(values.detach().numpy(), expected, rtol=1e-14)


def test_a_stopped_infinite_gradient_is_zero():
    x = Tensor(np.array([-1.0, 1.0]), requires_grad=True)
    weights = Tensor(np.array([np.inf, 2.0]))
    (g,) = autograd.grad(activations.relu(x), x, weights)
    assert g.numpy().tolist() == [0.0, 2.0]


@pytest.mark.parametrize("name", SMOOTH)
def test_tails_are_finite_in_value_and_derivatives(name):
    x = Tensor(np.array([-1e4, -800.0, 800.0, 1e4]), requires_grad=True)
    for order, values in enumerate(derivatives(SMOOTH[name][0], x, 4)):
        assert np.all(np.isfinite(values.detach().numpy())), order


def test_gelu_at_infinity():
    x = Tensor(np.array([-np.inf, np.inf]), requires_grad=True)
    (first,) = autograd.grad(activations.gelu(x).sum(), x, create_graph=True)
    assert first.detach().numpy().tolist() == [0.0, 1.0]
    (second,) = autograd.grad(first.sum(), x)
    assert second.numpy().tolist() == [0.0, 0.0]


def test_left_tails_keep_relative_accuracy():
    x = Tensor(np.array([-20.0, -30.0]))
    np.testing.assert_allclose(
        activations.softplus(x).numpy(), np.log1p(np.exp([-20.0, -30.0])), rtol=1e-14
    )
    with mpmath.workdps(40):
        exact = [float(x * mpmath.ncdf(x)) for x in (-20.0, -30.0)]
        mish = [float(x * mpmath.tanh(_softplus(mpmath.mpf(x)))) for x in (-20.0, -30.0)]
    np.testing.assert_allclose(activations.gelu(x).numpy(), exact, rtol=1e-13)
    np.testing.assert_allclose(activations.mish(x).numpy(), mish, rtol=1e-13)


def test_softplus_threshold():
    x = Tensor(np.array([0.5, 1.5, 25.0]), requires_grad=True)
    y = activations.softplus(x, beta=2.0, threshold=2.0)
    np.testing.assert_allclose(y.detach().numpy(), [np.log1p(np.e) / 2, 1.5, 25.0], rtol=1e-15)
    (g,) = autograd.grad(y.sum(), x)
    np.testing.assert_allclose(g.numpy(), [1 / (1 + math.exp(-1)), 1.0, 1.0], rtol=1e-15)
    exact = activations.softplus(Tensor(np.array([21.0]))).item()
    assert exact == 21.0 + math.log1p(math.exp(-21.0)) != 21.0


def test_logaddexp():
    check_op(
        OpCase(
            "logaddexp",
            activations.logaddexp,
            shapes=BINARY_SHAPES,
            reference=lambda x, y: np.log(np.exp(x) + np.exp(y)),
            order=3,
        )
    )
    big = Tensor(np.array([1e4, -1e4, 0.0]), requires_grad=True)
    y = activations.logaddexp(big, Tensor(np.array([1e4, -1e4, -np.inf])))
    np.testing.assert_allclose(
        y.detach().numpy(), [1e4 + math.log(2), -1e4 + math.log(2), 0.0], rtol=1e-15
    )
    np.testing.assert_allclose(autograd.grad(y.sum(), big)[0].numpy(), [0.5, 0.5, 1.0])


def test_bad_arguments_are_named():
    with pytest.raises(RuntimeError, match="'none' or 'tanh', got 'fast'"):
        activations.gelu(Tensor(np.ones(2)), approximate="fast")
    for name in ("relu", "elu", "selu", "leaky_relu", "gelu", "softplus", "logsigmoid"):
        with pytest.raises(RuntimeError, match=f"{name} is not implemented for complex"):
            getattr(activations, name)(Tensor(np.ones(2, np.complex128)))


@pytest.mark.parametrize("function", [activations.elu, activations.selu])
def test_the_curvature_of_a_kinked_exponential_at_zero_is_that_of_the_line(function):
    x = autograd.tensor([-1.0, 0.0, 1.0], dtype=autograd.float64, requires_grad=True)
    (g,) = autograd.grad(function(x).sum(), x, create_graph=True)
    (h,) = autograd.grad(g.sum(), x, create_graph=True)
    (third,) = autograd.grad(h.sum(), x)
    np.testing.assert_allclose(h.detach().numpy(), [g[0].item(), 0.0, 0.0], rtol=1e-15)
    np.testing.assert_allclose(third.numpy(), [g[0].item(), 0.0, 0.0], rtol=1e-15)


def test_logaddexp_of_complex_numbers():
    check_op(
        OpCase(
            "logaddexp",
            activations.logaddexp,
            [((3,), (3,)), ((2, 3), (3,))],
            complex=True,
            domain=(-1, 1),
            reference=lambda x, y: np.log(np.exp(x) + np.exp(y)),
        )
    )
    x = autograd.tensor([900 + 1j, complex(-math.inf, 0)], dtype=autograd.complex128)
    y = autograd.tensor([899 + 0j, complex(-math.inf, 0)], dtype=autograd.complex128)
    found = activations.logaddexp(x, y).numpy()
    assert found[0] == pytest.approx(900 + 1j + np.log1p(np.exp(-1 - 1j)), rel=1e-15)
    assert found[1].real == -math.inf
