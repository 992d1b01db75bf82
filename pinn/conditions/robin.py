"""A combination of an unknown and its slope along the outward normal of the boundary."""

from __future__ import annotations

from collections.abc import Sequence

from pinn.conditions.condition import Condition, Exact, Value
from pinn.conditions.places import boundary, faces
from pinn.conditions.sums import combined
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.geometry import On, Shape
from pinn.residuals import Residual
from pinn.schema import Name, declared
from pinn.schema.errors import at


@declared
class Robin(Condition):
    """a*u + b*dn(u) = value on the boundary, or on some of its parts.

    dn(u) is the derivative along the outward normal. a, b, value: text, number or callable, as of a
    Neumann condition; trainable coefficients of the problem may be in them. A wall that passes heat
    to surroundings at temperature T, -k dn(u) = h (u - T), is Robin("u", "h", "k", "h*T"). on: None
    for the whole boundary in space, or what `Shape.select` takes. Factors that depend on unknowns
    are a matter of pinn.Operator. hard: hold exactly, on faces of a box; b may not vanish there.
    """

    unknown: Name
    a: Value
    b: Value
    value: Value
    on: On = None
    hard: bool = False

    def label(self, domain: Shape) -> str:
        place = [] if self.on is None else [domain.label(self.on)]
        return "_".join(["robin", self.unknown, *place])

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        place = boundary("a Robin condition", domain, self.on, normals=True)
        scope.check_unknown(self.unknown)
        name = self.label(domain)
        what = f"condition {name!r}"
        given = scope.of_values(held=place.held).with_columns(place.columns)
        factors = []
        for key in ("a", "b"):
            with at(key):
                factors.append(Term(what, getattr(self, key), given))
        here = scope.with_columns(place.columns)
        sides = [here.resolve(text) for text in (self.unknown, f"dn({self.unknown})")]
        left = combined(what, list(zip(factors, sides, strict=True)), here)
        with at("value"):
            right = Term(what, self.value, given)
        return [Residual(name, what, left, place, right)]

    def exact(self, domain: Shape) -> Sequence[Exact]:
        name = self.label(domain)
        parts = faces(name, domain, self.on)
        ratio = (self.a, self.b)
        return [Exact(name, self.unknown, part, self.value, ratio=ratio) for part in parts]
