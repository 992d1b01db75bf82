"""A tree of texts, lists and mappings in which every key and value knows its place.

Config files and saved solutions are read from such trees. Scalars stay text: the kind of a value
decides what a text means, so a coordinate named `y`, `n` or `on` stays a name, `1e-3` is a number
where a number is expected, and `0` is an equation's text where an expression is expected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from pinn.checks import printable


@dataclass(frozen=True)
class Place:
    """A place a user can go to: a file with a line, or the text of a command-line option."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass
class Scalar:
    """A text; `quoted` tells a quoted "null" from the plain word."""

    text: str
    place: Place
    quoted: bool = False

    @property
    def is_null(self) -> bool:
        return not self.quoted and self.text in ("", "~", "null", "Null", "NULL")

    def __str__(self) -> str:
        if self.is_null:
            return "nothing"
        return repr(self.text if len(self.text) <= 60 else self.text[:57] + "...")


@dataclass
class Sequence:
    """A list of nodes."""

    items: list[Node]
    place: Place

    def __str__(self) -> str:
        return f"a list of {len(self.items)} item" + "s" * (len(self.items) != 1)


@dataclass
class Mapping:
    """Keys and values in file order; `key_places` holds where each key stands."""

    entries: dict[str, Node]
    place: Place
    key_places: dict[str, Place] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.entries:
            return "an empty mapping"
        keys = list(self.entries)
        shown = ", ".join(map(_abridged, keys[:5])) + (", ..." if len(keys) > 5 else "")
        return f"a mapping with the {'key' if len(keys) == 1 else 'keys'} {shown}"

    def put(self, key: str, value: Node, place: Place) -> None:
        """Set one entry and where its key stands."""
        self.entries[key] = value
        self.key_places[key] = place


def _abridged(key: str) -> str:
    return printable(key if len(key) <= 60 else key[:57] + "...")


Node = Scalar | Sequence | Mapping


def tree_of(data: Any, place: Place) -> Node:
    """Return plain data, such as JSON gives, as a tree whose nodes all stand at one place.

    A text is quoted, so that "null" stays a text; None is nothing. Raises TypeError for anything
    that is no number, text, boolean, None, list or dict.
    """
    if data is None:
        return Scalar("", place)
    if isinstance(data, bool):
        return Scalar("true" if data else "false", place)
    if isinstance(data, str):
        return Scalar(data, place, quoted=True)
    if isinstance(data, int) or (isinstance(data, float) and math.isfinite(data)):
        return Scalar(repr(data), place)
    if isinstance(data, list | tuple):
        return Sequence([tree_of(item, place) for item in data], place)
    if isinstance(data, dict):
        entries = {str(key): tree_of(value, place) for key, value in data.items()}
        return Mapping(entries, place, dict.fromkeys(entries, place))
    raise TypeError(f"expected plain data, got {type(data).__name__}")
