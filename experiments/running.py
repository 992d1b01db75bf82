"""Runs of cases, one after the other or side by side, into a table that is gone on with."""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from experiments.bench.report import number
from experiments.case import Case
from experiments.command_line import interrupted, listed
from experiments.measure import measure
from experiments.resumable import Rows
from pinn.files import write_text

SEVERAL = ("budget_seconds", "seed")
"""What tells two runs of one case apart."""


class Task(NamedTuple):
    """One training: of a case, within a budget in seconds, from a seed.

    threads: all cores where None.
    """

    case: Case
    budget: float
    seed: int
    threads: int | None = None


def run(task: Task) -> dict[str, Any]:
    """Train one case; returns its figures."""
    facts, _ = measure(task.case, task.budget, task.seed, task.threads)
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


def fill(
    results: Rows,
    cases: Sequence[Case],
    options: argparse.Namespace,
    module: str,
    page: Path,
    text: Callable[[list[dict[str, Any]]], str],
) -> int:
    """Measure the runs of cases that a table lacks, all of them with --anew.

    options: of `command_line.parser` and `add_runs`. module: whose command it is. page: the file
    that is written after each run, `text` of all of them. Returns the exit code: 0, 130 where it
    was interrupted.
    """
    threads = options.threads or (1 if options.jobs > 1 else None)
    tasks = [
        Task(case, budget, seed, threads)
        for budget in options.budget for case in cases for seed in options.seeds
        if options.anew or (case.name, budget, seed) not in results
    ]  # fmt: skip
    command = (
        f"python -m {module} --budget {listed(options.budget)} "
        f"--seeds {listed(options.seeds)} --jobs {options.jobs}"
        + (f" --threads {options.threads}" if options.threads else "")
    )
    try:
        for facts in done(tasks, options.jobs):
            results.put(facts, command)
            write_text(page, text(results.rows))
            print(f"{facts['name']}, seed {facts['seed']}: {_end(facts)}", flush=True)
    except KeyboardInterrupt:
        return interrupted()
    return 0


def _end(facts: Mapping[str, Any]) -> str:
    return facts.get("failed") or f"{number(facts['error'], 2)} ({facts['stop_reason']})"
