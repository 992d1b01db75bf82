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
    (nn.CELU(), lambda x: np.where(x > 0, x, np.expm1(x))),
    (nn.CELU(0.7), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x / 0.7))),
    (nn.Hardtanh(), lambda x: np.clip(x, -1, 1)),
    (nn.Hardtanh(-2, 0.5), lambda x: np.clip(x, -2, 0.5)),
    (nn.ReLU6(), lambda x: np.clip(x, 0, 6)),
    (nn.LogSigmoid(), lambda x: -softplus(-x)),
    (nn.Softsign(), lambda x: x / (1 + np.abs(x))),
    (nn.PReLU(dtype=T.float64), lambda x: np.where(x > 0, x, 0.25 * x)),
    (nn.Softmax(0), lambda x: scipy.special.softmax(x, 0)),
    (nn.LogSoftmax(-1), lambda x: scipy.special.log_softmax(x, -1)),
]


@pytest.mark.parametrize(("module", "formula"), CASES, ids=[repr(m) for m, _ in CASES])
def test_values_and_gradients(module, formula):
    found = module(T.tensor(X)).detach().numpy()
    np.testing.assert_allclose(found, formula(X), rtol=1e-13, atol=1e-15)
    x = T.tensor(X + 0.01, requires_grad=True)
    assert T.gradcheck(module, x, 2)


def test_the_ends_of_a_clamped_activation_have_slope_zero():
    x = T.tensor([-1.0, 0.0, 1.0, 6.0, 7.0, 0.5], requires_grad=True)
    assert T.grad(nn.Hardtanh()(x).sum(), x)[0].tolist() == [0, 1, 0, 0, 0, 1]
    assert T.grad(nn.ReLU6()(x).sum(), x)[0].tolist() == [0, 0, 1, 0, 0, 1]
    y = T.tensor([-3.0, 9.0])
    assert nn.ReLU6(inplace=True)(y) is y and y.tolist() == [0, 6]
    assert nn.CELU(inplace=True)(y) is y and nn.Hardtanh(inplace=True)(y).tolist() == [0, 1]


def test_a_learned_slope_a_channel():
    module = nn.PReLU(3, 0.5)
    module.weight.data.copy_(T.tensor([0.5, 1.0, 2.0]))
    x = T.tensor([[-1.0, -1.0, -1.0], [1.0, -2.0, 3.0]])
    module(x).sum().backward()
    assert module(x).tolist() == [[-0.5, -1, -2], [1, -2, 3]]
    assert module.weight.grad.tolist() == [-1, -3, -1]
    assert repr(module) == "PReLU(num_parameters=3)"
    with pytest.raises(RuntimeError, match="parameter numbers = 3 .* and channel size = 2"):
        module(T.ones(4, 2))
    with pytest.raises(RuntimeError, match="same dtype"):
        module(T.ones(4, 3).double())


def test_options_are_shown_and_checked():
    assert repr(nn.Hardtanh(0, 2, True)) == "Hardtanh(min_val=0, max_val=2, inplace=True)"
    assert repr(nn.Softmax(1)) == "Softmax(dim=1)" and repr(nn.CELU()) == "CELU(alpha=1.0)"
    with pytest.raises(ValueError, match="must be greater than min_val"):
        nn.Hardtanh(1, 1)
    with pytest.raises(ValueError, match="cannot be greater than max_val"):
        nn.functional.hardtanh(T.ones(1), 1, -1)
    with pytest.raises(RuntimeError, match="alpha cannot be 0"):
        nn.functional.celu(T.ones(1), 0)
    assert repr(nn.GELU(approximate="tanh")) == "GELU(approximate='tanh')"
    assert repr(nn.LeakyReLU(0.2)) == "LeakyReLU(negative_slope=0.2)"
    assert repr(nn.Sin()) == "Sin()"
    with pytest.raises(ValueError, match="approximate must be"):
        nn.GELU(approximate="fast")
