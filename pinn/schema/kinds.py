"""The kinds of value that a declaration can hold.

Each kind checks a Python value, reads a located node, and writes a value as plain data.
"""

from __future__ import annotations

import itertools
import math
import numbers
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pinn import expressions
from pinn.checks import NAME as NAME_PATTERN
from pinn.checks import nearest
from pinn.schema.errors import DeclarationError, Mistakes, Path, refuse, refuse_kind, shown
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar, Sequence

# No count is larger: numpy's sizes end here.
MOST = 2**63 - 1
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_MOST_DIGITS = 1000
# Keys of a mapping among which the one before another is looked for.
_MOST_SEARCHED = 100
_QUOTES = "inside { } or [ ] put quotes around a text that contains a comma"


class Kind(ABC):
    """A kind of value; `what` says in messages what is expected."""

    @property
    @abstractmethod
    def what(self) -> str: ...

    @property
    def made(self) -> str:
        """How Python makes one, for messages; "" where `what` tells."""
        return ""

    @abstractmethod
    def check(self, value: Any) -> Any:
        """Return a value of Python, in its plain form; DeclarationError for another kind."""

    @abstractmethod
    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        """Return the value of a node; INVALID after `reader.complain`."""

    def dump(self, value: Any) -> Any:
        """Return a checked value as plain data that `read` takes."""
        return value


def refuse_node(kind: Kind, node: Node, path: Path, reader: Reader, hint: str = "") -> Any:
    """Complain that a node is not of a kind."""
    if not hint and isinstance(node, Scalar) and not node.quoted and is_open(node.text):
        hint = ", whose '(' is never closed"
    return reader.complain(path, f"expected {kind.what}, got {node}{hint}", node.place)


def checked_node(kind: Kind, value: Any, node: Node, path: Path, reader: Reader) -> Any:
    """Return a value that came from a node if the kind takes it, else complain."""
    try:
        return kind.check(value)
    except DeclarationError:
        return refuse_node(kind, node, path, reader)


@dataclass(frozen=True)
class Text(Kind):
    """A text, not empty."""

    what: str = "a text"
    pattern: re.Pattern[str] | None = None

    def check(self, value: Any) -> str:
        if not isinstance(value, str):
            refuse_kind(self.what, value)
        text = value.strip()
        if not text or (self.pattern is not None and not self.pattern.fullmatch(text)):
            refuse(f"expected {self.what}, got {shown(value)}")
        return text

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if not isinstance(node, Scalar) or node.is_null:
            return refuse_node(self, node, path, reader)
        return checked_node(self, node.text, node, path, reader)


NAME = Text("a name of letters, digits and _ that starts with a letter", NAME_PATTERN)
# Names of blocks have numbers in them, as value_u_x_-0.5 and value_u_x_1e+06.
BLOCK_NAME = Text(
    "the name of a block, of letters, digits, _, ., + and - after a letter",
    re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*"),
)


@dataclass(frozen=True)
class Number(Kind):
    """A finite number; in a file also an expression of numbers: 1e-3, 0.01/pi."""

    low: float | None = None
    above: float | None = None
    below: float | None = None

    @property
    def what(self) -> str:
        bounds = [(">=", self.low), (">", self.above), ("<", self.below)]
        said = [f"{sign} {bound:g}" for sign, bound in bounds if bound is not None]
        return " ".join(["a number", " and ".join(said)]) if said else "a number"

    def check(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            refuse_kind(self.what, value)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            what = self.what.replace("a number", "a finite number", 1)
            refuse(f"expected {what}, got {shown(value)}")
        if (
            (self.low is not None and number < self.low)
            or (self.above is not None and number <= self.above)
            or (self.below is not None and number >= self.below)
        ):
            refuse(f"expected {self.what}, got {shown(value)}")
        return number

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if not isinstance(node, Scalar) or node.is_null:
            return refuse_node(self, node, path, reader)
        try:
            value = expressions.constant(node.text)
        except expressions.ExpressionError as error:
            why = str(error).removeprefix("expected a number, got ")
            message = f"expected {self.what} such as 1e-3 or 0.01/pi, got {node}: {why}"
            return reader.complain(path, message, node.place)
        return checked_node(self, value, node, path, reader)


@dataclass(frozen=True)
class Integer(Kind):
    """A whole number; in a file 1e4 is one too."""

    low: int | None = None
    high: int = MOST

    @property
    def what(self) -> str:
        if self.low is not None and self.high < MOST:
            return f"a whole number from {self.low} to {self.high}"
        return "a whole number" if self.low is None else f"a whole number >= {self.low}"

    def check(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            refuse_kind(self.what, value)
        if self.low is not None and value < self.low:
            refuse(f"expected {self.what}, got {shown(value)}")
        if MOST > self.high < value:
            refuse(f"expected {self.what}, got {shown(value)}")
        if value > self.high:
            refuse(f"expected {self.what} and at most {self.high}, got {shown(value)}")
        return int(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        text = node.text if isinstance(node, Scalar) and not node.is_null else ""
        value: Any = None
        if len(text) <= _MOST_DIGITS:
            if _WHOLE.fullmatch(text):
                value = int(text)
            elif _DECIMAL.fullmatch(text) and Decimal(text) == int(Decimal(text)):
                value = int(Decimal(text))  # not by way of float, which is exact to 2**53 only
        if value is None:
            return refuse_node(self, node, path, reader)
        return checked_node(self, value, node, path, reader)


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    what = "true or false"

    def check(self, value: Any) -> bool:
        if not isinstance(value, bool):
            refuse_kind("True or False", value)
        return value

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        text = node.text.lower() if isinstance(node, Scalar) else ""
        if text not in ("true", "false"):
            return refuse_node(self, node, path, reader)
        return text == "true"


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few texts. reasons: why a text that one may try is none of them."""

    options: tuple[str, ...]
    reasons: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def what(self) -> str:
        return f"one of {listed(self.options)}" if self.options[1:] else self.options[0]

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.options:
            refuse(f"expected {self.what}, got {shown(value)}{self._hint(value)}")
        return str(value)

    def _hint(self, value: object) -> str:
        reason = self.reasons.get(value) if isinstance(value, str) else None
        return f"; {reason}" if reason else nearest(value, self.options)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.text in self.options:
            return node.text
        hint = self._hint(node.text) if isinstance(node, Scalar) else ""
        return refuse_node(self, node, path, reader, hint)


@dataclass(frozen=True)
class WordOr(Kind):
    """A value of another kind, or one of a few words instead."""

    words: tuple[str, ...]
    kind: Kind

    @property
    def what(self) -> str:
        return f"{self.kind.what} or {listed(self.words)}"

    def check(self, value: Any) -> Any:
        if isinstance(value, str):
            if value not in self.words:
                refuse(f"expected {self.what}, got {shown(value)}{nearest(value, self.words)}")
            return value
        return self.kind.check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.text in self.words:
            return node.text
        if isinstance(node, Scalar) and node.text[:1].isalpha():
            hint = nearest(node.text, self.words)
            return refuse_node(self, node, path, reader, hint)
        return self.kind.read(node, path, reader)

    def dump(self, value: Any) -> Any:
        return value if isinstance(value, str) else self.kind.dump(value)


@dataclass(frozen=True, eq=False)
class Entry(Kind):
    """The name of an entry of a table, which may grow. reasons: as of Choice."""

    table: Mapping[str, Any]
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def what(self) -> str:
        return f"one of {listed(self.table)}"

    def check(self, value: Any) -> str:
        return Choice(tuple(self.table), self.reasons).check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        return Choice(tuple(self.table), self.reasons).read(node, path, reader)


@dataclass(frozen=True)
class Optional(Kind):
    """A value of another kind, or None."""

    kind: Kind

    @property
    def what(self) -> str:
        return self.kind.what

    def check(self, value: Any) -> Any:
        return None if value is None else self.kind.check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.is_null:
            return None
        return self.kind.read(node, path, reader)

    def dump(self, value: Any) -> Any:
        return None if value is None else self.kind.dump(value)


@dataclass(frozen=True)
class Items(Kind):
    """A list of values of one kind, as a tuple; one value alone is no list.

    length: where it must have exactly so many items. least: the fewest.
    """

    kind: Kind
    named: str = "a list"
    length: int | None = None
    least: int = 0

    @property
    def what(self) -> str:
        return self.named

    def check(self, value: Any) -> tuple:
        if value is None and not self.least and self.length is None:
            return ()
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            refuse_kind(self.what, value, self._remedy(value))
        if isinstance(value, set | frozenset):
            refuse_kind(self.what, value, "; a set has no order, write a list")
        items = tuple(value)
        if self.length is not None and len(items) != self.length:
            refuse(f"expected {self.what}, got {len(items)} of them")
        if len(items) < self.least:
            refuse(f"expected {self.what}, got {len(items) or 'none'}")
        mistakes, checked = Mistakes(), []
        for i, item in enumerate(items):
            with mistakes.under(i):
                checked.append(self.kind.check(item))
        mistakes.end()
        return tuple(checked)

    def _remedy(self, value: Any) -> str:
        """Say what makes a list of something else: brackets, where it is one of the items."""
        if self.length in (None, 1):
            try:
                self.kind.check(value)
            except DeclarationError:
                pass
            else:
                return "; put it in [ ]"
        return f"; write [{self.kind.made}]" if self.kind.made else ""

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.is_null and not self.least and self.length is None:
            return ()
        if not isinstance(node, Sequence):
            commas = isinstance(node, Scalar) and "," in node.text
            return refuse_node(self, node, path, reader, "; write it as [a, b]" if commas else "")
        count = len(node.items)
        if count < self.least or (self.length is not None and count != self.length):
            return refuse_node(self, node, path, reader)
        values = [
            reader.read(self.kind, item, (*path, str(i))) for i, item in enumerate(node.items)
        ]
        return INVALID if any(value is INVALID for value in values) else tuple(values)

    def dump(self, value: Any) -> list:
        return [self.kind.dump(item) for item in value]


@dataclass(frozen=True)
class OneOrMore(Items):
    """A list; in a file one value alone is a list of one."""

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and not node.is_null:
            value = self.kind.read(node, path, reader)
            return INVALID if value is INVALID else (value,)
        return super().read(node, path, reader)


@dataclass(frozen=True)
class Several(OneOrMore):
    """A text or a number, or a list of them; as a tuple of one or more."""

    least: int = 1

    def check(self, value: Any) -> tuple:
        return super().check((value,) if isinstance(value, str | numbers.Real) else value)

    def dump(self, value: Any) -> Any:
        found = super().dump(value)
        return found[0] if len(found) == 1 else found


NUMBERS = Several(Number(), "a number or a list of numbers")


@dataclass(frozen=True)
class OneOrList(Kind):
    """One value, or a list of values as a tuple; which of them goes by its form."""

    one: Kind
    many: Items

    @property
    def what(self) -> str:
        return f"{self.one.what} or {self.many.what}"

    def of(self, value: Any) -> Kind:
        """Return the kind that a value or a node is of, by its form."""
        lists = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
        return self.many if lists or isinstance(value, Sequence) else self.one

    def check(self, value: Any) -> Any:
        return self.of(value).check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        return self.of(node).read(node, path, reader)

    def dump(self, value: Any) -> Any:
        return self.of(value).dump(value)


@dataclass(frozen=True)
class Names(Kind):
    """A mapping from names of the user's choice to values of one kind; key: of the names."""

    kind: Kind
    named: str = "a mapping"
    least: int = 0
    key: Text = NAME

    @property
    def what(self) -> str:
        return self.named

    def check(self, value: Any) -> dict:
        if value is None and not self.least:
            return {}
        if not isinstance(value, Mapping):
            refuse_kind(self.what, value)
        if len(value) < self.least:
            refuse(f"expected {self.what}, got none")
        mistakes, checked = Mistakes(), {}
        for name, item in value.items():
            with mistakes.under(name):
                checked[self.key.check(name)] = self.kind.check(item)
        mistakes.end()
        return checked

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.is_null and not self.least:
            return {}
        if not isinstance(node, MappingNode) or len(node.entries) < self.least:
            return refuse_node(self, node, path, reader)
        values, valid = {}, True
        for name, value in node.entries.items():
            below = (*path, name)
            reader.note(below, node.key_places[name])
            if not self.key.pattern.fullmatch(name):
                message = f"expected {self.key.what}, got {name!r}{split_hint(node, name)}"
                reader.complain(below, message)
                valid = False
                continue
            values[name] = self.kind.read(value, below, reader)
            valid = valid and values[name] is not INVALID
        return values if valid else INVALID

    def dump(self, value: Any) -> dict:
        return {name: self.kind.dump(item) for name, item in value.items()}


@dataclass(frozen=True)
class Formula(Kind):
    """A text of the expression language, a number, or a function of the namespace.

    number: whether a number will do. A function cannot be written: it becomes null in a saved
    solution, and reads back as a NotSaved.
    """

    what: str = "an expression such as -sin(pi*x)"
    number: bool = True

    def check(self, value: Any) -> str | float | Callable:
        if isinstance(value, str):
            return Text(self.what).check(value)
        if callable(value) and not isinstance(value, type):
            return value
        if self.number and isinstance(value, numbers.Real) and not isinstance(value, bool):
            return Number().check(value)
        refuse_kind("text, a number or a function" if self.number else "text or a function", value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if reader.stored and isinstance(node, Scalar) and node.is_null:
            return NotSaved(".".join(path))
        plain = isinstance(node, Scalar) and not node.quoted and _DECIMAL.fullmatch(node.text)
        if self.number and plain:
            return Number().read(node, path, reader)
        return Text(self.what).read(node, path, reader)

    def dump(self, value: Any) -> str | float | None:
        return None if callable(value) else value


@dataclass(frozen=True)
class NotSaved:
    """Stands for a function of the problem in a solution that was loaded from a file."""

    what: str

    def __call__(self, s: Any) -> Any:
        raise RuntimeError(
            f"{self.what}: it was a Python function, which a file cannot hold; build the problem "
            "again in Python to train it or to evaluate its residual"
        )


@dataclass(frozen=True)
class NumberOrText(Formula):
    """A number above zero, or a text of the expression language."""

    def check(self, value: Any) -> str | float:
        if not isinstance(value, str):
            return Number(above=0.0).check(value)
        return super().check(value)


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a few texts, or a mapping."""

    scalar: Choice
    mapping: Kind

    @property
    def what(self) -> str:
        return f"{self.scalar.what} or {self.mapping.what}"

    def check(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self.mapping.check(value)
        if not isinstance(value, str) or value not in self.scalar.options:
            hint = nearest(value, self.scalar.options)
            refuse(f"expected {self.what}, got {shown(value)}{hint}")
        return value

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, MappingNode) or (isinstance(node, Scalar) and node.is_null):
            return self.mapping.read(node, path, reader)
        if isinstance(node, Scalar) and node.text in self.scalar.options:
            return node.text
        hint = nearest(node.text, self.scalar.options) if isinstance(node, Scalar) else ""
        return refuse_node(self, node, path, reader, hint)

    def dump(self, value: Any) -> Any:
        return self.mapping.dump(value) if isinstance(value, Mapping) else value


def listed(names: Iterable[object]) -> str:
    """Return names as a comma-separated text, or "none"."""
    return ", ".join(map(str, names)) or "none"


def is_open(text: str) -> bool:
    """Return whether a text has a '(' that is never closed."""
    return text.count("(") > text.count(")")


def bracket_hint(text: str) -> str:
    """The mark of `{value: min(a, b)}`: the comma ended the text, and `b)` became a key."""
    return "" if text.count("(") == text.count(")") else f"; {_QUOTES}"


def split_hint(node: MappingNode, key: str) -> str:
    """Say what split a text inside of { } in two, of which the second became a key; "" for nothing.

    A ',' does, in `{value: min(a, b)}` and in the number of `{a: 0,05}`.
    """
    cut = _cut_text(node, key)
    if cut is not None:
        name, text = cut
        left_open = ", whose '(' is never closed" if is_open(text) else ""
        return f'; {_QUOTES}: {name}: "{expressions.abridge(text)}"{left_open}'
    rest = node.entries[key]
    if not (key[:1].isdigit() and isinstance(rest, Scalar) and rest.is_null):
        return bracket_hint(key)
    pairs = itertools.pairwise(itertools.islice(node.entries, _MOST_SEARCHED))
    before = next((one for one, after in pairs if after == key), None)
    first = node.entries.get(before)
    if not (isinstance(first, Scalar) and _WHOLE.fullmatch(first.text)):
        return bracket_hint(key)
    return f"; a number has a decimal point: write {before}: {first.text}.{key}"


def _cut_text(node: MappingNode, key: str) -> tuple[str, str] | None:
    """Return the text that commas cut, of which a key was a piece, and its own key; else None."""
    name, text, found = None, "", False
    for one, rest in itertools.islice(node.entries.items(), _MOST_SEARCHED):
        if name is not None and is_open(text) and isinstance(rest, Scalar) and rest.is_null:
            text, found = f"{text}, {one}", found or one == key
        elif found:
            break
        else:
            name = one if isinstance(rest, Scalar) and not rest.quoted else None
            text = rest.text if name is not None else ""
    return (name, text) if found and name is not None else None
