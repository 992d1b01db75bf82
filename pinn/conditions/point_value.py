"""The value of an unknown at one point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated

from pinn.conditions.condition import Condition, ExactAt, Value
from pinn.conditions.places import listed
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.geometry import Shape
from pinn.residuals import Residual
from pinn.schema import Name, declared
from pinn.schema.errors import at as under
from pinn.schema.kinds import Names, Number

_POINT = Names(Number(), "a mapping from coordinates to numbers such as {x: 0, y: 0}")


@declared(init=False)
class PointValue(Condition):
    """u = value at one point, such as a pressure's constant: PointValue("p", 0.0, x=0, y=0).

    value: text, number or callable. The point is a number for each coordinate of the domain, as
    keywords or as the mapping `at`; without a number for a family it holds for all of its range.
    hard: hold exactly, beside other hard conditions too as long as none of them holds at the point.
    Several points of an unknown are told apart by their numbers in the blocks' names. Raises
    ValueError when the problem is made for a point that is not one of the domain.
    """

    unknown: Name
    value: Value
    at: Annotated[Mapping[str, float], _POINT] = field(default_factory=dict)
    hard: bool = False

    def __init__(
        self,
        unknown: str,
        value: Value,
        at: Mapping[str, float] | None = None,
        hard: bool = False,
        **coordinates: float,
    ) -> None:
        given = {"unknown": unknown, "value": value, "at": {**(at or {}), **coordinates}}
        for name, one in {**given, "hard": hard}.items():
            object.__setattr__(self, name, one)
        self.__post_init__()

    def label(self, domain: Shape) -> str:
        numbers = [f"{name}_{self.at[name]:g}" for name in domain.coordinates if name in self.at]
        return "_".join(["value", self.unknown, *numbers])

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        scope.check_unknown(self.unknown)
        with under("at"):
            place = listed(domain, {name: (number,) for name, number in self.at.items()})
        name = self.label(domain)
        what = f"condition {name!r}"
        left = Term(what, self.unknown, scope)
        with under("value"):
            right = Term(what, self.value, scope.of_values())
        return [Residual(name, what, left, place, right)]

    def exact(self, domain: Shape) -> Sequence[ExactAt]:
        place = {name: self.at[name] for name in domain.coordinates if name in self.at}
        return [ExactAt(self.label(domain), self.unknown, place, self.value)]
