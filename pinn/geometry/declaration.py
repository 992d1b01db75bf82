"""A domain in a file: `{x: [-1, 1], t: {time: [0, 1]}}`, or shapes by the names of their table."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import Annotated, Any

from pinn.checks import nearest
from pinn.geometry.interval import Interval, Time
from pinn.geometry.shape import Shape
from pinn.schema.declared import Record, dump, fields_of
from pinn.schema.errors import DeclarationError, Path, refuse_class, refuse_kind
from pinn.schema.family import Family
from pinn.schema.kinds import (
    NAME,
    Items,
    Kind,
    Number,
    OneOrMore,
    Optional,
    Text,
    bracket_hint,
    refuse_node,
)
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping, Node, Scalar, Sequence

SHAPES = Family("shape", example='pinn.Interval("x", 0, 1)')
SHAPES.base = Shape

_AXIS = "[low, high] or {time: [low, high]}"
_BOUNDS = Items(Number(), _AXIS, length=2)


@dataclass(frozen=True)
class DomainKind(Kind):
    """A shape; in a file a mapping whose entries are the factors of a product.

    An entry is a coordinate with `[low, high]` or `{time: [low, high]}`, or the name of a shape in
    the table with its settings; a list or a text is the first of these: `union: [...]`. An entry
    `name: hole` gives the product a name.
    """

    family = SHAPES
    what = "a mapping from coordinates to their bounds such as {x: [-1, 1], t: {time: [0, 1]}}"

    def check(self, value: Any) -> Shape:
        if not isinstance(value, Shape):
            expected = "pinn.Interval, pinn.Time or pinn.Box, or another shape"
            if isinstance(value, type) and issubclass(value, Shape):
                refuse_class(expected, value)
            refuse_kind(expected, value, _product_hint(value))
        return value

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if not isinstance(node, Mapping) or not node.entries:
            return refuse_node(self, node, path, reader)
        entries = dict(node.entries)
        called = entries.pop("name") if _is_name(entries) else None
        factors = []
        for name, entry in entries.items():
            below = (*path, name)
            reader.note(below, node.key_places[name])
            factors.append(self._factor(name, entry, below, reader))
        if called is not None:
            called = reader.read(NAME, called, (*path, "name"), node.key_places["name"])
        if called is INVALID or any(factor is INVALID for factor in factors):
            return INVALID
        try:
            made = functools.reduce(operator.mul, factors)
            return made if called is None else made.named(called)
        except ValueError as error:
            return reader.complain(path, str(error))

    def _factor(self, name: str, node: Node, path: Path, reader: Reader) -> Any:
        if name in SHAPES and _settings(node):
            if isinstance(node, Sequence) or (isinstance(node, Scalar) and not node.is_null):
                first = next(iter(fields_of(SHAPES[name])))
                node = Mapping({first: node}, node.place, {first: node.place})
            return Record(SHAPES[name]).read(node, path, reader)
        if not NAME.pattern.fullmatch(name):
            message = f"expected {NAME.what}, got {name!r}{bracket_hint(name)}"
            return reader.complain(path, message)
        made: type = Interval
        if isinstance(node, Mapping):
            if list(node.entries) != ["time"]:
                hint = nearest(name, SHAPES)
                return reader.complain(path, f"expected {_AXIS}, got {node}{hint}", node.place)
            made, path, node = Time, (*path, "time"), node.entries["time"]
            reader.note(path, node.place)
        bounds = reader.read(_BOUNDS, node, path)
        if bounds is INVALID:
            return INVALID
        try:
            return made(name, *bounds)
        except DeclarationError as error:
            return reader.refuse(error, path)

    def dump(self, value: Shape) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for factor in value.factors:
            if factor.families:
                continue  # a section of their own
            if isinstance(factor, Interval | Time):
                bounds = [factor.low, factor.high]
                found[factor.name] = {"time": bounds} if isinstance(factor, Time) else bounds
                continue
            name = SHAPES.name_of(factor)
            if name in found:
                raise TypeError(f"a file can hold one {name} of a product, this one has more")
            found[name] = dump(factor)
        return found


def _product_hint(value: Any) -> str:
    """Say how a domain is written that was given as a list of its factors."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, Shape) for one in value):
        return ""
    names = [
        one.coordinates[0] if len(one.coordinates) == 1 else type(one).__name__.lower()
        for one in value
    ]
    return f"; a domain is a product, write {' * '.join(names)}" if names else ""


def _settings(node: Node) -> bool:
    """Tell the settings of a shape, or none, from the bounds of a coordinate of its name."""
    if isinstance(node, Mapping):
        return list(node.entries) != ["time"]
    return isinstance(node, Scalar) or not all(isinstance(item, Scalar) for item in node.items)


def _is_name(entries: dict[str, Node]) -> bool:
    """Tell the name of a shape, beside what it consists of, from a coordinate called `name`."""
    return len(entries) > 1 and isinstance(entries.get("name"), Scalar)


@dataclass(frozen=True)
class OnKind(OneOrMore):
    """Parts of a boundary: one text, or a list of them."""

    kind: Kind = Text("a part of the boundary such as x=-1")
    named: str = "a part of the boundary such as x=-1, or a list of them"

    def check(self, value: Any) -> str | tuple[str, ...]:
        return self.kind.check(value) if isinstance(value, str) else super().check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        value = super().read(node, path, reader)
        return value[0] if value is not INVALID and len(value) == 1 else value

    def dump(self, value: Any) -> str | list[str]:
        return value if isinstance(value, str) else super().dump(value)


AnyDomain = Annotated[Shape, DomainKind()]
"""The annotation of an argument that takes a domain."""

On = Annotated[str | SequenceOf[str] | None, Optional(OnKind())]
"""The annotation of an argument that chooses parts of a boundary; None for all of it in space."""
