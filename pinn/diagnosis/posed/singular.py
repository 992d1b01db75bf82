"""Places where the slopes of a solution are infinite, and what power of the distance it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pinn.diagnosis.posed.statement import statement_of
from pinn.diagnosis.posed.switches import switches
from pinn.equations.leaves import parts_of
from pinn.geometry.corners import Corner
from pinn.problem import Problem
from pinn.problem.singularity import order_of, orders_of

# What goes like the distance to a power above this is smooth enough.
_SMOOTH = 0.9
# Newton's steps from many starts, what is zero there, and exponents that are none.
_NEWTON, _ZERO, _LEAST = 40, 1e-9, 1e-3
# Coefficients are those of an isotropic plate to such a share.
_ISOTROPIC = 1e-6
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
    what = kind(problem)
    kappa = kolosov(problem) if what == "vector" else None
    known = what == "scalar" or kappa is not None
    mixed = list(switches(problem, together=what == "vector")) if known else []

    def exponent(corner: Corner, changes: bool) -> float:
        if what == "scalar":
            return math.pi / corner.angle / (2 if changes else 1)
        return of_clamped(corner.angle, kappa) if changes else of_vectors(corner.angle)

    found = []
    for corner in problem.domain.inward_corners:
        here = [one for one in mixed if is_at(one.at, corner.at, problem)]
        mixed = [one for one in mixed if one not in here]
        why = f"{math.degrees(corner.angle):.4g} degrees" + ", from values to slopes" * bool(here)
        found.append(Singular(corner, exponent(corner, bool(here)), why))
    for corner in mixed:
        found.append(Singular(corner, exponent(corner, True), "from values to slopes"))
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


def of_clamped(angle: float, kappa: float) -> float:
    """Return the least exponent of an elastic plate at a corner of a clamped and a free side.

    The real part of the least root of sin(e angle)^2 = ((kappa + 1)^2 - 4 e^2 sin(angle)^2)/(4
    kappa); 1 where it is no less. kappa: Kolosov's constant.

    Williams, J. Appl. Mech. 19 (1952) 526.
    """
    sine = math.sin(angle) ** 2
    reals, imaginary = np.meshgrid(np.linspace(0.0, 1.0, 61)[1:], np.linspace(0.0, 1.5, 16))
    e = (reals + 1j * imaginary).ravel()
    with np.errstate(all="ignore"):
        for _ in range(_NEWTON):
            over = np.sin(e * angle) ** 2 - ((kappa + 1) ** 2 - 4 * e**2 * sine) / (4 * kappa)
            e = e - over / (angle * np.sin(2 * e * angle) + 2 * e * sine / kappa)
        found = e.real[(np.abs(over) < _ZERO * kappa) & (e.real > _LEAST) & (e.real < 1)]
    return float(found.min(initial=1.0))


def kolosov(problem: Problem) -> float | None:
    """Return Kolosov's constant of an isotropic elastic plate, by the equations' coefficients.

    (3 - nu)/(1 + nu) in plane stress and 3 - 4 nu in plane strain. None where the coefficients are
    not those of such a plate.
    """
    statement, space = statement_of(problem), problem.domain.space
    for one in statement.equations if statement is not None else ():
        slopes = {} if one.linear is None else one.linear[0].slopes
        of = {
            (leaf.unknown, *sorted(names)): abs(float(factor * slope.flat[0]))
            for leaf, slope in slopes.items() for names, factor in parts_of(leaf, space)
        }  # fmt: skip
        pure = {u: [of.get((u, name, name), 0.0) for name in space] for u in problem.unknowns}
        component = max(pure, key=lambda unknown: min(pure[unknown]))
        least, most = sorted(pure[component])
        mixed = max(of.get((u, *sorted(space)), 0.0) for u in problem.unknowns if u != component)
        if 0 < least < most and math.isclose(mixed, most - least, rel_tol=_ISOTROPIC):
            return (most + least) / (most - least)
    return None
