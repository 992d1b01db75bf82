"""Bessel functions: scipy's values, derivatives of every order, and Taylor mode."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import autograd as T
from autograd.jets import partials
from autograd.ops.special import bessel
from autograd.testing import OpCase, check_op

ANYWHERE = {
    "bessel_j0": scipy.special.j0, "bessel_j1": scipy.special.j1, "i0": scipy.special.i0,
    "i0e": scipy.special.i0e, "i1": scipy.special.i1, "i1e": scipy.special.i1e,
    "modified_bessel_i0": scipy.special.i0, "modified_bessel_i1": scipy.special.i1,
}  # fmt: skip
POSITIVE = {
    "bessel_y0": scipy.special.y0, "bessel_y1": scipy.special.y1,
    "modified_bessel_k0": scipy.special.k0, "modified_bessel_k1": scipy.special.k1,
    "scaled_modified_bessel_k0": scipy.special.k0e, "scaled_modified_bessel_k1": scipy.special.k1e,
}  # fmt: skip


@pytest.mark.parametrize("name", [*ANYWHERE, *POSITIVE])
def test_every_shape_dtype_layout_and_device(name):
    anywhere = name in ANYWHERE
    check_op(
        OpCase(
            name, getattr(T.special, name), domain=(0.3, 4), order=3,
            reference=(ANYWHERE if anywhere else POSITIVE)[name],
        )  # fmt: skip
    )


@pytest.mark.parametrize("order", range(7))
def test_functions_of_every_order_are_scipys(order):
    x = np.array([-40.0, -13.0, -6.0, -2.0, -0.1, 0.0, 1e-3, 0.7, 3.0, 8.0, 11.9, 14.0, 30.0, 80.0])
    for op, theirs in (
        (bessel.bessel_j_op, scipy.special.jv), (bessel.bessel_i_op, scipy.special.iv),
        (bessel.bessel_ie_op, scipy.special.ive),
    ):  # fmt: skip
        found, expected = op(T.tensor(x), order=order).numpy(), theirs(order, x)
        np.testing.assert_allclose(found, expected, rtol=3e-12, atol=1e-14, err_msg=op.name)
    x = x[x > 0]
    for op, theirs in (
        (bessel.bessel_y_op, scipy.special.yv), (bessel.bessel_k_op, scipy.special.kv),
        (bessel.bessel_ke_op, scipy.special.kve),
    ):  # fmt: skip
        found, expected = op(T.tensor(x), order=order).numpy(), theirs(order, x)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=op.name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("i0", [1, 0, 0.5, 0, 0.375]), ("i1", [0, 0.5, 0, 0.375, 0]), ("bessel_j0", [1, 0, -0.5, 0])],
)
def test_the_derivatives_at_0_are_those_of_the_power_series(name, expected):
    x = T.tensor(0.0, dtype=T.float64, requires_grad=True)
    found = getattr(T.special, name)(x)
    for value in expected:
        assert found.item() == pytest.approx(value, abs=1e-15)
        (found,) = T.grad(found, x, create_graph=True)


def test_j0_solves_its_equation():
    x = T.tensor(np.linspace(0.1, 30, 100), requires_grad=True)
    y = T.special.bessel_j0(x)
    (first,) = T.grad(y.sum(), x, create_graph=True)
    (second,) = T.grad(first.sum(), x)
    np.testing.assert_allclose((x * second + first + x * y).detach().numpy(), 0, atol=1e-13)


def test_taylor_mode_equals_nested_grad():
    def function(x, t):
        return T.i0(x * t) + T.special.i1e(x) * T.special.bessel_y0(1 + t)

    x, t = (
        T.tensor([[a], [b]], dtype=T.float64, requires_grad=True)
        for a, b in ((0.3, 0.9), (1.2, 0.4))
    )
    nested = function(x, t)
    for wanted in (x, x, t):
        (nested,) = T.grad(nested.sum(), wanted, create_graph=True)
    found = partials(function, [x.detach(), t.detach()], [(0, 0, 1)])
    np.testing.assert_allclose(found[0, 0, 1].detach(), nested.detach(), rtol=1e-12)


def test_a_compiled_function_gives_the_same():
    def loss(x):
        (slope,) = T.grad(T.i0(x).sum(), x, create_graph=True)
        return (slope * T.special.ndtr(x) + T.logaddexp2(x, slope)).sum()

    x = T.tensor(np.linspace(-2, 2, 50), requires_grad=True)
    np.testing.assert_allclose(T.compile(loss)(x).item(), loss(x).item(), rtol=1e-13)


def test_integers_become_the_default_float():
    found = T.i0(T.tensor([0, 1]))
    assert found.dtype == T.get_default_dtype() and found[0].item() == 1.0
