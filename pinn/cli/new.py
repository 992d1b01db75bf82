"""`new`: a config that ships, as a file of one's own to start from."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pinn.cli.output import say
from pinn.cli.verdict import DONE, Misuse

_EPILOG = """\
example:
  python -m pinn new burgers mine.yaml
  python -m pinn train mine.yaml
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "new",
        help="write a config that ships, to start from",
        description="Write a config that ships to a file of your own, with the data it reads.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", help="as python -m pinn list shows it")
    parser.add_argument("file", metavar="FILE", nargs="?", help="NAME.yaml where left out")
    parser.set_defaults(command=new)


def new(arguments: argparse.Namespace) -> int:
    """Write the files, none over another; return the exit code."""
    from pinn.config.shipped import data_of, shipped_config
    from pinn.files import write_bytes

    try:
        config = shipped_config(Path(arguments.name).stem)
    except ValueError as error:
        raise Misuse(str(error)) from None
    target = Path(arguments.file or config.name)
    copies = {target: config.read_bytes()}
    copies |= {
        target.parent / path: (config.parent / path).read_bytes() for path in data_of(config)
    }
    # Data that are there already may be shared with another config.
    copies = {path: data for path, data in copies.items() if not _is_there(path, data)}
    if target not in copies:
        raise Misuse(f"{target} is there already, as it ships")
    for path, data in copies.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, data)
        say(str(path))
    return DONE


def _is_there(path: Path, data: bytes) -> bool:
    """Whether a file is there with these bytes; Misuse where it has others."""
    if not path.exists():
        return False
    if not path.is_file() or path.read_bytes() != data:
        raise Misuse(f"{path} is there already, and nothing is written over it; give another FILE")
    return True
