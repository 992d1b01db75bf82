"""nonzero, sort, topk, searchsorted, unique: against numpy, ties, NaN, devices."""

import numpy as np
import pytest

import autograd as T
from autograd.ops import order as O
from autograd.testing import OpCase, check_op

SHAPES = [((4,),), ((3, 4),), ((2, 3, 2),), ((),), ((0, 3),), ((2, 0),)]


def _sorted(x, dim=-1):
    return (np.sort(x, dim), np.argsort(x, dim)) if x.ndim else (x, np.zeros((), int))


def _falling(x):
    return (np.flip(np.sort(x, 0), 0), np.flip(np.argsort(x, 0), 0))


CASES = [
    OpCase("sort", O.sort, SHAPES, reference=_sorted),
    OpCase(
        "sort descending", lambda x: O.sort(x, 0, descending=True), SHAPES[:3], reference=_falling
    ),
    OpCase(
        "argsort",
        lambda x: O.argsort(x, 0),
        SHAPES[:3],
        order=0,
        dtypes=(),
        reference=lambda x: np.argsort(x, 0),
    ),
    OpCase(
        "topk",
        lambda x: O.topk(x, 2),
        SHAPES[:3],
        reference=lambda x: (np.flip(np.sort(x), -1)[..., :2], np.flip(np.argsort(x), -1)[..., :2]),
    ),
    OpCase(
        "topk least",
        lambda x: O.topk(x, 1, 0, largest=False),
        [((3, 4),)],
        reference=lambda x: (np.sort(x, 0)[:1], np.argsort(x, 0)[:1]),
    ),
    OpCase(
        "nonzero",
        lambda x: O.nonzero(x > 0),
        SHAPES[:3],
        order=0,
        dtypes=(),
        reference=lambda x: np.argwhere(x > 0),
    ),
    OpCase(
        "nonzero tuple",
        lambda x: O.nonzero(x > 0, as_tuple=True),
        SHAPES[:3],
        order=0,
        dtypes=(),
        reference=lambda x: np.nonzero(x > 0),
    ),
    OpCase(
        "searchsorted",
        lambda x, v: O.searchsorted(O.sort(x)[0], v),
        [((5,), (2, 3))],
        reference=lambda x, v: np.searchsorted(np.sort(x), v),
        order=0,
        dtypes=(),
    ),
    OpCase(
        "unique",
        lambda x: O.unique(x, return_inverse=True, return_counts=True),
        SHAPES[:2],
        reference=lambda x: _unique(x),
        order=0,
    ),
]


def _unique(x):
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return values, inverse.reshape(x.shape), counts


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_results_are_named():
    values, indices = T.tensor([2.0, 1.0]).sort()
    found = T.tensor([2.0, 1.0]).topk(1)
    assert values.tolist() == [1.0, 2.0] and indices.tolist() == [1, 0]
    assert found.values.item() == 2.0 and found.indices.item() == 0
    assert indices.dtype == T.int64 and not indices.requires_grad


def test_equal_elements_keep_their_order_both_ways():
    x = T.tensor([1.0, 0.0, 1.0, 0.0])
    assert x.sort().indices.tolist() == [1, 3, 0, 2]
    assert x.sort(descending=True).indices.tolist() == [0, 2, 1, 3]
    assert T.tensor([True, False]).sort().values.tolist() == [False, True]


def test_nan_is_the_greatest():
    x = T.tensor([1.0, float("nan"), 0.0])
    assert x.argsort().tolist() == [2, 0, 1]
    assert x.argsort(descending=True).tolist() == [1, 0, 2]
    assert x.topk(1).indices.tolist() == [1]


def test_nonzero_of_0d():
    assert T.tensor(2.0).nonzero().shape == (1, 0)
    assert T.tensor(0.0).nonzero().shape == (0, 0)
    assert [p.tolist() for p in T.tensor(2.0).nonzero(as_tuple=True)] == [[0]]
    x = T.tensor([[0.0, 2.0], [3.0, 0.0]])
    assert x.argwhere().tolist() == [[0, 1], [1, 0]]
    assert x[x.nonzero(as_tuple=True)].tolist() == [2.0, 3.0]


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_in_batches_with_ties(side):
    rng = np.random.default_rng(0)
    rows = np.sort(rng.integers(0, 5, (4, 6)).astype(float), -1)
    values = rng.integers(-1, 6, (4, 7)).astype(float)
    expected = [np.searchsorted(a, v, side=side) for a, v in zip(rows, values, strict=True)]
    found = O.searchsorted(T.tensor(rows), T.tensor(values), side=side)
    np.testing.assert_array_equal(found.numpy(), expected)
    flat = O.bucketize(T.tensor(values), T.tensor(rows[0]), right=side == "right")
    np.testing.assert_array_equal(flat.numpy(), np.searchsorted(rows[0], values, side=side))


def test_searchsorted_of_numbers_and_dtypes():
    edges = T.tensor([1, 3, 5])
    assert O.searchsorted(edges, 3).item() == 1
    assert O.searchsorted(edges, T.tensor([2.5, 9.0]), out_int32=True).dtype == T.int32
    with pytest.raises(RuntimeError, match="first N-1 dimensions"):
        O.searchsorted(T.zeros(2, 3), T.zeros(3, 3))
    with pytest.raises(RuntimeError, match="agree with right=True"):
        O.searchsorted(edges, 3, right=True, side="left")
    with pytest.raises(RuntimeError, match="must be 1 dimension"):
        O.bucketize(T.zeros(2), T.zeros(2, 2))


def test_unique_rows():
    x = T.tensor([[1, 2], [0, 0], [1, 2]])
    values, inverse, counts = x.unique(return_inverse=True, return_counts=True, dim=0)
    assert values.tolist() == [[0, 0], [1, 2]]
    assert inverse.tolist() == [1, 0, 1] and counts.tolist() == [1, 2]
    assert x.unique().tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: T.ones(2).topk(3), RuntimeError, "selected index k out of range"),
        (lambda: T.ones(2).sort(1), IndexError, "Dimension out of range"),
        (lambda: T.tensor([1j]).sort(), RuntimeError, "no order"),
    ],
)
def test_bad_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_searchsorted_with_the_positions_that_sort():
    sequence = np.array([[3.0, 1.0, 2.0], [0.5, 9.0, 4.0]])
    sorter = T.tensor(np.argsort(sequence, axis=1))
    values = T.tensor([[1.0, 2.5], [4.0, 10.0]], dtype=T.float64)
    found = T.searchsorted(T.tensor(sequence), values, sorter=sorter)
    assert found.tolist() == [[0, 2], [1, 3]]
    with pytest.raises(RuntimeError, match=r"sorter must hold int64 positions.*\[2, 3\]"):
        T.searchsorted(T.tensor(sequence), values, sorter=sorter[0])
