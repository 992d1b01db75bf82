"""`plot`: the figures of a run, drawn again."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinn.cli.output import say
from pinn.cli.saved import opened, solution_of
from pinn.cli.verdict import DONE, Misuse

if TYPE_CHECKING:
    from pinn.runs import Run
    from pinn.solution.solution import Solution

_ABOUT = """\
Draw the figures of a run, or of the last checkpoint of one that is running, into its
figures/. Without options all of them are drawn again.
"""
_EPILOG = """\
examples:
  python -m pinn plot runs/burgers-0 --format pdf
  python -m pinn plot runs/burgers-0 --unknown u --at t=0,0.5,1
  python -m pinn plot runs/heat-0 --animate mp4
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "plot",
        help="draw the figures of a run again",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", metavar="RUN", help="a run directory such as runs/burgers-0")
    parser.add_argument(
        "--unknown", action="append", metavar="NAME", help="this one alone; may be repeated"
    )
    parser.add_argument(
        "--at", action="append", metavar="NAME=VALUE", default=[],
        help="hold a coordinate, such as t=0.5, or one of them at several values, t=0,0.5,1",
    )
    parser.add_argument(
        "--animate", nargs="?", choices=("gif", "mp4"), const="gif",
        help="draw what moves through time as one file (gif; mp4 needs ffmpeg), and nothing else",
    )
    parser.add_argument("--log", action="store_true", help="fields on a logarithmic scale")
    parser.add_argument(
        "--error", choices=("signed", "absolute"), help="how errors are drawn, where not as usual"
    )
    parser.add_argument("--format", choices=("png", "pdf", "svg"), default="png", help="(png)")
    parser.add_argument("--dpi", type=_dpi, default=150, help="pixels an inch (150)")
    parser.set_defaults(command=plot)


def plot(arguments: argparse.Namespace) -> int:
    """Draw the solution of a run, or its last checkpoint, on the CPU; return the exit code."""
    from pinn.figures import NoFilm

    run = opened(arguments.run, "plot")
    solution = solution_of(run)
    unknowns = _unknowns(arguments.unknown, solution)
    try:
        for path in _draw(arguments, run, solution, unknowns, _places(arguments.at)):
            say(str(path))
    except NoFilm as error:
        raise Misuse(str(error)) from error
    return DONE


def _draw(
    arguments: argparse.Namespace,
    run: Run,
    solution: Solution,
    unknowns: list[str] | None,
    at: dict[str, float | list[float]],
) -> list[Path]:
    from pinn.runs.figures import Look, draw_animation, draw_at, draw_run

    absolute = None if arguments.error is None else arguments.error == "absolute"
    look = Look(arguments.format, arguments.dpi, arguments.log, absolute)
    if arguments.animate is None and not at:
        return draw_run(run, solution, look, unknowns)
    names = list(solution.problem.solved) if unknowns is None else unknowns
    try:
        if arguments.animate is None:
            return [draw_at(run, solution, name, at, look) for name in names]
        several = [name for name, value in at.items() if isinstance(value, list)]
        if several:
            raise Misuse(f"--animate: expected one value of {several[0]}, got several")
        return [
            draw_animation(run, solution, name, arguments.animate, at, look) for name in names
        ]
    except ValueError as error:  # a coordinate that is not there, an unknown that does not move
        raise Misuse(str(error)) from error


def _unknowns(asked: list[str] | None, solution: Solution) -> list[str] | None:
    from pinn.checks import nearest

    known = solution.problem.solved
    for name in asked or ():
        if name not in known:
            raise Misuse(
                f"--unknown: expected one of {', '.join(known)}, got {name!r}{nearest(name, known)}"
            )
    return asked


def _places(given: list[str]) -> dict[str, float | list[float]]:
    """Return what coordinates are held at, from texts such as t=0.5 and t=0,0.5,1."""
    places: dict[str, float | list[float]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        try:
            numbers = [float(value) for value in values.split(",")]
        except ValueError:
            numbers = []
        if not (name.strip() and equals and numbers and all(map(math.isfinite, numbers))):
            raise Misuse(f"--at: expected a coordinate and a number such as t=0.5, got {text!r}")
        if name.strip() in places:
            raise Misuse(f"--at: {name.strip()} is given twice; write {name.strip()}=0,0.5,1")
        places[name.strip()] = numbers if len(numbers) > 1 else numbers[0]
    return places


def _dpi(text: str) -> int:
    """Return pixels an inch; argparse tells of others."""
    if text.isdigit() and 20 <= int(text) <= 1200:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a whole number from 20 to 1200, got {text!r}")
