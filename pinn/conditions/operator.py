"""Any expression that vanishes on a part of the domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any

from pinn.conditions.condition import Condition
from pinn.conditions.places import places
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.geometry import On, Shape
from pinn.residuals import Residual
from pinn.schema import Name, declared
from pinn.schema.errors import at as under
from pinn.schema.errors import refuse
from pinn.schema.kinds import NUMBERS, Formula, Names

_EXPRESSION = Formula("an expression such as dn(u) - k*v", number=False)
_POINTS = Names(NUMBERS, "a mapping from coordinates to numbers such as {x: 0, t: [0, 1]}")


@declared
class Operator(Condition):
    """expression = 0 on any part of the domain: of any unknowns and derivatives, "dn(u) - k*v".

    expression: text, left = right too, or a function of the namespace. on: None for the whole
    boundary in space, or what `Shape.select` takes, and the ends of time, "t=0". On the boundary
    the expression may use the normal: dn(u), normal_x. at: points of your own instead, a number or
    a list of them for each coordinate: {"x": [0.2, 0.4], "t": 1}. name: what the block is called;
    it is made of the place where it is left out, operator_x_high, and of a number where there are
    several in one place, operator_x_high_2.
    """

    expression: Annotated[str | Callable[[Any], Any], _EXPRESSION]
    on: On = None
    at: Annotated[Mapping[str, float | Sequence[float]], _POINTS] = field(default_factory=dict)
    name: Name | None = None

    def label(self, domain: Shape) -> str:
        return self.name or "_".join(["operator", *self._labels(domain)])

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        found = places("this condition", domain, self.on, self.at)
        residuals = []
        for label, place in found.items():
            # Parts of the boundary have a normal, the ends of time have none.
            name = self.name or "operator"
            if self.name is None or len(found) > 1:
                name = "_".join([name, *[label] * bool(label)])
            what = f"condition {name!r}"
            with under("expression"):
                term = Term.of_equation(what, self.expression, scope.with_columns(place.columns))
                if term.leaves == ():
                    refuse(
                        f"expected at least one of the unknowns {', '.join(scope.unknowns)} in "
                        f"it, got {self.expression!r}"
                    )
            residuals.append(Residual(name, what, term, place))
        return residuals

    def _labels(self, domain: Shape) -> list[str]:
        return [label for label in places("this condition", domain, self.on, self.at) if label]
