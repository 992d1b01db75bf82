"""Norms: every order, and derivatives that stay finite at zero."""

import math

import numpy as np
import pytest

import autograd as T
from autograd import linalg
from autograd.ops.elementwise.quotient import quotient_op
from autograd.ops.matrices.norm import norm
from autograd.testing import OpCase, check_op

SHAPES = [((3,),), ((2, 3),), ((),), ((0,),)]


def away_from_zero(rng, *shapes):
    return [rng.uniform(0.5, 2.0, s) * rng.choice([-1.0, 1.0], s) for s in shapes]


def formula(p, axis=None):
    return lambda x: np.sum(np.abs(x) ** p, axis) ** (1 / p)


CASES = [
    *[
        OpCase(
            f"vector_norm {p}",
            lambda x, p=p: linalg.vector_norm(x, p),
            SHAPES if p > 0 else SHAPES[:3],
            make=away_from_zero,
            reference=formula(p),
            complex=True,
        )
        for p in (1, 2, 3, 4, 1.5, 0.5, -1, -2)
    ],
    *[
        OpCase(
            f"vector_norm {p} over dims",
            lambda x, p=p: linalg.vector_norm(x, p, (0, -1), keepdim=True),
            [((2, 3, 2),)],
            make=away_from_zero,
            reference=lambda x, p=p: formula(p, (0, 2))(x)[None, :, None],
        )
        for p in (1, 2, 3)
    ],
    OpCase(
        "vector_norm inf",
        lambda x: linalg.vector_norm(x, math.inf, 1),
        [((2, 3),)],
        make=away_from_zero,
        reference=lambda x: np.abs(x).max(1),
        complex=True,
    ),
    OpCase(
        "vector_norm -inf",
        lambda x: linalg.vector_norm(x, -math.inf, 1),
        [((2, 3),)],
        make=away_from_zero,
        reference=lambda x: np.abs(x).min(1),
    ),
    *[
        OpCase(
            f"matrix_norm {order}",
            lambda x, order=order: linalg.matrix_norm(x, order),
            [((3, 4),), ((2, 3, 2),)],
            make=away_from_zero,
            complex=True,
            reference=lambda x, order=order: np.linalg.norm(x, order, axis=(-2, -1)),
        )
        for order in ("fro", 1, -1, math.inf, -math.inf)
    ],
    OpCase("norm", norm, [((2, 3),)], reference=np.linalg.norm, make=away_from_zero, order=3),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


@pytest.mark.parametrize("p", [1, 2, 3, 1.5, math.inf])
def test_the_gradient_at_zero_is_zero(p):
    x = T.tensor(np.zeros(3), requires_grad=True)
    (g,) = T.grad(linalg.vector_norm(x, p), x)
    assert g.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("p", [2, 3, 4])
def test_second_derivatives_at_zero_are_finite(p):
    x = T.tensor(np.zeros((2, 3)), requires_grad=True)
    (g,) = T.grad(linalg.vector_norm(x, p, 1).sum(), x, create_graph=True)
    weights = T.tensor(np.arange(6.0).reshape(2, 3))
    (h,) = T.grad((g * weights).sum(), x, create_graph=True)
    assert np.array_equal(h.detach().numpy(), np.zeros((2, 3)))


def test_rows_that_are_zero_do_not_spoil_the_others():
    x = T.tensor(np.array([[0.0, 0.0], [3.0, 4.0]]), requires_grad=True)
    (g,) = T.grad(linalg.vector_norm(x, 2, 1).sum(), x)
    np.testing.assert_allclose(g.numpy(), [[0, 0], [0.6, 0.8]], rtol=1e-15)


@pytest.mark.parametrize("scale", [1e200, 1e-200, 5e-324])
@pytest.mark.parametrize("p", [2, 3, 4.5])
def test_nothing_overflows_or_vanishes_on_the_way(scale, p):
    x = T.tensor(np.full(4, scale), requires_grad=True)
    out = linalg.vector_norm(x, p)
    np.testing.assert_allclose(out.item(), scale * 4 ** (1 / p), rtol=1e-13)
    (g,) = T.grad(out, x)
    if scale > 1e-300:
        np.testing.assert_allclose(g.numpy(), np.full(4, 4 ** (1 / p - 1)), rtol=1e-13)


def test_nan_and_inf_come_through():
    assert math.isnan(norm(T.tensor([1.0, math.nan])).item())
    assert norm(T.tensor([1.0, -math.inf])).item() == math.inf


def test_order_zero_counts():
    x = T.tensor([[0.0, 2.0], [0.0, 0.0]])
    assert linalg.vector_norm(x, 0, 1).tolist() == [1.0, 0.0]
    assert linalg.vector_norm(x, 0).dtype == T.float32
    x.requires_grad_()
    (g,) = T.grad(linalg.vector_norm(x, 0), x)
    assert g.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_linalg_norm_chooses_as_pytorch_does():
    x = T.tensor(np.array([[1.0, -2.0], [3.0, 4.0]]))
    assert linalg.norm(x).item() == pytest.approx(math.sqrt(30), rel=1e-15)
    assert linalg.norm(x, 1).item() == 6.0
    assert linalg.norm(x, math.inf).item() == 7.0
    assert linalg.norm(x, 1, dim=1).tolist() == [3.0, 7.0]
    assert linalg.norm(x, "fro", dim=(0, 1), keepdim=True).shape == (1, 1)
    assert x.norm(1, 0).tolist() == [4.0, 6.0]
    assert norm(x, dim=1, keepdim=True).shape == (2, 1)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: linalg.matrix_norm(T.zeros(2, 2), "sum"), ValueError, "not supported"),
        (lambda: linalg.matrix_norm(T.zeros(0, 3), -2), IndexError, "non-zero size"),
        (lambda: linalg.matrix_norm(T.zeros(2)), RuntimeError, "at least 2 dimensions"),
        (lambda: linalg.matrix_norm(T.zeros(2, 2), dim=(0,)), RuntimeError, "2-tuple"),
        (lambda: linalg.norm(T.zeros(2, 2, 2), 1), RuntimeError, "must be 1D or 2D"),
        (lambda: norm(T.zeros(2), "sum"), ValueError, "number, 'fro' or 'nuc'"),
        (lambda: linalg.vector_norm(T.zeros(2), math.nan), ValueError, "nan"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_quotient_away_from_zero_is_division():
    check_op(
        OpCase(
            "quotient",
            quotient_op,
            [((3,), (3,)), ((2, 3), (3,)), ((), (2,))],
            make=away_from_zero,
            reference=np.true_divide,
            complex=True,
            order=3,
        )
    )


@pytest.mark.parametrize("factor", [1.0, 0.6 + 0.8j])
@pytest.mark.parametrize("p", [0.5, 1.2, 1.5, 1.9, 2.5, 3.0, 3.5])
def test_components_that_are_zero_do_not_spoil_the_derivatives_of_the_others(p, factor):
    def derivatives(values, weights):
        x = T.tensor(np.array(values) * factor, requires_grad=True)
        found, current = [], linalg.vector_norm(x, p)
        for _ in range(3):
            (current,) = T.grad(current, x, create_graph=True)
            found.append(current.detach().numpy())
            current = (current * T.tensor(np.array(weights))).sum()
            current = current.real if current.is_complex() else current
        return found

    without = derivatives([1.0, -2.0, 0.7], [0.3, 0.7, -0.4])
    padded = derivatives([1.0, 0.0, -2.0, 0.7, 0.0], [0.3, 0.5, 0.7, -0.4, 2.0])
    for a, b in zip(padded, without, strict=True):
        np.testing.assert_allclose(a[[0, 2, 3]], b, rtol=1e-12)
        assert not a[[1, 4]].any()


@pytest.mark.parametrize("order", [2, -2, "nuc"])
def test_norms_made_of_singular_values(order):
    check_op(
        OpCase(
            f"matrix norm {order}",
            lambda x: linalg.matrix_norm(x, order),
            [((3, 3),), ((4, 2),), ((2, 3, 4),)],
            complex=True,
            reference=lambda x: np.linalg.norm(x, order, axis=(-2, -1)),
        )
    )
    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    kept = linalg.norm(T.tensor(x), order, dim=(2, 0), keepdim=True)
    assert kept.shape == (1, 3, 1)
    expected = np.linalg.norm(x, order, axis=(2, 0))
    np.testing.assert_allclose(kept.numpy().ravel(), expected, rtol=1e-13)
    if order == "nuc":
        np.testing.assert_allclose(norm(T.tensor(x), order, (2, 0)).numpy(), expected, rtol=1e-13)


def test_the_gradient_of_the_nuclear_norm_with_equal_singular_values():
    x = T.tensor(2 * np.eye(3), requires_grad=True)
    (g,) = T.grad(norm(x, "nuc"), x)
    np.testing.assert_allclose(g.numpy(), np.eye(3), atol=1e-15)


@pytest.mark.parametrize("order", [1, math.inf, 2, "nuc", "fro"])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_a_matrix_without_elements_has_norm_zero(shape, order):
    assert linalg.matrix_norm(T.zeros(*shape), order).item() == 0.0


@pytest.mark.parametrize("p", [0.5, 1, 2, 3, math.inf])
def test_the_distance_of_two_tensors(p):
    check_op(
        OpCase("dist", lambda x, y: T.dist(x, y, p), [((2, 3), (3,))],
               reference=lambda x, y: np.linalg.norm((x - y).ravel(), p))
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_lines_of_any_size_have_exact_norms(dtype):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((200, 3)).astype(dtype)
    limits = np.finfo(dtype)
    x[:5] = [[0, 0, 0], [np.inf, 1, 2], [np.nan, 1, 2], [1e-5, 0, 0], [-3, 4, 0]]
    x[5], x[6] = [limits.tiny, 0, limits.tiny], [limits.max / 4, limits.max / 4, 0]
    found = T.tensor(x).norm(dim=1)
    exact = np.sqrt((x.astype(np.longdouble) ** 2).sum(1))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, exact, rtol=4 * limits.eps)
    assert T.tensor(x).norm(dim=1, keepdim=True).shape == (200, 1)


def test_a_long_vector_and_a_tensor_over_some_dimensions_have_exact_norms():
    rng = np.random.default_rng(6)
    x = rng.standard_normal(10_007)
    for scale in (1.0, 1e-200, 1e200):
        expected = math.sqrt(math.fsum(x * x)) * scale
        assert T.tensor(x * scale).norm().item() == pytest.approx(expected, rel=1e-14)
    y = rng.standard_normal((6, 50, 4))
    for dim in ((0, 2), (1, 2), 1, (0, 1)):
        expected = np.sqrt((y * y).sum(dim))
        np.testing.assert_allclose(T.linalg.vector_norm(T.tensor(y), 2, dim), expected, rtol=1e-14)
    z = y + 1j * y[::-1]
    np.testing.assert_allclose(
        T.linalg.vector_norm(T.tensor(z), 2, (1, 2)), np.sqrt((np.abs(z) ** 2).sum((1, 2))),
        rtol=1e-14,
    )  # fmt: skip


def shortened(p, axis, longest):
    def reference(x):
        lengths = formula(p, tuple(k for k in range(x.ndim) if k != axis))(x)
        factors = np.where(lengths > longest, longest / (lengths + 1e-7), 1.0)
        return x * factors.reshape([-1 if k == axis else 1 for k in range(x.ndim)])

    return reference


@pytest.mark.parametrize(("p", "axis"), [(2, 0), (1, 1), (3, 1)])
def test_slices_are_shortened_with_derivatives(p, axis):
    check_op(
        OpCase("renorm", lambda x: T.renorm(x, p, axis, 2.0), [((4, 2),), ((2, 3, 2),)],
               make=away_from_zero, reference=shortened(p, axis, 2.0))
    )  # fmt: skip


def test_slices_are_shortened_by_their_largest_element_and_in_place():
    x = T.tensor([[3.0, -4.0], [0.5, 0.25], [0.0, 0.0]], dtype=T.float64)
    found = T.renorm(x, math.inf, 0, 2.0)
    np.testing.assert_allclose(found, [[1.5, -2.0], [0.5, 0.25], [0.0, 0.0]], rtol=1e-7)
    assert x.renorm_(2, -1, 0.0) is x and not x.any()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: T.renorm(T.ones(2, 2), 0, 0, 1.0), "non-positive-norm"),
        (lambda: T.renorm(T.ones(2), 2, 0, 1.0), "at least 2 dimensions, got 1"),
        (lambda: T.renorm(T.ones(2, 2), 2, 0, -1.0), "maxnorm to be >= 0"),
    ],
)
def test_what_cannot_be_shortened_is_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()
