"""One of the strict test device's GPUs is current: kernels refuse arrays of another one."""

from __future__ import annotations

import numpy as np
import pytest

from autograd.strict import strict_cuda

OTHER = r"resides \(1\) is different from the current device \(0\)"


def test_what_computes_refuses_arrays_of_a_device_that_is_not_current():
    with strict_cuda() as gpu:
        there, xp = gpu.from_host(np.arange(6.0), 1), gpu.xp
        for compute in (
            lambda: there + there,
            lambda: there.sum(),
            lambda: there.copy(),
            lambda: there.__setitem__(0, 1.0),
            lambda: there[xp.zeros(1, np.int64)],
            lambda: xp.concatenate([xp.zeros(1), there]),
            lambda: xp.exp(there, out=there),
        ):
            with pytest.raises(ValueError, match=OTHER):
                compute()
            with gpu.current(1):
                pass  # and after it the first one is current again
        with gpu.current(1):
            assert {(there + there).index, there.sum().index, xp.empty(3).index} == {1}


def test_views_and_copies_to_the_host_are_free_of_it():
    with strict_cuda() as gpu:
        there = gpu.from_host(np.arange(6.0), 1)
        assert there[2:].index == there.reshape(2, 3).T.index == there.real.index == 1
        assert gpu.to_host(there[2:]).tolist() == [2.0, 3.0, 4.0, 5.0]


def test_kernels_of_ours_refuse_them_and_are_allowed_memory_on_each_device(stand_in):
    code = 'typedef double R;\nextern "C" __global__ void test(R *x) { x[0] = R(7); }'
    kernel = stand_in.xp.RawModule(code=code).get_function("test")
    there = stand_in.from_host(np.zeros(1), 1)
    with pytest.raises(ValueError, match=OTHER):
        kernel((1,), (1,), (there,))
    kernel.max_dynamic_shared_size_bytes = 50 << 10
    with stand_in.current(1):
        with pytest.raises(ValueError, match="bytes of shared memory"):
            kernel((1,), (1,), (there,), shared_mem=50 << 10)
        kernel((1,), (1,), (there,))
    assert stand_in.to_host(there).tolist() == [7.0]


def test_a_device_that_is_not_there_is_refused(stand_in):
    with pytest.raises(ValueError, match="there are 2"):
        stand_in.current(2)
