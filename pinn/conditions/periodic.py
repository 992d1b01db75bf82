"""What is the same at both ends of a coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from pinn.conditions.condition import Condition, Repeats
from pinn.equations.leaves import Derivative
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.geometry import Face, Shape
from pinn.residuals import Boundary, Residual, Source, Start
from pinn.sampling import Sampling, stream
from pinn.schema import Count, Name, declared
from pinn.schema.errors import at, refuse
from pinn.schema.kinds import NAME, Several

_UNKNOWNS = Several(NAME, "an unknown or a list of them")


@declared
class Periodic(Condition):
    """u, and its derivatives below `orders`, are the same at both ends of a coordinate.

    unknown: one, or several. coordinate: of space, or time. orders: 2 for value and slope, as an
    equation of second order takes them. hard: exactly, for derivatives of all orders, by giving the
    network cos and sin of the coordinate in its place, which a model's features call x_cos and
    x_sin; all unknowns have to be in it then. Raises ValueError, when the problem is made, for a
    coordinate that is not there and a domain whose two ends are no copies of each other.
    """

    unknown: Annotated[Sequence[str], _UNKNOWNS]
    coordinate: Name
    orders: Count = 2
    hard: bool = False

    def label(self, domain: Shape) -> str:
        return "_".join(["periodic", *self.unknown, self.coordinate])

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        source, high = self._ends(domain)
        residuals = []
        for unknown in self.unknown:
            scope.check_unknown(unknown)
            for order in range(self.orders):
                slope = [f"d{order}"] * bool(order)
                name = "_".join(["periodic", unknown, self.coordinate, *slope])
                what = f"condition {name!r}"
                leaf = str(Derivative(unknown, (self.coordinate,) * order))
                there = f"at({leaf}, {self.coordinate}={high!r})"
                sides = (Term(what, text, scope) for text in (leaf, there))
                residuals.append(Residual(name, what, next(sides), source, next(sides)))
        return residuals

    def exact(self, domain: Shape) -> Sequence[Repeats]:
        self._ends(domain)
        name = self.label(domain)
        return [Repeats(name, unknown, self.coordinate, self.orders) for unknown in self.unknown]

    def _ends(self, domain: Shape) -> tuple[Source, float]:
        """Return where the lower end's points come from, and the upper end's number."""
        name = self.coordinate
        if name not in domain.coordinates:
            known = ", ".join(domain.coordinates)
            refuse(f"expected a coordinate out of {known}, got {name!r}", "coordinate")
        low, high = domain.bounds[name]
        if name == domain.time:
            return Start(domain), high
        faces = [p for p in domain.parts if isinstance(p, Face) and p.coordinate == name]
        with at("coordinate"):
            if [face.value for face in sorted(faces, key=lambda face: face.value)] != [low, high]:
                raise ValueError(f"{name!r} has no two faces, {name}={low:g} and {name}={high:g}")
            for face, other in (faces, faces[::-1]):
                points = _face(domain, face)
                points[:, domain.coordinates.index(name)] = other.value
                if not domain.contains(points).all():
                    raise ValueError(f"the faces {face} and {other} are no copies of each other")
        return Boundary(domain, (domain.part(f"{name}={low!r}"),)), high


def _face(domain: Shape, face: Face) -> np.ndarray:
    """Return points of a face, the same ones each time."""
    few = Sampling(boundary=200, method="uniform")
    return domain.sample_part(face, few.boundary, few.sampler, stream(0, "periodic"))[0]
