"""The part of a boundary that no condition reaches, of any shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pinn.diagnosis.held import Held
from pinn.diagnosis.orders import conditions_taken
from pinn.diagnosis.statement import Stated, Statement
from pinn.diagnosis.systems import System, of_unknowns, order_in
from pinn.equations.leaves import At
from pinn.equations.names import normal_name
from pinn.geometry import Face, Part, Piece
from pinn.residuals import Boundary, End, Interior, Section, Start, Surface, Within
from pinn.sampling import Points, Sampling, stream

# Points of the whole boundary, and of each part at least.
_POINTS, _FEWEST = 2048, 64
# So many of a part are asked for the order of the equations there.
_TRIED = 6
# A share of a part below this is the grain of its points.
_GRAIN = 0.02
_MOST_NAMED = 6
_ROUNDING = 1e-9


@dataclass
class _Side:
    """A part of the boundary: its points (n, d), the normals there, what is asked for.

    order: that of the equations across it. reached: (n,), how many conditions reach each point;
    one that ties it to the other end of a coordinate is half of one there. by: the unknowns that
    conditions on it ask for.
    """

    part: Part
    points: np.ndarray
    normals: np.ndarray
    order: int = 0
    reached: np.ndarray = None
    by: frozenset[str] = frozenset()

    @property
    def needed(self) -> int:
        """Half of the order: that is how many conditions hold at each end of a line across."""
        return self.order // 2

    @property
    def lacking(self) -> np.ndarray:
        return self.reached < self.needed


def bare(statement: Statement, system: System, held: Held) -> str | None:
    """Return a sentence about the part of the boundary where conditions are missing, or None.

    At points of each part of the boundary the order of the equations along the normal is compared
    with the conditions that reach them: of 2 m, m are taken at every point. None as well where
    that proves nothing: of first-order equations, which take a condition where a characteristic
    enters; of an order that is lower there than inside, or has no value (a singular or degenerate
    equation); of data inside the domain; and where more than is taken is asked for anywhere, as
    data on a part of the boundary are that stand for those on the rest.
    """
    orders = [
        order_in(statement, leaf, name)
        for equation in system.equations
        for leaf in of_unknowns(statement, equation)
        for name in statement.problem.domain.space
    ]
    sided = all(isinstance(one.residual.source, Within) for one in system.equations)
    if max(orders, default=0) < 2 or any(_is_inside(one, sided) for one in system.conditions):
        return None
    sides = _sides(statement)
    for side in sides:
        order = _order_across(statement, system, side)
        if order is None:
            return None
        side.order = order
        _reach(statement, system, side)
        if (side.reached > math.ceil(side.order / 2)).any():
            return None
    lacking = [side for side in sides if _lacks(side, system, held)]
    return _sentence(system, sides, lacking) if lacking else None


def _is_inside(condition: Stated, sided: bool) -> bool:
    """Whether a condition holds inside the domain, where it may stand for one of the boundary.

    One between two media does not where each equation is one of its own side, `sided`.
    """
    known = Boundary | Start | End | (Section | Surface if sided else Boundary)
    several = len(condition.points) > 1 and not condition.residual.whole
    between = isinstance(condition.residual.source, Section | Surface)
    return (several or between) and not isinstance(condition.residual.source, known)


def _sides(statement: Statement) -> list[_Side]:
    domain = statement.problem.domain
    measures = np.array([part.measure for part in domain.parts])
    sides = []
    for part, share in zip(domain.parts, measures / max(measures.sum(), 1e-300), strict=True):
        few = Sampling(boundary=max(_FEWEST, round(_POINTS * share)), method="uniform")
        rng = stream(0, "boundary", part.label)
        points, normals = domain.sample_part(part, few.boundary, few.sampler, rng)
        if len(points):
            sides.append(_Side(part, points, normals))
    return sides


def _order_across(statement: Statement, system: System, side: _Side) -> int | None:
    """Return the order of the equations along the normal of a part; None where unknown."""
    domain = statement.problem.domain
    tried = np.linspace(0, len(side.points) - 1, min(_TRIED, len(side.points))).astype(int)
    found = []
    for row in tried:
        point, normal = side.points[row : row + 1], side.normals[row]
        # A component that is rounding is none: across x=0 no derivative along y counts.
        parts = np.where(np.abs(normal) > _ROUNDING, normal, 0.0)
        direction = dict(zip(domain.space, map(float, parts), strict=True))
        holding = [one for one in system.equations if _holds_at(one, point)]
        unknowns = _unknowns_of(statement, system, holding)
        if len(holding) != len(unknowns):
            return None
        there = [statement.linear(one.residual, Points(point)) for one in holding]
        inside = [one.linear for one in holding]
        if not holding:
            found.append(0)
            continue
        if any(one is None or not all(state.is_finite for state in one) for one in there):
            return None
        at_point, within = (
            _order(statement, values, unknowns, direction) for values in (there, inside)
        )
        if at_point is None or within is None or at_point < within:
            return None
        found.append(at_point)
    return min(found, default=0)


def _holds_at(equation: Stated, point: np.ndarray) -> bool:
    source = equation.residual.source
    return bool(source.region(point)[0]) if isinstance(source, Within) else isinstance(
        source, Interior
    )


def _unknowns_of(
    statement: Statement, system: System, equations: Sequence[Stated]
) -> tuple[str, ...]:
    names = {leaf.unknown for one in equations for leaf in of_unknowns(statement, one)}
    return tuple(name for name in system.unknowns if name in names)


def _order(statement, equations, unknowns, direction) -> int | None:
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


def _reach(statement: Statement, system: System, side: _Side) -> None:
    """Count the conditions that reach each point of a part; equal ones on pieces count once."""
    domain = statement.problem.domain
    columns = {
        **dict(zip(domain.coordinates, side.points.T, strict=True)),
        **dict(zip(map(normal_name, domain.space), side.normals.T, strict=True)),
    }
    counts: dict[object, np.ndarray] = {}
    asked: set[str] = set()
    for condition in system.conditions:
        source = condition.residual.source
        if not isinstance(source, Boundary):
            if _is_at_end(condition, side):
                counts[condition.name] = np.ones(len(side.points))
                asked |= {leaf.unknown for leaf in condition.leaves}
            continue
        ties = any(isinstance(leaf, At) for leaf in condition.leaves)
        reached = np.zeros(len(side.points))
        for part in source.parts:
            if ties and _faces(part, side.part, condition):
                reached[:] = 0.5
            elif (within := _within(part, side.part, columns)) is not None:
                reached[within] = 0.5 if ties else 1.0
        if reached.any():
            asked |= {leaf.unknown for leaf in condition.leaves}
        alone = condition.leaves[0] if len(condition.leaves) == 1 else condition.name
        counts[alone] = np.maximum(counts.get(alone, 0.0), reached)
    side.reached = sum(counts.values(), start=np.zeros(len(side.points)))
    side.by = frozenset(asked)


def _is_at_end(condition: Stated, side: _Side) -> bool:
    """Whether a condition at points is one at the end of a line."""
    if side.points.shape[1] > 1 or len(condition.points) != 1:
        return False
    return bool(np.allclose(condition.points.coordinates, side.points[0], atol=_ROUNDING))


def _within(part: Part, side: Part, columns: dict[str, np.ndarray]) -> np.ndarray | None:
    """Return which points of a part of the boundary a condition's part has; None for others."""
    if part == side:
        return np.ones(len(next(iter(columns.values()))), bool)
    if not isinstance(part, Piece):
        return None
    whole = _within(part.part, side, columns)
    return None if whole is None else whole & part.holds(columns)


def _faces(part: Part, side: Part, condition: Stated) -> bool:
    """Whether a part is the other end of the coordinate across which a condition ties points."""
    names = {name for leaf in condition.leaves if isinstance(leaf, At) for name in leaf.names}
    return (
        isinstance(part, Face) and isinstance(side, Face) and part != side
        and names == {part.coordinate} == {side.coordinate}
    )  # fmt: skip


def _lacks(side: _Side, system: System, held: Held) -> bool:
    """Whether conditions are missing on a part, those that the model keeps counted in."""
    lacking = side.lacking
    if np.mean(lacking) < _GRAIN:
        return False
    if isinstance(side.part, Face):
        across = (held.across(u, side.part.coordinate, side.order) for u in system.unknowns)
        if sum(across) >= side.order:
            return False
    points = side.points[lacking][:_FEWEST]
    kept = sum(held.at(unknown, points) for unknown in system.unknowns)
    return bool((side.reached[lacking] + kept < side.needed).any())


def _sentence(system: System, sides: Sequence[_Side], lacking: Sequence[_Side]) -> str:
    total = sum(side.part.measure for side in sides)
    share = sum(side.part.measure * float(np.mean(side.lacking)) for side in lacking) / total
    needed = max(side.needed for side in lacking)
    least = min(float(side.reached[side.lacking].min()) for side in lacking)
    names = ", ".join(repr(equation.name) for equation in system.equations)
    takes = f"equation {names} takes"
    if len(system.equations) > 1:
        takes = f"equations {names} take"
    asked = frozenset.intersection(*(side.by for side in lacking))
    wanting = [name for name in system.unknowns if name not in asked] or list(system.unknowns)
    there = f"is no condition on {' or '.join(map(repr, wanting))}"
    part = lacking[0].part
    example = f"pinn.Dirichlet({wanting[0]!r}, ..., on={str(part)!r})"
    if 0 < least < 1:
        there = "is a period of the value alone"
        example = "that of the slope (orders=2)"
    elif least > 0:
        there = f"{'is' if least <= 1 else 'are'} {least:g} condition{'s' * (least > 1)}"
        example = "a derivative there" if len(system.unknowns) == 1 else example
    elif not lacking[0].lacking.all():
        example = f"pinn.Dirichlet({wanting[0]!r}, ...) there"
    return (
        f"the solution seems not to be determined at {_places(lacking)}, {_percent(share)} of the "
        f"boundary: there {there}, and the {takes} {needed} at every point of it; add one, such as "
        f"{example}"
    )


def _percent(share: float) -> str:
    return "all" if share > 0.9999 else f"{100 * share:.2g} %"


def _places(lacking: Sequence[_Side]) -> str:
    places = [
        f"{'' if side.lacking.all() else f'{100 * np.mean(side.lacking):.0f} % of '}{side.part}"
        for side in lacking[:_MOST_NAMED]
    ]
    more = len(lacking) - _MOST_NAMED
    return ", ".join(places) + (f" and {more} more" if more > 0 else "")
