"""What commands share that work on a trained solution: where it is read from."""

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


def read_saved(given: str) -> tuple[Solution, Run | None]:
    """Return the solution of a run or of a file, on the CPU, and the run.

    Of a run without a solution it is that of the last checkpoint. Misuse for what is neither.
    """
    from pinn.runs import Run

    if Path(given).is_file() and Path(given).suffix == ".npz":
        return _load(Path(given)), None
    try:
        run = Run.open(given)
    except FileNotFoundError as error:
        raise Misuse(f"{error}, or a solution.npz") from error
    saved = [path for path in (run.solution_path, run.checkpoint_path) if path.exists()]
    if not saved:
        raise Misuse(f"{run.directory}: neither solution.npz nor checkpoint.npz is there")
    return _load(saved[0]), run


def _load(path: Path) -> Solution:
    import pinn

    try:
        return pinn.load(path, device="cpu")
    except ValueError as error:  # a model of one's own
        raise Misuse(str(error)) from error
