"""`list`: what a config can be made of, the configs and the reference solutions that ship."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pinn.cli.output import say
from pinn.cli.verdict import DONE

_LONGEST_COMMENT = 400  # bytes


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "list", help="show what a config can be made of, and the configs that ship"
    )
    parser.set_defaults(command=list_shipped)


def list_shipped(_: argparse.Namespace) -> int:
    """Print the configs, the references, and what a config can hold; return the exit code."""
    from pinn.config.reference import groups
    from pinn.config.shipped import shipped_folder
    from pinn.problem import references

    # The working directory's own configs too, once each.
    folders = (shipped_folder(), Path("configs").resolve())
    files = {path: None for folder in folders for path in sorted(folder.glob("*.yaml"))}
    say("configs:")
    for path in files:
        shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        say(f"  {shown}  {_first_comment(path)}")
    say("references:")
    for name in references.names():
        say(f"  {name}  {references.get(name).source}")
    for heading, members in groups().items():
        say(f"{heading}:")
        for member in members:
            # What stands alone is called as its heading is.
            name = "" if member.name == heading else member.name
            arguments = f"({member.signature})" if member.fields else ""
            say(f"  {name}{arguments}  {member.summary}")
    return DONE


def _first_comment(path: Path) -> str:
    from pinn.files import open_plain, sentence_of

    try:
        with open_plain(path) as file:
            line = file.readline(_LONGEST_COMMENT).decode("utf-8", "replace").strip()
    except OSError as error:
        return sentence_of(error)
    return line.lstrip("# ") if line.startswith("#") else ""
