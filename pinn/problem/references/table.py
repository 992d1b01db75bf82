"""The table of references that ship, by name."""

from __future__ import annotations

from collections.abc import Sequence

from pinn.checks import nearest
from pinn.problem.references.reference import Reference
from pinn.schema.errors import refuse, refuse_kind
from pinn.schema.kinds import listed

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
