"""Python's collector of cycles while something is recorded."""

import gc
import threading

import numpy as np
import pytest

import autograd as T
from autograd.plan.collector import rarely_collected


@pytest.fixture(autouse=True)
def thresholds():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_it_looks_as_often_as_before_where_all_who_asked_are_done():
    gc.set_threshold(500, 11, 12)
    inside, go_on = threading.Event(), threading.Event()

    def other():
        with rarely_collected():
            inside.set()
            go_on.wait(10)

    thread = threading.Thread(target=other)
    with rarely_collected():
        thread.start()
        assert inside.wait(10)
    assert gc.get_threshold()[0] > 10_000 and gc.get_threshold()[1:] == (11, 12)
    go_on.set()
    thread.join()
    assert gc.get_threshold() == (500, 11, 12)
    with pytest.raises(ZeroDivisionError), rarely_collected():
        raise ZeroDivisionError
    assert gc.get_threshold() == (500, 11, 12)


@pytest.mark.parametrize("first", [0, 10_000_000])
def test_it_is_left_where_it_looks_more_rarely_or_never(first):
    gc.set_threshold(first, 10, 10)
    with rarely_collected():
        assert gc.get_threshold()[0] == first


def test_a_recording_is_not_looked_through_over_and_over():
    looks = []

    def steps(x):
        for _ in range(200):
            x = x + 0.01 * (x[0] - x) * x
        return x.sum()

    def noted(phase, _):
        looks.append(phase)

    x = T.tensor([0.5, 1.0, 1.5], requires_grad=True)
    gc.set_threshold(700, 10, 10)
    gc.callbacks.append(noted)
    try:
        value = T.compile(steps)(x)
    finally:
        gc.callbacks.remove(noted)
    assert looks.count("start") < 30  # Python by itself 258 times
    np.testing.assert_allclose(value.item(), steps(x).item(), rtol=1e-6)
