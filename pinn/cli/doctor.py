"""`doctor`: what holds a trained solution back, and which settings to change."""

from __future__ import annotations

import argparse
from typing import Any

from pinn.cli.output import say
from pinn.cli.saved import add_saved, read_saved
from pinn.cli.verdict import DONE, Misuse

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
    add_saved(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=doctor)


def doctor(arguments: argparse.Namespace) -> int:
    """Print the diagnosis, or JSON; return the exit code."""
    import pinn
    from pinn.files import to_json

    solution, run = read_saved(arguments.run, "doctor")
    try:
        found = pinn.doctor(solution, run.metrics() if run else [])
    except RuntimeError as error:
        # Of an equation that a file cannot hold; any other is no fault of the run.
        if not any(callable(term.source) for residual in solution.problem.residuals
                   for term in residual.terms):  # fmt: skip
            raise
        raise Misuse(f"{arguments.run}: {error}; pinn.doctor(solution) looks at it in Python") \
            from error
    say(to_json(found.as_dict(), ascii=True) if arguments.json else str(found))
    return DONE
