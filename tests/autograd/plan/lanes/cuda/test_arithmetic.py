"""Programs over numbers that know no point: one kernel gives what numpy gives."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.plan import optimize, trace
from autograd.plan.executors import make_executor
from autograd.plan.lanes.cuda.arithmetic import THREADS, arithmetic
from autograd.plan.lanes.places import CannotCompile
from autograd.strict.kernels import TURNS


def results(stand_in, program, arrays, placed=0, own=True):
    """Return the results of a program's kernel, and what was found of it; checked in all turns."""
    dtype = arrays[0].dtype
    found = arithmetic("after", program, dtype, placed, own)
    dense = [stand_in.from_host(np.ascontiguousarray(a), 0) for a in (*arrays, *found.constants)]
    text = f"typedef {'float' if dtype == np.float32 else 'double'} R;\n{found.text}"
    kernel = stand_in.xp.RawModule(code=text).get_function("after") if found.text else None
    outputs = []
    for stand_in.xp.turns in TURNS:
        memory = stand_in.xp.empty((max(1, found.numbers),), dtype)
        for array, first in zip(arrays[:placed], found.placed, strict=True):
            memory[first : first + array.size] = stand_in.from_host(array.reshape(-1), 0)
        given = [dense[k] for k in found.arrays] + dense[len(arrays) :]
        if kernel is not None:
            kernel((1,), (THREADS,), (*given, memory))
        outputs.append([
            stand_in.to_host(
                (memory if k is None else dense[k].reshape(-1))[first : first + v.size]
            ).reshape(v.shape)
            for (k, first), v in zip(found.outputs, program.outputs, strict=True)
        ])  # fmt: skip
    for other in outputs[1:]:
        for one, two in zip(outputs[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
    return outputs[0], found


def recorded(fn, arrays):
    return optimize(trace(fn, [T.tensor(a) for a in arrays])[0])


@pytest.mark.parametrize("own, placed", [(True, 0), (True, 3), (False, 0)])
@pytest.mark.parametrize("seed, dtype", [(0, "float64"), (1, "float64"), (1, "float32")])
def test_random_programs_give_the_numbers_of_numpy(
    stand_in, random_program, seed, dtype, own, placed
):
    program, arrays = random_program(seed, dtype)
    reference = make_executor("numpy", program, arrays)
    reference.run()
    found, _ = results(stand_in, program, arrays, placed, own)
    tolerance = {"float32": 2e-5, "float64": 1e-13}[dtype]
    for one, expected in zip(found, reference.outputs, strict=True):
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(one, expected, rtol=0, atol=tolerance * scale)


SUMS = [np.arange(6.0).reshape(2, 3), np.arange(4.0) + 10]


def test_sums_that_are_only_joined_need_no_kernel(stand_in):
    """They are written to their place in the result at once, by what adds them up over lanes."""
    program = recorded(lambda a, b: [T.cat([b, a.reshape(-1)]), b.sum() * 0 + 1], SUMS)
    joined = recorded(lambda a, b: [T.cat([b, a.reshape(-1)])], SUMS)
    (found,), how = results(stand_in, joined, SUMS, placed=2)
    np.testing.assert_array_equal(found, [10, 11, 12, 13, 0, 1, 2, 3, 4, 5])
    assert how.text == "" and how.placed == (4, 0) and how.numbers == 10
    (found, one), how = results(stand_in, program, SUMS, placed=2)
    np.testing.assert_array_equal(found, [10, 11, 12, 13, 0, 1, 2, 3, 4, 5])
    assert one == 1.0 and how.text.count("for (int e") >= 2


def test_a_sum_that_is_two_results_is_copied_for_the_second(stand_in):
    program = recorded(lambda a, b: [a, a.reshape(-1), T.cat([b, b])], SUMS)
    (one, two, twice), how = results(stand_in, program, SUMS, placed=2)
    np.testing.assert_array_equal(one, SUMS[0])
    np.testing.assert_array_equal(two, SUMS[0].reshape(-1))
    np.testing.assert_array_equal(twice, np.tile(SUMS[1], 2))
    assert {k for k, _ in how.outputs} == {None}
    assert len({first for _, first in how.outputs}) == 3


def test_parts_of_arrays_that_lie_together_are_read_from_there(stand_in):
    program = recorded(lambda a, b: [a[1], b[:2].reshape(2, 1), b], SUMS)
    found, how = results(stand_in, program, SUMS, own=False)
    np.testing.assert_array_equal(found[0], SUMS[0][1])
    np.testing.assert_array_equal(found[1], SUMS[1][:2, None])
    assert how.text == "" and how.outputs == ((0, 3), (1, 0), (1, 0))


def test_parts_that_lie_apart_and_zeros_are_written_one_after_the_other(stand_in):
    program = recorded(
        lambda a, b: [a[:, 1], T.cat([b, T.zeros(2, dtype=T.float64)]), a.T.reshape(-1)], SUMS
    )
    found, how = results(stand_in, program, SUMS, own=False)
    np.testing.assert_array_equal(found[0], SUMS[0][:, 1])
    np.testing.assert_array_equal(found[1], [10, 11, 12, 13, 0, 0])
    np.testing.assert_array_equal(found[2], SUMS[0].T.reshape(-1))
    assert how.text


@pytest.mark.parametrize("what, fn", [
    ("operation 'cumsum'", lambda a, b: [T.cumsum(a, 0)]),
    ("more than", lambda a, b: [a.reshape(6, 1, 1) * T.ones(300, 300, dtype=T.float64)]),
    ("of dtype", lambda a, b: [a.to(T.float32)]),
])  # fmt: skip
def test_what_one_block_should_not_do_is_refused(what, fn):
    with pytest.raises(CannotCompile, match=what):
        arithmetic("after", recorded(fn, SUMS), np.dtype("float64"), 0, True)
