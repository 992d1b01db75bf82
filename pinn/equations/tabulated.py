"""A table in an equation: its value, or a derivative of it, at expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinn.equations.axes import Axes, Computed
from pinn.equations.leaves import Coordinate
from pinn.expressions import Expression
from pinn.tables import Table


@dataclass(frozen=True, eq=False, repr=False)
class Tabulated(Computed):
    """A partial derivative of a table (orders; all 0: the table itself) at some arguments."""

    table: Table
    orders: tuple[int, ...]
    arguments: tuple[Expression, ...]

    @property
    def label(self) -> tuple[Table, tuple[int, ...]]:
        return (self.table, self.orders)

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.arguments

    @classmethod
    def build(
        cls, label: Sequence[Any], children: Sequence[Expression], position: int, source: str
    ) -> Tabulated:
        return cls(*label, tuple(children), position=position, source=source)

    def differentiated(self, variable: int) -> Tabulated:
        """Return the derivative in one of the table's variables, at the same arguments."""
        orders = (*self.orders[:variable], self.orders[variable] + 1, *self.orders[variable + 1 :])
        return Tabulated(
            self.table, orders, self.arguments, position=self.position, source=self.source
        )

    def pieces(self) -> list[str | Expression]:
        name = self.table.value
        if any(self.orders):
            name += "_" + "".join(n * k for n, k in zip(self.table.over, self.orders, strict=True))
        pieces: list[str | Expression] = [f"{name}("]
        for i, argument in enumerate(self.arguments):
            pieces += [", " * (i > 0), argument]
        return [*pieces, ")"]

    def value(self, axes: Axes, children: Sequence[Any]) -> Any:
        found = self.table.at(*children, orders=self.orders)
        plain = all(isinstance(child, float) for child in children)
        return float(found) if plain else found


def at_names(
    table: Table,
    leaves: Mapping[str, Expression],
    space: Sequence[str],
    held: Sequence[str] = (),
) -> Tabulated:
    """Return a table at what its variables are called.

    One of a list of arrays is over the coordinates in order, but for those that are held, or over
    those of space, or the others. Raises ValueError for a variable that means nothing.
    """
    names = table.over
    if table.by_position:
        coordinates = [
            n for n, leaf in leaves.items() if isinstance(leaf, Coordinate) and n not in held
        ]
        inside = [name for name in coordinates if name in space]
        choices = [coordinates, inside, [name for name in coordinates if name not in space]]
        names = next((one for one in choices if len(one) == len(names)), ())
        if not names:
            raise ValueError(
                f"expected an array for each of {', '.join(inside or coordinates)} and one of "
                f"values, got {len(table.over) + 1} arrays; a mapping such as "
                "{'x': xs, 'u': us} says what they are"
            )
    missing = [name for name in names if name not in leaves]
    if missing:
        raise ValueError(
            f"the table {table.value!r} is a function of {', '.join(table.over)}, and "
            f"{missing[0]!r} means nothing here; the names are {', '.join(leaves)}"
        )
    arguments = tuple(leaves[name] for name in names)
    return Tabulated(table, (0,) * len(arguments), arguments)
