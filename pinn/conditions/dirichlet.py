"""The value of an unknown on the boundary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pinn.conditions.condition import Condition, Exact, Value
from pinn.conditions.places import boundary
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.geometry import On, Shape
from pinn.residuals import Residual
from pinn.schema import Name, declared
from pinn.schema.errors import at
from pinn.schema.kinds import NumberOrText

Power = Annotated[float | str, NumberOrText("a number or a text of constants such as alpha/2")]


@declared
class Dirichlet(Condition):
    """u = value on the boundary in space, or on some of its parts.

    value: text, number or callable. on: None for the whole boundary, or what `Shape.select` takes:
    a face such as "x=-1", a part's name, a comparison such as "x < 0.5", what and, or, not make of
    these, such as "x=0 and y < 0.4" or "not hole", or a list of them. hard: hold
    exactly instead of in training, on the parts of any shape that has a formula for them. power:
    where hard, u = A + B*N with a smooth A and B as large as distance**power. 1 is how the
    solutions of most equations leave their values; those of fractional_laplacian(u, alpha) do like
    alpha/2; 2 holds the slope of A as well, which is 0 where all of the boundary has one number. A
    number, or a text of constants. A part that the domain does not have is a ValueError when the
    problem is made.
    """

    unknown: Name
    value: Value
    on: On = None
    hard: bool = False
    power: Power = 1.0

    def label(self, domain: Shape) -> str:
        place = [] if self.on is None else [domain.label(self.on)]
        return "_".join(["dirichlet", self.unknown, *place])

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        place = boundary("a Dirichlet condition", domain, self.on)
        scope.check_unknown(self.unknown)
        name = self.label(domain)
        what = f"condition {name!r}"
        left = Term(what, self.unknown, scope)
        with at("value"):
            right = Term(what, self.value, scope.of_values(held=place.held))
        return [Residual(name, what, left, place, right)]

    def exact(self, domain: Shape) -> Sequence[Exact]:
        name = self.label(domain)
        parts = boundary("a Dirichlet condition", domain, self.on).parts
        return [Exact(name, self.unknown, part, self.value, power=self.power) for part in parts]
