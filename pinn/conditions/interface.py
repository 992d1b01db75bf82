"""What happens between two media."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pinn import expressions
from pinn.conditions.condition import Condition, Value
from pinn.conditions.sums import combined
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.expressions.algebra import negate
from pinn.geometry import Shape
from pinn.geometry.declaration import DomainKind
from pinn.residuals import Residual, Section, Source, Surface
from pinn.schema import Name, declared
from pinn.schema.errors import Path, at, refuse
from pinn.schema.kinds import Kind, Text
from pinn.schema.reader import Reader
from pinn.schema.tree import Mapping, Node


@dataclass(frozen=True)
class _PlaceKind(Kind):
    """A plane as text, or a shape."""

    what = "a place such as x=0.5, or a shape whose boundary it is"

    def check(self, value: Any) -> str | Shape:
        return value if isinstance(value, Shape) else Text(self.what).check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        kind = DomainKind() if isinstance(node, Mapping) else Text(self.what)
        return kind.read(node, path, reader)

    def dump(self, value: Any) -> Any:
        return DomainKind().dump(value) if isinstance(value, Shape) else value


@declared
class Interface(Condition):
    """Value and flux of two unknowns where one medium ends and the other begins.

        outer - inner = jump,   k_outer*dn(outer) - k_inner*dn(inner) = flux_jump

    on: a plane such as "x=0.5", whose normal points up the coordinate, inner below and outer above
    it; or a shape inside of the domain with inner in it and outer around it, the normal pointing
    out of the shape. k_inner, k_outer, jump, flux_jump: text, number or callable, as of a Neumann
    condition.

    inner, outer: an unknown for each side. Both are networks on the whole domain, each of which is
    the solution on its own side and a smooth continuation beyond; pinn.Equation(..., on="x < 0.5")
    is an equation of one side, and a piecewise name of both unknowns the whole field. One unknown
    for both sides is refused: a network is smooth, so its value and slope have no jump, and
    k_outer*dn(u) = k_inner*dn(u) would force its slope to vanish wherever the two k differ.
    """

    on: Annotated[str | Shape, _PlaceKind()]
    inner: Name
    outer: Name
    k_inner: Value = 1.0
    k_outer: Value = 1.0
    jump: Value = 0.0
    flux_jump: Value = 0.0
    name: Name | None = None

    def __post_init__(self) -> None:
        if self.inner == self.outer:
            refuse(
                f"expected another unknown than {self.inner!r}: one network is smooth across the "
                "interface, so neither its value nor its slope can jump, and continuity of the "
                "flux would force the slope to vanish where k jumps; declare one unknown for each "
                "side, such as u1 and u2",
                "outer",
            )

    def label(self, domain: Shape) -> str:
        return self.name or f"interface_{self.inner}_{self.outer}"

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        with at("on"):
            place = self._place(domain)
        for key in ("inner", "outer"):
            if getattr(self, key) not in scope.unknowns:
                known = ", ".join(scope.unknowns)
                refuse(f"expected one of the unknowns {known}, got {getattr(self, key)!r}", key)
        here = scope.with_columns(place.columns)
        given = scope.of_values().with_columns(place.columns)
        name = self.label(domain)
        what, flux = f"condition {name!r}", f"condition '{name}_flux'"
        factors = {}
        for key in ("k_outer", "k_inner"):
            with at(key):
                factors[key] = Term(flux, getattr(self, key), given)
        out, into = (here.resolve(f"dn({unknown})") for unknown in (self.outer, self.inner))
        pairs = [(factors["k_outer"], out), (factors["k_inner"], negate(into))]
        with at("jump"):
            jump = Term(what, self.jump, given)
        with at("flux_jump"):
            flux_jump = Term(flux, self.flux_jump, given)
        value = Term(what, f"{self.outer} - {self.inner}", here)
        return [
            Residual(name, what, value, place, jump),
            Residual(f"{name}_flux", flux, combined(flux, pairs, here), place, flux_jump),
        ]

    def _place(self, domain: Shape) -> Source:
        if isinstance(self.on, Shape):
            own = set(self.on.coordinates)
            touched = [f for f in domain.factors if own & set(f.coordinates)]
            covered = {name for factor in touched for name in factor.coordinates}
            if covered != own or not own <= set(domain.space):
                raise ValueError(
                    f"expected a shape in some of the space coordinates {', '.join(domain.space)}, "
                    f"got one in {', '.join(self.on.coordinates)}"
                )
            return Surface(domain, self.on)
        name, equals, number = (piece.strip() for piece in self.on.partition("="))
        if not equals or name not in domain.space:
            known = ", ".join(f"{n}=..." for n in domain.space) or "none: no space coordinate"
            raise ValueError(f"expected a plane out of {known}, got {self.on!r}")
        value = expressions.constant(number)
        low, high = domain.bounds[name]
        if not low < value < high:
            raise ValueError(f"expected a place between {low:g} and {high:g}, got {self.on!r}")
        return Section(domain, ((name, value),), normal=name)
