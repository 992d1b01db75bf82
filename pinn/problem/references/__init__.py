"""Reference solutions that ship with pinn, by name."""

from __future__ import annotations

import difflib

from pinn.problem.references import burgers
from pinn.problem.references.burgers import cole_hopf
from pinn.problem.references.reference import Reference

__all__ = ["Reference", "cole_hopf", "get", "names"]

_REFERENCES = {reference.name: reference for reference in (burgers.REFERENCE,)}


def names() -> tuple[str, ...]:
    """Return the names of all shipped references."""
    return tuple(_REFERENCES)


def get(name: str) -> Reference:
    """Return the shipped reference called `name`; ValueError with the nearest name otherwise."""
    if isinstance(name, str) and name in _REFERENCES:
        return _REFERENCES[name]
    close = difflib.get_close_matches(str(name), _REFERENCES, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise ValueError(
        f"unknown reference {name!r}: expected one of {', '.join(map(repr, _REFERENCES))}{hint}"
    )
