"""Every operation that kernels hold, as host code against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from autograd.ops.registry import REGISTRY
from autograd.plan.lanes import functions
from autograd.plan.lanes.cuda.expressions import HELD, expression

X = np.array([0.3, -0.7, 0.999, -2.5, 0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, 1.0])
Y = np.array([1.5, 0.2, -0.4, -2.5, 3.0, 0.0, 1.0, 2.0, np.nan, 1.0, -1.0])
Z = np.array([0.5, 0.2, 7.0, 1.0, -3.0, 2.0, 1.0, np.nan, 4.0, 0.0, -1.0])
YES = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0])


def test_what_the_host_holds_kernels_hold_too():
    assert functions.HELD <= HELD


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_operation_gives_the_numbers_of_numpy(gpu, dtype):
    names = sorted(HELD)
    real = {"float64": "double", "float32": "float"}[dtype]
    inputs = {name: _inputs(name, dtype) for name in names}
    lines = [
        f"  to[{k} * count + i] = "
        + expression(name, [f"x[({3 * k} + {j}) * count + i]" for j in range(len(inputs[name]))])
        + ";"
        for k, name in enumerate(names)
    ]
    text = "\n".join([
        f"typedef {real} R;",
        'extern "C" __global__ void all(const R *x, R *to, int count) {',
        "  const int i = threadIdx.x;", *lines, "}",
    ])  # fmt: skip
    given = np.zeros((len(names), 3, len(X)), dtype)
    for k, name in enumerate(names):
        given[k, : len(inputs[name])] = inputs[name]
    to = gpu.xp.zeros((len(names), len(X)), dtype)
    kernel = gpu.xp.RawModule(code=text).get_function("all")
    kernel((1,), (len(X),), (gpu.from_host(given, 0), to, np.int32(len(X))))
    for name, found in zip(names, gpu.to_host(to), strict=True):
        with np.errstate(all="ignore"):
            expected = _expected(name, inputs[name])
        np.testing.assert_allclose(
            found, np.asarray(expected, dtype), rtol=8 * np.finfo(dtype).eps, err_msg=name
        )


def _inputs(name, dtype):
    arrays = [a.astype(dtype) for a in (X, Y, Z)][: len(REGISTRY[name].inputs)]
    if name == "where":
        arrays[0] = YES.astype(dtype)
    return arrays


def _expected(name, arrays):
    op = REGISTRY[name]
    if name == "where":
        arrays = [arrays[0] != 0, *arrays[1:]]
    return op.forward(np, *arrays)
