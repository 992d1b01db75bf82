"""Orthogonal polynomials against numpy's and scipy's, at every degree and with derivatives."""

import numpy as np
import pytest
import scipy.special

import autograd as T
from autograd import special

THEIRS = {
    "chebyshev_polynomial_t": scipy.special.eval_chebyt,
    "chebyshev_polynomial_u": scipy.special.eval_chebyu,
    # cos((n + 1/2) t) / cos(t/2) and sin((n + 1/2) t) / sin(t/2) at x = cos(t)
    "chebyshev_polynomial_v": lambda n, x: (
        np.cos((n + 0.5) * np.arccos(x)) / np.cos(np.arccos(x) / 2)
    ),
    "chebyshev_polynomial_w": lambda n, x: (
        np.sin((n + 0.5) * np.arccos(x)) / np.sin(np.arccos(x) / 2)
    ),
    "hermite_polynomial_h": scipy.special.eval_hermite,
    "hermite_polynomial_he": scipy.special.eval_hermitenorm,
    "laguerre_polynomial_l": scipy.special.eval_laguerre,
    "legendre_polynomial_p": scipy.special.eval_legendre,
}
X = np.linspace(-0.9, 0.8, 7)


@pytest.mark.parametrize("name", THEIRS)
def test_every_degree_and_degrees_as_a_tensor(name):
    ours = getattr(special, name)
    rows = [ours(T.tensor(X), n).numpy() for n in range(8)]
    expected = [THEIRS[name](n, X) for n in range(8)]
    np.testing.assert_allclose(rows, expected, rtol=1e-12, atol=1e-13)
    together = ours(T.tensor(X), T.arange(8).reshape(8, 1)).numpy()
    np.testing.assert_allclose(together, expected, rtol=1e-12, atol=1e-13)
    assert ours(T.tensor(X), -1).tolist() == [0.0] * 7
    if name.startswith("chebyshev"):
        shifted = getattr(special, f"shifted_{name}")
        found = shifted(T.tensor((X + 1) / 2), 5).numpy()
        np.testing.assert_allclose(found, expected[5], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", THEIRS)
def test_derivatives(name):
    x = T.tensor(X, requires_grad=True)
    assert T.gradcheck(lambda x: getattr(special, name)(x, 5), [x], order=2)


def test_legendres_equation():
    x = T.tensor(X, requires_grad=True)
    p = special.legendre_polynomial_p(x, 6)
    (first,) = T.grad(p.sum(), x, create_graph=True)
    (second,) = T.grad(first.sum(), x)
    residual = (1 - x**2) * second - 2 * x * first + 42 * p
    np.testing.assert_allclose(residual.detach().numpy(), 0, atol=1e-12)


def test_numbers_integers_and_complex_ones():
    assert special.chebyshev_polynomial_t(2.0, T.tensor([3])).item() == 26.0
    assert special.hermite_polynomial_he(T.tensor([2]), 2).dtype == T.get_default_dtype()
    with pytest.raises(RuntimeError, match="not implemented for complex tensors"):
        special.legendre_polynomial_p(T.tensor([1j]), 2)


def test_degrees_may_be_a_tensor_of_floats_and_are_rounded_towards_zero():
    x = T.tensor([0.5, 0.25], dtype=T.float64)
    for degrees in ([2.0, 3.0], [2.7, 3.2]):
        found = special.chebyshev_polynomial_t(x, T.tensor(degrees))
        np.testing.assert_allclose(found.numpy(), [2 * 0.25 - 1, 4 * 0.25**3 - 3 * 0.25])
    assert special.hermite_polynomial_h(0.5, T.tensor([2.0, -1.0])).tolist() == [-1.0, 0.0]
