"""Matrix products: every rank, device, layout and order, and no copies or spare temporaries."""

import tracemalloc

import numpy as np
import pytest

import autograd as T
from autograd.ops.matrices import matmul as M
from autograd.testing import OpCase, check_op

CASES = [
    OpCase(
        "matmul",
        M.matmul,
        [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3, 4)),
            ((5, 2, 3), (3, 4)),
            ((5, 2, 3), (3,)),
            ((3,), (5, 3, 2)),
            ((2, 3), (5, 3, 4)),
            ((5, 1, 2, 3), (4, 3, 2)),
            ((1, 2, 3), (4, 3, 2)),
            ((0, 3), (3, 2)),
            ((2, 0), (0, 3)),
            ((0, 2, 3), (3, 2)),
            ((1, 1), (1, 1)),
        ],
        reference=np.matmul,
        complex=True,
    ),
    OpCase(
        "linear",
        M.linear,
        [
            ((4, 3), (2, 3), (2,)),
            ((5, 4, 3), (2, 3), (2,)),
            ((3,), (2, 3), (2,)),
            ((4, 3), (3,), ()),
            ((0, 3), (2, 3), (2,)),
            ((4, 3), (2, 3), (1,)),
        ],
        reference=lambda x, w, b: x @ w.T + b,
        complex=True,
    ),
    OpCase(
        "linear without bias",
        M.linear,
        [((4, 3), (2, 3)), ((3,), (3,))],
        reference=lambda x, w: x @ w.T,
    ),
    OpCase(
        "addmm",
        M.addmm,
        [((2,), (3, 4), (4, 2)), ((3, 1), (3, 4), (4, 2)), ((), (3, 4), (4, 2))],
        reference=lambda c, a, b: c + a @ b,
        complex=True,
    ),
    OpCase(
        "addmm scaled",
        lambda c, a, b: M.addmm(c, a, b, beta=0.5, alpha=-2.0),
        [((3, 2), (3, 4), (4, 2))],
        reference=lambda c, a, b: 0.5 * c - 2 * a @ b,
    ),
    OpCase("addmv", M.addmv, [((3,), (3, 4), (4,))], reference=lambda c, a, b: c + a @ b),
    OpCase(
        "baddbmm", M.baddbmm, [((2,), (5, 3, 4), (5, 4, 2))], reference=lambda c, a, b: c + a @ b
    ),
    OpCase("mm", M.mm, [((2, 3), (3, 4))], reference=np.matmul),
    OpCase("bmm", M.bmm, [((5, 2, 3), (5, 3, 4))], reference=np.matmul),
    OpCase("mv", M.mv, [((2, 3), (3,))], reference=np.matmul),
    OpCase("dot", M.dot, [((3,), (3,)), ((0,), (0,))], reference=np.dot, complex=True),
    OpCase("vdot", M.vdot, [((3,), (3,))], reference=np.vdot, complex=True),
    OpCase(
        "inner", M.inner, [((2, 3), (4, 3)), ((3,), (2, 4, 3)), ((), (2, 3))], reference=np.inner
    ),
    OpCase("outer", M.outer, [((3,), (2,)), ((0,), (2,))], reference=np.outer, complex=True),
]
CASES += [
    OpCase(
        "kron",
        M.kron,
        [((2, 3), (4, 2)), ((2,), (3, 2)), ((2, 2), ()), ((2, 1, 2), (2, 2)), ((0, 2), (2,))],
        reference=np.kron,
        complex=True,
    ),
    OpCase(
        "vecdot",
        lambda x, y: M.vecdot(x, y, dim=0),
        [((3, 2), (3, 2)), ((3, 2), (3, 1))],
        reference=lambda x, y: (x.conj() * y).sum(0),
        complex=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_operator_and_methods_agree_with_the_functions():
    a, b = T.tensor(np.arange(6.0).reshape(2, 3)), T.tensor(np.arange(12.0).reshape(3, 4))
    for found in (a @ b, a.matmul(b), a.mm(b), a.numpy() @ b, a @ b.numpy()):
        assert np.array_equal(found.numpy(), a.numpy() @ b.numpy())
    v = T.tensor(np.array([1.0, 2.0, 3.0]))
    assert a.mv(v).tolist() == [8.0, 26.0]
    assert v.dot(v).item() == 14.0


def test_integer_matrices_multiply_exactly():
    a = T.tensor([[1, 2], [3, 4]])
    assert (a @ a).dtype == T.int64
    assert (a @ a).tolist() == [[7, 10], [15, 22]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: T.zeros(3) @ T.zeros(4), "expected vectors of as many elements, got 3 and 4$"),
        (lambda: T.zeros(2, 3) @ T.zeros(2, 3), r"shapes cannot be multiplied \(2x3 and 2x3\)"),
        (lambda: T.zeros(2, 3) @ T.tensor(1.0), "at least 1D"),
        (lambda: T.zeros(2, 2, 3) @ T.zeros(3, 3, 2), "must match or be 1"),
        (lambda: M.mm(T.zeros(2), T.zeros(2, 2)), "must be a 2D tensor"),
        (lambda: M.bmm(T.zeros(2, 1, 1), T.zeros(3, 1, 1)), "same batch size"),
        (lambda: M.dot(T.zeros(2, 2), T.zeros(2)), "1D tensors expected"),
        (lambda: M.dot(T.zeros(2), T.zeros(3)), "same number of elements"),
        (lambda: M.linear(T.zeros(4, 3), T.zeros(2, 4)), r"expected a weight of shape \[out, 3\]"),
        (lambda: M.linear(T.zeros(4, 3), T.zeros(2, 3), T.zeros(4, 2, 2)), "cannot be expanded"),
        (lambda: M.addmm(T.zeros(3), T.zeros(2, 3), T.zeros(3, 2)), "cannot be expanded"),
        (lambda: M.addmm(T.zeros(2), T.zeros(2, 3), T.zeros(2, 2)), "cannot be multiplied"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


def peak_of(function):
    function()
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_linear_makes_one_array():
    x, w, b = T.zeros(4000, 50), T.zeros(50, 50), T.zeros(50)
    assert peak_of(lambda: M.linear(x, w, b)) < 1.05 * x.nbytes


def test_transposed_operands_are_not_copied():
    x, y = T.zeros(4000, 50), T.zeros(4000, 50)
    assert peak_of(lambda: x.T @ y) < 0.1 * x.nbytes
    weight = T.zeros(50, 50)
    assert peak_of(lambda: x @ weight.T) < 1.05 * x.nbytes


def test_a_matrix_shared_by_a_batch_gets_its_gradient_without_a_batch_of_matrices():
    x, w = T.zeros(500, 4, 30), T.zeros(30, 30).requires_grad_()
    out = x @ w
    g = T.ones(*out.shape)
    peak = peak_of(lambda: T.grad(out, w, g, retain_graph=True))
    assert peak < 500 * 30 * 30 * 4 / 4


def test_linear_keeps_only_what_its_gradients_need():
    x, w, b = T.zeros(4, 3), T.zeros(2, 3).requires_grad_(), T.zeros(2).requires_grad_()
    assert set(M.linear(x, w, b).grad_fn.saved) == {"x", "weight_columns"}
    assert not M.linear(x, w.detach(), b).grad_fn.saved


@pytest.mark.parametrize("turn_y", [False, True])
@pytest.mark.parametrize("turn_x", [False, True])
def test_transposed_flags(turn_x, turn_y):
    def turned(array, flag):
        return np.swapaxes(array, -1, -2) if flag else array

    x, y = ((3, 2) if turn_x else (2, 3)), ((4, 3) if turn_y else (3, 4))
    check_op(
        OpCase(
            "matmul with flags",
            lambda a, b: M.matmul_op(a, b, transpose_x=turn_x, transpose_y=turn_y),
            [(x, y), ((2, *x), y), (x, (2, *y)), ((2, *x), (2, *y))],
            reference=lambda a, b: turned(a, turn_x) @ turned(b, turn_y),
            complex=True,
            order=3,
        )
    )


def test_integer_products_with_factors_stay_integers():
    vector, matrix = T.tensor([1, 2]), T.tensor([[0, 1], [2, 3]])
    batch = matrix.reshape(1, 2, 2)
    for factors, by_hand in (
        ({"beta": 0.2, "alpha": 0.6}, (0, 0)),
        ({"beta": 1.7, "alpha": 2.5}, (1, 2)),
    ):
        beta, alpha = by_hand
        v, m = np.array([1, 2]), np.array([[0, 1], [2, 3]])
        for found, product in (
            (T.addmv(vector, matrix, vector, **factors), m @ v),
            (T.addmm(vector, matrix, matrix, **factors), m @ m),
            (T.baddbmm(vector, batch, batch, **factors), (m @ m)[None]),
        ):
            assert found.dtype == T.int64
            assert np.array_equal(found.numpy(), beta * v + alpha * product)


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: a @ b,
        lambda a, b: a @ b[0],
        lambda a, b: T.stack([a, a]) @ b,
        lambda a, b: a.mm(b),
        lambda a, b: a[0].dot(b[0]),
        lambda a, b: T.inner(a, b),
        lambda a, b: T.einsum("ij,jk->ik", a, b),
        lambda a, b: T.tensordot(a, b, 1),
        lambda a, b: T.nn.functional.linear(a, b),
        lambda a, b: T.nn.functional.linear(a, a, b[0]),
        lambda a, b: T.addmm(a, a, b),
        lambda a, b: T.addmm(b, a, a, beta=2),
        lambda a, b: T.addmv(b[0], a, a[0]),
        lambda a, b: T.baddbmm(b[None], a[None], a[None]),
        lambda a, b: T.linalg.solve(a, b),
        lambda a, b: T.linalg.lstsq(a, b),
    ],
)
def test_products_of_different_dtypes_are_refused(call):
    single, double = T.eye(2), T.eye(2, dtype=T.float64)
    for pair in ((single, double), (double, single), (double, double.to(T.int64))):
        with pytest.raises(RuntimeError, match=r"same dtype, but got \w+.*convert one.*\.to\("):
            call(*pair)


def test_a_float32_layer_refuses_float64_input():
    with pytest.raises(RuntimeError, match="same dtype, but got float64 != float32"):
        T.nn.Linear(2, 3)(T.ones(1, 2, dtype=T.float64))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_a_column_times_a_row(dtype):
    column, row = np.arange(5).astype(dtype)[:, None], np.arange(1, 4).astype(dtype)[None]
    product = T.tensor(column) @ T.tensor(row)
    assert str(product.dtype) == dtype and product.shape == (5, 3)
    assert np.array_equal(product.numpy(), np.einsum("ik,kj->ij", column, row))


def test_outer_and_batched_products_that_are_added():
    check_op(
        OpCase("addr", lambda x, a, b: T.addr(x, a, b, beta=0.5, alpha=2), [((3, 4), (3,), (4,))],
               reference=lambda x, a, b: 0.5 * x + 2 * np.outer(a, b))
    )  # fmt: skip
    yes = T.tensor([True, False])
    both = T.addr(T.eye(2, dtype=T.bool_), yes, T.tensor([True, True]), beta=3, alpha=2)
    assert both.dtype == T.bool_ and both.tolist() == [[True, True], [False, True]]
    check_op(
        OpCase("addbmm", lambda x, a, b: T.addbmm(x, a, b, alpha=2),
               [((2, 4), (3, 2, 5), (3, 5, 4))], order=1,
               reference=lambda x, a, b: x + 2 * (a @ b).sum(0))
    )  # fmt: skip


def test_ger_is_outer():
    a, b = T.arange(2.0), T.arange(3.0)
    assert T.ger(a, b).tolist() == a.ger(b).tolist() == T.outer(a, b).tolist()


@pytest.mark.parametrize("other", [True, 2, 2.5, 1j])
def test_a_number_is_no_side_of_a_matrix_product(other):
    for call in (lambda: T.ones(1) @ other, lambda: other @ T.ones(1)):
        with pytest.raises(TypeError, match="unsupported operand type"):
            call()
