"""`doctor`: what holds a trained solution back, and which settings to change."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinn.cli.output import say
from pinn.cli.verdict import DONE, Misuse

if TYPE_CHECKING:
    from pinn.solution.solution import Solution

_ABOUT = """\
Say what holds the solution of a run back: the loss of each block on fresh points beside
that on the trained ones, then what was found, the most important first, with the numbers
that show it and the settings to change, as --set takes them. Nothing is trained for good
or written; the reference, where there is one, takes no part.
"""
_EPILOG = """\
example:
  python -m pinn doctor runs/burgers-0
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "doctor",
        help="say what holds a trained solution back, and which settings to change",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "run", metavar="RUN", help="a run directory such as runs/burgers-0, or a saved solution"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=doctor)


def doctor(arguments: argparse.Namespace) -> int:
    """Print the diagnosis, or JSON; return the exit code."""
    import pinn
    from pinn.files import to_json

    solution, records = _read(arguments.run)
    try:
        found = pinn.doctor(solution, records)
    except RuntimeError as error:
        # Of an equation that a file cannot hold; any other is no fault of the run.
        if not any(callable(term.source) for residual in solution.problem.residuals
                   for term in residual.terms):  # fmt: skip
            raise
        raise Misuse(f"{arguments.run}: {error}; pinn.doctor(solution) looks at it in Python") \
            from error
    say(to_json(found.as_dict(), ascii=True) if arguments.json else str(found))
    return DONE


def _read(given: str) -> tuple[Solution, list[dict[str, Any]]]:
    """Return the solution of a run or of a file, and what was logged; on the CPU."""
    from pinn.runs import Run

    if Path(given).is_file() and Path(given).suffix == ".npz":
        return _load(Path(given)), []
    try:
        run = Run.open(given)
    except FileNotFoundError as error:
        raise Misuse(f"{error}, or a solution.npz") from error
    saved = [path for path in (run.solution_path, run.checkpoint_path) if path.exists()]
    if not saved:
        raise Misuse(f"{run.directory}: neither solution.npz nor checkpoint.npz is there")
    return _load(saved[0]), run.metrics()


def _load(path: Path) -> Solution:
    import pinn

    try:
        return pinn.load(path, device="cpu")
    except ValueError as error:  # a model of one's own
        raise Misuse(str(error)) from error
