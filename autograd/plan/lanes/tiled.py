"""A recorded function over points, compiled: lanes of tiles, summed in a fixed order.

The function is recorded for a few points, taken apart (split.py), laid out (layout.py) and compiled
for tiles of as many points as its values find room for near the core.  A lane is a run of tiles that
follow each other; lanes are shared out to threads and their sums are added in order, so the
result has the same bits for any number of threads.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from functools import partial
from typing import Any

import numpy as np

from ..executors.numpy_executor import NumpyExecutor
from ..pool import worker_pool
from ..passes import run_pass
from ..passes.clusters import fuse
from ..passes.dead import remove_dead_code
from ..program import Program
from . import vector_functions
from .calls import calls_of
from .host import host
from .kernels import Kernels
from .layout import lay_out
from .places import CannotCompile
from .split import split

FEW = 7
"""Points that a program to be compiled is recorded for: few, and no size that arrays often have."""


_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class Tiled:
    """A compiled program.

    program  recorded for a few points, optimized; its first `points` inputs are their arrays.
    kinds    one an output, as for `Chunked`.
    Raises CannotCompile for what tiles do not hold, and where the host has no such compiler.
    """

    def __init__(self, program: Program, points: int, kinds: Sequence[str]) -> None:
        if host() is None:
            raise CannotCompile("a processor without fused multiply-add, or no llvmlite")
        self.kinds = tuple(kinds)
        self.points = points
        parts = split(program, points, kinds)
        body = run_pass("clusters", partial(fuse, held=_held), remove_dead_code(parts.body))
        layout = lay_out(body, points, parts.sums)
        self.dtype = body.inputs[0].dtype
        kernels = Kernels(host(), self.dtype, _tile(self.dtype))
        self._calls = calls_of(layout, kernels)
        self._tile = kernels.tile
        self._run = _RUN(self._calls.run)
        self._before, self._after = parts.before, parts.after
        self._totals = layout.totals
        self._arenas: list[np.ndarray] = []
        self.outputs = program.outputs
        self.is_current = program.is_current
        self.flops = program.work()[1] / FEW
        self.nbytes = self._calls.arena * self.dtype.itemsize

    def bind(self, shared: Sequence[np.ndarray]) -> None:
        """Read these arrays from now on, at each call."""
        self._first = NumpyExecutor(self._before, shared)
        after = [np.zeros(v.shape, v.dtype) for v in self._after.inputs[: len(self._totals)]]
        self._last = NumpyExecutor(self._after, [*after, *self._first.outputs])

    def __call__(
        self, rows: Sequence[np.ndarray], joined: Sequence[np.ndarray], lanes: int,
        threads: int,
    ) -> Iterator[np.ndarray]:
        """Return the sums, and write what is joined."""
        count = len(rows[0])
        tiles = -(-count // self._tile)
        lanes = min(lanes, tiles)
        edges = [min(count, tiles * k // lanes * self._tile) for k in range(lanes + 1)]
        self._first.run()
        rows = [np.ascontiguousarray(r) for r in rows]
        numbers = [np.ascontiguousarray(a) for a in self._first.outputs]
        sums = np.zeros((lanes, max(1, self._calls.sums)), self.dtype)
        tables = [_addresses(one) for one in (rows, numbers, joined)]
        threads = min(threads, lanes)
        while len(self._arenas) < threads:
            self._arenas.append(_aligned(self._calls.arena, self.dtype))
        calls, number = self._calls.calls.ctypes.data, len(self._calls.calls)
        contexts = np.empty((lanes, 8), np.int64)
        contexts[:, :5] = [
            tables[0].ctypes.data, tables[1].ctypes.data, self._calls.constants.ctypes.data,
            tables[2].ctypes.data, 0,
        ]
        contexts[:, 5] = sums.ctypes.data + np.arange(lanes) * sums.strides[0]
        contexts[:, 6] = edges[:-1]
        context = contexts.ctypes.data
        pending, lock = iter(range(lanes)), threading.Lock()

        def work(slot: int) -> None:
            arena = self._arenas[slot].ctypes.data
            while True:
                with lock:
                    lane = next(pending, None)
                if lane is None:
                    return
                contexts[lane, 4] = arena
                self._run(context + 64 * lane, calls, number, edges[lane + 1])

        others = [worker_pool().submit(work, slot) for slot in range(1, threads)]
        try:
            work(0)
        finally:
            wait(others)
        for other in others:
            other.result()
        total = sums[0]
        for one in sums[1:]:
            total += one
        start = 0
        for target, size in zip(self._last.inputs, self._totals, strict=False):
            target.reshape(-1)[...] = total[start : start + size]
            start += size
        self._last.run()
        return (np.array(one) for one in self._last.outputs)


def tiled_or_none(program: Program, points: int, kinds: Sequence[str]) -> Tiled | None:
    """Return the compiled program, None for what tiles do not hold."""
    try:
        return Tiled(program, points, kinds)
    except CannotCompile as error:
        if os.environ.get("AUTOGRAD_DEBUG") == "1":
            print(f"not compiled for tiles: {error}", file=sys.stderr)
        return None


def _held(op: Any) -> bool:
    return op.name in vector_functions.HELD


def _tile(dtype: np.dtype) -> int:
    found = host()
    return found.block[1] * found.lanes(dtype)


def _addresses(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.array([a.ctypes.data for a in arrays] or [0], np.int64)


def _aligned(numbers: int, dtype: np.dtype) -> np.ndarray:
    raw = np.zeros(numbers * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + numbers * dtype.itemsize].view(dtype)
