"""Systems, inverses, determinants, factorisations and least squares."""

import functools

import numpy as np
import pytest
import scipy.linalg

import autograd as T
from autograd import linalg, plan
from autograd.ops.matrices.linalg import logdet, pinverse, trace
from autograd.plan.program import flops
from autograd.testing import OpCase, check_op


def well_conditioned(rng, shape):
    return rng.uniform(-1, 1, shape) + 2 * np.eye(shape[-2], shape[-1])


def systems(rng, a, b):
    return well_conditioned(rng, a), rng.uniform(-1, 1, b)


def matrix(rng, shape):
    return (well_conditioned(rng, shape),)


def factors(rng, *shapes):
    """Return thin factors with singular values near 2: their product has a low rank."""
    return tuple(well_conditioned(rng, shape) for shape in shapes)


def hermitian(x):
    return np.conj(np.swapaxes(x, -1, -2))


def positive(x):
    """Return a positive definite matrix made from any, so that steps stay Hermitian."""
    return x @ x.mT.conj() + T.tensor(np.eye(x.shape[-1]), dtype=x.dtype, device=x.device)


def positive_array(x):
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1])


SQUARE = [((3, 3),), ((2, 3, 3),), ((1, 1),), ((0, 2, 2),)]

CASES = [
    OpCase(
        "solve",
        linalg.solve,
        [
            ((3, 3), (3, 2)),
            ((2, 3, 3), (3, 2)),
            ((3, 3), (2, 3, 2)),
            ((2, 2, 2), (2, 2, 1)),
            ((0, 2, 2), (0, 2, 3)),
        ],
        make=systems,
        reference=np.linalg.solve,
        complex=True,
    ),
    OpCase("solve vector", linalg.solve, [((3, 3), (3,))], make=systems, reference=np.linalg.solve),
    OpCase(
        "solve batch of vectors",
        linalg.solve,
        [((2, 3, 3), (2, 3))],
        make=systems,
        reference=lambda a, b: np.linalg.solve(a, b[..., None])[..., 0],
    ),
    OpCase(
        "solve from the right",
        lambda a, b: linalg.solve(a, b, left=False),
        [((3, 3), (2, 3)), ((2, 3, 3), (2, 2, 3))],
        make=systems,
        reference=lambda a, b: b @ np.linalg.inv(a),
        complex=True,
    ),
    OpCase("inv", linalg.inv, SQUARE, make=matrix, reference=np.linalg.inv, complex=True),
    OpCase(
        "pinv",
        linalg.pinv,
        [((4, 2),), ((2, 4),), ((3, 3),), ((2, 3, 2),)],
        make=matrix,
        reference=np.linalg.pinv,
        complex=True,
    ),
    OpCase(
        "pinv of rank two",
        lambda u, v: linalg.pinv(u @ v.mT.conj()),
        [((5, 2), (4, 2)), ((3, 2), (3, 2)), ((2, 3, 2), (2, 5, 2))],
        make=factors,
        reference=lambda u, v: np.linalg.pinv(u @ hermitian(v), rcond=1e-3),
        complex=True,
    ),
    OpCase(
        "lstsq of rank two",
        lambda u, v, b: linalg.lstsq(u @ v.mT.conj(), b, rcond=1e-3).solution,
        [((5, 2), (4, 2), (5, 3)), ((3, 2), (3, 2), (3, 1)), ((3, 2), (6, 2), (3, 2))],
        make=factors,
        complex=True,
        reference=lambda u, v, b: np.linalg.lstsq(u @ hermitian(v), b, rcond=1e-3)[0],
    ),
    OpCase(
        "det",
        linalg.det,
        [*SQUARE, ((4, 4),), ((2, 5, 5),)],
        make=matrix,
        reference=np.linalg.det,
        complex=True,
    ),
    OpCase(
        "slogdet",
        linalg.slogdet,
        SQUARE,
        make=matrix,
        reference=lambda x: tuple(np.linalg.slogdet(x)),
        complex=True,
    ),
    OpCase(
        "logdet",
        lambda x: logdet(positive(x)),
        [((3, 3),)],
        make=matrix,
        reference=lambda x: np.log(np.linalg.det(positive_array(x))),
    ),
    OpCase(
        "cholesky",
        lambda x: linalg.cholesky(positive(x)),
        SQUARE,
        make=matrix,
        reference=lambda x: np.linalg.cholesky(positive_array(x)),
        complex=True,
    ),
    OpCase(
        "cholesky upper",
        lambda x: linalg.cholesky(positive(x), upper=True),
        [((3, 3),)],
        make=matrix,
        reference=lambda x: scipy.linalg.cholesky(positive_array(x)),
        complex=True,
    ),
    OpCase(
        "lstsq",
        lambda a, b: linalg.lstsq(a, b)[:2],
        [((5, 2), (5, 3)), ((2, 4), (2, 3)), ((3, 3), (3, 1)), ((2, 4, 2), (4, 3))],
        make=systems,
        complex=True,
    ),
    OpCase(
        "lstsq vector",
        lambda a, b: linalg.lstsq(a, b).solution,
        [((5, 2), (5,))],
        make=systems,
        reference=lambda a, b: scipy.linalg.lstsq(a, b)[0],
    ),
    OpCase("trace", trace, [((3, 3),), ((2, 4),)], reference=np.trace, complex=True),
    OpCase(
        "cross",
        linalg.cross,
        [((3,), (3,)), ((2, 3), (1, 3)), ((2, 1, 3), (1, 4, 3)), ((0, 3), (1, 3))],
        reference=np.cross,
        complex=True,
    ),
    OpCase(
        "cross along another dimension",
        lambda a, b: linalg.cross(a, b, dim=0),
        [((3, 2), (3, 2))],
        reference=lambda a, b: np.cross(a, b, axis=0),
    ),
]
CASES += [
    *(
        OpCase(
            f"matrix_power {n}",
            lambda x, n=n: linalg.matrix_power(x, n),
            SQUARE[:2],
            make=matrix,
            reference=lambda x, n=n: np.linalg.matrix_power(x, n),
            complex=True,
        )
        for n in (-2, 1, 2, 5)
    ),
    OpCase(
        "multi_dot",
        lambda *xs: linalg.multi_dot(xs),
        [((2, 3), (3, 4), (4, 2)), ((3,), (3, 4), (4, 1), (1,)), ((2, 3), (3,))],
        reference=lambda *xs: functools.reduce(np.matmul, xs),
        complex=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


@pytest.mark.parametrize(
    "case",
    [
        OpCase("solve", linalg.solve, [((2, 2), (2, 1))], make=systems, order=3),
        OpCase("det", linalg.det, [((2, 2),), ((3, 3),)], make=matrix, order=3),
        OpCase(
            "cholesky", lambda x: linalg.cholesky(positive(x)), [((2, 2),)], make=matrix, order=3
        ),
        OpCase(
            "lstsq",
            lambda a, b: linalg.lstsq(a, b).solution,
            [((3, 2), (3, 1))],
            make=systems,
            order=3,
        ),
    ],
    ids=str,
)
def test_third_derivatives(case):
    check_op(case)


def test_lstsq_reports_residuals_rank_and_singular_values():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    found = linalg.lstsq(T.tensor(a), T.tensor(b))
    x, residuals, rank, singular_values = np.linalg.lstsq(a, b, rcond=None)
    np.testing.assert_allclose(found.solution.numpy(), x, rtol=1e-12)
    np.testing.assert_allclose(found.residuals.numpy(), residuals, rtol=1e-12)
    np.testing.assert_allclose(found.singular_values.numpy(), singular_values, rtol=1e-12)
    assert found.rank.item() == rank == 3


def test_lstsq_of_a_deficient_matrix_gives_the_solution_of_least_norm():
    a = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    b = np.array([1.0, 2.0, 4.0])
    found = linalg.lstsq(T.tensor(a), T.tensor(b))
    assert found.rank.item() == 1
    np.testing.assert_allclose(
        found.solution.numpy(), np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-12
    )


def test_gradient_of_pinv_of_a_singular_matrix():
    """P = A^T / 25 with A = [[1, 2], [2, 4]]; dP by its three terms, summed by hand."""
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    p, one, ones = a / 25, np.eye(2), np.ones((2, 2))
    expected = (one - a @ p) @ ones @ p @ p.T + p.T @ p @ ones @ (one - p @ a) - p.T @ ones @ p.T
    np.testing.assert_allclose(expected, np.array([[3, -9], [-9, -48]]) / 625, rtol=1e-13)
    x = T.tensor(a, requires_grad=True)
    (found,) = T.grad(linalg.pinv(x).sum(), x)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)
    x = T.tensor(a, requires_grad=True)
    (found,) = T.grad(linalg.lstsq(x, T.tensor(one)).solution.sum(), x)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_lstsq_counts_the_same_singular_values_as_zero_in_its_derivative():
    x = T.tensor(np.diag([1.0, 1e-3]), requires_grad=True)
    solution = linalg.lstsq(x, T.tensor([1.0, 1.0], dtype=T.float64), rcond=1e-2).solution
    (found,) = T.grad(solution[0], x)
    # at rank one, with the second singular value cut: x = A^+ b, d(x_0)/dA_00 = -b_0 / A_00^2
    np.testing.assert_allclose(found.numpy(), [[-1.0, 0.0], [1.0, 0.0]], atol=1e-12)


@pytest.mark.parametrize("rank", [2, 3])
def test_gradient_of_det_at_a_singular_matrix_is_the_cofactor_matrix(rank):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(4, rank)) @ rng.normal(size=(rank, 4))
    x = T.tensor(a, requires_grad=True)
    (found,) = T.grad(linalg.det(x), x)
    minors = np.array(
        [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(4)]
            for i in range(4)
        ]
    )
    np.testing.assert_allclose(found.numpy(), minors, rtol=1e-10, atol=1e-13)


def test_gradients_of_det_in_a_batch_with_singular_matrices_and_none_at_all():
    rng = np.random.default_rng(0)
    regular, zero, low = rng.normal(size=(4, 4)), np.zeros((4, 4)), np.diag([1.0, 2.0, 3.0, 0.0])
    x = T.tensor(np.stack([regular, zero, low, np.full((4, 4), np.nan)]), requires_grad=True)
    (found,) = T.grad(linalg.det(x).sum(), x)
    found = found.numpy()
    np.testing.assert_allclose(found[0], np.linalg.det(regular) * np.linalg.inv(regular).T)
    assert not found[1].any() and np.isnan(found[3]).all()
    np.testing.assert_allclose(found[2], np.diag([0.0, 0.0, 0.0, 6.0]), atol=1e-14)


def test_second_derivative_of_a_small_det_exists_at_zero():
    """u_xx u_yy - u_xy^2, the Monge-Ampere operator, at a flat start."""
    x = T.tensor(np.zeros((2, 2)), requires_grad=True)
    (first,) = T.grad(linalg.det(x), x, create_graph=True)
    (second,) = T.grad(first[0, 0], x)
    assert first.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert second.tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_slogdet_of_a_singular_matrix():
    sign, logabsdet = linalg.slogdet(T.tensor(np.zeros((3, 3))))
    assert (sign.item(), logabsdet.item()) == (0.0, -np.inf)


def test_slogdet_does_not_overflow():
    x = 1e200 * np.eye(4)
    np.testing.assert_allclose(
        linalg.slogdet(T.tensor(x)).logabsdet.item(), 800 * np.log(10), rtol=1e-14
    )


def test_gradient_of_cholesky_is_hermitian():
    x = T.tensor(positive_array(np.random.default_rng(1).normal(size=(3, 3))), requires_grad=True)
    (g,) = T.grad(linalg.cholesky(x).sum(), x)
    assert np.array_equal(g.numpy(), g.numpy().T)


def test_methods():
    x = T.tensor(np.array([[2.0, 1.0], [0.0, 4.0]]))
    assert x.det().item() == 8.0
    assert x.trace().item() == 6.0
    assert x.inverse().tolist() == x.inv().tolist() == [[0.5, -0.125], [0.0, 0.25]]
    assert x.solve(T.tensor(np.array([3.0, 4.0]))).tolist() == [1.0, 1.0]
    np.testing.assert_allclose(pinverse(x).numpy(), x.inv().numpy(), rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize(
    "name",
    "matmul mm bmm mv dot vdot inner outer addmm addmv baddbmm solve inv inverse det slogdet "
    "logdet cholesky norm trace cross pinverse sum mean var std prod max min amax amin aminmax "
    "argmax argmin logsumexp softmax log_softmax cumsum cumprod all any count_nonzero".split(),
)
def test_is_a_method_too(name):
    assert callable(getattr(T.Tensor, name))


def test_integers_become_the_default_float():
    assert linalg.inv(T.tensor([[2, 0], [0, 4]])).dtype == T.float32
    assert linalg.det(T.tensor([[2, 0], [0, 4]])).dtype == T.float32


SINGULAR = np.ones((2, 2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: linalg.solve(T.tensor(SINGULAR), T.zeros(2, dtype=T.float64)), "singular"),
        (lambda: linalg.inv(T.tensor(SINGULAR)), "singular"),
        (lambda: linalg.cholesky(T.tensor(-SINGULAR)), "not positive-definite"),
    ],
)
def test_failures_have_their_own_error(call, words):
    with pytest.raises(linalg.LinAlgError, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: linalg.inv(T.zeros(2, 3)), "must be batches of square matrices.*2 by 3"),
        (lambda: linalg.det(T.zeros(3)), "at least 2 dimensions"),
        (lambda: linalg.solve(T.zeros(2, 2), T.zeros(3)), "Incompatible shapes"),
        (lambda: linalg.solve(T.zeros(2, 2), T.zeros(2), left=False), "not supported"),
        (lambda: linalg.lstsq(T.zeros(3, 2), T.zeros(2, 2)), "should match"),
        (lambda: linalg.inv(T.zeros(2, 2).half()), "Low precision"),
        (lambda: trace(T.zeros(2, 2, 2)), "expected a matrix"),
        (lambda: linalg.cross(T.zeros(2, 2), T.zeros(2, 2)), "must have length 3"),
        (lambda: linalg.cross(T.zeros(2, 3), T.zeros(3)), "same number of dimensions"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


def test_logdet_of_a_negative_determinant_is_nan_without_a_gradient():
    x = T.tensor(
        np.array([np.diag([-1.0, 2.0, 3.0]), np.diag([1.0, 2.0, 4.0])]), requires_grad=True
    )
    value = logdet(x)
    np.testing.assert_allclose(value.detach().numpy(), [np.nan, np.log(8)], rtol=1e-15)
    (found,) = T.grad(value.sum(), x)
    np.testing.assert_allclose(found.numpy(), [np.zeros((3, 3)), np.diag([1, 0.5, 0.25])])


def test_pinv_counts_small_singular_values_as_zero():
    x = T.tensor(np.diag([4.0, 1.0, 0.1]))
    for options, kept in (
        ({}, [0.25, 1, 10]),
        ({"rtol": 0.1}, [0.25, 1, 0]),
        ({"atol": 2.0}, [0.25, 0, 0]),
        ({"atol": 0.01, "rtol": 0.5}, [0.25, 0, 0]),
        ({"atol": 0.01}, [0.25, 1, 10]),
        ({"rtol": T.tensor(0.1)}, [0.25, 1, 0]),
    ):
        np.testing.assert_allclose(
            linalg.pinv(x, **options).numpy(), np.diag(kept), rtol=1e-6, atol=1e-15
        )
    batch = T.stack([x, x])
    found = linalg.pinv(batch, atol=T.tensor([0.0, 2.0], dtype=T.float64)).numpy()
    np.testing.assert_allclose(found[:, 1, 1], [1, 0], atol=1e-15)
    assert linalg.pinv(T.zeros(3, 0)).shape == (0, 3)


def test_pinv_of_hermitian_matrices_reads_the_lower_triangle():
    rng = np.random.default_rng(5)
    a = rng.normal(size=(2, 4, 2)) + 1j * rng.normal(size=(2, 4, 2))
    a = a @ (np.array([1.0, -2.0])[:, None] * hermitian(a))
    found = linalg.pinv(T.tensor(np.tril(a)), hermitian=True).numpy()
    np.testing.assert_allclose(found, np.linalg.pinv(a, rcond=1e-10), rtol=1e-9, atol=1e-10)
    with pytest.raises(RuntimeError, match="square"):
        linalg.pinv(T.zeros(3, 2), hermitian=True)


def test_powers_of_matrices():
    integers = T.tensor([[1, 2], [3, 4]])
    assert T.matrix_power(integers, 2).tolist() == [[7, 10], [15, 22]]
    assert integers.matrix_power(0).tolist() == [[1, 0], [0, 1]]
    same = T.matrix_power(integers, 1)
    same.zero_()
    assert integers.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(RuntimeError, match="square matrices"):
        T.matrix_power(T.ones(2, 3), 2)
    with pytest.raises(linalg.LinAlgError, match="singular"):
        T.matrix_power(T.ones(2, 2), -1)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ([(2, 2)], "expected at least 2 tensors but got 1"),
        ([(2, 2), (2,), (2, 2)], "tensor 1 must be 2D but got 1D"),
        ([(2, 2, 2), (2, 2)], "tensor 0 must be 2D or 1D but got 3D"),
        ([(2, 3), (2, 2)], r"tensors 0 and 1 with shapes \[2, 3\] and \[2, 2\]"),
    ],
)
def test_chains_that_do_not_fit_are_refused(shapes, words):
    with pytest.raises(RuntimeError, match=words):
        linalg.multi_dot([T.ones(shape) for shape in shapes])


def test_a_chain_is_multiplied_in_the_cheapest_order():
    chain = [T.ones(100, 1), T.ones(1, 100), T.ones(100, 1)]
    program, _ = plan.trace(lambda *xs: [linalg.multi_dot(xs)], chain)
    assert sum(flops(i) for i in program.instructions if i.op.name == "matmul") == 2 * 2 * 100


def test_a_power_of_zero_has_a_place_in_the_graph_and_derivative_zero():
    a = T.tensor([[1.0, np.inf], [3.0, 4.0]], dtype=T.float64, requires_grad=True)
    power = T.linalg.matrix_power(a, 0)
    assert power.requires_grad and power.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    (slope,) = T.grad(power.sum(), a)
    assert slope.tolist() == [[0.0, 0.0], [0.0, 0.0]]
