"""What is standardized and scaled against its formula, with derivatives of two orders."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.reductions.standardize import scaled, standardized

SHAPES = [((6, 5), (-1,)), ((40, 30), (1,)), ((40, 30), (0,)), ((3, 4, 5), (0, 2))]


def values(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape) * 2 + 1


def with_gradient(shape, seed=0):
    return T.tensor(values(shape, seed), requires_grad=True)


def by_formula(x, axes, eps):
    mean = x.mean(axes, True)
    variance = ((x - mean) ** 2).mean(axes, True)
    return (x - mean) / (variance + eps) ** 0.5, mean, variance


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_values_are_those_of_numpy(shape, axes):
    x = values(shape)
    found = standardized(T.tensor(x), axes, 1e-3)
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    for one, expected in zip(
        found, ((x - mean) / np.sqrt(variance + 1e-3), mean, variance), strict=True
    ):
        np.testing.assert_allclose(one.numpy(), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_gradients_of_all_outputs_are_those_of_the_formula(shape, axes):
    weights = [values(shape, 1), *(values(np.mean(values(shape), axes, keepdims=True).shape, k)
                                   for k in (2, 3))]  # fmt: skip
    gradients = []
    for function in (standardized, by_formula):
        for create_graph in (False, True):
            x = with_gradient(shape)
            total = sum((T.tensor(w) * y).sum() for w, y in
                        zip(weights, function(x, axes, 1e-3), strict=True))  # fmt: skip
            (gradient,) = T.grad(total, x, create_graph=create_graph)
            gradients.append(gradient.detach().numpy())
    for gradient in gradients[1:]:
        np.testing.assert_allclose(gradient, gradients[0], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("axes", [(1,), (0,)])
def test_two_derivatives(axes):
    x = with_gradient((4, 3))
    assert T.gradcheck(lambda x: standardized(x, axes, 1e-2), (x,))
    assert T.gradgradcheck(lambda x: standardized(x, axes, 1e-2)[0], (x,))
    weight, bias = with_gradient(3, 1), with_gradient(3, 2)
    assert T.gradcheck(lambda *xs: scaled(*xs, (1, 3)), (x, weight, bias))
    assert T.gradgradcheck(lambda *xs: scaled(*xs, (1, 3)), (x, weight, bias))


def test_many_numbers_are_scaled_with_the_gradients_of_products():
    x, weight, bias = with_gradient((200, 40)), with_gradient(40, 1), with_gradient(40, 2)
    g = values((200, 40), 3)
    scaled(x, weight, bias, (40,)).backward(T.tensor(g))
    np.testing.assert_allclose(x.grad, g * weight.detach().numpy(), rtol=1e-15)
    np.testing.assert_allclose(weight.grad, (g * x.detach().numpy()).sum(0), rtol=1e-11)
    np.testing.assert_allclose(bias.grad, g.sum(0), rtol=1e-11)


def test_examples_of_vmap_are_standardized_one_by_one():
    x = T.tensor(values((3, 4, 5)))
    found = T.func.vmap(lambda x: standardized(x, (1,), 1e-3)[0])(x)
    np.testing.assert_allclose(found, standardized(x, (2,), 1e-3)[0], rtol=1e-13)
    cubes = T.func.grad(lambda x: (standardized(x, (1,), 1e-3)[0] ** 3).sum())
    y = x.clone().requires_grad_()
    (expected,) = T.grad((standardized(y, (2,), 1e-3)[0] ** 3).sum(), y)
    np.testing.assert_allclose(T.func.vmap(cubes)(x), expected, rtol=1e-9, atol=1e-12)
