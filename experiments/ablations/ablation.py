"""An entry of the suite with one thing changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.case import Case, Reference
from experiments.suite.entry import Entry

PROBLEMS = Path(__file__).parent / "problems"


@dataclass(frozen=True)
class Change:
    """One thing to change, as a line of the table.

    key: its name among those of the entry, "" for nothing. what: it, in words that follow "with".
    settings: what is laid over the config, such as "sampling.interior=1500". statement: a config of
    its own in `problems`, by name, where the problem is stated otherwise, and replaced: the places
    of the entry's config that it states otherwise, such as "model.mlp.features".
    """

    key: str
    what: str
    settings: tuple[str, ...] = ()
    statement: str = ""
    replaced: tuple[str, ...] = ()


AS_IT_IS = Change("", "the suite's setting")


@dataclass(frozen=True)
class Ablation(Case):
    """A change of an entry, measured as the entry is: against the same reference."""

    entry: Entry
    change: Change

    @property
    def name(self) -> str:
        """The entry's, and which change."""
        return "/".join(filter(None, [self.entry.name, self.change.key]))

    @property
    def file(self) -> Path:
        own = self.change.statement
        return PROBLEMS / f"{own}.yaml" if own else self.entry.file

    @property
    def settings(self) -> tuple[str, ...]:
        return self.change.settings

    @property
    def reference(self) -> Callable[[], Reference] | None:
        return self.entry.reference

    @property
    def up_to_constant(self) -> tuple[str, ...]:
        return self.entry.up_to_constant

    @property
    def truth(self) -> Mapping[str, float]:
        return self.entry.truth
