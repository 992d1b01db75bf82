"""Parts and angles of complex tensors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autograd
from autograd import Tensor
from autograd.ops.elementwise import complex as parts
from autograd.ops.elementwise import piecewise
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


PARTS = OpCase(
    "complex",
    parts.complex,
    BINARY_SHAPES,
    reference=lambda x, y: x + 1j * y,
    dtypes=(),
)
POLAR = OpCase(
    "polar",
    parts.polar,
    BINARY_SHAPES,
    reference=lambda r, a: r * np.cos(a) + 1j * r * np.sin(a),
    dtypes=(),
)
AS_REAL = OpCase(
    "view_as_real",
    lambda z: autograd.view_as_real(z * 1),
    [((2, 3),), ((),), ((0,),)],
    make=lambda rng, shape: (rng.normal(size=shape) + 1j * rng.normal(size=shape),),
    reference=lambda z: np.stack([z.real, z.imag], -1),
)
AS_COMPLEX = OpCase(
    "view_as_complex",
    lambda x: autograd.view_as_complex((x * 1).contiguous()),
    [((3, 2),), ((2,),), ((0, 2),)],
    reference=lambda x: x[..., 0] + 1j * x[..., 1],
    dtypes=(),
)


@pytest.mark.parametrize("case", [PARTS, POLAR, AS_REAL, AS_COMPLEX], ids=str)
def test_complex_numbers_and_pairs_of_real_ones(case):
    check_op(case)


def test_parts_are_kept_as_they_are():
    z = autograd.complex(autograd.tensor([math.inf, -0.0]), autograd.tensor([math.nan, math.inf]))
    assert z.dtype == autograd.complex64
    assert z.real.tolist() == [math.inf, 0] and math.copysign(1, z.real[1].item()) == -1
    assert math.isnan(z.imag[0].item()) and z.imag[1].item() == math.inf


def test_pairs_share_the_memory_of_complex_numbers():
    z = complex_leaf([[1 + 2j, 3 + 4j]])
    w = z * 1
    autograd.view_as_real(w)[..., 1].mul_(3)
    assert w.tolist() == [[1 + 6j, 3 + 12j]]
    (g,) = autograd.grad(w.imag.sum() + w.real.sum(), z)
    assert g.tolist() == [[1 + 3j, 1 + 3j]]
    x = Tensor(np.array([[1.0, 2.0]]), requires_grad=True)
    y = x * 1
    autograd.view_as_complex(y).mul_(1j)
    assert y.tolist() == [[-2, 1]]
    assert autograd.grad((y * autograd.tensor([5.0, 7.0])).sum(), x)[0].tolist() == [[7, -5]]
    turned = autograd.view_as_real(complex_leaf([[1, 2j], [3, 4]]).t())
    assert turned.tolist() == [[[1, 0], [3, 0]], [[0, 2], [4, 0]]]


def test_writing_into_a_real_part_is_differentiated():
    z = complex_leaf([1 + 2j])
    w = z * 1
    w.real.mul_(2)
    assert autograd.grad((w.real + w.imag).sum(), z)[0].tolist() == [2 + 1j]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: t.complex(t.ones(2), t.ones(2).double()), "same dtype"),
        (lambda t: t.complex(t.ones(2).long(), t.ones(2).long()), "floating point"),
        (lambda t: t.view_as_real(t.ones(2)), "only supported for complex tensors"),
        (lambda t: t.view_as_complex(t.ones(3)), "last dimension of size 2"),
        (lambda t: t.view_as_complex(t.ones(2, 3).t()), "stride 1"),
        (lambda t: t.view_as_complex(t.ones(2).long()), "float and double"),
    ],
)
def test_parts_that_do_not_fit_are_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call(autograd)
