"""What the command lines of the tables share: their options, and how rows are chosen."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from experiments.resumable import ROOT
from pinn.checks import nearest

_T = TypeVar("_T")


def parser(module: str, text: str, only: str = "these problems") -> argparse.ArgumentParser:
    """Return the parser of `python -m module`: which rows are measured, and where they go.

    text: of the module, whose first line is shown. only: what --only names.
    """
    made = argparse.ArgumentParser(prog=f"python -m {module}", description=text.splitlines()[0])
    made.add_argument("--only", nargs="+", default=[], metavar="NAME", help=only)
    made.add_argument("--anew", action="store_true",
                      help="measure what is chosen again where the table has it")
    made.add_argument("--out", type=Path, default=ROOT / "experiments" / "results",
                      metavar="FOLDER", help="where the table goes (experiments/results)")
    return made


def add_runs(
    parser: argparse.ArgumentParser, budgets: Sequence[float], seeds: Sequence[int]
) -> None:
    """Add what runs of a case are told apart by, and how many there are at a time."""
    parser.add_argument("--budget", type=_budgets, default=list(budgets), metavar="SECONDS",
                        help="limit of the training of each run, or several such as 20,60 "
                        f"({listed(budgets)})")
    parser.add_argument("--seeds", type=_seeds, default=list(seeds), metavar="0,1,2",
                        help=f"({listed(seeds)})")
    parser.add_argument("--jobs", type=count, default=1, metavar="N",
                        help="so many runs side by side (1)")
    parser.add_argument("--threads", type=count, metavar="N",
                        help="of each run (all cores; 1 of runs side by side)")


def chosen(names: Sequence[str], by_name: Mapping[str, Iterable[_T]], expected: str) -> list[_T]:
    """Return what names stand for, all for none; ValueError, with what is expected, for another."""
    for name in names:
        if name not in by_name:
            raise ValueError(
                f"--only: expected {expected}; got {name!r}{nearest(name, by_name)}"
            )
    found = [one for name in names or by_name for one in by_name[name]]
    return [one for place, one in enumerate(found) if one not in found[:place]]


def interrupted() -> int:
    """Say that a command which Ctrl-C ended can be gone on with; returns its exit code."""
    print("interrupted: the same command goes on", file=sys.stderr)
    return 130


def positive(text: str) -> float:
    """Read a number above zero."""
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text}")
    return value


def count(text: str) -> int:
    """Read a whole number above zero."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 1, got {text}")
    return value


def listed(numbers: Iterable[float]) -> str:
    """Return numbers as they are typed."""
    return ",".join(f"{one:g}" for one in numbers)


def _budgets(text: str) -> list[float]:
    return [positive(one) for one in text.split(",")]


def _seeds(text: str) -> list[int]:
    seeds = [int(one) for one in text.split(",")]
    if min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise argparse.ArgumentTypeError(f"expected different seeds >= 0 such as 0,1,2, got {text}")
    return seeds
