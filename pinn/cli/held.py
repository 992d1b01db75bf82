"""What coordinates are held at, as options of commands say it: t=0.5, and v=sin(pi*x)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinn.cli.verdict import Misuse

if TYPE_CHECKING:
    from pinn.solution.solution import Solution


_FILES = {".csv", ".npz", ".txt", ".dat", ".tsv"}


def function_given(text: str) -> str | Path:
    """Return the function that an option says: a text, or the path of a file with its values."""
    path = Path(text.strip())
    return path if path.suffix.lower() in _FILES else text.strip()


def held_at(given: list[str], solution: Solution) -> dict[str, Any]:
    """Return what `--hold` says: coordinate -> number, function -> text or the path of a file."""
    functions = {}
    numbers = []
    for one in given:
        name, sign, text = one.partition("=")
        if sign and name.strip() in solution.problem.functions:
            if name.strip() in functions:
                raise Misuse(f"--hold: {name.strip()} is given twice")
            functions[name.strip()] = function_given(text)
        else:
            numbers.append(one)
    return functions | assigned("--hold", numbers, float, "a number such as t=0.5")


def assigned(option: str, given: list[str], number: type, expected: str) -> dict[str, Any]:
    """Return what `x=101,t=51` says, given once or many times."""
    found: dict[str, Any] = {}
    for one in (part.strip() for text in given for part in text.split(",")):
        name, sign, text = one.partition("=")
        try:
            value = number(text)
        except ValueError:
            sign = ""
        if not sign or not name.strip():
            raise Misuse(f"{option}: expected {expected}, got {one!r}")
        if name.strip() in found:
            raise Misuse(f"{option}: {name.strip()} is given twice")
        found[name.strip()] = value
    return found
