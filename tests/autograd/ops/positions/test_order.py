"""nonzero, sort, topk, median, quantile, searchsorted, unique: numpy's, ties, NaN, devices."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.positions import order as O
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
        examples=False,  # whose numbers of results differ
        dtypes=(),
        reference=lambda x: np.argwhere(x > 0),
    ),
    OpCase(
        "nonzero tuple",
        lambda x: O.nonzero(x > 0, as_tuple=True),
        SHAPES[:3],
        order=0,
        examples=False,
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
        examples=False,
    ),
]


def _unique(x):
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return values, inverse.reshape(x.shape), counts


def _lower_median(x, dim):
    order = np.argsort(x, dim, kind="stable")
    indices = np.take(order, (x.shape[dim] - 1) // 2, dim)
    return np.take_along_axis(x, np.expand_dims(indices, dim), dim).squeeze(dim), indices


CASES += [
    OpCase(
        "median",
        O.median,
        [((5,),), ((2, 3),), ((),)],
        reference=lambda x: np.sort(x, None)[(x.size - 1) // 2],
    ),
    OpCase(
        "median dim",
        lambda x: O.median(x, 1),
        [((3, 4),), ((2, 3, 2),), ((0, 3),)],
        reference=lambda x: _lower_median(x, 1),
    ),
    OpCase(
        "quantile",
        lambda x: O.quantile(x, 0.3),
        [((5,),), ((2, 3),), ((),)],
        reference=lambda x: np.quantile(x, 0.3),
    ),
    OpCase(
        "quantiles",
        lambda x, q: O.quantile(x, q, 1, keepdim=True),
        [((3, 5), (2,)), ((2, 3, 2), (4,))],
        domain=((-2, 2), (0.1, 0.9)),
        reference=lambda x, q: np.quantile(x, q, 1, keepdims=True),
        gradcheck_options={"eps": 1e-7},
    ),
]


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


def test_medians_with_nan_ties_and_dimensions():
    nan = float("nan")
    x = T.tensor([[1.0, nan, 3.0, nan], [4.0, 3.0, 2.0, 1.0]])
    values, indices = O.median(x, 1)
    assert np.isnan(values[0].item()) and values[1].item() == 2 and indices.tolist() == [1, 2]
    assert O.median(x, -1, keepdim=True).values.shape == (2, 1)
    assert np.isnan(O.median(x).item()) and np.isnan(O.median(T.ones(0)).item())
    assert O.median(T.tensor([4, 1, 3, 2])).item() == 2
    ties = T.tensor([1.0, 1.0, 2.0, 0.0], requires_grad=True)
    assert T.grad(O.median(ties), ties)[0].tolist() == [0.5, 0.5, 0, 0]
    assert T.grad(O.median(ties, 0).values, ties)[0].tolist() == [1, 0, 0, 0]
    missing = T.tensor([nan, 1.0, 2.0, nan], requires_grad=True)
    assert T.grad(O.median(missing), missing)[0].tolist() == [0.5, 0, 0, 0.5]


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles_between_two_elements(how):
    x, q = np.random.default_rng(0).normal(size=(4, 5)), np.array([0.0, 0.2, 0.55, 0.875, 1.0])
    found = O.quantile(T.tensor(x), T.tensor(q), 0, interpolation=how)
    np.testing.assert_allclose(found.numpy(), np.quantile(x, q, 0, method=how), rtol=1e-12)


def test_quantiles_of_nan_and_their_shapes():
    x = T.tensor([[1.0, float("nan")], [4.0, 3.0]])
    assert np.isnan(O.quantile(x, 0.0, 1)[0].item()) and O.quantile(x, 0.0, 1)[1].item() == 3
    assert O.quantile(x, T.tensor([0.5, 0.1]), keepdim=True).shape == (2, 1, 1)
    assert O.quantile(x, T.tensor(0.5), 0).shape == (2,)
    assert O.quantile(T.tensor(2.0), 0.3, 0).item() == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: T.median(T.ones(0, 2), 0), IndexError, "non-zero size"),
        (lambda: T.median(T.tensor([True])), RuntimeError, "real numbers, got bool"),
        (lambda: T.quantile(T.ones(0), 0.5), RuntimeError, "must be non-empty"),
        (lambda: T.quantile(T.tensor([1, 2]), 0.5), RuntimeError, "float or double"),
        (lambda: T.quantile(T.ones(2), 1.5), RuntimeError, r"in the range \[0, 1\] but got 1.5"),
        (lambda: T.quantile(T.ones(2), T.ones(1).double()), RuntimeError, "must be same dtype"),
        (lambda: T.quantile(T.ones(2), T.ones(1, 1)), RuntimeError, "scalar or 1D"),
        (lambda: T.quantile(T.ones(2), 0.5, interpolation="cubic"), RuntimeError, "got 'cubic'"),
    ],
)
def test_bad_medians_and_quantiles_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---- ranks, modes, and what is left without NaN

WITH_NAN = np.array([[3.0, np.nan, 1.0, 2.0], [np.nan] * 4, [0.0, -1.0, np.nan, np.nan]])


@pytest.mark.parametrize(
    "case",
    [
        OpCase("kthvalue", lambda x: O.kthvalue(x, 2).values, [((4,),), ((2, 3, 2),)],
               reference=lambda x: np.sort(x)[..., 1]),
        OpCase("kthvalue kept", lambda x: O.kthvalue(x, 1, 0, True), [((4, 3),)],
               reference=lambda x: (np.sort(x, 0)[:1], np.argsort(x, 0)[:1])),
        OpCase("msort", O.msort, SHAPES[:3], reference=lambda x: np.sort(x, 0)),
        OpCase("nanmedian", O.nanmedian, [((5,),), ((3, 3),)], reference=np.nanmedian),
        OpCase("nanquantile", lambda x: O.nanquantile(x, 0.3, 0), [((5, 2),)],
               reference=lambda x: np.nanquantile(x, 0.3, 0), dtypes=()),
    ],
    ids=str,
)  # fmt: skip
def test_ranks_of_every_shape_dtype_layout_and_device(case):
    check_op(case)


def test_nan_is_the_greatest_and_k_counts_from_1():
    x = T.tensor(WITH_NAN)
    assert O.kthvalue(x, 3).values[0].item() == 3.0 and O.kthvalue(x, 4).values[0].isnan()
    for k in (0, 5):
        with pytest.raises(RuntimeError, match="selected number k out of range for dimension 1"):
            O.kthvalue(x, k)
    assert O.kthvalue(T.tensor(2.0), 1).values.item() == 2.0


def test_medians_and_quantiles_leave_out_nan():
    x = T.tensor(WITH_NAN, requires_grad=True)
    values, indices = O.nanmedian(x, 1)
    assert values[0].item() == 2.0 and values[1].isnan() and values[2].item() == -1.0
    assert indices[0].item() == 3 and indices[2].item() == 1
    assert O.nanmedian(x).item() == 1.0 == O.nanmedian(T.tensor([3, 1, 0])).item()
    O.nanmedian(x).backward()
    assert x.grad.sum().item() == 1.0 and x.grad[0, 2].item() == 1.0
    assert O.nanmedian(T.tensor([np.nan])).isnan() and O.nanmedian(T.zeros(0)).isnan()
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        expected = np.nanquantile(WITH_NAN, [0.2, 0.9], axis=1)
    found = O.nanquantile(x, T.tensor([0.2, 0.9], dtype=T.float64), 1)
    np.testing.assert_allclose(found.detach().numpy(), expected)


def test_the_mode_is_the_least_of_the_most_frequent_and_the_last_of_its_places():
    x = T.tensor([[1.0, 2.0, 2.0, 1.0, 3.0], [5.0, 4.0, 5.0, 5.0, 4.0]], requires_grad=True)
    values, indices = O.mode(x)
    assert values.tolist() == [1.0, 5.0] and indices.tolist() == [3, 3]
    values.sum().backward()
    assert x.grad.tolist() == [[0, 0, 0, 1, 0], [0, 0, 0, 1, 0]]
    assert O.mode(x, 0, True).values.tolist() == [[1.0, 2.0, 2.0, 1.0, 3.0]]
    assert O.mode(T.tensor(2)).values.item() == 2
    with pytest.raises(IndexError, match="non-zero size"):
        O.mode(T.zeros(2, 0))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("shape", "dim"), [((16, 600), 1), ((600, 16), 0), ((9000,), 0)])
def test_the_first_of_long_lines_are_those_of_a_sort(shape, dim, largest):
    rng = np.random.default_rng(2)
    ties = np.round(rng.standard_normal(shape), 1)
    with_nan = ties.copy()
    with_nan[3] = np.nan
    for x in (ties, ties.astype(np.float32), (10 * ties).astype(np.int64), with_nan):
        for k in (1, 7, 70):
            found, whole = T.tensor(x).topk(k, dim, largest), T.tensor(x).sort(dim, largest)
            for one, other in zip(found, whole, strict=True):
                np.testing.assert_array_equal(one, np.take(other.numpy(), range(k), axis=dim))
