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
# Places that are nearer to each other, as a share of the domain, are one.
_SAME = 1e-5


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
    mixed = [] if coupled else list(switches(problem))
    found = []
    for corner in problem.domain.inward_corners:
        here = [one for one in mixed if is_at(one.at, corner.at, problem)]
        mixed = [one for one in mixed if one not in here]
        exponent = of_vectors(corner.angle) if coupled else math.pi / corner.angle
        why = f"{math.degrees(corner.angle):.4g} degrees" + ", from values to slopes" * bool(here)
        found.append(Singular(corner, exponent / 2 if here else exponent, why))
    for corner in mixed:
        found.append(Singular(corner, math.pi / (2 * corner.angle), "from values to slopes"))
    return [one for one in found if one.exponent < _SMOOTH]


def is_at(one: tuple[float, ...], other: tuple[float, ...], problem: Problem) -> bool:
    """Return whether two places are one, as far as corners are known."""
    return math.dist(one, other) <= _SAME * problem.domain.size


def kind(problem: Problem) -> str:
    """Return what is singular in a corner: see pinn.CornerEmbedding, of.

    Unknowns are components of a vector where all equations of second order have second derivatives
    of several, as displacements; and one is a pressure where it has none of second order, and two
    of these equations have its slopes.
    """
    space = problem.domain.space
    orders = [
        {name: order for name, order in orders_of(one, space).items() if name in problem.unknowns}
        for one in problem.residuals if one.name in problem.equations
    ]  # fmt: skip
    second = [one for one in orders if max(one.values(), default=0) == 2]
    highest = {name: max(one.get(name, 0) for one in orders) for name in problem.unknowns}
    pressures = [
        name for name, order in highest.items()
        if order == 1 and sum(one.get(name) == 1 for one in second) > 1
    ]  # fmt: skip
    if pressures:
        return "flow"
    several = [sum(order == 2 for order in one.values()) > 1 for one in second]
    return "vector" if len(second) > 1 and all(several) else "scalar"


def of_vectors(angle: float) -> float:
    """Return the least exponent of a flow, or an elastic plate, at a corner of two like walls.

    The root of sin(e angle) = e |sin angle|, for angles of more than 180 degrees.
    """
    from scipy.optimize import brentq

    if angle > 2 * math.pi - 1e-6:
        return 0.5
    return float(brentq(lambda e: math.sin(e * angle) + e * math.sin(angle), 0.5, math.pi / angle))
