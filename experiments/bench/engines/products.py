"""The floor: the matrix products of a step alone, in the same dtype and with the same threads.

Counted are the layers that take all channels to `width` outputs: forward, and backward to the
inputs and to the weights.  "plain" has a channel for the value and for each derivative that is
needed (Laplacians as one sum); "ours" has the channels that our plan carries.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.bench.workloads import Workload
from pinn.equations.combine import Combination
from pinn.equations.jets import JetPlan
from pinn.equations.leaves import Derivative, Laplacian
from pinn.expressions import nodes

_ROWS = 2_048


def channel_count(workload: Workload, combined: bool) -> int:
    """Return the number of channels of a sweep, the value among them."""
    leaves = [
        node for tree in workload.trees(combined) for node in nodes(tree)
        if isinstance(node, Derivative | Laplacian | Combination)
    ]
    return JetPlan(leaves, workload.scope).channels.count


class _Products:
    """Products of rows x inputs by inputs x outputs, in blocks of rows shared by threads."""

    def __init__(self, workload: Workload, combined: bool, threads: int) -> None:
        self.rows = channel_count(workload, combined) * workload.points
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads)
        rng = np.random.default_rng(0)
        dtype = np.dtype(workload.dtype)
        self._layers = [
            (
                rng.standard_normal((a, b)).astype(dtype),
                [self._buffers(rng, a, b, dtype) for _ in range(threads)],
            )
            for a, b in workload.network.wide_layers(
                len(workload.coordinates), len(workload.unknowns)
            )
        ]
        self.operations = sum(6 * self.rows * w.size for w, _ in self._layers)

    def _buffers(self, rng: np.random.Generator, a: int, b: int, dtype: Any) -> tuple:
        n = min(_ROWS, self.rows)
        x, y = (rng.standard_normal((n, k)).astype(dtype) for k in (a, b))
        return x, y, np.empty((n, b), dtype), np.empty((n, a), dtype), np.empty((a, b), dtype)

    def _work(self, slot: int) -> None:
        mine = range(slot, -(-self.rows // _ROWS), self._threads)
        for weight, buffers in self._layers:
            x, y, forward, back, gradient = buffers[slot]
            for block in mine:
                n = min(_ROWS, self.rows - block * _ROWS)
                np.matmul(x[:n], weight, forward[:n])
                np.matmul(y[:n], weight.T, back[:n])
                np.matmul(x[:n].T, y[:n], gradient)

    def step(self) -> float:
        with threadpool_limits(limits=1, user_api="blas"):
            others = [self._pool.submit(self._work, slot) for slot in range(1, self._threads)]
            self._work(0)
            for other in others:
                other.result()
        return 0.0

    def first_moment(self) -> np.ndarray:
        return np.zeros(0)

    def facts(self) -> dict[str, Any]:
        """Return how much work it is."""
        return {"stacked_rows": self.rows, "gflop": self.operations / 1e9}


def prepare(workload: Workload, way: str, seed: int, threads: int) -> _Products:
    """Return the products; `way` is "plain" or "ours"."""
    return _Products(workload, way == "ours", threads)
