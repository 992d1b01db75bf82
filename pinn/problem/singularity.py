"""A place where the slopes of a solution are infinite, and equations that know of it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Annotated

from pinn.checks import nearest
from pinn.equations.leaves import parts_of
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.expressions import algebra
from pinn.geometry import Shape
from pinn.geometry.densities import at_any_scale
from pinn.residuals import Boundary, Interior, Residual, Within
from pinn.schema import Positive, declared
from pinn.schema.errors import at, refuse
from pinn.schema.kinds import Names, Number

# Points around it lie as near as that, as a share of the domain.
_NEAREST = 1e-3
_PLACE = Names(Number(), "a mapping from coordinates to numbers such as {x: 0, y: 0}")


@declared
class Singularity:
    """A place where the slopes of a solution are infinite: a corner, a change of conditions.

    at: coordinate -> number, two of the coordinates of space or more: a point, in three of them an
    edge. reach: from this distance on equations count as everywhere. Nearer by, the residual of one
    with derivatives of order m is multiplied by (d/sqrt(d^2 + reach^2))^(m-1), d being the
    distance, and that of a condition on the boundary by (d/sqrt(d^2 + reach^2))^(m-1/2), if it has
    derivatives: a solution that goes like d^e, 0 < e < 1, has derivatives whose squares have no
    integral, and without that factor no smooth function comes near to it in the mean square. The
    sum of a network and what is singular is found by the same loss (pinn.CornerEmbedding).

    Cox and Fix, Comput. Math. Appl. 10 (1984) 29; Lee, Manteuffel and Westphal, SIAM J. Numer.
    Anal. 44 (2006) 1974.
    """

    at: Annotated[Mapping[str, float], _PLACE]
    reach: Positive

    def check(self, domain: Shape) -> None:
        """Raise ValueError for what is no place in the space of a domain."""
        with at("at"):
            for name in self.at:
                if name not in domain.space:
                    refuse(
                        f"expected coordinates of space, {', '.join(domain.space)}, got {name!r}"
                        f"{nearest(name, domain.space)}"
                    )
                low, high = domain.bounds[name]
                if not low <= self.at[name] <= high:
                    refuse(
                        f"expected a place of the domain, {name} from {low:g} to {high:g}, got "
                        f"{self.at[name]:g}",
                        name,
                    )
            if len(self.at) < 2:
                refuse(f"expected two coordinates or more, got {', '.join(self.at) or 'none'}")

    @property
    def _squared(self) -> str:
        """The text of the distance, squared."""
        return " + ".join(f"({name} - ({place!r}))**2" for name, place in self.at.items())

    def factor(self, power: float) -> str:
        """The text of what a residual is multiplied by."""
        return f"(({self._squared})/({self._squared} + {self.reach**2!r}))**{power / 2!r}"

    def density(self, amount: float, bounds: Mapping[str, tuple[float, float]]) -> str:
        """Return the text of a density that has as many points at any scale of the distance.

        From 1e-3 of the domain on. amount: its mean over the bounding box, about.
        """
        least = _NEAREST * max(high - low for low, high in (bounds[name] for name in self.at))
        squared = f"{self._squared} + {least**2:.6g}"
        return at_any_scale(-amount / math.log(_NEAREST), tuple(self.at), squared, bounds)


def near_singularities(
    residual: Residual, places: Sequence[Singularity], scope: Scope
) -> Residual:
    """Return an equation, or a condition on slopes, that counts less near such places.

    scope: of the problem.
    """
    order = order_of(residual, scope.space)
    within = isinstance(residual.source, Interior | Within)
    on_wall = isinstance(residual.source, Boundary)
    power = order - 1 if within else order - 0.5 if on_wall else 0
    if not places or residual.whole or power <= 0:
        return residual
    text = "*".join(one.factor(power) for one in places)
    scale = Term(residual.what, text, scope)
    if residual.scale is not None:
        both = algebra.multiply(residual.scale.formula, scale.formula)
        scale = Term(residual.what, both, scope)
    return dataclasses.replace(residual, scale=scale)


def order_of(residual: Residual, space: Sequence[str]) -> int:
    """Return the order of the highest derivative in space that a residual asks for, 0 for none."""
    return max(orders_of(residual, space).values(), default=0)


def orders_of(residual: Residual, space: Sequence[str]) -> dict[str, int]:
    """Return the order of the highest derivative of each unknown in space, by name."""
    found: dict[str, int] = {}
    for leaf in residual.leaves or ():
        for names, _ in parts_of(leaf, space):
            order = sum(name in space for name in names)
            found[leaf.unknown] = max(found.get(leaf.unknown, 0), order)
    return found
