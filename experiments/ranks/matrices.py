"""What ranks gain of the matrices of solvers: `mpiexec -n 2 python -m experiments.ranks.matrices`.

Prints a line for each: what, rows, columns, and the median of milliseconds until all ranks have it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from autograd.mpi import ranks_of
from autograd.ranks import Ranks
from pinn.optimizers.least_squares.host_algebra import HostAlgebra
from pinn.optimizers.least_squares.workspace import Workspace

KERNELS = ((100, 500), (300, 1000), (1000, 2500), (2000, 2500))
TRIANGLES = ((2500, 301), (2500, 601), (6000, 1341), (8400, 2001))
# Each is made again for a second, at least a few times.
_SECONDS, _LEAST = 1.0, 3


def measured(ranks: Ranks) -> Iterator[tuple[str, tuple[int, int], float]]:
    """Yield what is made, of rows and columns, and its milliseconds on one thread a rank."""
    rng, algebra = np.random.default_rng(0), HostAlgebra(1, Workspace(), ranks)
    for shape in KERNELS:
        yield "kernel", shape, _took(ranks, partial(algebra.outer, rng.standard_normal(shape)))
    for shape in TRIANGLES:
        given = rng.standard_normal(shape[0]), rng.standard_normal(shape)
        yield "triangle", shape, _took(ranks, partial(algebra.reduced, *given))


def _took(ranks: Ranks, made: Callable[[], Any]) -> float:
    made()
    found: list[float] = []
    ranks.meet()
    until = ranks.clock() + _SECONDS
    while len(found) < _LEAST or ranks.clock() < until:
        began = time.perf_counter()
        made()
        ranks.meet()
        found.append(1e3 * (time.perf_counter() - began))
    return median(found)


def main() -> None:
    """Measure, and print on rank 0."""
    ranks = ranks_of("ranks")
    with ranks.together():
        for name, (rows, columns), took in measured(ranks):
            if ranks.number == 0:
                print(name, rows, columns, f"{took:.3g}", flush=True)


if __name__ == "__main__":
    main()
