"""The table of references, and how a problem says which one it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinn.checks import nearest
from pinn.problem.references.reference import Reference
from pinn.schema.errors import Path, refuse, refuse_kind
from pinn.schema.kinds import Formula, Kind, Names, listed, refuse_node
from pinn.schema.reader import Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar

_REFERENCES: dict[str, Reference] = {}


def add(reference: Reference) -> Reference:
    """Enter a reference under its name, and return it; ValueError for a name that is taken."""
    if not isinstance(reference, Reference):
        refuse_kind("pinn.problem.references.Reference(...)", reference)
    if _REFERENCES.get(reference.name, reference) is not reference:
        raise ValueError(f"the name of reference {reference.name!r} is taken")
    _REFERENCES[reference.name] = reference
    return reference


def remove(name: str) -> None:
    """Take a reference out again; KeyError where it is not there."""
    del _REFERENCES[name]


def names() -> tuple[str, ...]:
    """Return the names of all references."""
    return tuple(_REFERENCES)


def get(name: str, unknowns: Sequence[str] = ()) -> Reference:
    """Return the reference called `name`; ValueError with the nearest name otherwise.

    unknowns: those of the problem that asks, to say how a formula is given.
    """
    if name not in _REFERENCES:
        hint = nearest(name, _REFERENCES)
        if not hint and unknowns:
            formulas = ", ".join([f'{{"{unknowns[0]}": "{name}"', *["..."] * (len(unknowns) > 1)])
            hint = f"; a text alone is a name, for a formula write reference={formulas}}}"
        refuse(f"expected one of {listed(_REFERENCES)}, got {name!r}{hint}")
    return _REFERENCES[name]


@dataclass(frozen=True)
class ReferenceKind(Kind):
    """The name of a reference, a formula for each unknown, or a function of the namespace."""

    what = "the name of a shipped reference or a mapping from unknowns to expressions"

    def check(self, value: Any) -> Any:
        if isinstance(value, str):
            return value  # the problem, which knows its unknowns, looks it up
        if isinstance(value, Mapping):
            return Names(Formula()).check(value)
        if callable(value) and not isinstance(value, type):
            return value
        refuse_kind(
            "the name of a shipped reference, a mapping from unknowns to texts or a function", value
        )

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, MappingNode):
            return Names(Formula()).read(node, path, reader)
        if not isinstance(node, Scalar):
            return refuse_node(self, node, path, reader)
        if node.text not in _REFERENCES:
            what = f"one of {listed(_REFERENCES)}, or {{unknown: expression}}"
            hint = nearest(node.text, _REFERENCES)
            return reader.complain(path, f"expected {what}, got {node}{hint}", node.place)
        return node.text

    def dump(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            # A formula that was a function is left out; the others can still be compared with.
            return {name: source for name, source in value.items() if not callable(source)} or None
        return None if callable(value) else value
