"""What commands share that work on a run that is there: how it and its solution are read."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pinn.cli.verdict import Misuse

if TYPE_CHECKING:
    from pinn.runs import Run
    from pinn.solution.solution import Solution


def add_saved(parser: argparse.ArgumentParser) -> None:
    """Add RUN."""
    parser.add_argument(
        "run", metavar="RUN", help="a run directory such as runs/burgers-0, or a saved solution"
    )


def opened(directory: str) -> Run:
    """Return a run that was named on the command line; Misuse where there is none."""
    from pinn.runs import Run

    try:
        return Run.open(directory)
    except FileNotFoundError as error:
        raise Misuse(str(error)) from error


def solution_of(run: Run) -> Solution:
    """Return the solution of a run, or of its last checkpoint, on the CPU; Misuse without one."""
    saved = [path for path in (run.solution_path, run.checkpoint_path) if path.exists()]
    if not saved:
        raise Misuse(f"{run.directory}: neither solution.npz nor checkpoint.npz is there")
    return _load(saved[0])


def read_saved(given: str) -> tuple[Solution, Run | None]:
    """Return the solution of a run (see `solution_of`) and the run, or that of a file and None.

    Misuse for neither.
    """
    if Path(given).is_file() and Path(given).suffix == ".npz":
        return _load(Path(given)), None
    try:
        run = opened(given)
    except Misuse as error:
        raise Misuse(f"{error}, or a solution.npz") from error
    return solution_of(run), run


def _load(path: Path) -> Solution:
    import pinn

    try:
        return pinn.load(path, device="cpu")
    except ValueError as error:  # a model of one's own
        raise Misuse(str(error)) from error
