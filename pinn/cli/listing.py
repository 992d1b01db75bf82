"""`list`: the configs and the reference solutions that ship."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pinn.cli.output import say
from pinn.cli.verdict import DONE


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "list", help="show the configs and the reference solutions that ship"
    )
    parser.set_defaults(command=list_shipped)


def list_shipped(arguments: argparse.Namespace) -> int:
    """Print the configs and the references; return the exit code."""
    from pinn.problem import references

    # The working directory's own configs too, once each.
    folders = (_shipped_configs(), Path("configs").resolve())
    files = {path: None for folder in folders for path in sorted(folder.glob("*.yaml"))}
    say("configs:")
    for path in files:
        shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        say(f"  {shown}  {_first_comment(path)}")
    say("references:")
    for name in references.names():
        say(f"  {name}  {references.get(name).source}")
    return DONE


def _shipped_configs() -> Path:
    """The folder of the configs that ship: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "configs"
    return installed if installed.is_dir() else package.parent / "configs"


def _first_comment(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        line = file.readline().strip()
    return line.lstrip("# ") if line.startswith("#") else ""
