"""Launches as one graph, and that whatever cannot be captured leaves the device usable."""

from __future__ import annotations

import numpy as np
import pytest

from autograd.plan.captured import captured
from autograd.plan.lanes.cuda.transfers import copy
from autograd.strict import StrictArray, counted

X = StrictArray(np.arange(3.0))
TO, FURTHER = StrictArray(np.zeros(3)), StrictArray(np.zeros(3))


def launches(xp):
    copy(xp, [(X, TO)])
    copy(xp, [(TO, FURTHER)])


def test_a_graph_does_what_the_launches_do_in_their_order(stand_in):
    launches(stand_in.xp)
    FURTHER[...] = TO[...] = 0.0
    graph = captured(lambda: launches(stand_in.xp), stand_in.xp)
    assert not FURTHER._host.any()
    with counted() as counts:
        graph.launch()
    assert FURTHER._host.tolist() == X._host.tolist()
    assert (counts.launches, counts.allocations) == (1, 0)


REFUSED = {
    "memory": lambda gpu: gpu.xp.empty(3),
    "an operation": lambda gpu: X + X,
    "a copy there": lambda gpu: gpu.from_host(np.ones(3), 0),
    "a copy back": lambda gpu: gpu.to_host(X),
}


@pytest.mark.parametrize("what", REFUSED)
def test_where_it_is_refused_there_is_none_and_the_device_goes_on(gpu, what):
    launches(gpu.xp)

    def refused():
        launches(gpu.xp)
        REFUSED[what](gpu)

    assert captured(refused, gpu.xp) is None
    TO[...] = 0.0
    refused()
    assert TO._host.tolist() == X._host.tolist()
    assert captured(lambda: launches(gpu.xp), gpu.xp) is not None


@pytest.mark.parametrize("error", [KeyboardInterrupt, TypeError("a mistake")])
def test_other_errors_are_told_and_end_the_capture(gpu, error):
    def fails():
        raise error

    with pytest.raises(type(error) if isinstance(error, Exception) else error):
        captured(fails, gpu.xp)
    launches(gpu.xp)
    assert captured(lambda: launches(gpu.xp), gpu.xp) is not None
