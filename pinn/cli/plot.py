"""`plot`: the figures of a run, drawn again."""

from __future__ import annotations

import argparse
from typing import Any

from pinn.cli.output import say
from pinn.cli.verdict import DONE, Misuse


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("plot", help="draw the figures of a run again")
    parser.add_argument("run", metavar="RUN", help="a run directory such as runs/burgers-0")
    parser.set_defaults(command=plot)


def plot(arguments: argparse.Namespace) -> int:
    """Draw the solution of a run, or its last checkpoint, on the CPU; return the exit code."""
    import pinn
    from pinn.runs import Run
    from pinn.runs.figures import draw_run

    try:
        run = Run.open(arguments.run)
    except FileNotFoundError as error:
        raise Misuse(str(error)) from error
    saved = [path for path in (run.solution_path, run.checkpoint_path) if path.exists()]
    if not saved:
        raise Misuse(f"{run.directory}: neither solution.npz nor checkpoint.npz to draw is there")
    for path in draw_run(run, pinn.load(saved[0], device="cpu")):
        say(str(path))
    return DONE
