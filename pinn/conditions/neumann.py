"""The slope of an unknown along the outward normal of the boundary."""

from __future__ import annotations

from collections.abc import Sequence

from pinn.conditions.condition import Condition, Exact, Value
from pinn.conditions.places import boundary, faces
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.geometry import On, Shape
from pinn.residuals import Residual
from pinn.schema import Name, declared
from pinn.schema.errors import at


@declared
class Neumann(Condition):
    """dn(u) = value, the derivative along the outward normal, on the boundary or some of its parts.

    value: text, number or callable; it may use the normal, as in "k*normal_x", and "dn(sin(x))" is
    the slope of a known function. At the lower end of an interval dn(u) is -u_x. on: None for the
    whole boundary in space, or what `Shape.select` takes, as of a Dirichlet condition. hard: hold
    exactly, on faces of a box.
    """

    unknown: Name
    value: Value
    on: On = None
    hard: bool = False

    def label(self, domain: Shape) -> str:
        place = [] if self.on is None else [domain.label(self.on)]
        return "_".join(["neumann", self.unknown, *place])

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        place = boundary("a Neumann condition", domain, self.on, normals=True)
        scope.check_unknown(self.unknown)
        name = self.label(domain)
        what = f"condition {name!r}"
        left = Term(what, f"dn({self.unknown})", scope.with_columns(place.columns))
        with at("value"):
            given = scope.of_values(held=place.held).with_columns(place.columns)
            right = Term(what, self.value, given)
        return [Residual(name, what, left, place, right)]

    def exact(self, domain: Shape) -> Sequence[Exact]:
        name = self.label(domain)
        parts = faces(name, domain, self.on)
        return [Exact(name, self.unknown, part, self.value, ratio=(0.0, 1.0)) for part in parts]
