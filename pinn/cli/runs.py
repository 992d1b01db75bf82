"""`runs`: what became of runs, and how they compare."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pinn.checks import printable
from pinn.cli.output import say
from pinn.cli.saved import opened
from pinn.cli.verdict import DONE, Misuse

_EPILOG = """\
examples:
  python -m pinn runs list
  python -m pinn runs show runs/burgers-0
  python -m pinn runs compare runs/burgers-0 runs/burgers-1 --figure both.png
"""


def add_parser(commands: Any) -> None:
    """Add the command and its own commands to the parser."""
    parser = commands.add_parser(
        "runs",
        help="list, show and compare runs",
        description="What became of runs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    listed = own.add_parser("list", help="a line for each run below a folder")
    listed.add_argument("folder", metavar="FOLDER", nargs="?", default="runs", help="runs")
    listed.set_defaults(command=list_runs)
    shown = own.add_parser("show", help="what a run ended with, and its stages")
    shown.add_argument("run", metavar="RUN", help="a run directory")
    shown.set_defaults(command=show)
    compared = own.add_parser(
        "compare", help="where the configs of runs differ, what came of it, and their curves"
    )
    compared.add_argument("runs", metavar="RUN", nargs="+", help="run directories, two or more")
    compared.add_argument(
        "--figure", metavar="FILE", default="comparison.png", help="where the curves are drawn"
    )
    compared.set_defaults(command=compare)


def list_runs(arguments: argparse.Namespace) -> int:
    """Print a line for each run; return the exit code."""
    from pinn.runs.overview import overviews, table_of

    if not Path(arguments.folder).is_dir():
        raise Misuse(f"{arguments.folder}: expected a folder with runs, but there is none")
    runs = overviews(arguments.folder)
    say(table_of(runs) if runs else f"{arguments.folder}: no runs are there")
    return DONE


def show(arguments: argparse.Namespace) -> int:
    """Print what a run ended with, or how far it came; return the exit code."""
    from pinn.estimates.record import reasons
    from pinn.runs.comparison import results
    from pinn.runs.overview import Overview, recovery_of
    from pinn.text import aligned

    run = opened(arguments.run, "runs show")
    seen = Overview.of(run.directory)
    say(aligned([[name, *row] for name, row in results([seen]).items()]))
    if run.summary_path.exists():
        summary = run.summary()
        estimate = summary.get("error_estimate") or {}
        told = [
            *(f"{one['name']}: {one['message']}; loss {_loss(one.get('loss'))}"
              for one in summary.get("stages") or ()),
            *(f"decision: {one['what']}: {one['why']}" for one in summary.get("decisions") or ()),
            *(f"warning: {one}" for one in summary.get("warnings") or ()),
            *(f"data: {name}: {fit.text}" for name, fit in recovery_of(summary).data.items()),
            *(f"coefficients: {one}" for one in [seen.doubt_of_coefficients] if one),
            *(f"the estimated error is not to be trusted: {one}" for one in reasons(
                estimate.get("relative_l2") or {}, estimate.get("doubts") or ())),
            *(f"note: {one}" for one in estimate.get("remarks") or ()),
            f"stopped: {summary.get('message')}",
        ]  # fmt: skip
        for line in told:
            say(printable(line))
    for path in sorted(path for path in run.directory.rglob("*") if path.is_file()):
        if not path.name.startswith("."):
            say(printable(str(path)))
    return DONE


def compare(arguments: argparse.Namespace) -> int:
    """Print where runs differ and what they ended with, draw their curves; return the exit code."""
    from pinn.config.yaml_tree import leaves, read_yaml
    from pinn.figures.comparison import plot_comparison
    from pinn.figures.style import figure_png
    from pinn.files import write_bytes
    from pinn.runs.comparison import comparison_text
    from pinn.runs.overview import Overview

    if len(arguments.runs) < 2:
        raise Misuse("expected two runs or more to compare")
    if Path(arguments.figure).suffix != ".png":
        raise Misuse(f"--figure: expected a name that ends in .png, got {arguments.figure}")
    runs = [opened(directory, "runs compare") for directory in arguments.runs]
    configs = [leaves(read_yaml(run.config_path, str(run.config_path))) for run in runs]
    say(comparison_text([Overview.of(run.directory) for run in runs], configs))
    curves = {str(run.directory): run.metrics() for run in runs}
    if any(curves.values()):
        write_bytes(arguments.figure, figure_png(plot_comparison(curves)))
        say(f"\n{arguments.figure}")
    return DONE


def _loss(loss: float | None) -> str:
    return "-" if loss is None else f"{loss:.3e}"
