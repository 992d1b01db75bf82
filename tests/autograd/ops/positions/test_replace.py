"""Slices, positions and masks replaced: numpy's assignments, gradients of both, refusals."""

import math

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


def slices_in(ufunc, start=None):
    def reference(x, y):
        x = x.copy()
        if start is not None:
            x[[2, 0]] = start
        for place, line in zip([2, 0, 2], y, strict=True):
            x[place] = ufunc(x[place], line)
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
    OpCase("fill", lambda x, y: T.fill(x, y), [((3, 4), ()), ((0, 2), ())],
           reference=lambda x, y: np.full_like(x, y)),
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
            ("products", "prod", True, taken_in(np.multiply)),
            ("new products", "prod", False, taken_in(np.multiply, 1)),
        ]
    ),
    *(
        OpCase(f"slices: {how}", lambda x, y, how=how, own=own: T.index_reduce(
            x, 0, index([2, 0, 2], x), y, how, include_self=own), [((3, 4), (3, 4))],
            reference=reference)
        for how, own, reference in [
            ("prod", True, slices_in(np.multiply)), ("prod", False, slices_in(np.multiply, 1)),
            ("amax", True, slices_in(np.maximum)), ("amin", False, slices_in(np.minimum, np.inf)),
            ("mean", False, lambda x, y: np.stack([y[1], x[1], (y[0] + y[2]) / 2])),
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


@pytest.mark.parametrize("own", [True, False])
def test_derivatives_of_products_are_right_where_factors_are_zero(own):
    index = np.array([[0, 1], [0, 1], [2, 1], [0, 0], [0, 3]])
    x = np.array([[2.0, 0.0], [3.0, 0.0], [0.0, 5.0], [7.0, -1.0]])
    src = np.array([[0.0, 0.0], [3.0, 2.0], [-2.0, 4.0], [5.0, 0.5], [0.0, 6.0]])

    def products(x, src):
        return x.scatter_reduce(0, T.tensor(index), src, "prod", include_self=own)

    inputs = [T.tensor(values, requires_grad=True) for values in (x, src)]
    slopes = T.grad(products(*inputs).sum(), inputs)
    expected = [np.zeros_like(x), np.zeros_like(src)]
    for row, column in np.ndindex(x.shape):  # the product of all others
        factors = [k for k in range(5) if index[k, column] == row]
        counts = own or not factors
        expected[0][row, column] = counts * np.prod(src[factors, column])
        for k in factors:
            others = [src[j, column] for j in factors if j != k] + own * [x[row, column]]
            expected[1][k, column] = np.prod(others)
    for slope, right in zip(slopes, expected, strict=True):
        np.testing.assert_array_equal(slope, right)
    assert T.autograd.gradcheck(products, inputs)
    assert T.autograd.gradgradcheck(products, inputs)


def test_a_product_that_is_not_finite_stays_at_its_place():
    x = T.tensor([2.0, 0.0, 3.0], requires_grad=True)
    src = T.tensor([np.inf, np.nan, 0.5], requires_grad=True)
    found = x.scatter_reduce(0, T.tensor([0, 1, 2]), src, "prod")
    found.sum().backward()
    np.testing.assert_array_equal(found.detach(), [np.inf, np.nan, 1.5])
    np.testing.assert_array_equal(x.grad, [np.inf, np.nan, 0.5])
    np.testing.assert_array_equal(src.grad, [2.0, 0.0, 3.0])


@pytest.mark.parametrize("own", [True, False])
def test_products_of_many_are_those_of_a_loop(own):
    rng = np.random.default_rng(5)
    x, index = rng.integers(-3, 4, 50), np.minimum(rng.integers(0, 120, 400), 39)
    src = rng.choice([-1, 1, 2], 400)
    expected = x.copy()
    if not own:
        expected[index] = 1
    np.multiply.at(expected, index, src)
    x, index, src = T.tensor(x), T.tensor(index), T.tensor(src)
    for reduced in (T.scatter_reduce, T.index_reduce):
        found = reduced(x, 0, index, src, "prod", include_self=own)
        np.testing.assert_array_equal(found, expected)


def test_bools_are_taken_in_by_and_and_or():
    x, src, index = T.tensor([True, False, True]), T.tensor([False, True, True]), [0, 1, 1]
    for reduce, own, expected in [
        ("amax", True, [True, True, True]), ("amax", False, [False, True, True]),
        ("amin", True, [False, False, True]), ("prod", True, [False, False, True]),
        ("prod", False, [False, True, True]),
    ]:  # fmt: skip
        found = x.scatter_reduce(0, T.tensor(index), src, reduce, include_self=own)
        assert found.tolist() == expected


def test_a_value_is_filled_in_once_where_positions_repeat():
    value = T.tensor(2.0, requires_grad=True)
    weights = T.arange(10.0).reshape(2, 5)
    (T.index_fill(T.ones(2, 5), 1, T.tensor([4, 3, -1, 0]), value) * weights).sum().backward()
    assert value.grad.item() == weights[:, [0, 3, 4]].sum().item()


def test_put_adds_up_and_means_of_integers_are_rounded_down():
    x = T.zeros(4).put(T.tensor([1, 1, -1]), T.tensor([1.0, 2.0, 5.0]), accumulate=True)
    assert x.tolist() == [0.0, 3.0, 0.0, 5.0]
    means = T.tensor([3, -2]).scatter_reduce(0, T.tensor([0, 1]), T.tensor([4, -5]), "mean")
    assert means.tolist() == [3, -4]


def test_what_is_filled_in_has_the_dtype_of_the_tensor():
    x = T.tensor([math.nan, 1.0], requires_grad=True)
    T.fill(x, 2).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    assert T.fill(T.tensor([1, 2]), 2.7).tolist() == [2, 2]
    assert T.fill(T.tensor([True, False]), 2).tolist() == [True, True]


def test_the_forms_in_place():
    x = T.zeros(3, 4)
    assert x.index_fill_(0, T.tensor([1]), 2) is x and x[1].tolist() == [2.0] * 4
    x.masked_scatter_(T.tensor(MASK), T.arange(5).float())
    assert x[MASK.nonzero()].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    x.index_reduce_(0, T.tensor([1, 1]), T.ones(2, 4) * 3, "prod")
    assert x[1].tolist() == [18.0] * 4
    assert T.ones(3, 3).fill_diagonal_(0).sum().item() == 6.0


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: T.index_fill(x, 0, T.tensor([3]), 1), IndexError, "index 3 is out of bounds"),
        (lambda x: T.index_fill(x, 0, T.tensor([0]), T.ones(2)), RuntimeError, "0-dimensional val"),
        (lambda x: T.fill(x, T.ones(2)), RuntimeError, "0-dimensional value tensor.*use copy_"),
        (lambda x: T.index_copy(x, 0, T.tensor([0]), x), RuntimeError, r"shape \[1, 4\]"),
        (lambda x: T.index_copy(x, 0, T.tensor([[0]]), x), IndexError, "dimension 1 or 0"),
        (lambda x: T.masked_scatter(x, x > -1, T.ones(2)), RuntimeError, "source nElements must"),
        (lambda x: T.masked_scatter(x, x > 0, T.arange(12)), RuntimeError, "to have same dtypes"),
        (lambda x: T.put(x, T.tensor([12]), T.ones(1)), IndexError, "index 12 is out of bounds"),
        (lambda x: T.put(x, T.tensor([1]), T.ones(2)), RuntimeError, "source of 1 elements"),
        (lambda x: T.select_scatter(x, T.ones(2), 0, 0), RuntimeError, "a size equal to the slice"),
        (lambda x: T.diagonal_scatter(x, T.ones(2)), RuntimeError, "a size equal to the slice"),
        (lambda x: x.scatter_reduce(0, T.tensor([[0]]), x, "max"), RuntimeError, "got 'max'"),
        (lambda x: T.index_reduce(x, 0, T.tensor([0]), x, "sum"), RuntimeError, "'amin', got 'sum"),
        (lambda x: T.index_reduce(x, 0, T.tensor([0]), x, "mean"), RuntimeError, r"shape \[1, 4\]"),
        (lambda x: T.index_reduce(x, 0, T.tensor([3]), x[:1], "prod"), IndexError, "out of bounds"),
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
