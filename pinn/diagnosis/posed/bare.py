"""The part of a boundary that no condition reaches, of any shape."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pinn.diagnosis.posed.boundary import FEWEST, GRAIN, boundary_points, is_inside, places
from pinn.diagnosis.posed.example import example
from pinn.diagnosis.posed.held import Held
from pinn.diagnosis.posed.linear import Linear
from pinn.diagnosis.posed.orders import conditions_taken
from pinn.diagnosis.posed.periods import whole_period
from pinn.diagnosis.posed.reach import reach
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.diagnosis.posed.systems import System, of_unknowns, order_in
from pinn.geometry import Face, Part
from pinn.residuals import Interior, Within
from pinn.sampling import Points

# So many of a part are asked for the order of the equations there.
_TRIED = 6
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class _Side:
    """A part of the boundary, with points of it (n, d).

    order: that of the equations across it. reached, asked: how many conditions reach each point,
    and by unknown whether one asks for it (`reach`).
    """

    part: Part
    points: np.ndarray
    order: int
    reached: np.ndarray
    asked: Mapping[str, np.ndarray]

    @property
    def needed(self) -> int:
        """Half of the order: that is how many conditions hold at each end of a line across."""
        return self.order // 2

    @property
    def lacking(self) -> np.ndarray:
        """Which points too few conditions reach, (n,)."""
        return self.reached < self.needed

    def asks(self, unknown: str) -> bool:
        """Whether conditions ask for an unknown at all points that too few of them reach."""
        return unknown in self.asked and bool(self.asked[unknown][self.lacking].all())


def bare(statement: Statement, system: System, held: Held) -> str | None:
    """Return a sentence about the part of the boundary where conditions are missing, or None.

    At points of each part of the boundary the order of the equations along the normal is compared
    with the conditions that reach them: of 2 m, m are taken at every point. None as well where
    that proves nothing: of first-order equations, which take a condition where a characteristic
    enters; of an order that is lower there than inside, or has no value (a singular or degenerate
    equation); of data inside the domain, and on a line of a value or a mean, which are counted
    along it (`missing`); and where more than is taken is asked for anywhere, as data
    on a part of the boundary are that stand for those on the rest.
    """
    domain = statement.problem.domain
    orders = [
        order_in(statement, leaf, name)
        for equation in system.equations
        for leaf in of_unknowns(statement, equation)
        for name in domain.space
    ]
    sided = all(isinstance(one.residual.source, Within) for one in system.equations)
    inside = (is_inside(one, domain, sided) for one in system.conditions)
    if max(orders, default=0) < 2 or any(inside):
        return None
    sides = []
    for part, points, normals in boundary_points(domain):
        order = _order_across(statement, system, points, normals)
        if order is None:
            return None
        reached, asked = reach(domain, system, part, points, normals)
        if (reached > math.ceil(order / 2)).any():
            return None
        sides.append(_Side(part, points, order, reached, asked))
    lacking = [side for side in sides if _lacks(side, system, held)]
    return _sentence(statement, system, sides, lacking) if lacking else None


def _order_across(
    statement: Statement, system: System, points: np.ndarray, normals: np.ndarray
) -> int | None:
    """Return the order of the equations along the normals of a part; None where unknown."""
    domain = statement.problem.domain
    tried = np.linspace(0, len(points) - 1, min(_TRIED, len(points))).astype(int)
    found = []
    for row in tried:
        point, normal = points[row : row + 1], normals[row]
        # A component that is rounding is none: across x=0 no derivative along y counts.
        parts = np.where(np.abs(normal) > _ROUNDING, normal, 0.0)
        direction = dict(zip(domain.space, map(float, parts), strict=True))
        holding = [one for one in system.equations if _holds_at(one, point)]
        if not holding:
            found.append(0)
            continue
        unknowns = _unknowns_of(statement, system, holding)
        if len(holding) != len(unknowns):
            return None
        there = [statement.linear(one.residual, Points(point)) for one in holding]
        if any(one is None or not all(state.is_finite for state in one) for one in there):
            return None
        inside = [one.linear for one in holding]
        at_point, within = (
            _order(statement, values, unknowns, direction) for values in (there, inside)
        )
        if at_point is None or within is None or at_point < within:
            return None
        found.append(at_point)
    return min(found, default=0)


def _holds_at(equation: Stated, point: np.ndarray) -> bool:
    source = equation.residual.source
    if isinstance(source, Within):
        return bool(source.region(point)[0])
    return isinstance(source, Interior)


def _unknowns_of(
    statement: Statement, system: System, equations: Sequence[Stated]
) -> tuple[str, ...]:
    names = {leaf.unknown for one in equations for leaf in of_unknowns(statement, one)}
    return tuple(name for name in system.unknowns if name in names)


def _order(
    statement: Statement,
    equations: Sequence[Sequence[Linear]],
    unknowns: Sequence[str],
    direction: Mapping[str, float],
) -> int | None:
    """Return the lowest order of equations along a direction, of both states; None if unknown."""
    domain = statement.problem.domain
    orders = [
        conditions_taken(
            [{leaf: float(slope[0]) for leaf, slope in one[state].slopes.items()}
             for one in equations],
            unknowns, direction, domain.coordinates, domain.space,
        )
        for state in (0, 1)
    ]  # fmt: skip
    return None if None in orders else min(orders)


def _lacks(side: _Side, system: System, held: Held) -> bool:
    """Whether conditions are missing on a part, those that the model keeps counted in."""
    lacking = side.lacking
    if np.mean(lacking) < GRAIN:
        return False
    if isinstance(side.part, Face):
        across = (held.across(u, side.part.coordinate, side.order) for u in system.unknowns)
        if sum(across) >= side.order:
            return False
    points = side.points[lacking][:FEWEST]
    kept = sum(held.at(unknown, points) for unknown in system.unknowns)
    return bool((side.reached[lacking] + kept < side.needed).any())


def _sentence(
    statement: Statement, system: System, sides: Sequence[_Side], lacking: Sequence[_Side]
) -> str:
    total = sum(side.part.measure for side in sides)
    share = sum(side.part.measure * float(np.mean(side.lacking)) for side in lacking) / total
    needed = max(side.needed for side in lacking)
    there, example = _there(statement, system, lacking)
    where = places([(side.part, float(np.mean(side.lacking))) for side in lacking])
    return (
        f"the solution seems not to be determined at {where}, {_percent(share)} of the "
        f"boundary: there {there}, and the {system.takes} {needed} at every point of it; add one, "
        f"such as {example}"
    )


def _there(
    statement: Statement, system: System, lacking: Sequence[_Side]
) -> tuple[str, str]:
    """Return in words what conditions there are where some are missing, and one that would do."""
    least = min(float(side.reached[side.lacking].min()) for side in lacking)
    first = lacking[0]
    if least > 0 and isinstance(first.part, Face):
        period = whole_period(statement, system, first.part.coordinate)
        if period:
            alone = "the value alone" if least < len(system.unknowns) else "some derivatives alone"
            return f"is a period of {alone}", period
    if least > 0 and len(system.unknowns) == 1:
        return _counted(least), "a derivative there"
    here = _unknowns_at(statement, system, first) or system.unknowns
    unasked = [u for u in here if not all(side.asks(u) for side in lacking)]
    wanting = unasked or list(here)
    there = _counted(least) if least else f"is no condition on {' or '.join(map(repr, wanting))}"
    if first.lacking.all():
        return there, example("Dirichlet", wanting[0], on=str(first.part))
    return there, example("Dirichlet", wanting[0])


def _unknowns_at(statement: Statement, system: System, side: _Side) -> tuple[str, ...]:
    """Return the unknowns of the equations that hold where conditions are missing on a part."""
    place = side.points[side.lacking][:1]
    return _unknowns_of(
        statement, system, [one for one in system.equations if _holds_at(one, place)]
    )


def _counted(conditions: float) -> str:
    return f"{'is' if conditions <= 1 else 'are'} {conditions:g} condition{'s' * (conditions > 1)}"


def _percent(share: float) -> str:
    return "all" if share > 0.9999 else f"{100 * share:.2g} %"
