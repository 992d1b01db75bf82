"""Reading a tree: mistakes are collected with the place of the key they concern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.checks import printable
from pinn.schema.errors import DeclarationError, Path
from pinn.schema.tree import Node, Place

if TYPE_CHECKING:
    from pinn.schema.kinds import Kind

INVALID: Any = type("Invalid", (), {"__repr__": lambda self: "INVALID"})()
"""What reading gives where it complained; reading goes on, so that one run shows all mistakes."""


@dataclass(frozen=True)
class Complaint:
    """One mistake: where it stands, the key it concerns ("" for the whole file), what is wrong."""

    place: Place
    key: str
    message: str

    def __str__(self) -> str:
        # A key that is a mistake may be any text, and must not look like further messages.
        key = f"{printable(self.key)}: " if self.key else ""
        return f"{self.place}: {key}{self.message}"


@dataclass
class Reader:
    """Collects the mistakes, and remembers where every key stands.

    stored: the tree comes from a file that pinn wrote, where null may stand for a function. folder:
    what paths in the tree are relative to. arrays: those that stand beside the tree, by digest.
    """

    stored: bool = False
    folder: FilePath = FilePath()
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    complaints: list[Complaint] = field(default_factory=list)
    _places: dict[Path, Place] = field(default_factory=dict)
    _tags: dict[Path, str] = field(default_factory=dict)

    def complain(self, path: Path, message: str, place: Place | None = None) -> Any:
        """Note a mistake at a path (by default at the nearest key that has a place)."""
        path = self._in_tree(path)
        self.complaints.append(Complaint(place or self.place(path), ".".join(path), message))
        return INVALID

    def refuse(self, error: DeclarationError, path: Path) -> Any:
        """Note the mistakes of an object that stands at a path."""
        for mistake in error.mistakes:
            self.complain((*path, *mistake.path), mistake.message)
        return INVALID

    def read(self, kind: Kind, node: Node, path: Path, place: Place | None = None) -> Any:
        """Read a node as `kind`, noting its place."""
        self.note(path, place or node.place)
        return kind.read(node, path, self)

    def note(self, path: Path, place: Place, tag: str | None = None) -> None:
        """Note where a key stands, and the name that chooses among several records there."""
        self._places[path] = place
        if tag is not None:
            self._tags[path] = tag

    def place(self, path: Path) -> Place:
        """Where a key stands; for one that was filled in by default, where its parent stands."""
        while path and path not in self._places:
            path = path[:-1]
        return self._places.get(path, Place("?"))

    def _in_tree(self, path: Path) -> Path:
        """Put in the tags that a path through objects does not name: 0.value is 0.initial.value."""
        found: Path = ()
        for key in path:
            if found in self._tags and self._tags[found] != key:
                found = (*found, self._tags[found])
            found = (*found, key)
        return found
