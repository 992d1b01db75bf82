"""A domain in a file: `{x: [-1, 1], t: {time: [0, 1]}}`."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import Annotated, Any

from pinn.geometry.domain import Domain
from pinn.geometry.interval import Interval, Time
from pinn.schema.errors import DeclarationError, Path, refuse_kind
from pinn.schema.kinds import NAME, Items, Kind, Number, bracket_hint, refuse_node
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping, Node

_AXIS = "[low, high] or {time: [low, high]}"
_BOUNDS = Items(Number(), _AXIS, length=2)


@dataclass(frozen=True)
class DomainKind(Kind):
    """A domain; in a file a mapping from coordinates to `[low, high]` or `{time: [low, high]}`."""

    what = "a mapping from coordinates to their bounds such as {x: [-1, 1], t: {time: [0, 1]}}"

    def check(self, value: Any) -> Domain:
        if not isinstance(value, Domain):
            refuse_kind("pinn.Interval, pinn.Time or pinn.Box", value)
        return value

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if not isinstance(node, Mapping) or not node.entries:
            return refuse_node(self, node, path, reader)
        factors = []
        for name, axis in node.entries.items():
            below = (*path, name)
            reader.note(below, node.key_places[name])
            if not NAME.pattern.fullmatch(name):
                message = f"expected {NAME.what}, got {name!r}{bracket_hint(name)}"
                factors.append(reader.complain(below, message))
                continue
            factors.append(self._axis(name, axis, below, reader))
        if any(factor is INVALID for factor in factors):
            return INVALID
        try:
            return functools.reduce(operator.mul, factors)
        except ValueError as error:
            return reader.complain(path, str(error))

    def _axis(self, name: str, node: Node, path: Path, reader: Reader) -> Any:
        made: type = Interval
        if isinstance(node, Mapping):
            if list(node.entries) != ["time"]:
                return reader.complain(path, f"expected {_AXIS}, got {node}", node.place)
            made, path, node = Time, (*path, "time"), node.entries["time"]
            reader.note(path, node.place)
        bounds = reader.read(_BOUNDS, node, path)
        if bounds is INVALID:
            return INVALID
        try:
            return made(name, *bounds)
        except DeclarationError as error:
            return reader.refuse(error, path)

    def dump(self, value: Domain) -> dict[str, Any]:
        return {
            one.name: {"time": [one.low, one.high]} if one.is_time else [one.low, one.high]
            for one in value.intervals
        }


AnyDomain = Annotated[Domain, DomainKind()]
"""The annotation of an argument that takes a domain."""
