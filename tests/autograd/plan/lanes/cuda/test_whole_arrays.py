"""Products, sums and elements by their places as kernels, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from autograd.plan.lanes.cuda.whole_arrays import launch_of
from autograd.strict import StrictArray, counted
from autograd.strict.kernels import TURNS

rng = np.random.default_rng(0)
FLAGS = {"transpose_x": False, "transpose_y": False, "columns": False}


def launched(stand_in, op, arrays, shape, **attributes):
    """What a kernel writes, in one launch and without memory of its own."""
    to = StrictArray(np.full(shape, np.nan, arrays[0].dtype))
    given = [StrictArray(array) for array in arrays]
    with counted() as counts:
        launch_of(stand_in.xp, op, given, attributes)(to)
    assert (counts.launches, counts.allocations, counts.uploads) == (1, 0, 0)
    return to._host


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_of_stacks_are_those_of_numpy(stand_in, dtype, turns):
    stand_in.xp.turns = turns
    for stack, m, inner, n in ((3, 1, 1, 1), (2, 33, 17, 40), (1, 5, 64, 70)):
        x = rng.standard_normal((stack, m, inner)).astype(dtype)
        y = rng.standard_normal((stack, inner, n)).astype(dtype)
        found = launched(stand_in, "matmul", [x, y], (stack, m, n), **FLAGS)
        np.testing.assert_allclose(found, x @ y, rtol=0, atol=4 * inner * np.finfo(dtype).eps)


@pytest.mark.parametrize("x_turned", [False, True])
@pytest.mark.parametrize("y_turned", [False, True])
def test_matrices_are_read_where_they_lie_however_they_are_turned(stand_in, x_turned, y_turned):
    x, y = rng.standard_normal((2, 20, 35)), rng.standard_normal((2, 35, 18))
    given = [
        np.ascontiguousarray(one.swapaxes(1, 2)) if turned else one
        for one, turned in ((x, x_turned), (y, y_turned))
    ]
    turned = {"transpose_x": x_turned, "transpose_y": y_turned, "columns": False}
    views = [one.swapaxes(1, 2) if t else one
             for one, t in zip(given, (x_turned, y_turned), strict=True)]  # fmt: skip
    for arrays, flags in ((given, turned), (views, FLAGS)):
        found = launched(stand_in, "matmul", arrays, (2, 20, 18), **flags)
        np.testing.assert_allclose(found, x @ y, rtol=0, atol=1e-13)
    found = launched(stand_in, "matmul", [x[0], y[1]], (20, 18), **FLAGS)
    np.testing.assert_allclose(found, x[0] @ y[1], rtol=0, atol=1e-13)


def test_infinite_numbers_stay_where_they_belong(stand_in):
    x, y = np.ones((1, 3, 5)), np.ones((1, 5, 4))
    x[0, 1, 4], y[0, 2, 3] = np.inf, np.nan
    found = launched(stand_in, "matmul", [x, y], (1, 3, 4), **FLAGS)
    with np.errstate(invalid="ignore"):  # which some processors' products tell and others do not
        expected = x @ y
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_over_the_last_dimensions_are_those_of_numpy(stand_in, dtype):
    x = rng.standard_normal((3, 40, 9)).astype(dtype)
    for axes, shape in (((1, 2), (3, 1, 1)), ((2,), (3, 40)), ((0, 1, 2), ())):
        found = launched(stand_in, "sum", [x], shape, axes=axes, keepdims=shape == (3, 1, 1))
        expected = x.sum(axes).reshape(shape)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e3 * np.finfo(dtype).eps)


def test_elements_are_taken_by_their_places(stand_in):
    x, places = rng.standard_normal(50), rng.integers(-50, 50, (2, 30, 5))
    index = (StrictArray(places),)
    found = launched(stand_in, "index", [x], places.shape, index=index, unique=False)
    np.testing.assert_array_equal(found, x[places])


def test_arrays_are_joined_one_after_the_other(stand_in):
    parts = [rng.standard_normal((n, 2)) for n in (3, 0, 4)]
    found = launched(stand_in, "cat", parts, (7, 2), dim=0)
    np.testing.assert_array_equal(found, np.concatenate(parts))


@pytest.mark.parametrize("op, arrays, attributes", [
    ("cumsum", [np.ones(3)], {"dim": 0}),
    ("matmul", [np.ones((2, 3, 4))[:, :, ::2], np.ones((2, 2, 3))], FLAGS),
    ("matmul", [np.ones((2, 3, 4)), np.ones((4, 3))], FLAGS),
    ("matmul", [np.ones(3), np.ones(3)], FLAGS),
    ("matmul", [np.ones((0, 3, 4)), np.ones((0, 4, 3))], FLAGS),
    ("sum", [np.ones((3, 4))], {"axes": (0,), "keepdims": False}),
    ("sum", [np.ones((3, 4), np.int64)], {"axes": (1,), "keepdims": False}),
    ("cat", [np.ones((3, 4)), np.ones((3, 2))], {"dim": 1}),
])  # fmt: skip
def test_what_no_kernel_holds_is_left_to_others(stand_in, op, arrays, attributes):
    assert launch_of(stand_in.xp, op, [StrictArray(a) for a in arrays], attributes) is None
