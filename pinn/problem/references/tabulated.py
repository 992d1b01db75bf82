"""References that are known at points: from a file, or from a numerical solver."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pinn.files import Columns
from pinn.geometry import Shape, check_inside, projection
from pinn.schema.errors import Mistakes, at
from pinn.tables import Table

# Of the domain's size: a file that was written with six digits has points on curved boundaries
# that are off by so much.
_ROUNDING = 1e-6


def with_tables(
    reference: Any, unknowns: Sequence[str], domain: Shape, sees: Callable[[str], Sequence[str]]
) -> Any:
    """Return a reference with its tables as values of unknowns at points of the domain.

    Columns become a table for each of the unknowns that has one; anything else is returned as it
    is. sees: the coordinates that an unknown depends on. Raises DeclarationError, with file and
    line, for a column that is missing and a point outside of the domain.
    """
    if isinstance(reference, Columns):
        found = [name for name in unknowns if name in reference.names]
        if not found:
            reference.refuse(
                f"expected a column for one of {', '.join(unknowns)} at least, got "
                f"{', '.join(reference.names)}; where the file calls them differently, write "
                f"{{{unknowns[0]}: {{table: FILE, columns: {{{unknowns[0]}: COLUMN}}}}}}"
            )
        reference = {name: Table(name, reference) for name in found}
    if not isinstance(reference, Mapping):
        return reference
    mistakes, made = Mistakes(), {}
    for unknown, given in reference.items():
        made[unknown] = given
        if isinstance(given, Table):
            with mistakes.under(unknown):
                if unknown not in unknowns:
                    continue  # told of together with the formulas
                place = projection(domain, set(sees(unknown)))
                table = given.as_values_of(unknown, place.coordinates)
                with at("table"):
                    check_inside(place, table.rows()[0], table.table, _ROUNDING)
                made[unknown] = table
    mistakes.end()
    return made
