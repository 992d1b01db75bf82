"""What coordinates are held at, as options of commands say it: t=0.5, and v=sin(pi*x)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinn.cli.verdict import Misuse

if TYPE_CHECKING:
    from pinn.solution.solution import Solution


def held_at(given: list[str], solution: Solution) -> dict[str, Any]:
    """Return what `--hold` says: coordinate -> number, function -> text."""
    functions = {}
    numbers = []
    for one in given:
        name, sign, text = one.partition("=")
        if sign and name.strip() in solution.problem.functions:
            if name.strip() in functions:
                raise Misuse(f"--hold: {name.strip()} is given twice")
            functions[name.strip()] = text.strip()
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
