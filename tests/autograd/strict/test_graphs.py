"""A capture keeps what CUDA keeps of launches, and refuses what CUDA refuses."""

from __future__ import annotations

import numpy as np
import pytest

from autograd.strict import StrictArray, counted
from autograd.strict.graphs import CaptureError

TEXT = """typedef double R;
extern "C" __global__ void scaled(const R *x, R *to, double by, int count) {
  for (int k = threadIdx.x; k < count; k += 32) to[k] = by * x[k];
}
"""


class Kernel:
    """to = by * x, with arrays and a number that is given by value."""

    def __init__(self, gpu):
        self.xp = gpu.xp
        self.kernel = gpu.xp.RawModule(code=TEXT).get_function("scaled")
        self.x, self.to = StrictArray(np.arange(3.0)), StrictArray(np.zeros(3))
        self(2.0)  # loads the module

    def __call__(self, by):
        arguments = self.x, self.to, np.float64(by), np.int32(3)
        self.kernel((1,), (32,), arguments)

    def captured(self, by=2.0):
        stream = self.xp.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            self(by)
            return stream.end_capture()


@pytest.fixture
def kernel(stand_in):
    return Kernel(stand_in)


def test_a_capture_runs_nothing_and_a_launch_runs_all_of_it_again(kernel):
    kernel.to[...] = 0.0
    with counted() as counts:
        graph = kernel.captured()
        assert (kernel.to._host == 0).all() and counts.launches == 0
        graph.launch()
        assert kernel.to._host.tolist() == [0, 2, 4] and counts.launches == 1
        kernel.x[...] = 1.0
        graph.launch()
    assert kernel.to._host.tolist() == [2, 2, 2]
    assert counts.launches == 3 and len(graph) == 1  # one of them wrote ones


def test_a_graph_has_the_addresses_and_the_numbers_that_there_were(kernel):
    by = np.full((), 3.0)
    graph = kernel.captured(by[()])
    by[...] = 7.0
    first, kernel.x = kernel.x, StrictArray(np.full(3, 9.0))
    graph.launch()
    assert kernel.to._host.tolist() == [0, 3, 6]
    first[...] = 1.0
    graph.launch()
    assert kernel.to._host.tolist() == [3, 3, 3]


def test_memory_that_was_given_back_is_not_used(kernel):
    graph = kernel.captured()
    kernel.x = None
    with pytest.raises(CaptureError, match="scaled: memory of the graph was given back"):
        graph.launch()


def test_loops_over_arrays_are_kept_as_well(stand_in):
    loop = stand_in.xp.ElementwiseKernel("float64 x, float64 c", "float64 y", "y = x * c", "times")
    rows = StrictArray(np.arange(6.0).reshape(2, 3))
    to, number = StrictArray(np.zeros((2, 3))), StrictArray(np.array([5.0, 2.0]))
    loop(rows, number[1], to)
    stream = stand_in.xp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        loop(rows[1:], number[1], to[:1])  # an element of an array is a place in it
        loop(rows[1:], 10.0, to[1:])
        graph = stream.end_capture()
    number[1] = 3.0
    graph.launch()
    assert to._host.tolist() == [[9, 12, 15], [30, 40, 50]]


A = StrictArray(np.arange(4.0))
REFUSED = {
    "a copy from the host": lambda gpu: gpu.from_host(np.ones(2), 0),
    "a copy to the host": lambda gpu: gpu.to_host(A),
    "a copy to the host ": lambda gpu: A[0].item(),
    "operation add": lambda gpu: A + A,
    "operation add ": lambda gpu: np.add(A, A, out=A),
    "operation __setitem__": lambda gpu: A.__setitem__(0, 1.0),
    "operation sum": lambda gpu: A.sum(),
    "operation ascontiguousarray": lambda gpu: gpu.xp.ascontiguousarray(A[::2]),
    "chosen elements": lambda gpu: A[StrictArray(np.array([1]))],
    "memory of the common pool": lambda gpu: gpu.xp.empty(3),
    "whose module would be loaded": lambda gpu: gpu.xp.RawModule(code=TEXT).get_function(
        "scaled"
    )((1,), (32,), (A, A, np.float64(1), np.int32(4))),
    "whose module would be loaded ": lambda gpu: gpu.xp.ElementwiseKernel(
        "float64 x", "float64 y", "y = x", "same"
    )(A, A),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_capture_does_not_hold_is_refused_and_ends_it(stand_in, what):
    before = A._host.copy()
    stream = stand_in.xp.cuda.Stream(non_blocking=True)
    with stream, counted() as counts:
        stream.begin_capture()
        with pytest.raises(CaptureError, match=f"{what.strip()}.* within a capture"):
            REFUSED[what](stand_in)
        with pytest.raises(CaptureError, match="the capture has ended"):
            stream.end_capture()
        assert not stream.is_capturing()
        assert (counts.launches, counts.uploads, counts.synchronisations) == (0, 0, 0)
        REFUSED[what](stand_in)  # the device is as it was
    np.testing.assert_array_equal(A._host[1:], 2 * before[1:] if "add " in what else before[1:])


def test_views_are_none_of_its_business(stand_in):
    stream = stand_in.xp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        assert A[1:].reshape(3, 1).T.shape == (1, 3) and A[2].shape == ()
        assert stand_in.xp.ascontiguousarray(A[1:]).shape == (3,)
        assert len(stream.end_capture()) == 0


def test_memory_of_an_allocator_of_ones_own_is_asked_for(stand_in):
    asked, stream = [], stand_in.xp.cuda.Stream(non_blocking=True)
    with stand_in.xp.cuda.using_allocator(asked.append), stream:
        stream.begin_capture()
        stand_in.xp.empty(3)
        stream.end_capture()
    assert asked == [24]


def test_only_a_stream_of_its_own_captures_and_one_at_a_time(stand_in):
    with pytest.raises(CaptureError, match="waits for the default one"):
        stand_in.xp.cuda.Stream().begin_capture()
    stream = stand_in.xp.cuda.Stream(non_blocking=True)
    with pytest.raises(CaptureError, match="does not capture"):
        stream.end_capture()
    with stream:
        stream.begin_capture()
        with pytest.raises(CaptureError, match="begun already"):
            stand_in.xp.cuda.Stream(non_blocking=True).begin_capture()
        graph = stream.end_capture()
        with counted() as counts:
            stream.synchronize()
        assert counts.synchronisations == 1
        stream.begin_capture()
        with pytest.raises(CaptureError, match="a graph within a capture"):
            graph.launch()
        with pytest.raises(CaptureError):
            stream.end_capture()
