"""Places where the slopes of a solution are infinite, and what power of the distance it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pinn.diagnosis.posed.switches import switches
from pinn.geometry.corners import Corner
from pinn.problem import Problem
from pinn.problem.singularity import order_of, orders_of

# What goes like the distance to a power above this is smooth enough.
_SMOOTH = 0.9


@dataclass(frozen=True)
class Singular:
    """A corner, the power of the distance that a solution goes like there, and why; as text."""

    corner: Corner
    exponent: float
    why: str

    def __str__(self) -> str:
        return f"at {self.corner} ({self.why})"


def singular(problem: Problem) -> list[Singular]:
    """Return the places where slopes are infinite, of equations of second order in space.

    Corners that turn inward, and in a plane where an unknown's values end along a wall and slopes
    begin; docs/decisions/0075.
    """
    orders = [order_of(one, problem.domain.space) for one in problem.residuals]
    if max(orders, default=0) != 2:
        return []
    coupled = kind(problem) != "scalar"
    mixed = {} if coupled else {one.at: one for one in switches(problem)}
    found = []
    for corner in problem.domain.inward_corners:
        changes = mixed.pop(corner.at, None) is not None
        exponent = of_vectors(corner.angle) if coupled else math.pi / corner.angle
        why = f"{math.degrees(corner.angle):.4g} degrees" + ", from values to slopes" * changes
        found.append(Singular(corner, exponent / 2 if changes else exponent, why))
    for corner in mixed.values():
        found.append(Singular(corner, math.pi / (2 * corner.angle), "from values to slopes"))
    return [one for one in found if one.exponent < _SMOOTH]


def kind(problem: Problem) -> str:
    """Return what is singular in a corner: see pinn.CornerEmbedding, of.

    Unknowns are components of a vector where an equation has derivatives of several, and one is a
    pressure where it has first derivatives alone.
    """
    orders = [
        orders_of(one, problem.domain.space) for one in problem.residuals
        if one.name in problem.equations
    ]  # fmt: skip
    if all(sum(order > 0 for order in one.values()) < 2 for one in orders):
        return "scalar"
    highest = {name: max(one.get(name, 0) for one in orders) for name in problem.unknowns}
    return "flow" if 1 in highest.values() else "vector"


def of_vectors(angle: float) -> float:
    """Return the least exponent of a flow, or an elastic plate, at a corner of two like walls.

    The root of sin(e angle) = e |sin angle|, for angles of more than 180 degrees.
    """
    from scipy.optimize import brentq

    if angle > 2 * math.pi - 1e-6:
        return 0.5
    return float(brentq(lambda e: math.sin(e * angle) + e * math.sin(angle), 0.5, math.pi / angle))
