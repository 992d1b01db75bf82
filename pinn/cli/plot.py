"""`plot`: the figures of a run, drawn again."""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinn.cli.destination import Destination
from pinn.cli.held import function_given
from pinn.cli.output import say
from pinn.cli.saved import opened, solution_of
from pinn.cli.verdict import DONE, Misuse

if TYPE_CHECKING:
    from pinn.runs import Run
    from pinn.solution.solution import Solution

_ABOUT = """\
Draw the figures of a run, or of the last checkpoint of one that is running, into its
figures/, or where --out says. Without options all of them are drawn again.
"""
_EPILOG = """\
examples:
  python -m pinn plot runs/burgers-0 --format pdf
  python -m pinn plot runs/burgers-0 --unknown u --at t=0,0.5,1
  python -m pinn plot runs/burgers-0 --unknown u_x --unknown "u*u_x - nu*u_xx"
  python -m pinn plot runs/burgers-0 --unknown u_x --at t=0,0.5,1 --out slopes.pdf
  python -m pinn plot runs/heat-0 --animate mp4
"""

_STILLS, _FILMS = ("png", "pdf", "svg"), ("gif", "mp4")


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
        "--unknown", action="append", metavar="u|u_x|u*u_x",
        help="this one alone, or a derivative or any expression of unknowns; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--at",
        action="append",
        metavar="NAME=VALUE",
        default=[],
        help="hold a coordinate, such as t=0.5, or one of them at several values, t=0,0.5,1",
    )
    parser.add_argument(
        "--animate",
        nargs="?",
        choices=_FILMS,
        const=True,
        help="draw what moves through time as one file (gif; mp4 needs ffmpeg), and nothing else",
    )
    parser.add_argument("--log", action="store_true", help="fields on a logarithmic scale")
    parser.add_argument(
        "--error", choices=("signed", "absolute"), help="how errors are drawn, where not as usual"
    )
    parser.add_argument(
        "--format", choices=_STILLS, help="(png, or what the name in --out ends in)"
    )
    parser.add_argument("--dpi", type=_dpi, default=150, help="pixels an inch (150)")
    parser.add_argument(
        "--out", metavar="FILE|FOLDER",
        help="where to, in place of the run's figures/: a folder for all, or a name that ends in "
        ".png, .pdf or .svg (.gif or .mp4 with --animate) for one figure of what --unknown names",
    )  # fmt: skip
    parser.add_argument(
        "--overwrite", action="store_true", help="write over files in --out that are there"
    )
    parser.set_defaults(command=plot)


def plot(arguments: argparse.Namespace) -> int:
    """Draw the solution of a run, or its last checkpoint, on the CPU; return the exit code."""
    from pinn.figures import NoFilm

    run = opened(arguments.run, "plot")
    solution = solution_of(run)
    unknowns = _unknowns(arguments.unknown, solution)
    out, ending = _destination(arguments)
    try:
        at = _places(arguments.at, solution.problem.functions)
        for path in _draw(arguments, run, solution, unknowns, at, out, ending):
            say(str(path))
    except NoFilm as error:
        raise Misuse(str(error)) from error
    return DONE


def _draw(
    arguments: argparse.Namespace,
    run: Run,
    solution: Solution,
    unknowns: list[str] | None,
    at: dict[str, float | str | list[float]],
    out: Destination | None,
    ending: str,
) -> list[Path]:
    from pinn.runs.figures import Look, draw_animation, draw_at, draw_run

    absolute = None if arguments.error is None else arguments.error == "absolute"
    look = Look(ending, arguments.dpi, arguments.log, absolute)
    place = None if out is None else out.path
    alone = out is not None and out.is_file
    if arguments.animate is None and not at and not alone:
        return draw_run(run, solution, look, unknowns, place)
    names = list(solution.problem.solved) if unknowns is None else unknowns
    if alone and len(names) > 1:
        raise Misuse(
            f"--out: {out.given} is one figure, of one of {', '.join(names)}: name it with "
            "--unknown, or give a folder"
        )
    try:
        if arguments.animate is None:
            return [draw_at(run, solution, name, at, look, place) for name in names]
        several = [name for name, value in at.items() if isinstance(value, list)]
        if several:
            raise Misuse(f"--animate: expected one value of {several[0]}, got several")
        return [draw_animation(run, solution, name, ending, at, look, place) for name in names]
    except ValueError as error:  # a coordinate that is not there, an unknown that does not move
        raise Misuse(str(error)) from error


def _destination(arguments: argparse.Namespace) -> tuple[Destination | None, str]:
    """Return where figures go, None for the run's own folder, and what their names end in."""
    still = arguments.animate is None
    endings, option = (_STILLS, "--format") if still else (_FILMS, "--animate")
    asked = arguments.format if still else arguments.animate
    asked = None if asked is True else asked  # --animate, of no kind
    if arguments.out is None:
        return None, asked or endings[0]
    out = Destination.of(arguments.out, endings, arguments.overwrite)
    ending = out.given.suffix[1:] if out.is_file else asked or endings[0]
    if asked not in (None, ending):
        raise Misuse(
            f"--out: expected a name that ends in .{asked}, as {option} says, got {out.given}"
        )
    return out, ending


def _unknowns(asked: list[str] | None, solution: Solution) -> list[str] | None:
    for name in asked or ():
        try:
            solution.domain_of(name)
        except ValueError as error:
            raise Misuse(f"--unknown: {error}") from error
    return asked


def _places(given: list[str], functions: Collection[str]) -> dict[str, Any]:
    """Return what coordinates are held at, from texts such as t=0.5 and t=0,0.5,1.

    functions: the names that stand for a function, each a text or a file.
    """
    places: dict[str, Any] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if name.strip() in functions and values.strip():
            before = places.get(name.strip(), [])
            places[name.strip()] = [*before, function_given(values)]
            continue
        try:
            numbers = [float(value) for value in values.split(",")]
        except ValueError:
            numbers = []
        if not (name.strip() and equals and numbers and all(map(math.isfinite, numbers))):
            raise Misuse(f"--at: expected a coordinate and a number such as t=0.5, got {text!r}")
        if name.strip() in places:
            raise Misuse(f"--at: {name.strip()} is given twice; write {name.strip()}=0,0.5,1")
        places[name.strip()] = numbers if len(numbers) > 1 else numbers[0]
    return {n: one[0] if n in functions and len(one) == 1 else one for n, one in places.items()}


def _dpi(text: str) -> int:
    """Return pixels an inch; argparse tells of others."""
    if text.isdigit() and 20 <= int(text) <= 1200:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a whole number from 20 to 1200, got {text!r}")
