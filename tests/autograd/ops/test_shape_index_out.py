"""`out=`: every operation of the shape and index families that takes it writes there."""

import numpy as np
import pytest

from autograd.ops.registry import REGISTRY

X = np.arange(12.0).reshape(3, 4) + 1
PLACES = np.array([[1, 0], [2, 2], [0, 1]])
PAIR = (np.array([0, 2]), np.array([1, 3]))
CALLS = {
    "sum_to": ([X], {"shape": (1, 4)}),
    "clone": ([X], {}),
    "cat": ([X, X], {"dim": 1}),
    "stack": ([X, X], {"dim": 1}),
    "flip": ([X], {"axes": (0,)}),
    "roll": ([X], {"shifts": (1,), "axes": (1,)}),
    "tile": ([X], {"reps": (2, 1)}),
    "diagonal_into": ([X[0]], {"shape": (4, 4), "offset": 0, "dim1": 0, "dim2": 1}),
    "tril": ([X], {"diagonal": 0}),
    "triu": ([X], {"diagonal": 0}),
    "index": ([X], {"index": PAIR, "unique": True}),
    "embed": ([X[0, :2]], {"shape": (3, 4), "index": PAIR, "accumulate": True}),
    "index_put": ([X, X[0, :2]], {"index": PAIR, "accumulate": True}),
    "gather": ([X, PLACES], {"dim": 1}),
    "scatter": ([X, PLACES, 5.0], {"dim": 1}),
    "scatter_add": ([X, PLACES, X[:, :2]], {"dim": 1}),
    "index_select": ([X, np.array([2, 0])], {"dim": 1}),
    "index_add": ([X, np.array([2, 2]), X[:, :2]], {"dim": 1}),
    "masked_keep": ([X, X > 5], {"keep": True}),
    "masked_fill": ([X, X > 5, 2.0], {}),
    "new_full": ([X], {"shape": (2,), "value": 3.0}),
    "ones_like": ([X], {}),
    "zeros_like": ([X], {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_out_receives_the_result(name):
    arrays, attributes = CALLS[name]
    op = REGISTRY[name]
    assert op.accepts_out
    before = [np.copy(a) for a in arrays]
    expected = op.forward(np, *arrays, **attributes)
    out = np.full(expected.shape, np.nan)
    assert op.forward(np, *arrays, out=out, **attributes) is out
    np.testing.assert_array_equal(out, expected)
    strided = np.full((*expected.shape, 2), np.nan)[..., 0]
    assert op.forward(np, *arrays, out=strided, **attributes) is strided
    np.testing.assert_array_equal(strided, expected)
    for array, original in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, original)


@pytest.mark.parametrize("accumulate", [False, True])
def test_index_put_may_write_into_its_input(accumulate):
    op = REGISTRY["index_put"]
    attributes = {"index": PAIR, "accumulate": accumulate}
    expected = op.forward(np, X, 7.0, **attributes)
    target = X.copy()
    assert op.forward(np, target, 7.0, out=target, **attributes) is target
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize(
    "name", ["reshape", "expand", "permute", "split", "unbind", "slice", "diagonal"]
)
def test_views_take_no_out(name):
    assert REGISTRY[name].view and not REGISTRY[name].accepts_out
