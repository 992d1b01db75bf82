"""What a condition is: something that holds on a part of the domain, softly or exactly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pinn.equations.scope import Scope
from pinn.geometry import Part, Shape
from pinn.residuals import Residual
from pinn.schema import Family
from pinn.schema.errors import refuse
from pinn.tables import FormulaOrTable, Table

CONDITIONS = Family("condition", example="pinn.Dirichlet('u', 0.0)")

Value = Annotated[str | float | Table | Callable[[Any], Any], FormulaOrTable()]
"""Text in the coordinates, constants and parameters; a number; a table, as a pinn.Table or arrays
(xs, us); or a function of the namespace."""


@dataclass(frozen=True)
class Exact:
    """What a hard condition asks of an unknown on a part of the boundary or at an end of time.

    condition: the name of the condition that asks for it. order: 0 for the value, 1 for the rate of
    change in time. ratio: a and b where a*u + b*dn(u) is asked for instead. power: how u leaves its
    value, as distance to this power; a number or a text of constants.
    """

    condition: str
    unknown: str
    face: Part
    value: Value
    order: int = 0
    ratio: tuple[Value, Value] | None = None
    power: Value = 1.0

    @property
    def values(self) -> tuple[Value, ...]:
        """All that was given."""
        return (self.value, *(self.ratio or ()))


@dataclass(frozen=True)
class Repeats:
    """That an unknown, and its derivatives below `orders`, are the same at both ends."""

    condition: str
    unknown: str
    coordinate: str
    orders: int
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class ExactAt:
    """What a hard condition asks of an unknown at one point: a number for each coordinate.

    One for each but the families, of which it holds for the whole range.
    """

    condition: str
    unknown: str
    place: Mapping[str, float]
    value: Value

    @property
    def values(self) -> tuple[Value, ...]:
        """All that was given."""
        return (self.value,)


class Condition(ABC):
    """Something that holds on a part of the domain.

    A soft condition gives residuals, trained with the others. A hard one holds exactly, whatever
    the network does (pinn.conditions.hard), and has no residual.
    """

    family = CONDITIONS
    hard: bool = False

    @abstractmethod
    def label(self, domain: Shape) -> str:
        """Return what the condition is called, such as "initial_u"; its blocks are named by it."""

    @abstractmethod
    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        """Return what has to vanish, and where.

        scope: the names of the problem. Raises ValueError where the condition does not fit them.
        """

    def exact(self, domain: Shape) -> Sequence[Exact | ExactAt | Repeats]:
        """Return what holds exactly where the condition is hard; ValueError where it cannot be.

        domain: that of the unknown; a field of some coordinates has its own. `residuals` has been
        asked before, so what it refuses is not here.
        """
        refuse(f"a {type(self).__name__} condition cannot be hard; leave it out", "hard")


CONDITIONS.base = Condition
