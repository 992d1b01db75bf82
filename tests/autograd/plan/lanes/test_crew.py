"""Threads that go through lanes together: who takes them, who sleeps, who is not waited for."""

from __future__ import annotations

import ctypes
import threading
import time
import weakref

import numpy as np
import pytest

from autograd.plan.lanes import crew as module
from autograd.plan.lanes.crew import ASLEEP, POSTED, READY, Crew

_WORK = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, ctypes.c_int64, *[ctypes.c_void_p] * 3,
                         ctypes.c_int64)  # fmt: skip


@pytest.fixture
def crew(monkeypatch):
    monkeypatch.setattr(module, "cores", lambda: 8)
    return Crew()


def _counting(lanes, seconds=0.0):
    """A `work` that notes which arena each lane was taken with."""
    taken, lock, left = [], threading.Lock(), list(range(lanes))

    def work(contexts, ends, count, following, arena, calls, n):
        while True:
            with lock:
                if not left:
                    return
                lane = left.pop(0)
            if seconds:
                time.sleep(seconds)
            with lock:
                taken.append((lane, arena))

    return _WORK(work), taken


def _run(crew, work, arenas):
    place = ctypes.cast(work, ctypes.c_void_p).value
    crew.run(place, (0, 0, 0, 0), arenas, 0, 0)


def test_every_lane_is_done_once_when_run_returns(crew):
    for _ in range(50):
        work, taken = _counting(16)
        _run(crew, work, [1, 2, 3])
        assert sorted(lane for lane, _ in taken) == list(range(16))
        assert {arena for _, arena in taken} <= {1, 2, 3}


def test_threads_take_part_each_with_an_arena_of_its_own(crew):
    work, taken = _counting(12, seconds=0.01)
    _run(crew, work, [1, 2, 3])
    assert {arena for _, arena in taken} == {1, 2, 3}


def test_with_one_arena_the_caller_goes_by_itself(crew):
    work, taken = _counting(4)
    _run(crew, work, [7])
    assert [arena for _, arena in taken] == [7] * 4
    assert not crew._boxes.any(axis=1)[1:].any()


def test_what_was_posted_and_not_begun_is_taken_back(crew, monkeypatch):
    class Nobody:
        def submit(self, *arguments):
            return None

    monkeypatch.setattr(module, "worker_pool", Nobody)
    work, taken = _counting(4)
    _run(crew, work, [1, 2])
    assert [arena for _, arena in taken] == [1] * 4
    assert crew._boxes[0, 0] == READY != POSTED


def test_threads_fall_asleep_when_there_is_no_work(crew):
    work, _ = _counting(4)
    _run(crew, work, [1, 2])
    _run(crew, work, [1, 2])
    limit = time.monotonic() + 10
    while crew._boxes[0, 0] != ASLEEP:
        assert time.monotonic() < limit
        time.sleep(0.001)


def test_threads_stay_awake_where_steps_follow_soon_and_each_has_a_core(crew, monkeypatch):
    work, _ = _counting(1)
    crew._ended = time.perf_counter() + 60  # as if the last step had just ended
    _run(crew, work, [1, 2])
    assert crew._boxes[0, 1] == crew._looks > 0
    crew._ended = time.perf_counter() - 60
    _run(crew, work, [1, 2])
    assert crew._boxes[0, 1] == 0
    monkeypatch.setattr(module, "cores", lambda: 1)
    crew._ended = time.perf_counter() + 60
    _run(crew, work, [1, 2])
    assert crew._boxes[0, 1] == 0


def test_boxes_stay_while_a_thread_looks_into_them(monkeypatch):
    monkeypatch.setattr(module, "cores", lambda: 8)
    crew = Crew()
    work, _ = _counting(1)
    crew._looks *= 2000  # a second, so that the thread outlives the crew
    crew._ended = time.perf_counter() + 60
    _run(crew, work, [1, 2])
    boxes, gone = crew._boxes, weakref.ref(crew)
    del crew
    assert gone() is not None
    limit = time.monotonic() + 10
    while gone() is not None:
        assert time.monotonic() < limit
        time.sleep(0.001)
    assert boxes[0, 0] == ASLEEP


def test_a_second_thread_goes_by_itself_while_the_crew_is_used(crew):
    with crew._used:
        work, taken = _counting(4)
        _run(crew, work, [1, 2])
    assert [arena for _, arena in taken] == [1] * 4


def test_many_short_steps_lose_no_lane(crew):
    lanes = 5
    for _ in range(300):
        done = np.zeros(lanes, np.int64)
        lock, left = threading.Lock(), list(range(lanes))

        def work(*arguments, done=done, lock=lock, left=left):
            while True:
                with lock:
                    if not left:
                        return
                    lane = left.pop()
                done[lane] += 1

        _run(crew, _WORK(work), [1, 2, 3, 4])
        assert (done == 1).all()
