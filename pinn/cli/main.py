"""The parser of the command line, and what every command shares."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import NoReturn

from pinn.cli import check, doctor, evaluate, export, listing, new, plot, report, runs, sweep, train
from pinn.cli.output import QuietStream, flush_all, hush, open_missing_streams, say, shown, tell
from pinn.cli.verdict import INTERRUPTED, verdict

# The commands import what they need when they run: `--help` should not wait for numpy.

_ABOUT = "Solve differential equations with neural networks."
_EPILOG = """\
example:
  python -m pinn train burgers
  python -m pinn train burgers --seed 1 --set problem.constants.nu=0.05

The first line trains a network on Burgers' equation and leaves the solution, its
error and figures in runs/burgers-0. `python -m pinn COMMAND --help` tells more.

exit codes: 0 done, 2 wrong usage or config, 3 training diverged, 4 disk or device
failure, 130 interrupted (solution and checkpoint are written first)
"""


def run() -> NoReturn:
    """Run the command line as a process of its own: `python -m pinn`, and the script `pinn`."""
    open_missing_streams()
    # One sentence each, as of all that is said; the file and line are of no use here.
    warnings.formatwarning = lambda message, *_, **__: f"warning: {shown(str(message))}\n"
    code = main()
    # All is written and said; an impatient Ctrl-C must not turn the exit into a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; messages go to stderr.

    argv: the arguments, sys.argv[1:] where left out. Raises SystemExit as argparse does, for
    --help and for wrong usage.
    """
    try:
        with redirect_stdout(QuietStream(sys.stdout)):  # argparse asks it for colours
            parser = _parser()
            arguments, unknown = parser.parse_known_args(argv)
            if unknown:
                hint = _option_meant(parser, argv, unknown) or getattr(arguments, "beyond", "")
                parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return arguments.command(arguments)
    except KeyboardInterrupt:
        tell("interrupted")
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("PINN_DEBUG", "") not in ("", "0"):
            raise
        code, message = verdict(error)
        tell(message)
        return code
    finally:
        flush_all()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m pinn",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (
        train, check, doctor, plot, report, evaluate, export, runs, sweep, new, listing
    ):  # fmt: skip
        command.add_parser(commands)
    return parser


def _option_meant(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None, unknown: Sequence[str]
) -> str:
    """Return which option the first unknown one is most like, of the command that was called."""
    from pinn.checks import nearest

    for word in sys.argv[1:] if argv is None else argv:  # the command, and a command of it
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                parser = action.choices.get(word, parser)
    options = [*parser._option_string_actions]
    misspelt = next((one.partition("=")[0] for one in unknown if one.startswith("--")), None)
    return nearest(misspelt, options) if misspelt else ""


# A choice that argparse refuses, and those that there are.
_CHOICE = re.compile(r"invalid choice: '(.+)' \(choose from (.*)\)")


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are said by rank 0 alone, where an MPI launcher has started it."""

    def error(self, message: str) -> NoReturn:
        from autograd.launched import launched_number

        if launched_number():
            hush()
        choice = _CHOICE.search(message)
        if choice is not None:
            from pinn.checks import nearest

            message += nearest(choice[1], re.findall(r"[\w.-]+", choice[2]))
        super().error(message)


class _Version(argparse.Action):
    """--version, which looks the versions up only when asked."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the versions and exit")

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        from pinn.runs.machine import blas_kernels, machine_and_versions

        about = machine_and_versions()
        versions = {name: version or "not installed" for name, version in about["versions"].items()}
        say(f"pinn {versions.pop('pinn')}")
        versions["blas"] += f", kernels {blas_kernels()}"
        for name, version in versions.items():
            say(f"{name} {version}")
        machine = about["machine"]
        say(f"{machine['system']}, {machine['cpu']}, {machine['cores']} cores")
        parser.exit()
