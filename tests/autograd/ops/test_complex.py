"""Parts and angles of complex tensors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autograd
from autograd import Tensor
from autograd.ops import complex as parts
from autograd.ops import piecewise
from autograd.testing import BINARY_SHAPES, OpCase, check_op


def complex_leaf(values) -> Tensor:
    return Tensor(np.array(values, np.complex128), requires_grad=True)


@pytest.mark.parametrize(
    "case",
    [
        OpCase("real", lambda z: parts.real(z * z), complex=True, reference=lambda z: (z * z).real),
        OpCase(
            "imag",
            lambda z: parts.imag(z * z * (1 + 1j)),
            complex=True,
            reference=lambda z: (z * z * (1 + 1j)).imag,
        ),
        OpCase(
            "angle",
            lambda z: parts.angle(z + 3 + 1j),
            complex=True,
            reference=lambda z: np.angle(z + 3 + 1j),
            order=3,
        ),
        OpCase("real angle", parts.angle, domain=(0.5, 2), reference=np.angle),
        OpCase(
            "atan2",
            parts.atan2,
            BINARY_SHAPES,
            domain=((-2, 2), (0.5, 2)),
            reference=np.arctan2,
            order=4,
        ),
    ],
    ids=str,
)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


def test_gradients_follow_pytorchs_convention():
    """For a real function f(x + iy) the gradient is df/dx + i df/dy."""
    point = 1 + 2j
    for function, expected in [
        (parts.real, 1),
        (parts.imag, 1j),
        (piecewise.abs, point / abs(point)),
        (parts.angle, 1j * point / abs(point) ** 2),
    ]:
        z = complex_leaf([point])
        (g,) = autograd.grad(function(z).sum(), z)
        assert g.dtype == np.complex128
        np.testing.assert_allclose(g.numpy(), [expected], rtol=1e-15)


def test_parts_are_views_and_properties():
    z = complex_leaf([1 + 2j, 3 + 4j]).detach()
    assert z.real.numpy().tolist() == [1.0, 3.0]
    assert z.imag.numpy().tolist() == [2.0, 4.0]
    assert np.shares_memory(z.real.numpy(), z.numpy())
    x = Tensor(np.ones(2))
    assert x.real is x
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex"):
        _ = x.imag


def test_angles_in_all_quadrants_and_at_the_origin():
    y, x = np.array([1.0, 1.0, -1.0, -1.0, 0.0, 0.0]), np.array([1.0, -1.0, -1.0, 1.0, -1.0, 0.0])
    a, b = Tensor(y, requires_grad=True), Tensor(x, requires_grad=True)
    angle = parts.atan2(a, b)
    assert angle.detach().numpy().tolist() == [math.atan2(p, q) for p, q in zip(y, x, strict=True)]
    ga, gb = autograd.grad(angle.sum(), (a, b))
    np.testing.assert_allclose(ga.numpy(), [0.5, -0.5, -0.5, 0.5, -1.0, 0.0], rtol=1e-15)
    np.testing.assert_allclose(gb.numpy(), [-0.5, -0.5, 0.5, 0.5, 0.0, 0.0], rtol=1e-15)
    z = complex_leaf([0])
    assert autograd.grad(parts.angle(z).sum(), z)[0].numpy().tolist() == [0]


def test_gradient_of_atan2_far_out_and_close_in():
    a, b = Tensor(np.array([3e200, 3e-200]), requires_grad=True), Tensor(np.array([4e200, 4e-200]))
    (g,) = autograd.grad(parts.atan2(a, b).sum(), a)
    np.testing.assert_allclose(g.numpy(), [0.16e-200 * 1, 0.16e200], rtol=1e-14)


def test_angle_of_real_numbers():
    x = Tensor(np.array([-2.0, 0.0, 3.0, np.nan]), requires_grad=True)
    found = parts.angle(x)
    np.testing.assert_array_equal(found.detach().numpy(), [math.pi, 0.0, 0.0, math.nan])
    assert autograd.grad(found.sum(), x)[0].numpy().tolist() == [0.0] * 4
    assert parts.angle(Tensor(np.array([-1, 1]))).dtype == np.float32
