"""`export`: a solution as files for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinn.cli.held import assigned, held_at
from pinn.cli.output import say
from pinn.cli.saved import add_saved, read_saved
from pinn.cli.verdict import DONE, Misuse

if TYPE_CHECKING:
    from pinn.solution.solution import Solution

_ABOUT = """\
Write the solution of a run on a grid, with its reference and error where there is one:

  csv      a line for each point in the domain
  npz      arrays by name, as numpy.load reads them
  netcdf   the same as NetCDF, for xarray and the like
  vtk      for ParaView and pyvista: .vti, .vts or .vtu, in time a file for each instant
           and a .pvd that lists them
  weights  no grid: a module of plain numpy that gives the same values anywhere, and its
           arrays; it needs nothing of pinn
"""
_EPILOG = """\
examples:
  python -m pinn export runs/burgers-0 --format vtk
  python -m pinn export runs/burgers-0 --out late.csv --grid x=101 --hold t=0.9
  python -m pinn export runs/burgers-0 --format weights --out burgers/evaluate.py
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "export",
        help="write a solution as VTK, CSV, npz, NetCDF or a module of numpy",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_saved(parser)
    parser.add_argument(
        "--format", metavar="vtk|csv|npz|netcdf|weights",
        help="what to write; where left out, what the name in --out ends in",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="FILE", help="where to; exports/NAME..., like the run, where left out"
    )
    parser.add_argument(
        "--grid", metavar="x=101,t=51", action="append", default=[],
        help="how many points along coordinates",
    )  # fmt: skip
    parser.add_argument(
        "--hold", metavar="y=0.5", action="append", default=[],
        help="coordinates at one value, which have no points in the grid; a function as a text: "
        "v=sin(pi*x)",
    )  # fmt: skip
    parser.add_argument("--overwrite", action="store_true", help="write over files that are there")
    parser.set_defaults(command=export)


def export(arguments: argparse.Namespace) -> int:
    """Write the files and print their names; return the exit code."""
    from pinn.solution.exported import export as export_solution

    if arguments.format is None and arguments.out is None:
        raise Misuse("expected --format vtk, csv, npz, netcdf or weights, or a file name in --out")
    grid = assigned("--grid", arguments.grid, int, "a number of points such as x=101")
    _check_ending(arguments)
    solution, _ = read_saved(arguments.run, "export")
    held = held_at(arguments.hold, solution)
    try:
        path = arguments.out or _name(arguments, solution, grid, held)
        written = export_solution(solution, path, grid, held, arguments.overwrite)
    except FileExistsError as error:
        raise Misuse(str(error).replace("`overwrite`", "--overwrite")) from error
    except ValueError as error:
        raise Misuse(str(error)) from error
    for path in written:
        say(str(path))
    return DONE


def _check_ending(arguments: argparse.Namespace) -> None:
    """Raise Misuse for an unknown format, and for a name that ends otherwise than it should."""
    from pinn.checks import nearest
    from pinn.solution.exported import FORMATS

    kind = arguments.format
    if kind is None:
        return
    if kind not in FORMATS:
        raise Misuse(
            f"--format: expected one of {', '.join(FORMATS)}, got {kind!r}{nearest(kind, FORMATS)}"
        )
    if arguments.out is not None and Path(arguments.out).suffix not in FORMATS[kind]:
        endings = " or ".join(FORMATS[kind])
        raise Misuse(
            f"--out: expected a name that ends in {endings} for {kind}, got {arguments.out}"
        )


def _name(
    arguments: argparse.Namespace,
    solution: Solution,
    grid: dict[str, int],
    held: dict[str, Any],
) -> Path:
    """Return where files go that nobody named: called like the run, below exports."""
    from pinn.solution.exported import suffix_of

    called = Path(arguments.run).resolve()
    stem = called.stem if called.is_file() else called.name
    if arguments.format == "weights":
        return Path("exports", stem, "evaluate.py")
    return Path("exports", stem + suffix_of(solution, arguments.format, grid, held))
