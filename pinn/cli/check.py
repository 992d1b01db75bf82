"""`check`: what a run of a config file would be made of, without training."""

from __future__ import annotations

import argparse
from typing import Any

from pinn.cli.configured import add_config, check_device, mistakes_of, read_config
from pinn.cli.output import say, tell
from pinn.cli.verdict import DONE, USAGE

_ABOUT = """\
Show what a run of a config file would be made of: for each block of the loss its points,
rows, the derivatives that it asks for, the root mean square of its residual at the start,
and the memory and time of a step; then what seems wrong with the problem. Nothing is
trained or written. What cannot work is refused with exit code 2.
"""
_EPILOG = """\
example:
  python -m pinn check configs/burgers.yaml --set sampling.interior=10000
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "check",
        help="show what a run would be made of, and what seems wrong, without training",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_config(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=check)


def check(arguments: argparse.Namespace) -> int:
    """Print the table, or JSON; return the exit code."""
    config = read_config(arguments)
    check_device(config)

    import pinn
    from pinn.files import to_json

    with mistakes_of(config):
        found = pinn.check(**config.experiment.arguments, callbacks=[pinn.Progress()])
    say(to_json(found.as_dict(), ascii=True) if arguments.json else str(found))
    for error in found.errors:
        tell(f"{config.source}: {error}")
    return DONE if found.works else USAGE
