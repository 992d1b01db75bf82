"""Eigenvalues and eigenvectors of Hermitian matrices against numpy's, and their derivatives."""

import numpy as np
import pytest

import autograd as T
from autograd import linalg
from autograd.testing import OpCase, check_op

SHAPES = [((3, 3),), ((2, 3, 3),), ((1, 1),), ((0, 2, 2),)]


def hermitian(x):
    return x + x.mT.conj()


def hermitian_array(x):
    return x + np.conj(np.swapaxes(x, -1, -2))


def function_of(x):
    """A function of a matrix through its eigenvalues: it does not depend on phases."""
    values, vectors = linalg.eigh(hermitian(x))
    return (vectors * values.sin().unsqueeze(-2)) @ vectors.mT.conj()


def function_of_array(x):
    values, vectors = np.linalg.eigh(hermitian_array(x))
    return (vectors * np.sin(values)[..., None, :]) @ np.conj(np.swapaxes(vectors, -1, -2))


CASES = [
    OpCase(
        "eigvalsh",
        lambda x: linalg.eigvalsh(hermitian(x)),
        SHAPES,
        reference=lambda x: np.linalg.eigvalsh(hermitian_array(x)),
        complex=True,
    ),
    OpCase("sine", function_of, SHAPES, reference=function_of_array, complex=True),
    OpCase(
        "moduli of vectors",
        lambda x: linalg.eigh(hermitian(x)).eigenvectors.abs(),
        SHAPES,
        reference=lambda x: np.abs(np.linalg.eigh(hermitian_array(x))[1]),
        complex=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_one_triangle_is_read_and_the_gradient_is_hermitian():
    x = T.tensor([[2.0, 9.0], [1.0, 3.0]], dtype=T.float64, requires_grad=True)
    for triangle, off in (("L", 1.0), ("u", 9.0)):
        values = linalg.eigvalsh(x, triangle)
        expected = np.linalg.eigvalsh([[2.0, off], [off, 3.0]])
        np.testing.assert_allclose(values.detach().numpy(), expected, rtol=1e-14)
        (g,) = T.grad(values[0], x)
        assert T.allclose(g, g.mT, rtol=1e-14) and g[0, 1].item() != 0


def test_repeated_eigenvalues_have_gradients_and_their_vectors_finite_ones():
    x = T.tensor(np.diag([1.0, 1.0, 2.0]), requires_grad=True)
    values, vectors = linalg.eigh(x)
    assert T.grad(values.sum(), x, retain_graph=True)[0].tolist() == np.eye(3).tolist()
    assert T.isfinite(T.grad(vectors.sum(), x)[0]).all()


def test_inside_compile_without_points():
    compiled = T.compile(lambda x: linalg.eigvalsh(hermitian(x)).square().sum())
    for k in (1.0, 2.0):
        x = T.rand(3, 3, dtype=T.float64) * k
        assert compiled(x).item() == pytest.approx(hermitian(x).square().sum().item(), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: linalg.eigh(x[:2]), RuntimeError, "square matrices, but they are 2 by 3"),
        (lambda x: linalg.eigh(x[0]), RuntimeError, "at least 2 dimensions"),
        (lambda x: linalg.eigh(x, "X"), RuntimeError, "to be 'L' .* but got 'X'"),
        (lambda x: linalg.eigvalsh(x.half()), RuntimeError, "Low precision dtypes"),
    ],
)
def test_bad_arguments_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(T.ones(3, 3))


# ---- matrices that are not Hermitian


def general(x):
    """A matrix whose eigenvalues are distinct: 1, 2, 3 on the diagonal, and small ones beside."""
    places = T.arange(x.shape[-1], dtype=T.float64, device=x.device).to(x.real.dtype)
    return 0.1 * x + T.diag_embed(places.expand(x.shape[:-1]))


@pytest.mark.parametrize(
    "case",
    [
        OpCase("symmetric functions", lambda x: T.view_as_real(
            (linalg.eigvals(general(x)) ** 3).sum(-1)), SHAPES[:2], complex=True),
        OpCase("function", lambda x: T.view_as_real(sine_of(general(x)).contiguous()), SHAPES[:2],
               complex=True),
        OpCase("moduli", lambda x: linalg.eig(general(x))[1].abs().sum(-1), SHAPES[:1], order=1),
    ],
    ids=str,
)  # fmt: skip
def test_general_matrices_of_every_shape_dtype_layout_and_device(case):
    check_op(case)


def sine_of(x):
    values, vectors = linalg.eig(x)
    return (vectors * values.sin().unsqueeze(-2)) @ linalg.inv(vectors)


def test_a_rotation_has_complex_eigenvalues():
    found = linalg.eigvals(T.tensor([[0.0, -2.0], [2.0, 0.0]], dtype=T.float64))
    assert found.dtype == T.complex128
    np.testing.assert_allclose(np.sort_complex(found.numpy()), [-2j, 2j], atol=1e-15)


def test_the_third_power_sum_is_the_trace_of_the_third_power():
    x = T.tensor(np.random.default_rng(0).normal(size=(4, 4)), requires_grad=True)
    ours = (linalg.eigvals(x) ** 3).sum().real
    trace = (x @ x @ x).trace()
    assert ours.item() == pytest.approx(trace.item(), rel=1e-12)
    for one, other in zip(T.grad(ours, x), T.grad(trace, x), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10, atol=1e-12)
