"""Train the problems of the accuracy suite with several seeds, and write down how well.

    python -m experiments.suite [--only NAME ...] [--budget SECONDS] [--seeds 0,1,2] [--jobs N]
                                [--anew] [--out FOLDER]

Each problem is a config of experiments/suite/problems and trains for at most so many seconds; its
error is measured when training has ended and takes no part in it. After every run suite.json and
suite.md are written. Runs that they have are kept, so that what was cut short is gone on with by
the same command; --anew measures those that are chosen again.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from experiments.bench.report import number
from experiments.resumable import ROOT, Rows
from experiments.suite.entries import ENTRIES
from experiments.suite.entry import BUDGET, Entry
from experiments.suite.page import markdown
from experiments.suite.running import Task, done
from experiments.suite.verdict import error_of, told
from pinn.checks import nearest
from pinn.files import write_text

_BY_NAME = {entry.name: entry for entry in ENTRIES}


def chosen(names: Sequence[str]) -> list[Entry]:
    """Return the entries of names and numbers, all for none; ValueError for another."""
    found = []
    for name in names:
        own = [entry for entry in ENTRIES if name in (entry.name, str(entry.number))]
        if not own:
            raise ValueError(
                f"--only: expected some of {', '.join(_BY_NAME)}, or the numbers of problems; got "
                f"{name!r}{nearest(name, _BY_NAME)}"
            )
        found += own
    return found or ENTRIES


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing; returns 0, 2 for wrong usage, 130 where it was interrupted."""
    options = _parser().parse_args(arguments)
    try:
        entries = chosen(options.only)
        results = Rows(
            options.out / "suite.json", _BY_NAME, several=("budget_seconds", "seed"),
            summary=partial(told, ENTRIES),
        )  # fmt: skip
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    threads = 1 if options.jobs > 1 else None
    tasks = [
        Task(entry.name, options.budget, seed, threads)
        for entry in entries for seed in options.seeds
        if options.anew or (entry.name, options.budget, seed) not in results
    ]  # fmt: skip
    command = (
        f"python -m experiments.suite --budget {options.budget:g} "
        f"--seeds {','.join(map(str, options.seeds))} --jobs {options.jobs}"
    )
    try:
        for facts in done(tasks, options.jobs):
            results.put(facts, command)
            write_text(options.out / "suite.md", markdown(ENTRIES, results.rows))
            end = facts.get("failed") or f"{number(error_of(facts), 2)} ({facts['stop_reason']})"
            print(f"{facts['name']}, seed {facts['seed']}: {end}", flush=True)
    except KeyboardInterrupt:
        print("interrupted: the same command goes on", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.suite", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME",
                        help="these problems, by name or number")
    parser.add_argument("--budget", type=_positive, default=BUDGET, metavar="SECONDS",
                        help=f"limit of the training of each run ({BUDGET:g})")
    parser.add_argument("--seeds", type=_seeds, default=[0, 1, 2], metavar="0,1,2")
    parser.add_argument("--jobs", type=_count, default=1, metavar="N",
                        help="so many runs side by side, of one thread each (1, of all cores)")
    parser.add_argument("--anew", action="store_true",
                        help="measure these runs again where the table has them")
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results",
                        metavar="FOLDER", help="where the table goes (experiments/results)")
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text}")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 1, got {text}")
    return value


def _seeds(text: str) -> list[int]:
    seeds = [int(one) for one in text.split(",")]
    if min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise argparse.ArgumentTypeError(f"expected different seeds >= 0 such as 0,1,2, got {text}")
    return seeds


if __name__ == "__main__":
    sys.exit(main())
