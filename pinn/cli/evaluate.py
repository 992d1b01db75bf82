"""`evaluate`: a solution at the points of a table."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinn.cli.held import held_at
from pinn.cli.output import say, tell
from pinn.cli.saved import add_saved, read_saved
from pinn.cli.verdict import DONE, Misuse

if TYPE_CHECKING:
    import numpy as np

    from pinn.expressions import ExpressionError
    from pinn.files import Columns
    from pinn.solution.solution import Solution

_ABOUT = """\
Evaluate the solution of a run at the points of a table: a CSV file with a line of names,
such as x,t, or an npz file with an array for each name. The result has the coordinates, the
unknowns and the derivatives that were asked for. Points outside of what was trained are
extrapolated, and told of.
"""
_EPILOG = """\
examples:
  python -m pinn evaluate runs/burgers-0 --points points.csv
  python -m pinn evaluate runs/burgers-0 --points points.npz --out values.npz
  python -m pinn evaluate runs/burgers-0 --points points.csv --derivatives u_x,u_xx
  python -m pinn evaluate runs/heat-0 --points points.csv --hold t=0.5 --hold "v=sin(pi*x)"
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "evaluate",
        help="evaluate a solution, and its derivatives, at the points of a table",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_saved(parser)
    parser.add_argument(
        "--points", metavar="FILE", required=True, help="a table with a column for each coordinate"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="a .csv or .npz file; printed as CSV where left out"
    )
    parser.add_argument(
        "--derivatives", metavar="u_x,u_xx", action="append", default=[],
        help="derivatives or expressions, such as u_xx or u*u_x; apart by commas, or given again",
    )  # fmt: skip
    parser.add_argument(
        "--hold", metavar="t=0.5", action="append", default=[],
        help="coordinates at one value, which the table then need not have; a function as a text: "
        "v=sin(pi*x)",
    )  # fmt: skip
    parser.add_argument("--overwrite", action="store_true", help="write over a file that is there")
    beyond = "; several derivatives are one argument, apart by commas: --derivatives u_x,u_xx"
    parser.set_defaults(command=evaluate, beyond=beyond)


def evaluate(arguments: argparse.Namespace) -> int:
    """Print or write the values; return the exit code."""
    from pinn.export import csv_text, write_columns
    from pinn.files import Columns

    out = None if arguments.out is None else Path(arguments.out)
    if out is not None and out.suffix not in (".csv", ".npz"):
        raise Misuse(f"--out: expected a name that ends in .csv or .npz, got {out}")
    if out is not None and out.exists() and not arguments.overwrite:
        raise Misuse(f"{out} is there already, and nothing is written over it without --overwrite")
    solution, _ = read_saved(arguments.run, "evaluate")
    table = Columns(path=Path(arguments.points))
    try:
        held = held_at(arguments.hold, solution)
        functions = {n: held.pop(n) for n in list(held) if n in solution.problem.functions}
        points = _points(table, solution, held, functions)
        found = points | _values(solution, points, functions, _listed(arguments.derivatives))
    except ValueError as error:
        raise Misuse(str(error)) from error
    if out is None:
        say(csv_text(found).rstrip("\n"))
    else:
        write_columns(out, found)
        say(str(out))
    return DONE


def _points(
    table: Columns, solution: Solution, held: dict[str, float], functions: Collection[str]
) -> dict[str, np.ndarray]:
    """Return the coordinates at every point, (n,); ValueError with the place in the table.

    held: those that have one value, which the table need not have. functions: those that are given,
    whose modes no column has.
    """
    import numpy as np

    problem = solution.problem
    unknown = [name for name in held if name not in problem.domain.coordinates]
    if unknown:
        known = ", ".join((*problem.domain.coordinates, *problem.functions))
        raise Misuse(f"--hold: expected some of {known}, got {unknown[0]!r}")
    given = {*held, *(n for name in functions for n in problem.functions[name].names)}
    names = [name for name in problem.domain.coordinates if name not in given]
    columns = table.named(names)
    missing = [name for name in names if name not in columns.names]
    if missing:
        owner = {mode: one for one, each in problem.functions.items() for mode in each.names}
        missing = list(dict.fromkeys(owner.get(name, name) for name in missing))
        names = list(dict.fromkeys(owner.get(name, name) for name in names))
        options = "".join(
            f"; say which {name} with --hold \"{name}=sin(pi*x)\", another text or a file"
            for name in missing if name in problem.functions
        )
        table.refuse(
            f"expected a column for each of {', '.join(names)}, got {', '.join(columns.names)}: "
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing{options}"
        )
    others = [name for name in columns.names if name not in names]
    if others:
        tell(
            f"warning: {table.place()}: {', '.join(others)} "
            f"{'is no coordinate' if len(others) == 1 else 'are no coordinates'}, and not looked at"
        )
    rows = columns.rows(names, ())
    count = len(next(iter(rows.values()))) if rows else 1
    return rows | {name: np.full(count, value) for name, value in held.items()}


def _values(
    solution: Solution,
    points: dict[str, np.ndarray],
    functions: dict[str, str],
    derivatives: list[str],
) -> dict[str, np.ndarray]:
    from pinn.evaluation import ExtrapolationWarning
    from pinn.expressions import ExpressionError

    given = points | functions
    found = solution.evaluate(**given)
    taken = [text for text in derivatives if text in points or text in found]
    if taken:
        raise ValueError(f"--derivatives: {taken[0]} is among the columns anyway")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)  # said of the values already
        try:
            values = solution.derivatives(derivatives, **given) if derivatives else []
        except ExpressionError as error:
            raise ValueError(_refused(error, solution)) from None
    return found | dict(zip(derivatives, values, strict=True))


def _refused(error: ExpressionError, solution: Solution) -> str:
    """Return what is wrong with one of the expressions, with the option and what it takes."""
    what, *place = str(error).split("\n")
    domain, unknown = solution.problem.domain, solution.problem.unknowns[0]
    first = f"{unknown}_{domain.coordinates[0]}"
    taken = f"derivatives such as {first}, and expressions such as {unknown}*{first}"
    if domain.space:
        taken += f" and laplacian({unknown})"
    names = ", ".join((*solution.problem.unknowns, *domain.coordinates))
    return "\n".join(
        [f'--derivatives: "{error.text}": {what}; it takes {taken}, of {names}', *place]
    )


def _listed(texts: list[str]) -> list[str]:
    """Return the expressions of texts, each once."""
    from pinn.text import split_outside

    return list(dict.fromkeys(one.strip() for one in split_outside(",".join(texts)) if one.strip()))
