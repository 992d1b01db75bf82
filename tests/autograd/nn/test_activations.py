"""Activation modules against their formulas in numpy and scipy."""

import numpy as np
import pytest
import scipy.special

import autograd as T
from autograd import nn

X = np.linspace(-3, 3, 13)


def softplus(x):
    return np.log1p(np.exp(x))


SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805
CASES = [
    (nn.Identity(), lambda x: x),
    (nn.Tanh(), np.tanh),
    (nn.Sigmoid(), scipy.special.expit),
    (nn.Sin(), np.sin),
    (nn.Sin(3.0), lambda x: np.sin(3 * x)),
    (nn.SiLU(), lambda x: x * scipy.special.expit(x)),
    (nn.GELU(), lambda x: x * scipy.special.ndtr(x)),
    (
        nn.GELU(approximate="tanh"),
        lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    ),
    (nn.ReLU(), lambda x: np.maximum(x, 0)),
    (nn.LeakyReLU(), lambda x: np.where(x > 0, x, 0.01 * x)),
    (nn.LeakyReLU(0.3), lambda x: np.where(x > 0, x, 0.3 * x)),
    (nn.ELU(1.5), lambda x: np.where(x > 0, x, 1.5 * np.expm1(x))),
    (nn.SELU(), lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(x))),
    (nn.Softplus(), softplus),
    (nn.Softplus(2.0), lambda x: softplus(2 * x) / 2),
    (nn.Mish(), lambda x: x * np.tanh(softplus(x))),
]


@pytest.mark.parametrize(("module", "formula"), CASES, ids=[repr(m) for m, _ in CASES])
def test_values_and_gradients(module, formula):
    np.testing.assert_allclose(module(T.tensor(X)).numpy(), formula(X), rtol=1e-13, atol=1e-15)
    x = T.tensor(X + 0.01, requires_grad=True)
    assert T.gradcheck(module, x, 2)


def test_options_are_shown_and_checked():
    assert repr(nn.GELU(approximate="tanh")) == "GELU(approximate='tanh')"
    assert repr(nn.LeakyReLU(0.2)) == "LeakyReLU(negative_slope=0.2)"
    assert repr(nn.Sin()) == "Sin()"
    with pytest.raises(ValueError, match="approximate must be"):
        nn.GELU(approximate="fast")
