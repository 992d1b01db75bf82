"""A row of the table: a problem, what it is compared with, and what the peer reaches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.case import Case, Reference

PROBLEMS = Path(__file__).parent / "problems"
SHIPPED = Path(__file__).resolve().parents[2] / "configs"


@dataclass(frozen=True)
class Row(Case):
    """A problem of the table.

    name: its id and a few words, the name of its file in `problems` as well. reference: makes what
    to compare with where the config has no formula. up_to_constant: unknowns that are determined up
    to a constant and compared without their means. truth: the coefficients to be found. peer: the
    relative error that the peer's own setting reaches, and who says so. note: where the row differs
    from the peer's, and why. reason: what keeps it above the goal, as far as is known. config: the
    name of its config in configs/, where it is one of those that ship.
    """

    name: str
    title: str
    reference: Callable[[], Reference] | None = None
    up_to_constant: tuple[str, ...] = ()
    truth: Mapping[str, float] = field(default_factory=dict)
    peer: float | None = None
    peer_source: str = ""
    note: str = ""
    reason: str = ""
    config: str = ""

    @property
    def words(self) -> dict[str, Any]:
        """What the page says of it beside what is measured."""
        told = ("title", "peer", "peer_source", "note", "reason")
        return {name: getattr(self, name) for name in told}

    @property
    def id(self) -> str:
        """The letter and number by which the row is called on the command line."""
        return self.name.split("_", 1)[0].upper()

    @property
    def file(self) -> Path:
        """The config, or a program with PROBLEM and solve(seconds, seed) in place of one."""
        if self.config:
            return SHIPPED / f"{self.config}.yaml"
        program = PROBLEMS / f"{self.name}.py"
        return program if program.exists() else PROBLEMS / f"{self.name}.yaml"
