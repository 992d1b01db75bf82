"""How much of one core's multiply-add peak products reach: those of tiles, and BLAS's.

    python -m experiments.bench.peak

The peak is that of a loop of fused multiply-adds that never leaves the registers, compiled for the
same processor as tiles are.  Products are timed on memory of the size that a step has: a tile of
points for those of tiles, a chunk for BLAS.  All take turns; what is told are the medians of the
rounds' ratios, as the clock of a core may change from round to round.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from autograd.plan.lanes.host import Host, host
from autograd.plan.lanes.library import ARENA, FIELDS, NUMBERS, SUMS, library
from autograd.plan.lanes.native import AS_WRITTEN, address
from autograd.plan.lanes.shape import Shape
from autograd.plan.lanes.tiled import ROW_BYTES

WIDTHS = (20, 64, 128)
_CHANNELS = 3  # the value, and a derivative of first and of second order
_CHUNK = 1000  # rows of a product that BLAS is given, which stay in the caches
_SECONDS = 1e-3  # of one timing, about
_ROUNDS = 41
_CALL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)
_WORK = ctypes.CFUNCTYPE(
    None, *[ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64] * 2, ctypes.c_int64
)


def peaks(rounds: int = _ROUNDS) -> dict[str, Any]:
    """Return by dtype the peak in GF/s, and by width the shares of it; empty without a compiler."""
    found = host()
    if found is None:
        return {}
    with threadpool_limits(limits=1, user_api="blas"):
        return {
            str(np.dtype(dtype)): _of_dtype(found, np.dtype(dtype), rounds)
            for dtype in (np.float64, np.float32)
        }


def _of_dtype(found: Host, dtype: np.dtype, rounds: int) -> dict[str, Any]:
    peak = _peak(found, dtype)
    shares = []
    for width in WIDTHS:
        tasks = {
            "product": _product(found, dtype, width), "sum": _sum(found, dtype, width),
            "blas": _blas(dtype, width),
        }  # fmt: skip
        ratios: dict[str, list[float]] = {name: [] for name in tasks}
        for _ in range(rounds):
            best = peak()
            for name, task in tasks.items():
                ratios[name].append(task() / best)
        shares.append(
            {"width": width, **{name: float(np.median(r)) for name, r in ratios.items()}}
        )
    return {"gflops": float(np.median([peak() for _ in range(rounds)])), "shares": shares}


Task = Callable[[], float]
"""Runs once, and returns GF/s."""


def _timed(run: Callable[[], Any], flops: float) -> Task:
    def task() -> float:
        start = time.thread_time()  # others on the core do not count
        run()
        return 1e-9 * flops / (time.thread_time() - start)

    task()  # brings code and memory into the caches
    return task


def _peak(found: Host, dtype: np.dtype) -> Task:
    """Multiply-adds of registers that wait for nothing but their own last one."""
    shape = _shape(found, dtype)
    count = 12 if found.vector_bytes == 32 else 24  # AVX2 has 16 registers, the others 32
    run = _CALL(address(_peak_text(shape, count), "peak"))
    turns = int(_SECONDS * 2e9 / count)
    out = _aligned(count * shape.lanes, dtype)
    return _timed(lambda: run(turns, out.ctypes.data), 2 * count * shape.lanes * turns)


def _peak_text(shape: Shape, count: int) -> str:
    v, fma, nbytes = shape.vector, shape.fma, shape.host.vector_bytes
    starts = [
        f"  %p{k} = getelementptr {shape.real}, ptr %out, i64 {k * shape.lanes}\n"
        f"  %b{k} = load {v}, ptr %p{k}, align {nbytes}"
        for k in range(count)
    ]
    sums = [f"  %a{k} = phi {v} [%b{k}, %entry], [%c{k}, %loop]" for k in range(count)]
    adds = [f"  %c{k} = call {v} {fma}({v} %a{k}, {v} %x, {v} %x)" for k in range(count)]
    ends = [f"  store {v} %c{k}, ptr %p{k}, align {nbytes}" for k in range(count)]
    half = ", ".join([f"{shape.real} 0.5"] * shape.lanes)
    return "\n".join([
        f"declare {v} {fma}({v}, {v}, {v})",
        "define void @peak(i64 %turns, ptr %out) #0 {", "entry:", *starts,
        f"  %x = freeze {v} <{half}>", "  br label %loop", "loop:",
        "  %n = phi i64 [0, %entry], [%next, %loop]", *sums, *adds,
        "  %next = add i64 %n, 1", "  %more = icmp slt i64 %next, %turns",
        "  br i1 %more, label %loop, label %done", "done:", *ends, "  ret void", "}",
        'attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }',
        "",
    ])  # fmt: skip


def _product(found: Host, dtype: np.dtype, width: int) -> Task:
    """The product W x of a tile: the weights of a layer times the rows of one channel."""
    tile = _shape(found, dtype).tile
    table = [width, width, 0, 0, width, 1, 0, tile, width * tile]
    return _tiles(found, dtype, width, "product", table)


def _sum(found: Host, dtype: np.dtype, width: int) -> Task:
    """The sum of a b^T over a tile's points and channels: its part of a layer's gradient."""
    size = width * _shape(found, dtype).tile
    places = size * np.arange(2 * _CHANNELS)
    a, b = places.ctypes.data, places[_CHANNELS:].ctypes.data
    entries = [width, width, _CHANNELS, a, b, 0]
    return _tiles(found, dtype, width, "contract", entries, places)


def _tiles(
    found: Host, dtype: np.dtype, width: int, name: str, entries: list[int], *kept: np.ndarray
) -> Task:
    """A call of the tiles' library, again and again; `kept` is what the entries point to."""
    shape = _shape(found, dtype)
    text = library(shape)
    flops = 2 * width * width * shape.tile * (_CHANNELS if name == "contract" else 1)
    times = max(1, int(_SECONDS * 2e10 / flops))
    generator = np.random.default_rng(0)
    arena = _aligned(2 * _CHANNELS * width * shape.tile, dtype)
    arena[:] = generator.uniform(-1, 1, arena.shape)
    weights, sums = generator.uniform(-1, 1, (2, width, width)).astype(dtype)
    numbers, table = np.array([weights.ctypes.data]), np.array(entries, np.int64)
    call = address(text, f"call_{name}", AS_WRITTEN), table.ctypes.data
    calls = np.array([call] * times, np.int64)
    context, ends, taken = np.zeros(FIELDS, np.int64), np.ones(1, np.int64), np.zeros(1, np.int64)
    context[ARENA], context[SUMS] = arena.ctypes.data, sums.ctypes.data
    context[NUMBERS] = numbers.ctypes.data
    work = _WORK(address(text, "work", AS_WRITTEN))
    held = (*kept, weights, numbers, table)

    def run() -> Any:
        context[-2:] = taken[0] = 0  # from the first point of the only lane
        work(context.ctypes.data, ends.ctypes.data, 1,
             taken.ctypes.data, arena.ctypes.data, calls.ctypes.data, times)  # fmt: skip
        return held

    return _timed(run, flops * times)


def _blas(dtype: np.dtype, width: int) -> Task:
    generator = np.random.default_rng(0)
    x = generator.uniform(-1, 1, (_CHUNK, width)).astype(dtype)
    w = generator.uniform(-1, 1, (width, width)).astype(dtype)
    out = np.empty_like(x)
    flops = 2 * _CHUNK * width * width
    times = max(1, int(_SECONDS * 2e10 / flops))

    def run() -> None:
        for _ in range(times):
            np.matmul(x, w, out=out)

    return _timed(run, flops * times)


def _shape(found: Host, dtype: np.dtype) -> Shape:
    return Shape(found, dtype, ROW_BYTES // dtype.itemsize)


def _aligned(numbers: int, dtype: np.dtype) -> np.ndarray:
    raw = np.zeros(numbers * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + numbers * dtype.itemsize].view(dtype)


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    json.dump(peaks(), sys.stdout, indent=1)
