"""The value of an unknown on the boundary."""

from __future__ import annotations

from collections.abc import Sequence

from pinn.conditions.condition import Condition, Exact, Value
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.geometry import Domain, Face
from pinn.residuals import Boundary, Residual
from pinn.schema import Name, Text, declared
from pinn.schema.errors import at


@declared
class Dirichlet(Condition):
    """u = value on every face of every space coordinate, or on one face.

    value: text, number or callable. on: None for all faces, or a text such as "x=-1". hard: hold
    exactly instead of in training. A face that the domain does not have is a ValueError when the
    problem is made.
    """

    unknown: Name
    value: Value
    on: Text | None = None
    hard: bool = False

    def faces(self, domain: Domain) -> tuple[Face, ...]:
        """Return the faces where the condition holds; ValueError where there are none."""
        with at("on"):
            faces = domain.faces if self.on is None else (domain.face(self.on),)
        if not faces:
            raise ValueError(
                "a Dirichlet condition needs a space coordinate, and this domain has only "
                f"{', '.join(domain.coordinates)}; use pinn.Initial at the start of time"
            )
        return faces

    def name(self, domain: Domain) -> str:
        face = [] if self.on is None else [domain.face(self.on).label]
        return "_".join(["dirichlet", self.unknown, *face])

    def residuals(self, domain: Domain, scope: Scope) -> Sequence[Residual]:
        faces = self.faces(domain)
        scope.check_unknown(self.unknown)
        name = self.name(domain)
        what = f"condition {name!r}"
        left = Term(what, self.unknown, scope)
        with at("value"):
            right = Term(what, self.value, scope.of_values())
        return [Residual(name, what, left, Boundary(domain, faces), right)]

    def exact(self, domain: Domain) -> Sequence[Exact]:
        name = self.name(domain)
        return [Exact(name, self.unknown, face, self.value) for face in self.faces(domain)]
