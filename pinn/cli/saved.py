"""What commands share that work on a run that is there: how it and its solution are read."""

from __future__ import annotations

import argparse
import shlex
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


def opened(directory: str, command: str, instead: str = "") -> Run:
    """Return a run that was named on the command line; Misuse where there is none.

    command: which was given it. instead: what else that takes, for the message of the error.
    """
    from pinn.runs import Run

    try:
        return Run.open(directory)
    except FileNotFoundError as error:
        told = _folder_of_runs(directory, command) or _config(directory)
        raise Misuse(told or f"{error}{instead}") from error


def _config(given: str) -> str | None:
    """Return what to say of a config file; None for others."""
    if not (Path(given).is_file() and Path(given).suffix in (".yaml", ".yml")):
        return None
    named = shlex.quote(given)
    return (
        f"{given}: expected a run directory, got a config; python -m pinn train {named} makes a "
        f"run of it, and python -m pinn check {named} says what seems wrong with it before that"
    )


def _folder_of_runs(directory: str, command: str) -> str | None:
    """Return what to say of a folder that runs lie in, such as that of a sweep; None for others."""
    from pinn.runs import Run
    from pinn.runs.claim import MARKER

    marked = sorted(path.parent for path in Path(directory).glob(f"*/{MARKER}"))
    runs = [one for one in marked if Run(one).config_path.is_file()]
    if not runs:
        return None
    count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    return (
        f"{directory}: expected one run directory, got a folder with {count} in it, as a sweep "
        f"leaves; give one of them: python -m pinn {command} {shlex.quote(str(runs[0]))}"
    )


def solution_of(run: Run) -> Solution:
    """Return the solution of a run, or of its last checkpoint, on the CPU; Misuse without one."""
    saved = [path for path in (run.solution_path, run.checkpoint_path) if path.exists()]
    if not saved:
        raise Misuse(f"{run.directory}: neither solution.npz nor checkpoint.npz is there")
    return _load(saved[0])


def read_saved(given: str, command: str) -> tuple[Solution, Run | None]:
    """Return the solution of a run (see `solution_of`) and the run, or that of a file and None.

    command: which was given it. Misuse for neither.
    """
    if Path(given).is_file() and Path(given).suffix == ".npz":
        return _load(Path(given)), None
    run = opened(given, command, ", or a solution.npz")
    return solution_of(run), run


def _load(path: Path) -> Solution:
    import pinn

    try:
        return pinn.load(path, device="cpu")
    except ValueError as error:  # a model of one's own
        raise Misuse(str(error)) from error
