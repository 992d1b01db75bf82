"""Conditions that are missing, and what the equations and conditions leave undetermined."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from pinn.diagnosis.bare import bare
from pinn.diagnosis.example import example
from pinn.diagnosis.held import Held, HeldByModel
from pinn.diagnosis.inflow import given_where_it_leaves, unentered
from pinn.diagnosis.linear import Leaf, Linear
from pinn.diagnosis.orders import conditions_taken
from pinn.diagnosis.planes import Plane
from pinn.diagnosis.statement import Stated, Statement, statement_of
from pinn.diagnosis.systems import System, of_unknowns, order_in, systems_of
from pinn.equations.leaves import At, Derivative, parts_of
from pinn.objective import Objective
from pinn.residuals import Boundary, Interior

# Slopes are the same below this share of their size.
_ROUNDING = 1e-9
# Of more conditions than this only the first are named.
_TOLD = 8


def missing(statement: Statement, held: Held) -> list[str]:
    """Return a sentence for each coordinate in which conditions seem to be missing, and so on.

    The part of the boundary that they leave bare comes first (pinn.diagnosis.bare), or that where
    first-order equations carry information in (pinn.diagnosis.inflow). Where none is, compared are,
    in each coordinate, the order of the equations (pinn.diagnosis.orders) and the conditions on
    planes across it. Where none is missing, coefficients and shifts that are free
    all the same are named. Nothing is said where the count proves nothing: of data inside the
    domain, of equations with values from elsewhere, of an order that drops at a bound (a singular
    or degenerate equation), of first-order equations whose coefficients vary, which may carry all
    they need out of a domain or into it.
    """
    if not all(one.is_finite for one in statement.equations):
        return []
    sentences = []
    for system in systems_of(statement):
        taken = _taken(statement, system)
        if taken is None:
            continue
        told = bare(statement, system, held) or unentered(statement, system, held)
        # What is bare is what is missing across the coordinates of space.
        counted = _planar(statement) if told is None else {statement.problem.domain.time}
        lacking = [told] if told else []
        for coordinate in filter(counted.__contains__, statement.coordinates):
            lacking += _lacking(statement, system, coordinate, taken[coordinate], held)
        sentences += lacking
        if not lacking:
            sentences += _free_coefficients(statement, system, taken)
            sentences += _free_shifts(statement, system, held)
    return sentences


def lacks_conditions(objective: Objective) -> bool:
    """Return whether conditions or equations seem to be missing, so that solutions are many."""
    statement = statement_of(objective.problem)
    if statement is None:
        return False
    return bool(missing(statement, HeldByModel(objective)) or underdetermined(statement))


def underdetermined(statement: Statement) -> list[str]:
    """Return a sentence for each set of unknowns with fewer equations than unknowns.

    Not where data or values at points may determine them, or something cannot be read.
    """
    return [
        f"{_counted(len(system.equations), 'equation')} for the {len(system.unknowns)} unknowns "
        f"{', '.join(system.unknowns)}: they leave some of them free, so that no solution is the "
        "right one; add an equation, or make one of the unknowns a constant or a function"
        for system in systems_of(statement)
        if len(system.equations) < len(system.unknowns)
        and not any(one.linear is None or _has_inside(statement, one) for one in system.conditions)
        and all(one.linear is not None for one in system.equations)
    ]


def overdetermined(statement: Statement) -> list[str]:
    """Return a sentence for each set of unknowns with more equations than unknowns.

    Counted are equations that hold everywhere and of which all is known. One without a slope in
    some places, as max(0, g - u) has none, is an inequality; where coefficients or fields are to be
    found, more of them are the point.
    """
    if statement.problem.parameters or statement.problem.fields:
        return []
    found = []
    for system in systems_of(statement):
        everywhere = [
            one for one in system.equations
            if isinstance(one.residual.source, Interior) and _is_equality(one)
        ]  # fmt: skip
        if not 0 < len(system.unknowns) < len(everywhere):
            continue
        names = ", ".join(repr(one.name) for one in everywhere)
        found.append(
            f"{len(everywhere)} equations ({names}) for "
            f"{_counted(len(system.unknowns), 'unknown')}, {', '.join(system.unknowns)}: unless "
            "one follows from the others no function satisfies all of them, and training finds a "
            "compromise; leave one out, or add an unknown"
        )
    return found


def _is_equality(one: Stated) -> bool:
    """Return whether an equation says something of its unknowns at all places, in all states."""
    return one.is_finite and all(
        np.any([slope != 0 for slope in state.slopes.values()], axis=0).all()
        for state in one.linear
    )  # fmt: skip


def _has_inside(statement: Statement, one: Stated) -> bool:
    """Return whether a condition has points within the bounds of all coordinates, as data have."""
    low, high = np.array(list(statement.problem.domain.bounds.values())).T
    places = one.points.coordinates
    return bool(((low < places) & (places < high)).all(axis=1).any())


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number > 1 else ''}"


def surplus(statement: Statement) -> list[str]:
    """Return a sentence for each coordinate in which there are more conditions than are taken.

    And for each that gives values where they leave the domain (pinn.diagnosis.inflow). Data that
    agree do no harm, and coefficients need them: nothing is said where there are some.
    A slope that is the same at both ends of a period is none too many: the slopes of a smooth
    periodic function are, whatever the order of the equation. Nor is a mean, which fixes what
    slopes at all ends leave free.
    """
    if statement.problem.parameters or statement.problem.fields:
        return []
    if not all(one.is_finite for one in statement.equations):
        return []
    sentences = []
    for system in systems_of(statement):
        if any(one.scattered for one in system.conditions):
            continue
        taken = _taken(statement, system)
        idle = list(given_where_it_leaves(statement, system))
        sentences += idle
        for coordinate in statement.coordinates if taken is not None else ():
            if coordinate in statement.problem.domain.space and (
                idle or not _says_where(statement, system, coordinate)
            ):
                continue
            given = [
                (condition.name, plane)
                for condition in system.conditions
                if not _is_slope_of_period(condition, coordinate)
                for plane in condition.planes
                if plane.coordinate == coordinate and not math.isnan(plane.value)
            ]
            if not given or not taken[coordinate]:
                continue
            column = statement.coordinates.index(coordinate)
            count = _most_met([plane for _, plane in given], column)
            if count <= taken[coordinate]:
                continue
            places = _places(given[:_TOLD])
            if len(given) > _TOLD:
                places += f" and {len(given) - _TOLD} more"
            sentences.append(
                f"more is asked for in {coordinate} than the {system.named} can be given: "
                f"{count} conditions where {taken[coordinate]} "
                f"{'is' if taken[coordinate] == 1 else 'are'} taken ({places}); unless they agree, "
                "training finds a compromise"
            )
    return sentences


def _given(system: System, coordinate: str) -> list[tuple[str, Plane]]:
    """Return the conditions across a coordinate, by the planes that they hold on."""
    return [
        (condition.name, plane)
        for condition in system.conditions
        for plane in condition.planes
        if plane.coordinate == coordinate
    ]


def _places(given: Sequence[tuple[str, Plane]]) -> str:
    """Return conditions with their planes in words; a mean is on none."""
    return ", ".join(
        name if math.isnan(plane.value) else f"{name} at {plane.coordinate} = {plane.value:g}"
        for name, plane in given
    )


def _is_slope_of_period(condition: Stated, coordinate: str) -> bool:
    """Return whether a condition is that a derivative is the same at both ends of a coordinate."""
    if len(condition.leaves) != 2:
        return False
    here, there = condition.leaves
    return (
        isinstance(there, At)
        and there.names == (coordinate,)
        and there.leaf == here
        and here.order > 0
    )


def _most_met(planes: Sequence[Plane], column: int) -> int:
    """Return how many of some planes across a coordinate one line along it meets, about.

    Tried are the lines through the planes' points; a plane reaches as far as its points do.
    """
    points = [np.delete(plane.points, column, axis=1) for plane in planes]
    lines = np.concatenate(points)
    met = np.zeros(len(lines), int)
    for each in points:
        met += np.all((each.min(axis=0) <= lines) & (lines <= each.max(axis=0)), axis=1)
    return int(met.max())


def _taken(statement: Statement, system: System) -> dict[str, int] | None:
    """Return how many conditions the equations take in each coordinate; None where unknown."""
    if len(system.equations) != len(system.unknowns):
        return None
    if any(
        one.scattered and not isinstance(one.residual.source, Boundary)
        for one in system.conditions
    ):
        return None
    bounds = [statement.on_bounds(equation) for equation in system.equations]
    inside = [equation.linear for equation in system.equations]
    return {
        name: min(
            _order(statement, system, name, inside),
            _order(statement, system, name, [found[name] for found in bounds]),
        )
        for name in statement.coordinates
    }


def _planar(statement: Statement) -> set[str]:
    """Return the coordinates whose bounds are planes: those of no shape in several of them."""
    factors = statement.problem.domain.factors
    return {one.coordinates[0] for one in factors if len(one.coordinates) == 1}


def _order(
    statement: Statement,
    system: System,
    coordinate: str,
    equations: Sequence[tuple[Linear, ...] | None],
) -> int:
    """Return the lowest order that the equations have at some points.

    Where a coefficient vanishes or is not finite, that is lower, or 0: nothing is asked for.
    """
    if any(found is None or not all(one.is_finite for one in found) for found in equations):
        return 0
    rows = (0, len(equations[0][0].value) - 1)
    orders = [
        conditions_taken(
            [
                {leaf: float(slope[row]) for leaf, slope in found[state].slopes.items()}
                for found in equations
            ],
            system.unknowns,
            {coordinate: 1.0},
            statement.coordinates,
            statement.problem.domain.space,
        )
        for state in (0, 1)
        for row in rows
    ]
    return 0 if None in orders else min(orders)


def _lacking(
    statement: Statement, system: System, coordinate: str, taken: int, held: Held
) -> Iterator[str]:
    given = _given(system, coordinate)
    if len(given) >= taken:
        return
    if len(statement.coordinates) > 1 and not _says_where(statement, system, coordinate):
        return
    hard = {c.name for c in statement.conditions} - {r.name for r in statement.problem.residuals}
    kept = sum(held.across(unknown, coordinate, taken) for unknown in system.unknowns)
    # Hard conditions are among those that the model keeps.
    if kept + sum(name not in hard for name, _ in given) >= taken:
        return
    yield _sentence(statement, system, coordinate, taken, given)


def _sentence(
    statement: Statement,
    system: System,
    coordinate: str,
    taken: int,
    given: Sequence[tuple[str, Plane]],
) -> str:
    in_time = coordinate == statement.problem.domain.time
    unknown = _least_told(statement, system, coordinate)
    if in_time:
        order = {"order": len(given)} if given and len(system.unknowns) == 1 else {}
        one = example("Initial", unknown, **order)
        if len(given) > 1 and order:  # higher derivatives are no unknowns' starts
            slope = Derivative(unknown, (coordinate,) * len(given))
            low, _ = statement.problem.domain.bounds[coordinate]
            one = f'pinn.Operator("{slope} - ...", at={{"{coordinate}": {low:g}}})'
    elif len({plane.value for _, plane in given}) > 1:
        one = "a derivative on one of these"
    else:
        one = example("Dirichlet", unknown)
    there = "none is given"
    if given:
        there = f"{len(given)} {'are' if len(given) > 1 else 'is'} given ({_places(given)})"
    return (
        f"the solution seems not to be determined in {coordinate}: the {system.takes} {taken} "
        f"condition{'s' * (taken > 1)} in {coordinate}, such as "
        f"{'at its start' if in_time else 'on its bounds'}, and {there}; add one, such as {one}"
    )


def _least_told(statement: Statement, system: System, coordinate: str) -> str:
    """Return the unknown with the highest order per condition across the coordinate."""

    def wanting(unknown: str) -> int:
        leaves = [leaf for e in system.equations for leaf in e.leaves if leaf.unknown == unknown]
        told = sum(
            plane.coordinate == coordinate and unknown in {leaf.unknown for leaf in c.leaves}
            for c in system.conditions
            for plane in c.planes
        )
        return max(order_in(statement, leaf, coordinate) for leaf in leaves) - told

    return max(system.unknowns, key=wanting)


def _says_where(statement: Statement, system: System, coordinate: str) -> bool:
    """Whether the count holds whatever the directions in which information travels.

    First-order equations take a condition where a characteristic enters. With constant
    coefficients each enters through one bound; with others it may enter through both, or none.
    """
    orders = {
        leaf: order_in(statement, leaf, coordinate)
        for equation in system.equations
        for leaf in of_unknowns(statement, equation)
    }
    if max(orders.values()) > 1:
        return True
    slopes = [
        np.concatenate([state.slopes[leaf] for state in equation.linear])
        for equation in system.equations
        for leaf in of_unknowns(statement, equation)
        if orders[leaf] == 1
    ]
    return all(np.ptp(slope) <= _ROUNDING * np.abs(slope).max() for slope in slopes)


def _free_coefficients(
    statement: Statement, system: System, taken: dict[str, int]
) -> Iterator[str]:
    """Name the coefficients of equations that hold for any value of them."""
    if any(condition.linear is None for condition in system.conditions):
        return
    for coordinate, count in taken.items():
        planes = [p for c in system.conditions for p in c.planes if p.coordinate == coordinate]
        if len(planes) != count:
            return
    for kind, name in _coefficients(statement):
        asked = {
            used
            for one in system.equations
            for used in (*one.linear[0].coefficients, *(leaf.unknown for leaf in one.leaves))
        }
        if name in asked:
            yield (
                f"the {kind} {name!r} seems not to be determined: the conditions are "
                f"just those that the {system.named} can be solved with for any value of it; add "
                "data or one more condition"
            )


def _coefficients(statement: Statement) -> Iterator[tuple[str, str]]:
    """Give the coefficients by kind and name; a field with a condition of its own says enough."""
    for parameter in statement.problem.parameters:
        yield "parameter", parameter.name
    told = {leaf.unknown for condition in statement.conditions for leaf in condition.leaves}
    for one in statement.problem.fields:
        if one.name not in told:
            yield "field", one.name


def _free_shifts(statement: Statement, system: System, held: Held) -> Iterator[str]:
    """Name the unknowns to which a constant, or a function, can be added unseen."""
    stated = [*system.equations, *system.conditions]
    if not all(one.is_finite for one in stated):
        return
    for unknown in system.unknowns:
        if not any(leaf.unknown == unknown for one in stated for leaf in one.leaves):
            continue
        if not all(_unseen(one, unknown, (), statement) for one in stated):
            continue
        if any(held.across(unknown, coordinate, 1) for coordinate in statement.coordinates):
            continue
        free: tuple[str, ...] = ()
        for coordinate in reversed(statement.coordinates):
            if all(_unseen(one, unknown, (*free, coordinate), statement) for one in stated):
                free = (*free, coordinate)
        shift = f"a function of {', '.join(free)}" if free else "a constant"
        leaves = [leaf for one in stated for leaf in one.leaves if leaf.unknown == unknown]
        shown = ", ".join(dict.fromkeys(map(str, leaves)))
        never = f" and never for {unknown!r} itself"
        if any(not _annihilates(leaf, (), statement) for leaf in leaves):
            never = f" and of {unknown!r} itself for differences alone"
        yield (
            f"{unknown!r} seems to be determined only up to {shift}: the equations and conditions "
            f"ask for {shown}{never}; fix it by one more condition, such as its value at a place"
        )


def _unseen(one: Stated, unknown: str, free: Sequence[str], statement: Statement) -> bool:
    """Whether a residual stays the same when a function of the coordinates `free` is added."""
    for state in one.linear:
        # What is added has the same value on every plane across the other coordinates.
        sums: dict[Leaf, np.ndarray] = {}
        sizes: dict[Leaf, np.ndarray] = {}
        for leaf, slope in state.slopes.items():
            if leaf.unknown != unknown or not np.any(slope):
                continue
            if _annihilates(leaf, free, statement):
                continue
            same = leaf.leaf if isinstance(leaf, At) and not set(leaf.names) & set(free) else leaf
            sums[same] = sums.get(same, 0.0) + slope
            sizes[same] = sizes.get(same, 0.0) + np.abs(slope)
        if any(np.any(np.abs(sums[leaf]) > _ROUNDING * sizes[leaf]) for leaf in sums):
            return False
    return True


def _annihilates(leaf: Leaf, free: Sequence[str], statement: Statement) -> bool:
    """Whether a leaf of any function of the coordinates `free` vanishes."""
    parts = parts_of(leaf, statement.problem.domain.space)
    return all(set(names) - set(free) for names, _ in parts)
