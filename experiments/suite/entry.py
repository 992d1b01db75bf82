"""An entry of the suite: a problem, its goals, and the best figure that is published for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.case import Case, Reference

PROBLEMS = Path(__file__).parent / "problems"
BUDGET = 300.0
"""The seconds in which the goal of a problem is to be reached, where nothing else is said."""


@dataclass(frozen=True)
class Entry(Case):
    """A problem, or one of its variants, in the file of its name in `problems`.

    number: of the problem; variants share one. goals: the relative L2 error (of the worst unknown)
    to be reached, by the seconds that it may take. published: the best error known of a neural
    network for this set-up, and where it is from. reference: makes what to compare with, where the
    config has no formula. up_to_constant: unknowns that are compared without their means. truth:
    the coefficients to be found. note: what a reader should know of the statement.
    """

    name: str
    number: int
    title: str
    goals: Mapping[float, float]
    published: float | None = None
    source: str = ""
    reference: Callable[[], Reference] | None = None
    up_to_constant: tuple[str, ...] = ()
    truth: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def file(self) -> Path:
        """The config, or a program with PROBLEM and solve(seconds, seed) in place of one."""
        program = PROBLEMS / f"{self.name}.py"
        return program if program.exists() else PROBLEMS / f"{self.name}.yaml"

    def goal(self, seconds: float) -> float:
        """Return the goal of a budget: that of the longest time within it, or of the shortest."""
        within = [limit for limit in self.goals if limit <= seconds]
        return self.goals[max(within)] if within else self.goals[min(self.goals)]

    @property
    def words(self) -> dict[str, Any]:
        """What is said of it beside what is measured."""
        told = ("number", "title", "published", "source", "note")
        return {name: getattr(self, name) for name in told}
