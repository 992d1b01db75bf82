"""lgamma, digamma and polygamma: values and derivatives against mpmath, in both modes."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import autograd as T
from autograd.jets import partials
from autograd.testing import OpCase, check_op

FUNCTIONS = {
    "lgamma": (T.lgamma, lambda x: mpmath.log(abs(mpmath.gamma(x)))),
    "digamma": (T.digamma, mpmath.digamma),
    "polygamma of 2": (lambda x: T.polygamma(2, x), lambda x: mpmath.polygamma(2, x)),
}
POINTS = np.array([0.2, 0.7, 1.0, 1.9, 3.5, 20.0, -0.6, -1.4, -3.3])


def exact(function, x, order):
    """The derivatives by mpmath, one row an order."""
    with mpmath.workdps(40):
        return np.array([[float(mpmath.diff(function, v, k)) for v in x] for k in range(order + 1)])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_agree_with_mpmath(name):
    ours, theirs = FUNCTIONS[name]
    x = T.tensor(POINTS, dtype=T.float64, requires_grad=True)
    found = ours(x)
    for k, expected in enumerate(exact(theirs, POINTS, 4)):
        # Near its zeros at 1 and 2 lgamma is known to a rounding of its terms, not of itself.
        np.testing.assert_allclose(found.detach(), expected, rtol=2e-12, atol=2e-15, err_msg=str(k))
        (found,) = T.grad(found.sum(), x, create_graph=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_shape_dtype_layout_and_device(name):
    check_op(OpCase(name, FUNCTIONS[name][0], domain=(0.3, 4), order=2))


def test_taylor_mode_equals_nested_grad():
    def function(x, t):
        return T.lgamma(1 + x * t) + T.digamma(0.5 + x) * T.polygamma(1, 1 + t)

    x, t = (
        T.tensor([[a], [b]], dtype=T.float64, requires_grad=True)
        for a, b in ((0.3, 0.9), (1.2, 0.4))
    )
    nested = function(x, t)
    for wanted in (x, x, t):
        (nested,) = T.grad(nested.sum(), wanted, create_graph=True)
    found = partials(function, [x.detach(), t.detach()], [(0, 0, 1)])
    np.testing.assert_allclose(found[0, 0, 1].detach(), nested.detach(), rtol=1e-12)


def test_poles_and_orders():
    poles = T.tensor([0.0, -1.0, -2.0], dtype=T.float64)
    assert T.isinf(T.lgamma(poles)).all()
    x = T.tensor([0.5], dtype=T.float64)
    np.testing.assert_array_equal(T.polygamma(0, x).numpy(), T.digamma(x).numpy())
    assert T.lgamma(T.tensor([3])).dtype == T.get_default_dtype()
    with pytest.raises(ValueError, match="polygamma: expected an order n >= 0, got -1"):
        T.polygamma(-1, x)


def test_lgamma_is_infinite_at_both_ends():
    ends = T.tensor([-np.inf, np.inf, 0.0, -2.0], dtype=T.float64)
    assert T.lgamma(ends).tolist() == [np.inf] * 4
