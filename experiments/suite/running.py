"""Runs of entries, one after the other or side by side."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

from experiments.measure import measure
from experiments.suite.entries import ENTRIES


class Task(NamedTuple):
    """One training: of an entry by name, within a budget in seconds, from a seed.

    threads: all cores where None.
    """

    name: str
    budget: float
    seed: int
    threads: int | None = None


def run(task: Task) -> dict[str, Any]:
    """Train one entry; returns its figures."""
    (entry,) = (entry for entry in ENTRIES if entry.name == task.name)
    facts, _ = measure(entry, task.budget, task.seed, task.threads)
    return {**facts, "budget_seconds": task.budget, "threads": task.threads}


def done(tasks: Sequence[Task], jobs: int) -> Iterator[dict[str, Any]]:
    """Give the figures of each run when it has ended; so many run side by side, in processes."""
    if jobs == 1:
        yield from map(run, tasks)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        waiting = [pool.submit(run, task) for task in tasks]
        try:
            for one in as_completed(waiting):
                yield one.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
