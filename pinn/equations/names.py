"""How names are read in an equation, and which names may be declared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pinn.checks import is_name
from pinn.equations.leaves import Derivative, in_domain_order
from pinn.expressions import LETTERS, RESERVED

MAX_ORDER = 16
_CALLED = ("a table", "a function space")


def normal_name(coordinate: str) -> str:
    """Return what the outward normal's component along a space coordinate is called."""
    return f"normal_{coordinate}"


def parse_name(
    name: str, unknowns: Collection[str], coordinates: Mapping[str, int]
) -> Derivative | None:
    """Read a name such as ``u``, ``u_xx`` or ``u_tx`` as an unknown or a derivative of one.

    coordinates: name -> number in the domain's order. The letters after the last underscore are
    one-letter coordinates, in any order; the result has them in the domain's. Returns None for any
    other name; derivatives in coordinates with longer names are written ``diff(u, x1)``.
    """
    if name in unknowns:
        return Derivative(name)
    base, _, suffix = name.rpartition("_")
    if base not in unknowns or not 0 < len(suffix) <= MAX_ORDER:
        return None
    if any(letter not in coordinates for letter in suffix):
        return None
    return Derivative(base, in_domain_order(suffix, coordinates))


def check_names(
    *,
    unknowns: Sequence[str],
    coordinates: Sequence[str],
    constants: Iterable[str] = (),
    parameters: Iterable[str] = (),
    columns: Iterable[str] = (),
    families: Sequence[str] = (),
    fields: Sequence[str] = (),
    tables: Iterable[str] = (),
    definitions: Iterable[str] = (),
    functions: Iterable[str] = (),
    modes: Iterable[str] = (),
) -> None:
    """Check that every declared name can be written in an equation and means one thing.

    Raises:
        ValueError: a name that is not a letter followed by letters, digits and underscores, is
            taken by the language (``pi``, ``sin``, ``diff`` ...), is declared twice, or reads as
            the derivative of an unknown.
    """
    kinds: dict[str, str] = {}
    groups = {
        "an unknown": unknowns,
        "a field": fields,
        "a coordinate": coordinates,
        "a family": families,
        "the number of a mode of a function": modes,
        "a function space": functions,
        "a constant": constants,
        "a parameter": parameters,
        "a column of the points": columns,
        "a table": tables,
        "a region or a piecewise constant": definitions,
    }
    for kind, names in groups.items():
        for name in names:
            if not is_name(name):
                raise ValueError(
                    f"the name of {kind} is a letter followed by letters, digits and "
                    f"underscores, got {name!r}"
                )
            if name in RESERVED or (name in LETTERS and kind in _CALLED):  # gamma(x) is taken
                raise ValueError(
                    f"{name!r} cannot name {kind}: it is a word of the expression language; "
                    "choose another name"
                )
            if name in kinds:
                raise ValueError(
                    f"{name!r} is declared as {kinds[name]} and again as {kind}; rename one"
                )
            kinds[name] = kind
    known = frozenset([*unknowns, *fields])
    order = {name: number for number, name in enumerate([*coordinates, *families])}
    for name, kind in kinds.items():
        base = name.rpartition("_")[0]
        reading = None if base not in known else parse_name(name, (base,), order)
        if reading is not None:
            raise ValueError(
                f"{name!r} cannot name {kind}: it reads as a derivative of the unknown "
                f"{reading.unknown!r}; rename it"
            )
