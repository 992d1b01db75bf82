"""Our autograd in a loop that is written as for PyTorch, eager and by `autograd.compile`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import autograd
from experiments.bench.engines.nested import NestedStep
from experiments.bench.workloads import Workload


def configure(threads: int) -> None:
    """Use all the cores given."""
    autograd.set_num_threads(threads)


def _as_it_is(loss: Callable) -> Callable:
    return loss


_WAYS = {
    "eager": _as_it_is,
    "compiled": partial(autograd.compile, points="columns", executor="numpy"),
    "compiled-numba": partial(autograd.compile, points="columns", executor="numba"),
    "compiled-llvm": partial(autograd.compile, points="columns", executor="llvm"),
}


def prepare(workload: Workload, way: str, seed: int, threads: int) -> NestedStep:
    """Return the step of a workload."""
    return NestedStep(autograd, workload, seed, _WAYS[way])
