"""Kernels of CUDA C as host code: what is wrong with them on a GPU shows here too."""

from __future__ import annotations

import numpy as np
import pytest

from autograd.strict import counted, kernels, strict_cuda
from autograd.strict.kernels import TURNS

HEAD = """typedef double R;
extern __shared__ __align__(16) R arena[];
extern "C" __global__ void test(const R *x, R *to, int count) {
"""


def run(stand_in, body, blocks=2, threads=8, shared=1024):
    """Return what a kernel writes, for each order of turns."""
    kernel = stand_in.xp.RawModule(code=HEAD + body + "}").get_function("test")
    count = blocks * threads
    x, found = stand_in.from_host(np.arange(1.0, count + 1), 0), []
    for stand_in.xp.turns in TURNS:
        to = stand_in.xp.zeros(count)
        kernel((blocks,), (threads,), (x, to, np.int32(count)), shared_mem=shared)
        found.append(stand_in.to_host(to))
    return found


NEIGHBOUR = """
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  arena[threadIdx.x] = x[i];
  BARRIER
  to[i] = arena[(threadIdx.x + 1) % blockDim.x];
"""


def test_threads_meet_at_barriers(stand_in):
    expected = np.roll(np.arange(1.0, 17.0).reshape(2, 8), -1, axis=1).reshape(-1)
    for found in run(stand_in, NEIGHBOUR.replace("BARRIER", "__syncthreads();")):
        np.testing.assert_array_equal(found, expected)


def test_a_barrier_that_is_missing_shows_in_the_order_of_turns(stand_in):
    forward, backward, _ = run(stand_in, NEIGHBOUR.replace("BARRIER", ""))
    assert not np.array_equal(forward, backward, equal_nan=True)


def test_shared_memory_holds_no_number_before_something_is_written(stand_in):
    forward, *_ = run(stand_in, NEIGHBOUR.replace("BARRIER", ""))
    assert np.isnan(forward[[0, 8]]).all()  # the second block's, too


def test_blocks_that_add_into_one_place_show_in_the_order_of_turns(stand_in):
    body = "if (threadIdx.x == 0) to[0] = to[0] / 3.0 + x[blockIdx.x * blockDim.x];"
    forward, backward, _ = run(stand_in, body)
    assert forward[0] != backward[0]


def test_threads_that_meet_different_barriers_are_refused(stand_in):
    body = "if (threadIdx.x < 4) {\n __syncthreads();\n} else {\n __syncthreads();\n}"
    with pytest.raises(RuntimeError, match="different barriers"):
        run(stand_in, body)
    with pytest.raises(RuntimeError, match="different barriers"):
        run(stand_in, "if (threadIdx.x < 4) __syncthreads();")


def test_a_launch_is_counted_and_its_arguments_are_checked(stand_in):
    kernel = stand_in.xp.RawModule(code=HEAD + "to[threadIdx.x] = x[0]; }").get_function("test")
    x, to = stand_in.xp.ones(4), stand_in.xp.zeros(4)
    with counted() as counts:
        kernel((1,), (4,), (x, to, np.int32(4)))
    assert (counts.launches, counts.synchronisations) == (1, 0)
    for wrong, message in (
        ((x, to), "expected 3 arguments"),
        ((x, to, 4), "int count takes a int32"),
        ((x, np.zeros(4), np.int32(4)), "array of the device"),
        ((x, stand_in.xp.zeros(4, np.float32), np.int32(4)), "takes a float64 array"),
        ((x, stand_in.xp.zeros((4, 2))[:, 0], np.int32(4)), "dense"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            kernel((1,), (4,), wrong)


def test_numbers_are_taken_as_what_they_are(stand_in):
    text = """typedef double R;
extern "C" __global__ void scale(R *to, double by, int count) {
  if (threadIdx.x < count) to[threadIdx.x] *= by;
}
"""
    kernel = stand_in.xp.RawModule(code=text).get_function("scale")
    to = stand_in.from_host(np.arange(4.0), 0)
    kernel((1,), (4,), (to, np.float64(0.1), np.int32(3)))
    np.testing.assert_array_equal(stand_in.to_host(to), [0.0, 0.1, 0.2, 3.0])
    for number in (2, np.float32(2), 2.0):
        with pytest.raises(TypeError, match="double by takes a float64"):
            kernel((1,), (4,), (to, number, np.int32(3)))


def test_more_shared_memory_than_a_block_is_given_is_refused(stand_in):
    kernel = stand_in.xp.RawModule(code=HEAD + "}").get_function("test")
    arguments = stand_in.xp.ones(4), stand_in.xp.zeros(4), np.int32(4)
    with pytest.raises(ValueError, match="50000 bytes of shared memory, where 49152 are allowed"):
        kernel((1,), (4,), arguments, shared_mem=50000)
    kernel.max_dynamic_shared_size_bytes = 50000
    kernel((1,), (4,), arguments, shared_mem=50000)
    kernel.max_dynamic_shared_size_bytes = 200000
    with pytest.raises(ValueError, match="101376 there"):
        kernel((1,), (4,), arguments, shared_mem=200000)


def test_more_blocks_than_a_grid_has_aside_are_refused(stand_in):
    kernel = stand_in.xp.RawModule(code=HEAD + "}").get_function("test")
    with pytest.raises(ValueError, match="65535 blocks at most along y and z"):
        kernel((1, 65536), (4,), (stand_in.xp.ones(4), stand_in.xp.zeros(4), np.int32(4)))
    arguments = stand_in.xp.ones(4), stand_in.xp.zeros(4), np.int32(4)
    for grid, block in (((0,), (4,)), ([1], (4,)), ((1,), 4)):
        with pytest.raises(TypeError, match="is a tuple of numbers above 0"):
            kernel(grid, block, arguments)
    with pytest.raises(ValueError, match="a block has 1024 threads at most"):
        kernel((1,), (1025,), arguments)


def test_an_elementwise_kernel_takes_arrays_of_its_types_alone(stand_in):
    kernel = stand_in.xp.ElementwiseKernel("float64 x", "float64 y", "y = 2 * x", "twice")
    to = stand_in.xp.zeros(4)
    kernel(stand_in.xp.ones(4), to)
    np.testing.assert_array_equal(stand_in.to_host(to), [2, 2, 2, 2])
    with pytest.raises(TypeError, match="x takes float64, got bool"):
        kernel(stand_in.xp.ones(4) > 0, to)
    with pytest.raises(TypeError, match="Unsupported type .*ndarray.* for x"):
        kernel(np.ones(4), to)


def test_a_kernel_is_compiled_once_for_all_processes_and_again_where_it_is_damaged(
    stand_in, monkeypatch, tmp_path
):
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(tmp_path))
    compiled, compile_ = [], kernels._compile
    monkeypatch.setattr(
        kernels, "_compile", lambda text, key: compiled.append(key) or compile_(text, key)
    )

    def of_a_new_process():
        kernels._compiled.cache_clear()
        found = run(stand_in, "to[threadIdx.x + blockIdx.x * 8] = 2 * x[threadIdx.x];")
        np.testing.assert_array_equal(found[0], np.tile(2 * np.arange(1.0, 9.0), 2))
        return len(compiled)

    assert [of_a_new_process(), of_a_new_process()] == [1, 1]
    (library,) = tmp_path.glob("*.so")
    # another file of the name: what is loaded already must not change under this process
    damaged = library.read_bytes()[:-8]
    library.unlink()
    library.write_bytes(damaged)
    assert of_a_new_process() == 2
    kernels._compiled.cache_clear()


def test_without_a_compiler_it_is_said(monkeypatch):
    monkeypatch.setattr("autograd.strict.kernels.compiler", lambda: None)
    with pytest.raises(RuntimeError, match="need a C\\+\\+ compiler"), strict_cuda(kernels=True):
        pass
