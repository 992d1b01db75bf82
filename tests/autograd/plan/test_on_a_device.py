"""Compiled functions of tensors on a device that is not current, against eager ones on the host."""

import numpy as np
import pytest

import autograd as T
from autograd.nn import functional as F
from autograd.strict import strict_cuda
from autograd.strict.kernels import compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C++ compiler")

A = np.random.default_rng(0).normal(size=(6, 4))
B = np.random.default_rng(1).normal(size=(4, 4)) + 3 * np.eye(4)

CASES = {
    "elementwise": lambda a, b: (a.sin() * a).sum() + (b.tanh() ** 2).mean(),
    "products": lambda a, b: (a @ b).softmax(1)[:, 0].log().sum(),
    "positions": lambda a, b: a[:, [0, 2, 2]].sum() + (a[[1, 0, 1]] ** 2).sum() + b[0].sum(),
    "in place": lambda a, b: (a * 1).mul_(2).add_(b[0]).exp().sum(),
    "systems": lambda a, b: (T.linalg.solve(b, a.t()) ** 2).sum(),
    "order": lambda a, b: (a.sort(1).values.cumsum(0) ** 2).sum() + b.sum(),
    "classes": lambda a, b: F.cross_entropy(a @ b, T.tensor([0, 1, 2, 3, 0, 1], device=a.device)),
    "slopes": lambda a, b: (T.grad((a @ b).tanh().sum(), a, create_graph=True)[0] ** 2).sum(),
}


def value_and_gradients(function, device):
    a, b = (T.tensor(array, device=device, requires_grad=True) for array in (A, B))
    results = [function(a, b) for _ in range(3)][-1]  # recorded, then replayed
    return [results, *T.grad(results, [a, b])]


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_eager_ones(name):
    expected = value_and_gradients(CASES[name], "cpu")
    with strict_cuda(kernels=True):
        found = value_and_gradients(T.compile(CASES[name]), "cuda:1")
        assert {str(one.device) for one in found} == {"cuda:1"}
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(
                one.detach().cpu().numpy(), other.detach().numpy(), rtol=1e-10, atol=1e-12
            )


def test_a_function_of_points_is_computed_where_they_lie():
    weight = np.random.default_rng(2).normal(size=(4, 1))

    def loss(device, points):
        w = T.tensor(weight, device=device, requires_grad=True)
        function = T.compile(lambda p: ((p @ w).tanh() ** 2).mean(), points="p") if points else (
            lambda p: ((p @ w).tanh() ** 2).mean()
        )  # fmt: skip
        found = [function(T.tensor(A[:count], device=device)) for count in (3, 6)]
        return [one.item() for one in found] + T.grad(found[-1], w)[0].flatten().tolist()

    expected = loss("cpu", points=False)
    with strict_cuda(kernels=True):
        np.testing.assert_allclose(loss("cuda:1", points=True), expected, rtol=1e-12)
