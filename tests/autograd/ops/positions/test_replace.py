"""Slices, positions and masks replaced: numpy's assignments, gradients of both, refusals."""

import numpy as np
import pytest

import autograd as T
from autograd.testing import OpCase, check_op

I = np.array([2, 0])  # noqa: E741 - indices
PLACES = np.array([[0, 1, 1, 2], [2, 2, 0, 0]])
MASK = np.array([[True, False, True, True], [False] * 4, [True, True, False, False]])


def written(index):
    def reference(x, y):
        x = x.copy()
        x[index] = y
        return x

    return reference


def diagonal_written(x, y):
    x = x.copy()
    np.fill_diagonal(x[:, 1:], y)
    return x


def masked(x, y):
    x = x.copy()
    x[MASK] = y[: MASK.sum()]
    return x


def put(x, y):
    x = x.copy()
    np.put(x, [0, -1, 5], y)
    return x


def taken_in(ufunc, start=None):
    def reference(x, y):
        x = x.copy()
        for row, column in np.ndindex(PLACES.shape):
            if start is not None:
                x[PLACES[row, column], column] = start
        for row, column in np.ndindex(PLACES.shape):
            place = PLACES[row, column], column
            x[place] = ufunc(x[place], y[row, column])
        return x

    return reference


def mean(x, y):
    counts = np.ones_like(x)
    for row, column in np.ndindex(PLACES.shape):
        counts[PLACES[row, column], column] += 1
    return taken_in(np.add)(x, y) / counts


def index(values, like):
    return T.tensor(values, device=like.device)


PAIRS = [((3, 4), (2, 4))]
CASES = [
    OpCase("index_copy", lambda x, y: T.index_copy(x, 0, index(I, x), y), PAIRS,
           reference=written(I)),
    OpCase("index_copy in columns", lambda x, y: x.index_copy(1, index(I, x), y),
           [((3, 4), (3, 2))], reference=written((slice(None), I))),
    OpCase("index_fill", lambda x, y: T.index_fill(x, 0, index([2, -3], x), y), [((3, 4), ())],
           reference=written(I)),
    OpCase("masked_scatter", lambda x, y: T.masked_scatter(x, index(MASK, x), y), [((3, 4), (9,))],
           reference=masked),
    OpCase("put", lambda x, y: T.put(x, index([0, -1, 5], x), y), [((3, 4), (3,))], reference=put),
    OpCase("select_scatter", lambda x, y: T.select_scatter(x, y, 1, -2), [((3, 4), (3,))],
           reference=written((slice(None), 2))),
    OpCase("slice_scatter", lambda x, y: T.slice_scatter(x, y, 1, 0, 4, 2), [((3, 4), (3, 2))],
           reference=written((slice(None), slice(0, 4, 2)))),
    OpCase("diagonal_scatter", lambda x, y: T.diagonal_scatter(x, y, 1), [((3, 4), (3,))],
           reference=diagonal_written),
    *(
        OpCase(name, lambda x, y, how=how, own=own: T.scatter_reduce(
            x, 0, index(PLACES, x), y, how, include_self=own), PAIRS, reference=reference)
        for name, how, own, reference in [
            ("sums", "sum", True, taken_in(np.add)),
            ("new sums", "sum", False, taken_in(np.add, 0)),
            ("means", "mean", True, mean), ("largest", "amax", True, taken_in(np.maximum)),
            ("new largest", "amax", False, taken_in(np.maximum, -np.inf)),
            ("least", "amin", True, taken_in(np.minimum)),
        ]
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


def test_equal_extremes_share_the_gradient():
    x = T.tensor([2.0, 5.0], requires_grad=True)
    y = T.tensor([2.0, 1.0, 2.0, 4.0], requires_grad=True)
    found = x.scatter_reduce(0, T.tensor([0, 0, 0, 1]), y, "amax")
    assert found.tolist() == [2.0, 5.0]
    found.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1 / 3, 1.0], rtol=1e-6)
    np.testing.assert_allclose(y.grad.numpy(), [1 / 3, 0, 1 / 3, 0], rtol=1e-6)


def test_put_adds_up_and_means_of_integers_are_rounded_down():
    x = T.zeros(4).put(T.tensor([1, 1, -1]), T.tensor([1.0, 2.0, 5.0]), accumulate=True)
    assert x.tolist() == [0.0, 3.0, 0.0, 5.0]
    means = T.tensor([3, -2]).scatter_reduce(0, T.tensor([0, 1]), T.tensor([4, -5]), "mean")
    assert means.tolist() == [3, -4]


def test_the_forms_in_place():
    x = T.zeros(3, 4)
    assert x.index_fill_(0, T.tensor([1]), 2) is x and x[1].tolist() == [2.0] * 4
    x.masked_scatter_(T.tensor(MASK), T.arange(5).float())
    assert x[MASK.nonzero()].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert T.ones(3, 3).fill_diagonal_(0).sum().item() == 6.0


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: T.index_fill(x, 0, T.tensor([3]), 1), IndexError, "index 3 is out of bounds"),
        (lambda x: T.index_fill(x, 0, T.tensor([0]), T.ones(2)), RuntimeError, "0-dimensional val"),
        (lambda x: T.index_copy(x, 0, T.tensor([0]), x), RuntimeError, r"shape \[1, 4\]"),
        (lambda x: T.index_copy(x, 0, T.tensor([[0]]), x), IndexError, "dimension 1 or 0"),
        (lambda x: T.masked_scatter(x, x > -1, T.ones(2)), RuntimeError, "source nElements must"),
        (lambda x: T.masked_scatter(x, x > 0, T.arange(12)), RuntimeError, "to have same dtypes"),
        (lambda x: T.put(x, T.tensor([12]), T.ones(1)), IndexError, "index 12 is out of bounds"),
        (lambda x: T.put(x, T.tensor([1]), T.ones(2)), RuntimeError, "source of 1 elements"),
        (lambda x: T.select_scatter(x, T.ones(2), 0, 0), RuntimeError, "a size equal to the slice"),
        (lambda x: T.diagonal_scatter(x, T.ones(2)), RuntimeError, "a size equal to the slice"),
        (lambda x: x.scatter_reduce(0, T.tensor([[0]]), x, "prod"), RuntimeError, "got 'prod'"),
    ],
)
def test_what_is_refused(function, error, message):
    with pytest.raises(error, match=message):
        function(T.zeros(3, 4))


@pytest.mark.parametrize("include", [True, False])
def test_extremes_of_many_are_those_of_a_loop(include):
    rng = np.random.default_rng(4)
    x, src, index = rng.standard_normal(50), rng.standard_normal(900), rng.integers(0, 40, 900)
    src[7] = np.nan
    for reduce, function, least in (("amax", np.maximum, -np.inf), ("amin", np.minimum, np.inf)):
        expected = x.copy()
        if not include:
            expected[index] = least
        for place, value in zip(index, src, strict=True):
            expected[place] = function(expected[place], value)
        found = T.tensor(x).scatter_reduce(
            0, T.tensor(index), T.tensor(src), reduce, include_self=include
        )
        np.testing.assert_array_equal(found, expected)


def test_what_does_not_fit_is_told_of_extremes_too():
    x, index = T.zeros(3), T.tensor([0, 5])
    with pytest.raises(RuntimeError, match="index 5 is out of bounds"):
        x.scatter_reduce(0, index, T.ones(2), "amax")
    with pytest.raises(RuntimeError, match=r"scatter_reduce\(\): Expected self.dtype"):
        x.scatter_reduce(0, T.tensor([0, 1]), T.ones(2).double(), "amin")
