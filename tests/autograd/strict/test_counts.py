"""What the strict test device is asked to do is counted as a GPU would have to do it."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.strict import Counts, StrictArray, counted, strict_cuda


@pytest.fixture
def xp():
    with strict_cuda() as backend:
        yield backend.xp


def counts_of(fn):
    with counted() as counts:
        fn()
    return counts


A = StrictArray(np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize("what, fn, arrays", [
    ("an operator", lambda: A + A, 1), ("a function", lambda: np.sum(A), 1),
    ("a method", lambda: A.sum(), 1),
    ("a copy", lambda: A.copy(), 1), ("written elements", lambda: A.__setitem__(0, 1.0), 0),
    ("chosen elements", lambda: A[StrictArray(np.array([2, 0]))], 1),
    ("into a place", lambda: np.add(A, A, out=A), 0),
])  # fmt: skip
def test_what_computes_or_copies_is_a_launch(what, fn, arrays):
    assert counts_of(fn) == Counts(launches=1, allocations=arrays), what


def test_elements_chosen_by_a_mask_are_waited_for():
    mask = StrictArray(np.array([True, False, True]))
    found = counts_of(lambda: A[mask])
    assert found == Counts(launches=1, allocations=1, synchronisations=1)


def test_views_and_memory_that_nothing_is_written_to_are_none(xp):
    views = (
        lambda: A[1:], lambda: A[1, 2], lambda: A.reshape(-1), lambda: A.T,
        lambda: xp.broadcast_to(A, (2, 3, 4)), lambda: A.shape, lambda: A.dtype,
    )  # fmt: skip
    for view in views:
        assert counts_of(view) == Counts()
    assert counts_of(lambda: xp.empty((3, 4), np.float32)) == Counts(allocations=1)
    assert counts_of(lambda: xp.zeros(3)) == Counts(launches=1, allocations=1)


def test_copies_to_the_device_and_back_and_waiting(xp):
    assert counts_of(lambda: T.ones(3).to(device="cuda")) == Counts(uploads=1)
    there = T.ones(3, device="cuda")
    down = Counts(downloads=1, synchronisations=1)
    assert counts_of(lambda: there.cpu()) == down
    assert counts_of(lambda: there[0].item()) == down
    for single in (bool, float, int):
        assert counts_of(lambda single=single: single(StrictArray(np.array(1.0)))) == down


def test_memory_that_nothing_was_written_to_is_no_number(xp):
    assert np.isnan(xp.empty((2, 3))._host).all()
    assert np.isnan(xp.empty(4, np.float32)._host).all()


def test_counts_may_be_taken_inside_of_others():
    with counted() as outer:
        _ = A + A
        with counted() as inner:
            _ = A + A
    assert (outer.launches, inner.launches) == (2, 1)
