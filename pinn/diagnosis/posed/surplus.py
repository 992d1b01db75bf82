"""More conditions than the order of the equations holds, which are met only where they agree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pinn.diagnosis.posed.agreement import agree
from pinn.diagnosis.posed.backward import runs_from_the_end
from pinn.diagnosis.posed.balance import unbalanced
from pinn.diagnosis.posed.homogeneous import vanishes_at_zero
from pinn.diagnosis.posed.inflow import given_where_it_leaves
from pinn.diagnosis.posed.mirrored import is_of_symmetry
from pinn.diagnosis.posed.periods import period_order
from pinn.diagnosis.posed.planes import Plane, places_in_words
from pinn.diagnosis.posed.shifts import fixes_constant
from pinn.diagnosis.posed.starts import start_of
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.diagnosis.posed.systems import System, of_unknowns, order_in, systems_of
from pinn.diagnosis.posed.taken import says_where, taken_by
from pinn.equations.leaves import Derivative
from pinn.residuals import Measured

# Of more conditions than this only the first are named.
_TOLD = 8
# Slopes below this are zero, places closer than this one.
_ROUNDING = 1e-9
# What lies at both sides of a plane is looked at so far from it, as a share of the coordinate.
_STEP = 1e-6


@dataclass(frozen=True)
class _Excess:
    """More conditions than are taken, in a sentence; usual: of a kind that often agree."""

    text: str
    usual: bool


def surplus(statement: Statement) -> list[str]:
    """Return a sentence for each coordinate in which there are more conditions than are taken.

    And for each that gives values where they leave the domain (`inflow`). Coefficients
    and fields that are to be found need them: nothing is said where there are some. A slope that is
    the same at both ends of a period is none too many: the slopes of a smooth periodic function
    are, whatever the order of the equation. A mean counts along a line where a value is given too;
    beside slopes at all ends it fixes what they leave free. Nothing is said of linear equations
    along a line whose conditions agree, of what was measured, of starts that an equation without
    derivatives in time ties (`starts`), and of what a symmetry brings about (`mirrored`); for
    others that often agree see `surplus_that_may_agree`.
    """
    return [found.text for found in _excesses(statement) if not found.usual]


def surplus_that_may_agree(statement: Statement) -> list[str]:
    """Return the sentences about more conditions than are taken that mostly do no harm.

    Those are too many only where equations without a derivative of one of the unknowns tie values
    that are all given, as pressures, or by the one that says how large a mode is; with those on
    unknowns without a derivative across their place, which the equations have from the others; or
    by a value that fixes a constant, which slopes all around leave free. The starts of unknowns
    with derivatives in time are none too many.
    """
    return [found.text for found in _excesses(statement) if found.usual]


def _excesses(statement: Statement) -> Iterator[_Excess]:
    if statement.problem.parameters or statement.problem.fields:
        return
    if not all(one.is_finite for one in statement.equations):
        return
    for system in systems_of(statement):
        if any(one.scattered for one in system.conditions):
            continue
        # Where a singular equation takes less at a bound its solutions often have what is given.
        taken = taken_by(statement, system, at_bounds=False)
        idle = list(given_where_it_leaves(statement, system))
        if idle and agree(statement, system):
            continue
        yield from (_Excess(text, False) for text in idle)
        told: set[str] = set()
        for coordinate in statement.coordinates if taken is not None else ():
            if coordinate in statement.problem.domain.space and (
                idle or not _says_how_many(statement, system, coordinate)
            ):
                continue
            given = _given(statement, system, coordinate)
            names = {one.name for one, _ in given}
            if taken[coordinate] and not names <= told:  # else they are too many all around
                found = list(_too_many(statement, system, coordinate, taken[coordinate], given))
                told |= names if found else set()
                yield from found


def _too_many(
    statement: Statement,
    system: System,
    coordinate: str,
    taken: int,
    given: Sequence[tuple[Stated, Plane]],
) -> Iterator[_Excess]:
    column = statement.coordinates.index(coordinate)
    count = _most_met(statement, [[plane] for _, plane in given], column)
    if count - _tied(statement, system, coordinate) <= taken:
        return
    agreed = agree(statement, system)
    if _is_start(statement, system, coordinate, given) or agreed:
        return
    asked = [one for one, _ in given]
    fixing = next((one for one in asked if asked.count(one) == 1
                   and fixes_constant(statement, system, one)), None)  # fmt: skip
    if fixing is not None and any(unbalanced(statement)):
        return  # told as that
    stated: dict[object, list[Plane]] = {}
    for one, plane in given:
        may_agree = one is fixing and agreed is None
        if not may_agree and not _follows(statement, system, coordinate, one, plane):
            # Twice the same at one place is one, or a contradiction that is told as that.
            what = one.leaves[0] if len(one.leaves) == 1 and not one.residual.whole else one.name
            stated.setdefault((what, plane.value), []).append(plane)
    sure = _most_met(statement, [*stated.values()], column)
    places = places_in_words([(one.name, plane) for one, plane in given[:_TOLD]])
    if len(given) > _TOLD:
        places += f" and {len(given) - _TOLD} more"
    order = "its order" if len(system.equations) == 1 else "their order together"
    leave = _to_leave(statement, system, coordinate, taken, count, given)
    text = (
        f"more is asked for in {coordinate} than the {system.named} can be given: "
        f"{count} conditions where {taken} {'is' if taken == 1 else 'are'} taken, {order} in "
        f"{coordinate} ({places}); unless they agree, no solution satisfies all of them and "
        f"training finds a compromise; {leave}"
    )
    of_mode = taken > 1 and _is_of_mode(statement, system)
    most = max(taken + of_mode, _given_if_tied(statement, system, coordinate))
    yield _Excess(text, sure <= most)


def _to_leave(
    statement: Statement,
    system: System,
    coordinate: str,
    taken: int,
    count: int,
    given: Sequence[tuple[Stated, Plane]],
) -> str:
    """Return in words what to leave out of so many conditions: in time what the rest determines."""
    if coordinate == statement.problem.domain.time:
        orders = _orders(statement, system, coordinate)
        idle = {
            one.name: next(iter(unknowns)) for one, _ in given
            for unknowns in [{leaf.unknown for leaf in one.leaves}]
            if len(unknowns) == 1 and not orders.get(*unknowns)
        }  # fmt: skip
        rest = [(one, plane) for one, plane in given if one.name not in idle]
        if idle and _is_start(statement, system, coordinate, rest):
            names = ", ".join(map(repr, dict.fromkeys(idle.values())))
            return (
                f"leave {', '.join(idle)} out: {names} {'has' if len(idle) == 1 else 'have'} no "
                f"derivative in {coordinate}, and no start"
            )
    low, high = statement.problem.domain.bounds[coordinate]
    start, end = ([one.name for one, plane in given if plane.value == place]
                  for place in (low, high))  # fmt: skip
    if coordinate == statement.problem.domain.time and len(start) + len(end) == len(given) == count:
        back = len(system.equations) == 1 and runs_from_the_end(statement, system.equations[0])
        kept, left, where = (end, start, "end") if back else (start, end, "start")
        if len(kept) == taken:
            return f"leave {', '.join(left)} out: what is there follows from the {where}"
    return f"leave {count - taken} out"


def _tied(statement: Statement, system: System, coordinate: str) -> int:
    """Return how many equations tie what is given at the start, where they hold or are told of."""
    if coordinate != statement.problem.domain.time:
        return 0
    return sum(start_of(statement, one) is not None for one in system.equations)


def _given(
    statement: Statement, system: System, coordinate: str
) -> list[tuple[Stated, Plane]]:
    """Return the conditions that count across a coordinate, by the planes that they hold on."""
    alone = len(statement.coordinates) == 1
    means = alone and any(_is_value(one) for one in system.conditions)
    return [
        (condition, plane)
        for condition in system.conditions
        if not period_order(condition, coordinate)
        for plane in condition.planes
        if plane.coordinate == coordinate and (means or not math.isnan(plane.value))
        and not isinstance(condition.residual.source, Measured)
        and not is_of_symmetry(statement, system, condition, coordinate)
    ]


def _is_start(
    statement: Statement, system: System, coordinate: str, given: Sequence[tuple[Stated, Plane]]
) -> bool:
    """Return whether conditions are just the start of unknowns with derivatives in time.

    As the velocities of a flow are, of which one would do where the others' divergence is zero.
    """
    if coordinate != statement.problem.domain.time or len({p.value for _, p in given}) > 1:
        return False
    orders = _orders(statement, system, coordinate)
    asked = [leaf for one, _ in given for leaf in one.leaves]
    return (
        len(asked) == len(given) == len(set(asked))
        and all(isinstance(leaf, Derivative) for leaf in asked)
        and all(set(leaf.coordinates) <= {coordinate} for leaf in asked)
        and all(leaf.order < orders.get(leaf.unknown, 0) for leaf in asked)
    )


def _follows(
    statement: Statement, system: System, coordinate: str, one: Stated, plane: Plane
) -> bool:
    """Return whether a condition is on unknowns without a derivative across its plane.

    The equations have them from the others along the plane: a velocity v = u_t of a wall is zero
    where u is, and the normal component of a magnetic field where the electric field is.
    """
    if len(statement.coordinates) == 1 or one.residual.whole or one.linear is None:
        return False
    column = statement.coordinates.index(coordinate)
    rows = np.abs(one.points.coordinates[:, column] - plane.value) <= _ROUNDING
    orders = _orders(statement, system, coordinate)
    asked = {
        leaf.unknown
        for state in one.linear
        for leaf, slope in state.slopes.items()
        if np.any(np.abs(slope[rows]) > _ROUNDING)
    }
    return bool(asked) and not any(orders.get(unknown, 1) for unknown in asked)


def _orders(statement: Statement, system: System, coordinate: str) -> dict[str, int]:
    """Return the highest order of each unknown's derivatives in a coordinate."""
    orders: dict[str, int] = {}
    for equation in system.equations:
        for leaf in of_unknowns(statement, equation):
            order = order_in(statement, leaf, coordinate)
            orders[leaf.unknown] = max(orders.get(leaf.unknown, 0), order)
    return orders


def _is_value(condition: Stated) -> bool:
    """Return whether a condition at places gives an unknown itself there."""
    if condition.residual.whole or len(condition.leaves) != 1:
        return False
    return isinstance(condition.leaves[0], Derivative) and not condition.leaves[0].order


def _given_if_tied(statement: Statement, system: System, coordinate: str) -> int:
    """Return how many conditions all unknowns would take were no equation a tie between values."""
    return sum(max(1, order) for order in _orders(statement, system, coordinate).values())


def _is_of_mode(statement: Statement, system: System) -> bool:
    """Return whether zero solves all of a system but a condition on a mean."""
    if not all(vanishes_at_zero(statement, one) for one in system.equations):
        return False
    others = [
        one for one in system.conditions
        if one.linear is not None and not vanishes_at_zero(statement, one)
    ]  # fmt: skip
    return len(others) == 1 and others[0].residual.whole


def _says_how_many(statement: Statement, system: System, coordinate: str) -> bool:
    """Whether the count holds whatever the directions in which information travels.

    Along a line one that varies does where it keeps its sign, each equation having one derivative.
    """
    if says_where(statement, system, coordinate):
        return True
    if len(statement.coordinates) > 1:
        return False
    for equation in system.equations:
        slopes = [
            np.concatenate([state.slopes[leaf] for state in equation.linear])
            for leaf in of_unknowns(statement, equation)
            if order_in(statement, leaf, coordinate)
        ]
        if len(slopes) > 1 or not all((one > 0).all() or (one < 0).all() for one in slopes):
            return False
    return True


def _most_met(statement: Statement, groups: Sequence[Sequence[Plane]], column: int) -> int:
    """Return how many groups of planes across a coordinate one line along it meets, about.

    Tried are the lines through the planes' points; a plane reaches as far as its points do. A line
    that leaves the domain in between, as at a hole, is another one on the other side. The planes of
    a group are at one place, or nowhere (a mean).
    """
    if not groups:
        return 0
    points = [[np.delete(plane.points, column, axis=1) for plane in group] for group in groups]
    lines = np.concatenate([each for group in points for each in group])
    met: dict[float, np.ndarray] = {}
    everywhere = np.zeros(len(lines), int)
    for group, own in zip(groups, points, strict=True):
        reached = [
            np.all((each.min(axis=0) <= lines) & (lines <= each.max(axis=0)), axis=1)
            for each in own
        ]
        place, found = group[0].value, np.any(reached, axis=0).astype(int)
        if not math.isnan(place):
            found &= ~_is_gap(statement, np.concatenate(own), lines, column, place)
        if math.isnan(place):
            everywhere += found
        else:
            met[place] = met.get(place, 0) + found
    count = most = np.zeros(len(lines), int)
    for before, place in zip([None, *sorted(met)], sorted(met), strict=False):
        if before is not None:
            between = np.insert(lines, column, (before + place) / 2, axis=1)
            count = np.where(statement.problem.domain.contains(between), count, 0)
        count = count + met[place]
        most = np.maximum(most, count)
    return int((most + everywhere).max())


def _is_gap(
    statement: Statement, own: np.ndarray, lines: np.ndarray, column: int, place: float
) -> np.ndarray:
    """Return which lines run on through the domain where a plane along walls lets them, (n,).

    As between the two wings of a T. own: the plane's points without the coordinate across it.
    """
    domain = statement.problem.domain
    low, high = domain.bounds[statement.coordinates[column]]
    step = _STEP * (high - low)

    def inside(at: np.ndarray) -> np.ndarray:
        sides = (np.insert(at, column, place + s, axis=1) for s in (-step, step))
        return np.logical_and.reduce([domain.contains(side, 0.0) for side in sides])

    if not low < place < high or inside(own).mean() > 0.5:
        return np.zeros(len(lines), bool)
    return inside(lines)
