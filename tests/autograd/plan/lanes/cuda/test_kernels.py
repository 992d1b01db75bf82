"""The text of kernels: CUDA's own compiler takes it, and keeps what is summed in registers."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest

import autograd as T
from autograd.plan import optimize, trace
from autograd.plan.lanes.cuda.expressions import HELD
from autograd.plan.lanes.cuda.form import SHARED, Form, form_of, lanes_of
from autograd.plan.lanes.cuda.functions import product_block, square_of
from autograd.plan.lanes.cuda.kernels import kernels_of
from autograd.plan.lanes.memory import Arena
from autograd.plan.lanes.prepared import prepared

NVCC = shutil.which("nvcc")
MOST_SPILLED = 512
"""Bytes that the kernel itself may keep in memory: between calls, not where numbers are summed."""


def layout_of(width, dtype, depth=2):
    """Return the calls of a residual's sum of squares and its gradient."""
    rng = np.random.default_rng(0)
    sizes = [2, *[width] * depth, 1]
    p = [T.tensor(rng.normal(size=(b, a)).astype(dtype), requires_grad=True)
         for a, b in zip(sizes[:-1], sizes[1:], strict=True)]  # fmt: skip

    def fn(x, *p):
        x = x.detach().requires_grad_()
        u = x
        for k, w in enumerate(p):
            u = T.nn.functional.linear(T.sin(u) if k else u, w)
        (slope,) = T.grad(u, [x], T.ones_like(u), create_graph=True)
        total = (T.tanh(u[:, 0]) * slope[:, 0] - slope[:, 1]).square().sum()
        return [total, *T.grad(total, p)]

    points = T.tensor(rng.normal(size=(7, 2)).astype(dtype))
    program = optimize(trace(fn, [points, *p], ["x", *"abcd"[: len(p)]])[0])
    parts, layout = prepared(program, 1, ["sum"] * (1 + len(p)), HELD)
    return layout


def text_of(layout):
    return kernels_of(layout, 1, np.cumsum([0, *layout.totals])[:-1].tolist(), SHARED)


@pytest.mark.skipif(NVCC is None, reason="no nvcc")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("dtype, width", [("float32", 16), ("float64", 64), ("float32", 200)])
def test_nvcc_compiles_them_and_sums_stay_in_registers(tmp_path, dtype, width, architecture):
    path = tmp_path / "kernels.cu"
    path.write_text(text_of(layout_of(width, dtype)).text)
    done = subprocess.run(
        [NVCC, "-std=c++17", f"-arch={architecture}", "-cubin", "-Xptxas", "-v",
         "-o", str(tmp_path / "kernels.cubin"), str(path)],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr and "warning" not in done.stderr
    spilled = {
        name: int(stores) + int(loads)
        for name, stores, loads in re.findall(
            r"Function properties for (\S+)\s+\d+ bytes stack frame, (\d+) bytes spill stores, "
            r"(\d+) bytes spill loads", done.stderr,
        )
    }  # fmt: skip
    assert {"work", "add", "pack"} <= set(spilled)
    assert spilled.pop("work") <= 2 * MOST_SPILLED
    assert not any(spilled.values()), spilled


@pytest.mark.parametrize("dtype, width, tile, threads, shared", [
    ("float32", 16, 32, 128, True), ("float32", 100, 16, 128, True), ("float64", 16, 16, 128, True),
    ("float32", 200, 32, 256, False), ("float64", 200, 16, 128, False),
])  # fmt: skip
def test_where_values_lie_follows_from_how_many_they_are(dtype, width, tile, threads, shared):
    layout = layout_of(width, dtype)
    form = form_of(layout, Arena(layout), SHARED)
    assert (form.tile, form.threads, form.shared) == (tile, threads, shared)
    nbytes = Arena(layout).rows * form.row * form.dtype.itemsize
    assert (nbytes <= 96 << 10) == shared
    assert form.row % form.pack == 0  # 16 bytes are fetched at once


def test_how_many_lanes_there_are_depends_on_the_sums_alone():
    assert [lanes_of(n) for n in (0, 1, 1 << 15, 1 << 16, 1 << 20)] == [512, 512, 512, 256, 128]


def test_blocks_of_a_product_leave_no_thread_idle_where_they_need_not():
    form = Form(np.dtype("float32"), tile=16, row=20, threads=128, shared=True)
    assert product_block(form, 64, 4) == (8, 4)  # 128 blocks
    assert product_block(form, 1, 1) == (1, 4)
    assert square_of(form, 64, 64) == 4 and square_of(form, 1, 64) == 1


def test_weights_that_are_read_twice_are_packed_once():
    kernels = text_of(layout_of(16, "float64", depth=3))
    matrices = {(16, 16), (1, 16)}
    assert kernels.products < kernels.text.count("product<")
    assert kernels.packed >= sum(m * k for m, k in matrices)
