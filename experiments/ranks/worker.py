"""One rank of a measurement: `worker.py ROW THREADS STEPS [POINTS]`, started by mpiexec.

Prints, on rank 0, JSON: milliseconds of each step, and of its exchanges on the rank that waits
least, which is what exchanging takes once all are there.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from autograd.mpi import ranks_of
from autograd.ranks import Ranks
from experiments.ranks.rows import ROWS, Row, objective

_WARM_UP = 3


class Timed:
    """Ranks whose exchanges are timed."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks, self.seconds = ranks, 0.0

    def __getattr__(self, name: str):
        return getattr(self._ranks, name)

    def exchange(self, *given):
        """Exchange, and add up the time."""
        began = time.perf_counter()
        found = self._ranks.exchange(*given)
        self.seconds += time.perf_counter() - began
        return found


def steps(row: Row, ranks: Ranks, threads: int, count: int) -> dict[str, list[float]]:
    """Return milliseconds of steps, and of their exchanges here."""
    timed = Timed(ranks)
    loss = objective(row, timed, threads)
    theta, took, exchanged = loss.theta, [], []
    for _ in range(_WARM_UP + count):
        ranks.meet()
        began, timed.seconds = time.perf_counter(), 0.0
        found = loss.value_and_gradient(theta)
        theta = theta - 1e-6 * found.gradient
        took.append(1e3 * (time.perf_counter() - began))
        exchanged.append(1e3 * timed.seconds)
    return {"step_ms": took[_WARM_UP:], "exchange_ms": exchanged[_WARM_UP:]}


def main() -> None:
    """Measure, and print what rank 0 knows of all."""
    from mpi4py import MPI

    name, (threads, count, *points) = sys.argv[1], map(int, sys.argv[2:])
    row = next(row for row in ROWS if row.name == name)
    if points:  # others than the row's
        row = row._replace(points=points[0])
    ranks = ranks_of("ranks")
    found = steps(row, ranks, threads, count)
    exchanged = MPI.COMM_WORLD.gather(found["exchange_ms"])
    if ranks.number == 0:
        print(json.dumps(found | {"exchange_ms": np.min(exchanged, axis=0).tolist()}))


if __name__ == "__main__":
    main()
