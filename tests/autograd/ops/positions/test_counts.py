"""Counts in bins, of integers and of runs, and membership, against numpy's."""

import math

import numpy as np
import pytest

import autograd as T

W = np.random.default_rng(0).normal(size=200)


def test_how_often_integers_come(cuda):
    for device in ("cpu", cuda):
        x = T.tensor([3, 1, 1, 0, 5], device=device)
        assert T.bincount(x).tolist() == [1, 2, 0, 1, 0, 1]
        assert x.bincount(minlength=8).tolist() == [1, 2, 0, 1, 0, 1, 0, 0]
        weights = T.tensor([0.5, 1.0, 2.0, 4.0, 8.0], device=device, dtype=T.float32)
        found = T.bincount(x, weights)
        assert found.dtype == T.float32 and found.tolist() == [4.0, 3.0, 0.0, 0.5, 0.0, 8.0]
        assert T.bincount(x, x).dtype == T.float64
    assert T.bincount(T.zeros(0, dtype=T.int64), minlength=2).tolist() == [0, 0]


@pytest.mark.parametrize("bins", [1, 7, 100])
@pytest.mark.parametrize("ends", [(0, 0), (-1, 1), (-9, 9)])
def test_even_bins_are_numpys(bins, ends, cuda):
    x = np.concatenate([W, [-1.0, 1.0, 0.0]])
    between = None if ends == (0, 0) else ends
    expected, edges = np.histogram(x, bins, between)
    for device in ("cpu", cuda):
        t = T.tensor(x, device=device)
        found = T.histc(t, bins, *ends)
        assert found.dtype == T.float64 and found.tolist() == expected.tolist()
        hist, ours = T.histogram(t, bins, range=between)
        assert hist.tolist() == expected.tolist()
        np.testing.assert_allclose(ours.cpu().numpy(), edges, rtol=1e-14)


@pytest.mark.parametrize("between", [None, (2.0, 2.0), (0.0, 0.0)])
@pytest.mark.parametrize("values", [[], [3.0, 3.0], [1.0, 2.0, 2.3]])
def test_bins_of_a_range_without_width_are_numpys(values, between):
    expected, edges = np.histogram(values, 3, between)
    hist, ours = T.histogram(T.tensor(values, dtype=T.float64), 3, range=between)
    assert hist.tolist() == expected.tolist()
    np.testing.assert_allclose(ours.numpy(), edges, rtol=1e-14)


def test_bins_of_ones_own_with_weights_and_density():
    edges = np.array([-1.0, -0.2, 0.0, 1.5])
    for density in (False, True):
        expected = np.histogram(W, edges, weights=W**2, density=density)[0]
        found = T.histogram(T.tensor(W), T.tensor(edges), weight=T.tensor(W**2), density=density)
        np.testing.assert_allclose(found.hist.numpy(), expected, rtol=1e-13)
    width = np.diff(edges)
    np.testing.assert_allclose((found.hist.numpy() * width).sum(), 1.0, rtol=1e-14)


def test_what_lies_outside_and_nan_are_not_counted():
    x = T.tensor([0.0, 0.5, 1.0, 3.0, -1.0, math.nan])
    assert T.histc(x, 2, 0, 1).tolist() == [1.0, 2.0]
    assert T.histc(T.tensor([2.0, 2.0]), 2).tolist() == [0.0, 2.0]
    assert T.histc(T.zeros(0), 2).tolist() == [0.0, 0.0]


def test_membership():
    x = T.tensor([[3, -2, 0], [7, 4, 4]])
    assert T.isin(x, T.tensor([4, 7])).tolist() == [[False] * 3, [True] * 3]
    assert T.isin(x, T.tensor([4, 7]), invert=True).tolist() == [[True] * 3, [False] * 3]
    assert T.isin(x, 3).tolist() == [[True, False, False], [False] * 3]
    assert T.isin(3, x).item() is True
    assert not T.isin(x, T.zeros(0, dtype=T.int64)).any()
    assert T.isin(T.tensor([math.nan, 1.0]), T.tensor([math.nan, 1.0])).tolist() == [False, True]
    assert T.isin(x, T.tensor([3.5, 4.0])).sum().item() == 2


def test_runs():
    x = T.tensor([1, 1, 2, 2, 2, 1, 3, 3])
    values, inverse, counts = T.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1, 2, 1, 3] and counts.tolist() == [2, 3, 1, 2]
    assert inverse.tolist() == [0, 0, 1, 1, 1, 2, 3, 3]
    assert T.unique_consecutive(x.reshape(2, 4), return_inverse=True)[1].shape == (2, 4)
    columns = T.unique_consecutive(T.tensor([[1, 1, 2], [3, 3, 3]]), dim=1)
    assert columns.tolist() == [[1, 2], [3, 3]]
    assert T.zeros(0).unique_consecutive().tolist() == []


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: T.bincount(T.tensor([-1])), "only supports 1-d non-negative integral"),
        (lambda: T.bincount(T.tensor([1.0])), "only supports 1-d non-negative integral"),
        (lambda: T.bincount(T.tensor([1]), minlength=-1), "minlength should be >= 0"),
        (lambda: T.bincount(T.tensor([1]), T.ones(2)), "have the same length as input"),
        (lambda: T.histc(T.tensor([1])), "histc is not implemented for int64"),
        (lambda: T.histc(T.ones(2), 0), "bins must be > 0"),
        (lambda: T.histc(T.ones(2), 2, 3, 1), "max must be larger than min"),
        (lambda: T.histc(T.tensor([math.inf])), "range of inf, inf is not finite"),
        (lambda: T.histogram(T.tensor([1]), 3), "expected a floating point dtype"),
        (lambda: T.histogram(T.ones(2), T.ones(1)), "expected the ends of the bins"),
        (lambda: T.histogram(T.ones(2), 2, weight=T.ones(3)), "weight in the shape of the input"),
    ],
)
def test_what_is_refused(function, message):
    with pytest.raises(RuntimeError, match=message):
        function()
