"""Where information enters a domain along characteristics, and no condition says what enters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pinn.diagnosis.posed.boundary import FEWEST, GRAIN, boundary_points, is_inside, places
from pinn.diagnosis.posed.example import example
from pinn.diagnosis.posed.held import Held, HeldByModel
from pinn.diagnosis.posed.reach import reach
from pinn.diagnosis.posed.statement import Stated, Statement, statement_of
from pinn.diagnosis.posed.systems import System, systems_of
from pinn.equations.leaves import Derivative, parts_of
from pinn.geometry import Face, Part
from pinn.objective import Objective
from pinn.residuals import Boundary, Interior
from pinn.sampling import Points

# States of the unknowns in which a speed has to have the same sign.
_TRIED = 8
# A speed below this share of the largest is none.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class _Side:
    """A part of the boundary, with points of it (n, d).

    lowest, highest: of the speed out of the domain at each point, over all states; nan where the
    equation has no value, or more than first order across. given: whether a condition on the
    unknown reaches it.
    """

    part: Part
    points: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    given: np.ndarray

    @property
    def enters(self) -> np.ndarray:
        """Where information enters in every state, (n,)."""
        return self.highest < 0

    @property
    def leaves(self) -> np.ndarray:
        """Where it leaves in every state, (n,)."""
        return self.lowest > 0

    @property
    def lacking(self) -> np.ndarray:
        return self.enters & ~self.given


def unentered(statement: Statement, system: System, held: Held) -> str | None:
    """Return a sentence about the part of the boundary where only information enters, or None.

    Of the first-order part a.grad(u) of an equation, a u_x + b u_t as well, the speed a.n is
    evaluated at points of the boundary in several states of the unknowns. Where its sign says in
    all of them that characteristics enter, a condition is needed. Which way they run is told by
    time, if u is given at its start or its end; without time by the conditions that there are, if
    all are at one end of the characteristics. None where that proves nothing: of equations with
    derivatives of several unknowns, of parts of the boundary across which they have a higher order
    or a sign that depends on the unknowns, of data inside the domain; and without time of
    characteristics that may be closed or meet, as where no component of a keeps its sign.
    """
    for equation, unknown in _transported(statement, system):
        sides = _sides(statement, system, equation, unknown)
        lacking = [
            side for side in sides
            if np.mean(side.lacking) >= GRAIN and not _keeps(side, unknown, held)
        ]  # fmt: skip
        if lacking:
            return _sentence(system, equation, unknown, sides, lacking)
    return None


def lacks_inflow(objective: Objective) -> bool:
    """Return whether information enters a problem's domain where nothing is given."""
    statement, held = statement_of(objective.problem), HeldByModel(objective)
    return statement is not None and any(
        unentered(statement, system, held) for system in systems_of(statement)
    )


def given_where_it_leaves(statement: Statement, system: System) -> Iterator[str]:
    """Yield a sentence for each condition on a face where all characteristics leave the domain.

    The value that arrives there is that of the equation, which one that is given agrees with or
    contradicts. Not where one is missing elsewhere, which `unentered` tells of.
    """
    for equation, unknown in _transported(statement, system):
        sides = _sides(statement, system, equation, unknown)
        if any(np.mean(side.lacking) >= GRAIN for side in sides):
            continue
        for name, parts, kept in _at_outflow(system, unknown, sides):
            where = f" at {', '.join(parts)}," if kept else ""
            on = f" there, by on={(kept[0] if len(kept) == 1 else kept)!r}" if kept else ""
            yield (
                f"{name} gives {unknown!r}{where} where all characteristics of the equation "
                f"{equation.name!r} leave the domain, which takes no condition there: what arrives "
                "comes from inside, and unless the value agrees with it, training finds a "
                f"compromise; leave it out{on}"
            )


def _transported(statement: Statement, system: System) -> Iterator[tuple[Stated, str]]:
    """Yield equations with the one unknown that each has derivatives of; none of other systems.

    Several are those of one system in time, where each unknown is carried by its own equation.
    """
    domain = statement.problem.domain
    if len(system.equations) != len(system.unknowns) or not domain.space:
        return
    if len(system.equations) > 1 and domain.time is None:
        return
    if any(one.linear is None or one.residual.whole or is_inside(one, domain, False)
           for one in system.conditions):  # fmt: skip
        return
    found = {}
    for equation in system.equations:
        if not equation.is_finite or not isinstance(equation.residual.source, Interior):
            return
        bent = {
            leaf.unknown for leaf in equation.leaves
            if any(names for names, _ in parts_of(leaf, domain.space))
        }  # fmt: skip
        if len(bent) != 1 or bent & set(found) or not bent <= set(system.unknowns):
            return
        found[bent.pop()] = equation
    for unknown, equation in found.items():
        yield equation, unknown


def _coordinates(
    statement: Statement, equation: Stated, unknown: str
) -> tuple[list[str], list[str]]:
    """Return the coordinates in which an equation is of first order, and those of higher."""
    domain = statement.problem.domain
    parts = [
        names for leaf in equation.leaves if leaf.unknown == unknown
        for names, _ in parts_of(leaf, domain.space)
    ]  # fmt: skip
    higher = {name for names in parts if len(names) > 1 for name in names}
    first = {names[0] for names in parts if len(names) == 1}
    return (
        [name for name in domain.coordinates if name in first - higher],
        [name for name in domain.coordinates if name in higher],
    )


def _sides(
    statement: Statement, system: System, equation: Stated, unknown: str
) -> list[_Side]:
    """Return the parts of the boundary with what the equation carries across; none if unknown."""
    domain = statement.problem.domain
    names, higher = _coordinates(statement, equation, unknown)
    bent = [i for i, name in enumerate(domain.space) if name in higher]
    if domain.time is not None and domain.time not in names:
        return []
    inside = _speeds(statement, equation, unknown, names, equation.points.coordinates)
    if inside is None:
        return []
    found, speeds = [], [inside]
    for part, points, normals in boundary_points(domain):
        there = _speeds(statement, equation, unknown, names, points)
        if there is None:
            return []
        speeds.append(there)
        out = sum(
            there[:, names.index(name)] * normals[:, i]
            for i, name in enumerate(domain.space) if name in names
        ) + np.zeros((_TRIED, len(points)))  # fmt: skip
        out[:, (np.abs(normals[:, bent]) > _ROUNDING).any(axis=1)] = np.nan
        _, asked = reach(domain, system, part, points, normals)
        given = asked.get(unknown, np.zeros(len(points), bool))
        found.append((part, points, out, given))
    everywhere = np.concatenate(speeds, axis=2)
    sign = _direction(statement, system, unknown, names, everywhere, found)
    if not sign:
        return []
    least = _ROUNDING * np.nanmax(np.abs(everywhere))
    sides = []
    for part, points, out, given in found:
        out = sign * np.where(np.abs(out) <= least, 0.0, out)
        known = ~np.isnan(out).all(axis=0)
        lowest, highest = np.full((2, len(points)), np.nan)
        lowest[known] = np.nanmin(out[:, known], axis=0)
        highest[known] = np.nanmax(out[:, known], axis=0)
        sides.append(_Side(part, points, lowest, highest, given))
    return sides


def _speeds(
    statement: Statement, equation: Stated, unknown: str, names: Sequence[str], points: np.ndarray
) -> np.ndarray | None:
    """Return the slope in the derivative along each of some coordinates, (states, names, n).

    nan where the equation has no value in a state, as that of a root.
    """
    found = np.zeros((_TRIED, len(names), len(points)))
    for number, slopes in enumerate(found):
        state = statement.drawn(equation, Points(points), number)
        if state is None:
            return None
        for leaf, slope in state.slopes.items():
            if leaf.unknown == unknown:
                for along, count in parts_of(leaf, statement.problem.domain.space):
                    if len(along) == 1 and along[0] in names:
                        slopes[names.index(along[0])] += count * slope
    return np.where(np.isfinite(found), found, np.nan)


def _direction(
    statement: Statement,
    system: System,
    unknown: str,
    names: Sequence[str],
    speeds: np.ndarray,
    sides: Sequence[tuple[Part, np.ndarray, np.ndarray, np.ndarray]],
) -> float:
    """Return 1 where information runs along the speeds, -1 where against them, 0 if unknown."""
    if not names or np.isnan(speeds).all():
        return 0.0
    time = statement.problem.domain.time
    signs = np.array([_sign(speeds[:, k]) for k in range(len(names))])
    if time is not None:
        start, end = statement.problem.domain.bounds[time]
        at = {
            plane.value for one in system.conditions for plane in one.planes
            if plane.coordinate == time and unknown in {leaf.unknown for leaf in one.leaves}
        }  # fmt: skip
        told = (start in at) - (end in at)
        return float(told * signs[names.index(time)])
    if not signs.any():
        return 0.0
    out = [
        _sign(across[:, [k]]) for _, _, across, given in sides for k in np.flatnonzero(given)
        if not (across[:, k] == 0).all()
    ]  # fmt: skip
    return -out[0] if out and out[0] and len(set(out)) == 1 else 0.0


def _sign(numbers: np.ndarray) -> float:
    """Return the sign that numbers have in common, those left out that are nan; 0 for none."""
    signs = set(np.sign(numbers[~np.isnan(numbers)]).tolist())
    return signs.pop() if len(signs) == 1 else 0.0


def _keeps(side: _Side, unknown: str, held: Held) -> bool:
    """Whether the model itself keeps the unknown on a part."""
    if isinstance(side.part, Face) and held.across(unknown, side.part.coordinate, 1):
        return True
    return held.at(unknown, side.points[side.lacking][:FEWEST])


def _at_outflow(
    system: System, unknown: str, sides: Sequence[_Side]
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the conditions that give an unknown where information leaves the domain.

    Each by name, with those of its parts where it leaves everywhere, and its others.
    """
    by_part = {str(side.part): side for side in sides}
    for one in system.conditions:
        source = one.residual.source
        if one.leaves != (Derivative(unknown),) or not isinstance(source, Boundary):
            continue
        idle, kept = [], []
        for part in map(str, source.parts):
            side = by_part.get(part)
            (idle if side is not None and side.leaves.all() else kept).append(part)
        if idle:
            yield one.name, idle, kept


def _sentence(
    system: System,
    equation: Stated,
    unknown: str,
    sides: Sequence[_Side],
    lacking: Sequence[_Side],
) -> str:
    where = places([(side.part, float(np.mean(side.lacking))) for side in lacking])
    first = lacking[0]
    on = {"on": str(first.part)} if first.lacking.all() else {}
    idle = [name for name, _, kept in _at_outflow(system, unknown, sides) if not kept]
    leaving = ""
    if idle:
        leaving = (
            f" ({', '.join(idle)} {'hold' if len(idle) > 1 else 'holds'} where they leave it, "
            "which takes none)"
        )
    return (
        f"the solution seems not to be determined at {where}: there the characteristics of the "
        f"equation {equation.name!r} enter the domain, and no condition says which values of "
        f"{unknown!r} they bring{leaving}; add one, such as "
        f"{example('Dirichlet', unknown, **on)}"
    )
