"""Numbers moved between arrays, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from autograd.plan.lanes.cuda.transfers import (
    add_up,
    copy,
    copy_to_rows,
    gather_row,
    next_row,
)
from autograd.strict import StrictArray, counted
from autograd.strict.kernels import TURNS

rng = np.random.default_rng(0)


@pytest.mark.parametrize("turns", TURNS)
def test_several_arrays_go_to_places_of_other_precisions_in_one_launch(stand_in, turns):
    stand_in.xp.turns = turns
    sources = [rng.standard_normal(n).astype(d) for n, d in ((1, "f8"), (300, "f4"), (7, "f8"))]
    to = [np.full(s.shape, np.nan, d) for s, d in zip(sources, ("f4", "f8", "f8"), strict=True)]
    with counted() as counts:
        pairs = zip(sources, to, strict=True)
        copy(stand_in.xp, [(StrictArray(a), StrictArray(b)) for a, b in pairs])
    for found, source in zip(to, sources, strict=True):
        np.testing.assert_array_equal(found, source.astype(found.dtype))
    assert (counts.launches, counts.allocations) == (1, 0)


def test_more_arrays_than_a_launch_takes_arguments_for_are_more_launches(stand_in):
    sources, to = np.arange(100.0).reshape(100, 1), np.zeros((100, 1))
    pairs = [(StrictArray(a), StrictArray(b)) for a, b in zip(sources, to, strict=True)]
    with counted() as counts:
        copy(stand_in.xp, pairs)
    np.testing.assert_array_equal(to, sources)
    assert counts.launches == 3


def test_rows_follow_each_other_by_a_number_on_the_device(stand_in):
    numbers, own = StrictArray(np.arange(6.0).reshape(3, 2)), StrictArray(np.zeros(2))
    row, to, last = StrictArray(np.zeros(1, np.int64)), np.zeros((4, 5)), StrictArray(np.zeros(2))
    places = StrictArray(to)[0, 1:3]
    for k in range(3):
        next_row(stand_in.xp, numbers, row, own)
        assert own._host.tolist() == [2 * k, 2 * k + 1]
        copy_to_rows(stand_in.xp, [(own, places, 5), (own, last, 0)], row)
        assert last._host.tolist() == own._host.tolist()
    expected = np.zeros((4, 5))
    expected[1:, 1:3] = np.arange(6).reshape(3, 2)
    np.testing.assert_array_equal(to, expected)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_are_gathered_by_a_row_of_places_in_one_launch(stand_in, turns, dtype):
    stand_in.xp.turns = turns
    sources = [rng.standard_normal((n, 1)).astype(dtype) for n in (300, 300, 5)]
    places = np.concatenate([rng.integers(0, 300, (3, 200)), rng.integers(0, 5, (3, 2))], axis=1)
    to = [np.full((n, 1), np.nan, dtype) for n in (200, 200, 2)]
    firsts = (0, 0, 200)
    there = StrictArray(places.astype(np.int32))
    taken = list(zip(map(StrictArray, sources), map(StrictArray, to), firsts, strict=True))
    for row in range(3):
        with counted() as counts:
            gather_row(stand_in.xp, taken, there, StrictArray(np.array([row])))
        assert (counts.launches, counts.allocations) == (1, 0)
        for source, found, first in zip(sources, to, firsts, strict=True):
            np.testing.assert_array_equal(found, source[places[row, first : first + len(found)]])


@pytest.mark.parametrize("count", [1, 255, 256, 257, 3000])
def test_numbers_are_added_up_in_an_order_that_is_fixed(stand_in, count):
    numbers, found = rng.standard_normal(count), []
    for stand_in.xp.turns in TURNS:
        total = StrictArray(np.full(1, np.nan))
        add_up(stand_in.xp, StrictArray(numbers), total)
        found.append(float(total._host[0]))
    assert found[0] == pytest.approx(numbers.sum(), rel=1e-13)
    assert len(set(found)) == 1
