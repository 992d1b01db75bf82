"""`sweep`: a run for each combination of some values of a config."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from pinn.cli.configured import add_config, add_track, read_config
from pinn.cli.grid import Axis, Grid
from pinn.cli.many import GridRuns
from pinn.cli.output import say, tell
from pinn.cli.verdict import DISK_OR_DEVICE, DONE, INTERRUPTED, Misuse
from pinn.cli.worker import attempted

if TYPE_CHECKING:
    from pinn.config import Config, Override
    from pinn.runs.executors import Workers

_ABOUT = """\
Train a run for each combination of the values, one after the other or, with --jobs,
several at a time, and print them as one table. The same command again goes on where it
was cut short, and trains only what is not there yet; with --extend also what has ended
and has a higher limit now. A run whose worker is lost is
taken up from its checkpoint by another, three times at most. The exit code is the first
of a run that is not 0.
"""
_EPILOG = """\
examples:
  python -m pinn sweep burgers --grid model.width=20,40 --grid seed=0,1,2 --seconds 60
  python -m pinn sweep burgers --grid "problem.constants.nu=geomspace(0.001, 0.1, 5)"
  python -m pinn sweep burgers --grid "seed=range(4)" --jobs 4
  mpiexec -n 5 python -m pinn sweep burgers --grid seed=0,1,2,3 --executor mpi
  python -m pinn sweep burgers --grid seed=0,1,2,3 --executor dask:tcp://host:8786
  python -m pinn sweep burgers --grid seed=0,1,2,3 --executor slurm:partition=long,timeout_min=60
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "sweep",
        help="train a run for each combination of some values",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_config(parser)
    parser.add_argument(
        "--grid", metavar="KEY.PATH=VALUE,VALUE", action="append", required=True,
        help="the values that one key of the config has in turn, or ranges of them as numpy writes "
        'them, in quotes: "linspace(0.01, 0.1, 5)" are 5 at even distances, "geomspace(0.001, 0.1, '
        '3)" 3 by even factors, both ends included, "range(5)" 0 to 4; may be given many times',
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", help="the folder of the runs (runs/NAME-sweep)")
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=_count,
        help="so many runs at a time, each in a process with its share of the cores",
    )
    parser.add_argument(
        "--executor",
        metavar="processes|mpi|dask[:ADDRESS]|slurm[:KEY=VALUE,...]",
        help="who does the runs: processes of this machine, those that mpiexec started, the "
        "workers of Dask, a job array of Slurm",
    )
    parser.add_argument(
        "--extend",
        action="store_true",
        help="go on with runs that have ended, with the higher limits that are now given",
    )
    add_track(parser)
    parser.add_argument("--quiet", action="store_true", help="print only the table")
    parser.set_defaults(command=sweep)


def sweep(arguments: argparse.Namespace) -> int:
    """Train what is not there yet, and print the table; return the first exit code but 0."""
    from autograd.launched import started_as_ranks

    with ExitStack() as stack:
        found = None
        if arguments.executor is None and started_as_ranks():
            arguments.executor = "mpi"  # or each of them would train all runs
        if arguments.jobs is not None or arguments.executor is not None:
            found = _workers(arguments, stack)
            if found is None:
                return DONE  # a process of mpiexec that has done its part
        return _swept(arguments, found)


def _workers(arguments: argparse.Namespace, stack: ExitStack) -> Workers | None:
    from pinn.runs.executors import workers

    name = arguments.executor or "processes"
    try:
        return stack.enter_context(workers(name, arguments.jobs, arguments.out or "runs"))
    except (ImportError, OSError, ValueError) as error:  # OSError: nobody at an address
        raise Misuse(f"--executor {name}: {error}") from error


def _swept(arguments: argparse.Namespace, workers: Workers | None) -> int:
    from pinn.runs.interrupts import Interrupts

    def made(overrides: list[Override]) -> Config:
        return read_config(argparse.Namespace(**{**vars(arguments), "overrides": overrides}))

    grid = Grid([Axis.parse(text) for text in arguments.grid])
    told = (lambda line: None) if arguments.quiet else tell
    runs = GridRuns(grid, made, arguments.out, told, arguments.extend)
    kept = runs.other_limits("--extend", "another --out")
    if kept is not None:
        told(kept)
    interrupted = False
    try:
        if workers is None:
            _train_here(runs, arguments.quiet)
        else:
            with Interrupts():  # whatever asks to end is a KeyboardInterrupt
                runs.train(workers, tell=told)
    except KeyboardInterrupt:
        interrupted = True
    found = runs.sweep
    say(str(found))
    if interrupted:
        tell("interrupted: the same command goes on with the runs that have not ended")
        return INTERRUPTED
    failed = (DISK_OR_DEVICE if code is None else code for code in found.codes if code != DONE)
    return next(failed, DONE)


def _train_here(runs: GridRuns, quiet: bool) -> None:
    """Train in this process, one after the other; KeyboardInterrupt for a run that was."""
    left = runs.left
    for number, (directory, config) in enumerate(runs.configs.items(), 1):
        if directory not in left:
            continue
        if not quiet:
            tell(f"run {number} of {len(runs.configs)}: {directory}")
        code, why = attempted(config, quiet)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        runs.end(directory, code, why)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 1, got {text!r}")
    return int(text)
