"""The kinds of value a config can hold: each reads a located node, or says what is wrong with it.

A kind's `read(node, path, reader)` returns plain data (str, float, int, bool, None, list, dict)
with every default filled in, or `INVALID` after `reader.complain`. Reading goes on after a mistake,
so that one run shows all of them.
"""

from __future__ import annotations

import inspect
import math
import re
import types
import typing
from collections.abc import Callable
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pinn import expressions
from pinn.checks import NAME, nearest
from pinn.config.errors import Complaint, Place, listed
from pinn.config.tree import Mapping, Node, Scalar, Sequence

INVALID: Any = type("Invalid", (), {"__repr__": lambda self: "INVALID"})()
REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()

Path = tuple[str, ...]


class Kind(Protocol):
    """What every kind of value offers: a name for messages, and reading."""

    @property
    def what(self) -> str: ...

    def read(self, node: Node, path: Path, reader: Reader) -> Any: ...


@dataclass
class Reader:
    """Collects the mistakes, and remembers where every key stands for the checks that follow."""

    complaints: list[Complaint] = field(default_factory=list)
    places: dict[Path, Place] = field(default_factory=dict)

    def complain(self, path: Path, message: str, place: Place | None = None) -> Any:
        """Note a mistake at a path (by default at the nearest key that has a place)."""
        self.complaints.append(Complaint(place or self.place(path), ".".join(path), message))
        return INVALID

    def place(self, path: Path) -> Place:
        """Where a key stands; for one that was filled in by default, where its parent stands."""
        while path not in self.places:
            path = path[:-1]
        return self.places[path]

    def read(self, kind: Kind, node: Node, path: Path, place: Place | None = None) -> Any:
        """Read a node as `kind`, noting its place."""
        self.places[path] = place or node.place
        return kind.read(node, path, self)


@dataclass(frozen=True)
class Text:
    """A text, not empty."""

    what: str = "a text"
    pattern: re.Pattern[str] | None = None

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        text = node.text.strip() if isinstance(node, Scalar) and not node.is_null else ""
        if not text or (self.pattern is not None and not self.pattern.fullmatch(text)):
            return reader.complain(path, f"expected {self.what}, got {node}", node.place)
        return text


@dataclass(frozen=True)
class Number:
    """A finite number, written as a number or as an expression of numbers: 1e-3, 0.01/pi."""

    low: float | None = None
    above: float | None = None

    @property
    def what(self) -> str:
        if self.low is not None:
            return f"a number >= {self.low:g}"
        return "a number" if self.above is None else f"a number > {self.above:g}"

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if not isinstance(node, Scalar) or node.is_null:
            return reader.complain(path, f"expected {self.what}, got {node}", node.place)
        try:
            value = expressions.constant(node.text)
        except expressions.ExpressionError as error:
            message = f"expected {self.what} such as 1e-3 or 0.01/pi, got {node}: {error}"
            return reader.complain(path, message, node.place)
        small = (self.low is not None and value < self.low) or (
            self.above is not None and value <= self.above
        )
        if small or not math.isfinite(value):
            return reader.complain(path, f"expected {self.what}, got {node}", node.place)
        return value


@dataclass(frozen=True)
class Integer:
    """A whole number; 1e4 is one too."""

    low: int | None = None

    @property
    def what(self) -> str:
        return "a whole number" if self.low is None else f"a whole number >= {self.low}"

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        text = node.text if isinstance(node, Scalar) else ""
        if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            value: float = int(text)  # not by way of float, which is exact to 2**53 only
        elif text and not node.is_null:
            value = Number().read(node, path, Reader(places={(): node.place}))
        else:
            value = INVALID
        if value is INVALID or value != int(value) or (self.low is not None and value < self.low):
            return reader.complain(path, f"expected {self.what}, got {node}", node.place)
        return int(value)


@dataclass(frozen=True)
class Flag:
    """true or false."""

    what = "true or false"

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        text = node.text.lower() if isinstance(node, Scalar) else ""
        if text not in ("true", "false"):
            return reader.complain(path, f"expected true or false, got {node}", node.place)
        return text == "true"


@dataclass(frozen=True)
class Choice:
    """One of a few texts."""

    options: tuple[str, ...]

    @property
    def what(self) -> str:
        return f"one of {listed(self.options)}"

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.text in self.options:
            return node.text
        hint = nearest(node.text, self.options) if isinstance(node, Scalar) else ""
        return reader.complain(path, f"expected {self.what}, got {node}{hint}", node.place)


@dataclass(frozen=True)
class Optional:
    """A value of another kind; for null what `nothing` makes, such as an empty list."""

    kind: Kind
    nothing: Callable[[], Any] = lambda: None

    @property
    def what(self) -> str:
        return self.kind.what

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.is_null:
            return self.nothing()
        return self.kind.read(node, path, reader)


@dataclass(frozen=True)
class Items:
    """A list; `length` where it must have exactly so many items."""

    kind: Kind
    what: str = "a list"
    length: int | None = None
    least: int = 0

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if not isinstance(node, Sequence):
            hint = _flow_hint(node)
            return reader.complain(path, f"expected {self.what}, got {node}{hint}", node.place)
        count = len(node.items)
        if count < self.least or (self.length is not None and count != self.length):
            return reader.complain(path, f"expected {self.what}, got {node}", node.place)
        values = [
            reader.read(self.kind, item, (*path, str(i))) for i, item in enumerate(node.items)
        ]
        return INVALID if any(value is INVALID for value in values) else values


@dataclass(frozen=True)
class Names:
    """A mapping from names of the user's choice to values of one kind."""

    kind: Kind
    what: str = "a mapping"
    least: int = 0
    pattern: re.Pattern[str] = NAME

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if not isinstance(node, Mapping) or len(node.entries) < self.least:
            return reader.complain(path, f"expected {self.what}, got {node}", node.place)
        values, valid = {}, True
        for name, value in node.entries.items():
            below = (*path, name)
            reader.places[below] = node.key_places[name]
            if not self.pattern.fullmatch(name):
                message = "expected a name of letters, digits and _ that starts with a letter"
                reader.complain(below, f"{message}, got {name!r}{_bracket_hint(name)}")
                valid = False
                continue
            values[name] = self.kind.read(value, below, reader)
            valid = valid and values[name] is not INVALID
        return values if valid else INVALID


@dataclass(frozen=True)
class Field:
    """One key of a record: its kind, and its default (REQUIRED where it must be given).

    A default of a mutable kind is a function that makes it.
    """

    kind: Kind
    default: Any = REQUIRED

    def missing(self) -> Any:
        return self.default() if callable(self.default) else self.default


@dataclass(frozen=True)
class Record:
    """A mapping with known keys."""

    fields: MappingType[str, Field]

    @property
    def what(self) -> str:
        return f"a mapping with keys out of {listed(self.fields)}"

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.is_null:
            node = Mapping({}, node.place)
        if not isinstance(node, Mapping):
            return reader.complain(path, f"expected {self.what}, got {node}", node.place)
        values, valid = {}, True
        for key in node.entries:
            if key not in self.fields:
                hint = nearest(key, self.fields) or _bracket_hint(key)
                message = f"unknown key; valid keys: {listed(self.fields)}{hint}"
                reader.complain((*path, key), message, node.key_places[key])
                valid = False
        for key, entry in self.fields.items():
            below = (*path, key)
            if key in node.entries:
                reader.places[below] = node.key_places[key]
                values[key] = entry.kind.read(node.entries[key], below, reader)
            elif entry.default is REQUIRED:
                what = entry.kind.what
                values[key] = reader.complain(below, f"missing; expected {what}", node.place)
            else:
                values[key] = entry.missing()
            valid = valid and values[key] is not INVALID
        return values if valid else INVALID


@dataclass(frozen=True)
class Tagged:
    """One of several records, chosen by name: `adam: {steps: 100}`, or `adam` for its defaults."""

    options: MappingType[str, Kind]
    noun: str

    @property
    def what(self) -> str:
        return f"one {self.noun} out of {listed(self.options)}"

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        place = node.place
        if isinstance(node, Scalar) and not node.is_null:
            node = Mapping({node.text: Mapping({}, place)}, place, {node.text: place})
        if not isinstance(node, Mapping) or len(node.entries) != 1:
            return reader.complain(path, f"expected {self.what}, got {node}", place)
        (tag, body), = node.entries.items()
        below = (*path, tag)
        reader.places[below] = node.key_places[tag]
        if tag not in self.options:
            message = f"expected {self.what}, got {tag!r}{nearest(tag, self.options)}"
            return reader.complain(below, message)
        value = self.options[tag].read(body, below, reader)
        return INVALID if value is INVALID else {tag: value}


@dataclass(frozen=True)
class Built:
    """A record that is built at once, so that what its class refuses is told with its line."""

    record: Record
    make: Callable[..., object]

    @property
    def what(self) -> str:
        return self.record.what

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        values = self.record.read(node, path, reader)
        if values is INVALID:
            return INVALID
        try:
            self.make(**values)
        except (ValueError, TypeError) as error:
            words = re.findall(r"\w+", str(error))
            key = [word for word in words if word in values and (*path, word) in reader.places][:1]
            return reader.complain((*path, *key), without_prefix(str(error), (*path, *key)))
        return values


def record_of(make: Callable[..., object], **kinds: Kind) -> Built:
    """The record whose keys are the keyword arguments of a class, with their types and defaults.

    `kinds` gives the kind of an argument whose annotation does not tell it. So a solver or a model
    declares its settings once, in its own signature. Raises TypeError for an annotation that no
    kind stands for.
    """
    hints = typing.get_type_hints(make.__init__ if inspect.isclass(make) else make)
    fields = {}
    for name, parameter in inspect.signature(make).parameters.items():
        kind = kinds.get(name) or _kind_of(hints.get(name), f"{make.__name__}.{name}")
        default = parameter.default
        fields[name] = Field(kind, REQUIRED if default is parameter.empty else plain(default))
    return Built(Record(fields), make)


def plain(value: Any) -> Any:
    """A setting as config data: tuples become lists."""
    return [plain(item) for item in value] if isinstance(value, (tuple, list)) else value


def _kind_of(hint: Any, where: str) -> Kind:
    simple: dict[Any, Kind] = {bool: Flag(), int: Integer(), float: Number(), str: Text()}
    if hint in simple:
        return simple[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal and all(isinstance(option, str) for option in arguments):
        return Choice(arguments)
    if origin in (types.UnionType, typing.Union):
        members = {argument for argument in arguments if argument is not type(None)}
        if float in members:
            members.discard(int)  # a whole number is a number
        if len(members) == 1:
            kind = _kind_of(members.pop(), where)
            return Optional(kind) if type(None) in arguments else kind
    if origin in (tuple, list):
        items = [a for a in arguments if a is not Ellipsis]
        if len(set(items)) == 1:
            length = len(arguments) if origin is tuple and Ellipsis not in arguments else None
            kind = _kind_of(items[0], where)
            what = f"a list of {length} values" if length else "a list"
            return Items(kind, f"{what}, each {kind.what}", length)
    raise TypeError(f"{where}: no kind of config value stands for the annotation {hint!r}")


def without_prefix(message: str, path: Path) -> str:
    """Drop the leading "sampling: interior: " of a class's message: the path says it."""
    known = {key.lower() for key in path}
    while (head := message.partition(": "))[0].lower() in known and head[2]:
        message = head[2]
    return message


def _bracket_hint(text: str) -> str:
    """The mark of `{value: min(a, b)}`: the comma ended the text, and `b)` became a key."""
    if text.count("(") == text.count(")"):
        return ""
    return "; inside { } or [ ] put quotes around a text that contains a comma"


def _flow_hint(node: Node) -> str:
    return "; write it as [a, b]" if isinstance(node, Scalar) and "," in node.text else ""
