"""Joining and splitting: values, gradients, dtypes, and the cost of many pieces."""

import itertools

import numpy as np
import pytest

import autograd as T
from autograd.ops.layout import join as J
from autograd.testing import OpCase, check_op

PAIRS = [((2, 3), (2, 3)), ((0, 3), (2, 3)), ((2, 3), (0, 3))]

CASES = [
    OpCase(
        "cat",
        lambda x, y: J.cat([x, y]),
        PAIRS,
        reference=lambda x, y: np.concatenate([x, y]),
        complex=True,
    ),
    OpCase(
        "cat dim",
        lambda x, y: J.cat([x, y, x], dim=-1),
        [((2, 1), (2, 3)), ((2, 0), (2, 2))],
        reference=lambda x, y: np.concatenate([x, y, x], 1),
    ),
    OpCase(
        "stack",
        lambda x, y: J.stack([x, y], dim=-1),
        [((2, 3), (2, 3)), ((), ())],
        reference=lambda x, y: np.stack([x, y], -1),
        complex=True,
    ),
    OpCase(
        "hstack",
        lambda x, y: J.hstack([x, y]),
        [((2,), (3,)), ((2, 1), (2, 3)), ((), ())],
        reference=lambda x, y: np.hstack([x, y]),
    ),
    OpCase(
        "vstack",
        lambda x, y: J.vstack([x, y]),
        [((3,), (3,)), ((1, 2), (3, 2)), ((), ())],
        reference=lambda x, y: np.vstack([x, y]),
    ),
    OpCase(
        "dstack",
        lambda x, y: J.dstack([x, y]),
        [((3,), (3,)), ((3, 2), (3, 2))],
        reference=lambda x, y: np.dstack([x, y]),
    ),
    OpCase(
        "split",
        lambda x: J.split(x, 2, dim=1),
        [((2, 5),), ((2, 0),)],
        reference=lambda x: [x[:, :2], x[:, 2:4], x[:, 4:]] if x.size else [x],
    ),
    OpCase(
        "split list",
        lambda x: x.split([1, 0, 3]),
        [((4, 2),)],
        reference=lambda x: [x[:1], x[1:1], x[1:]],
        complex=True,
    ),
    OpCase(
        "chunk",
        lambda x: x.chunk(3, -1),
        [((2, 7),), ((4,),)],
        reference=lambda x: np.split(x, [3, 6] if x.ndim == 2 else [2], -1),
    ),
    OpCase(
        "tensor_split",
        lambda x: x.tensor_split(3),
        [((7, 2),), ((2,),)],
        reference=lambda x: np.array_split(x, 3),
    ),
    OpCase(
        "tensor_split at",
        lambda x: x.tensor_split((1, -1)),
        [((5, 2),)],
        reference=lambda x: np.split(x, [1, 4]),
    ),
    OpCase(
        "unbind",
        lambda x: x.unbind(1),
        [((2, 3),), ((2, 3, 2),)],
        reference=lambda x: [x[:, k] for k in range(3)],
        complex=True,
    ),
    OpCase(
        "one piece",
        lambda x: x.unbind(1)[1] ** 2,
        [((2, 3),)],
        reference=lambda x: x[:, 1] ** 2,
        order=2,
    ),
]
CASES += [
    OpCase(
        "column_stack",
        lambda x, y: J.column_stack([x, y]),
        [((3,), (3, 2)), ((), ()), ((0,), (0, 2))],
        reference=lambda x, y: np.column_stack([np.atleast_1d(x), np.atleast_1d(y)]),
    ),
    OpCase(
        "cartesian_prod",
        J.cartesian_prod,
        [((2,), (3,)), ((0,), (3,))],
        reference=lambda x, y: np.stack(np.meshgrid(x, y, indexing="ij"), -1).reshape(-1, 2),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_pieces_are_views_also_0d_ones():
    x = T.tensor([1.0, 2.0, 3.0])
    assert T.unsafe_split_with_sizes(x, [1, 2])[1].tolist() == [2.0, 3.0]
    for pieces in (
        x.split(2), x.chunk(2), x.unsafe_split(2), x.unsafe_chunk(2), x.unbind(),
        x.tensor_split(2), x.split(3),
    ):  # fmt: skip
        for piece in pieces:
            assert isinstance(piece.numpy(), np.ndarray) and piece._base is x
            assert np.shares_memory(piece.numpy(), x.numpy())


def test_a_view_of_a_single_piece_follows_its_base_in_place():
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    (whole,) = y.split(2)
    y.mul_(3.0)
    (g,) = T.grad(whole.sum(), x)
    assert g.tolist() == [3.0, 3.0]


def test_iteration_is_unbind():
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    first, second = x
    assert first.tolist() == [1.0, 2.0] and second._base is x
    assert T.grad((first * second).sum(), x)[0].tolist() == [[3.0, 4.0], [1.0, 2.0]]
    assert list(T.zeros(0, 3)) == []
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(T.tensor(1.0))


def test_many_pieces_cost_one_pass_backward():
    size, pieces = 2000, 200
    x = T.ones(size, requires_grad=True)
    parts = x.split(size // pieces)
    total = parts[0].sum()
    for part in parts[1:]:
        total = total + part.sum()
    nodes = {id(p.grad_fn) for p in parts}
    assert len(nodes) == 1
    assert T.grad(total, x)[0].tolist() == [1.0] * size


def test_dtypes_are_promoted():
    pair = [T.tensor([1, 2]), T.tensor([0.5])]
    assert J.cat(pair).dtype == T.float32
    assert J.stack([T.tensor(True), T.tensor(2)]).dtype == T.int64
    assert J.cat([T.tensor([1.0]), T.tensor([1j])]).dtype == T.complex64


def test_the_gradient_of_a_promoted_part_has_its_dtype():
    low = T.tensor([1.0], requires_grad=True)
    high = T.tensor([2.0], dtype=T.float64, requires_grad=True)
    a, b = T.grad(J.cat([low, high]).sum(), [low, high])
    assert a.dtype == T.float32 and b.dtype == T.float64


def test_empty_vectors_are_skipped_by_cat():
    x = T.ones(2, 3)
    assert J.cat([T.zeros(0), x, T.zeros(0)]).shape == (2, 3)
    assert J.cat([T.zeros(0), T.zeros(0)]).shape == (0,)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: J.cat([]), ValueError, "non-empty list of Tensors"),
        (lambda: J.cat([T.ones(1), 2.0]), TypeError, "expected Tensor as element 1.*got float"),
        (lambda: J.cat(T.ones(2)), TypeError, "tuple or list of Tensors"),
        (lambda: J.cat([T.tensor(1.0)]), RuntimeError, r"zero-dimensional.*position 0"),
        (lambda: J.cat([T.ones(2, 2), T.ones(2)]), RuntimeError, "same number of dimensions"),
        (
            lambda: J.cat([T.ones(2, 2), T.ones(2, 3)]),
            RuntimeError,
            "must match except in dimension 0.*size 2 but got size 3.*number 1",
        ),
        (lambda: J.cat([T.ones(2)], dim=1), IndexError, "Dimension out of range"),
        (lambda: J.stack([T.ones(2), T.ones(3)]), RuntimeError, r"equal size.*\[2\].*\[3\]"),
        (lambda: T.ones(3).split([1, 1]), RuntimeError, "sum exactly to 3"),
        (lambda: T.ones(3).split(0), RuntimeError, "split_size=0"),
        (lambda: T.tensor(1.0).split(1), RuntimeError, "at least a 1-dimensional"),
        (lambda: T.ones(3).chunk(0), RuntimeError, "greater than 0, got: 0"),
        (lambda: T.ones(3).tensor_split(0), RuntimeError, "larger than 0"),
        (lambda: T.ones(3).tensor_split((2, 1)), RuntimeError, "must not fall"),
        (lambda: T.hsplit(T.ones(4, 4), "abc"), TypeError, "as an integer"),
        (lambda: T.tensor(1.0).unbind(), IndexError, "no dimensions"),
    ],
)
def test_bad_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_tensor_split_takes_the_number_of_parts_as_a_tensor():
    parts = J.tensor_split(T.tensor(np.arange(5)), T.tensor(np.array(2)))
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4]]


def test_combinations():
    x, y = T.tensor([1, 2]), T.tensor([3, 4])
    assert T.cartesian_prod(x, y).tolist() == [[1, 3], [1, 4], [2, 3], [2, 4]]
    assert T.cartesian_prod(x) is x
    with pytest.raises(RuntimeError, match="Expect a 1D vector, but got shape"):
        T.cartesian_prod(x, T.ones(2, 2))
    with pytest.raises(RuntimeError, match="same dtype"):
        T.cartesian_prod(x, T.ones(2))


# ---- splits along a named dimension, choices

PARTS = {
    "hsplit": (T.hsplit, np.hsplit), "vsplit": (T.vsplit, np.vsplit),
    "dsplit": (T.dsplit, np.dsplit),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_splits_along_a_named_dimension_are_numpys(name):
    ours, theirs = PARTS[name]
    x = np.arange(48.0).reshape(4, 6, 2)
    for how in (2, [1]):
        for found, expected in zip(ours(T.tensor(x), how), theirs(x, how), strict=True):
            np.testing.assert_array_equal(found.numpy(), expected)
    with pytest.raises(RuntimeError, match=f"torch.{name} .* not divisible by the split_size 5"):
        ours(T.tensor(x), 5)
    with pytest.raises(RuntimeError, match=f"torch.{name} requires a tensor with at least"):
        ours(T.tensor(1.0), 1)
    base = T.zeros(2, 2, 2)
    getattr(base, name)(2)[0].fill_(1.0)  # the parts are views
    assert base.sum().item() == 4.0


def test_sizes_and_choices():
    x = T.arange(4.0).requires_grad_()
    assert [p.tolist() for p in T.split_with_sizes(x, [1, 3])] == [[0.0], [1.0, 2.0, 3.0]]
    for r in range(4):
        for again, expected in (
            (False, itertools.combinations), (True, itertools.combinations_with_replacement),
        ):  # fmt: skip
            found = T.combinations(x, r, again)
            rows = [list(row) for row in expected(range(4), r)] if r else []
            assert found.tolist() == rows
    T.combinations(x).sum().backward()
    assert x.grad.tolist() == [3.0] * 4
    with pytest.raises(RuntimeError, match="Expect a 1D vector"):
        T.combinations(T.ones(2, 2))
    with pytest.raises(RuntimeError, match="Expect a non-negative number"):
        T.combinations(T.ones(2), -1)
