"""Conditions that are missing, and what the equations and conditions leave undetermined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pinn.diagnosis.posed.bare import bare
from pinn.diagnosis.posed.boundary import has_inside
from pinn.diagnosis.posed.dependent import one_follows
from pinn.diagnosis.posed.example import example
from pinn.diagnosis.posed.held import Held, HeldByModel
from pinn.diagnosis.posed.inflow import unentered
from pinn.diagnosis.posed.periods import whole_period
from pinn.diagnosis.posed.planes import Plane, places_in_words
from pinn.diagnosis.posed.shifts import fixes_constant, free_shifts
from pinn.diagnosis.posed.statement import Stated, Statement, statement_of
from pinn.diagnosis.posed.systems import System, order_in, systems_of
from pinn.diagnosis.posed.taken import says_where, taken_by
from pinn.equations.leaves import At, Derivative
from pinn.objective import Objective
from pinn.residuals import Interior, Within


def missing(statement: Statement, held: Held) -> list[str]:
    """Return a sentence for each coordinate in which conditions seem to be missing, and so on.

    The part of the boundary that they leave bare comes first (`bare`), or that where
    first-order equations carry information in (`inflow`). Where none is, compared are,
    in each coordinate, the order of the equations (`orders`) and the conditions on
    planes across it. Where none is missing, coefficients and shifts that are free
    all the same are named. Nothing is said where the count proves nothing: of data inside the
    domain, of equations with values from elsewhere (but where no condition at all asks for an
    unknown with a derivative in time), of an order that drops at a bound (a singular or degenerate
    equation), of first-order equations whose coefficients vary, which may carry all they need out
    of a domain or into it.
    """
    if not all(one.is_finite for one in statement.equations):
        return list(_without_start(statement, held))
    sentences = []
    free: dict[str, str] = {}
    found: set[str] = set()
    for system in systems_of(statement):
        taken = taken_by(statement, system)
        if taken is None:
            found |= _asked(system)
            continue
        told = bare(statement, system, held) or unentered(statement, system, held)
        # What is bare is what is missing across the coordinates of space.
        counted = _planar(statement) if told is None else {statement.problem.domain.time}
        lacking = [told] if told else []
        for coordinate in filter(counted.__contains__, statement.coordinates):
            lacking += _lacking(statement, system, coordinate, taken[coordinate], held)
        sentences += lacking
        own = {}
        if not lacking:
            own = dict(_free_coefficients(statement, system, taken))
            sentences += free_shifts(statement, system, held, taken)
        free |= own
        found |= _asked(system) - set(own)
    # A coefficient of several systems may be told by one of them.
    return [*sentences, *(text for name, text in free.items() if name not in found)]


def _asked(system: System) -> set[str]:
    """Return the coefficients and unknowns that equations ask for."""
    return {
        name
        for one in system.equations
        for name in (*one.linear[0].coefficients, *(leaf.unknown for leaf in one.leaves))
    }


def _without_start(statement: Statement, held: Held) -> Iterator[str]:
    """Name the unknowns with derivatives in time, or along a line, that no condition asks for.

    That is one too few of equations with delays and integrals too.
    """
    time = statement.problem.domain.time
    along = time if time is not None else statement.coordinates[0]
    if time is None and len(statement.coordinates) > 1:
        return
    if any(one.linear is None for one in statement.conditions):
        return
    given = {leaf.unknown for one in statement.conditions for leaf in one.leaves}
    told = set(given)
    for equation in statement.equations:
        for leaf in equation.residual.leaves or ():
            unknown = leaf.unknown
            if isinstance(leaf, At) or unknown in told or not order_in(statement, leaf, along):
                continue
            told.add(unknown)
            if unknown in statement.problem.unknowns and not held.across(unknown, along, 1):
                name = "Dirichlet" if time is None else "Initial"
                yield (
                    f"the solution seems not to be determined in {along}: the equation "
                    f"{equation.name!r} asks for {leaf}, and no condition for {unknown!r}; add "
                    f"one, such as {example(name, unknown)}"
                )


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
        f"{counted(len(system.equations), 'equation')} for the {len(system.unknowns)} unknowns "
        f"{', '.join(system.unknowns)}: they leave some of them free, so that no solution is the "
        "right one; add an equation, or make one of the unknowns a constant or a function"
        for system in systems_of(statement)
        if len(system.equations) < len(system.unknowns)
        and not any(
            one.linear is None or has_inside(one, statement.problem.domain)
            for one in system.conditions
        )
        and all(one.linear is not None for one in system.equations)
        and not _are_elsewhere(statement, system)
    ]


def _are_elsewhere(statement: Statement, system: System) -> bool:
    """Return whether unknowns may be those of an equation with values from elsewhere as well."""
    unread = [one.residual.leaves for one in statement.equations if one.linear is None]
    return any(
        leaves is None or {leaf.unknown for leaf in leaves} & set(system.unknowns)
        for leaves in unread
    )


def overdetermined(statement: Statement) -> list[str]:
    """Return a sentence for each set of unknowns with more equations than unknowns.

    Counted are equations that hold everywhere and of which all is known, not where one of them
    follows from the others. One without a slope in some places, as max(0, g - u) has none, is an
    inequality; where coefficients or fields are to be found, more of them are the point.
    """
    if statement.problem.parameters or statement.problem.fields:
        return []
    found = []
    for system in systems_of(statement):
        everywhere = [
            one for one in system.equations
            if isinstance(one.residual.source, Interior) and _is_equality(one)
        ]  # fmt: skip
        more = len(everywhere) - len(system.unknowns)
        if not system.unknowns or more < 1 or (more == 1 and one_follows(statement, everywhere)):
            continue
        names = ", ".join(repr(one.name) for one in everywhere)
        found.append(
            f"{len(everywhere)} equations ({names}) for "
            f"{counted(len(system.unknowns), 'unknown')}, {', '.join(system.unknowns)}: unless "
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


def counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number > 1 else ''}"


def _given(system: System, coordinate: str) -> list[tuple[str, Plane]]:
    """Return the conditions across a coordinate, by the planes that they hold on."""
    return [
        (condition.name, plane)
        for condition in system.conditions
        for plane in condition.planes
        if plane.coordinate == coordinate
    ]


def _planar(statement: Statement) -> set[str]:
    """Return the coordinates whose bounds are planes: those of no shape in several of them."""
    factors = statement.problem.domain.factors
    return {one.coordinates[0] for one in factors if len(one.coordinates) == 1}


def _lacking(
    statement: Statement, system: System, coordinate: str, taken: int, held: Held
) -> Iterator[str]:
    given = _given(system, coordinate)
    if len(given) >= taken:
        return
    if len(statement.coordinates) > 1 and not says_where(statement, system, coordinate):
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
    if period := whole_period(statement, system, coordinate):
        one = period
    elif in_time:
        own = _told_of(system, unknown, coordinate)
        one = example("Initial", unknown, **({"order": own} if own else {}))
        if own > 1:  # higher derivatives are no unknowns' starts
            slope = Derivative(unknown, (coordinate,) * own)
            low, _ = statement.problem.domain.bounds[coordinate]
            one = f'pinn.Operator("{slope} - ...", at={{"{coordinate}": {low:g}}})'
    elif len({plane.value for _, plane in given}) > 1:
        one = "a derivative on one of these"
    elif len(statement.problem.unknowns) > len(system.unknowns) and all(
        isinstance(equation.residual.source, Within) for equation in system.equations
    ):
        one = "what holds where its region ends, as pinn.Interface(on=..., inner=..., outer=...)"
    else:
        one = example("Dirichlet", unknown)
    there = "none is given"
    if given:
        there = f"{len(given)} {'are' if len(given) > 1 else 'is'} given ({places_in_words(given)})"
    return (
        f"the solution seems not to be determined in {coordinate}: the {system.takes} {taken} "
        f"condition{'s' * (taken > 1)} in {coordinate}, such as "
        f"{'at its start' if in_time else 'on its bounds'}, and {there}; add one, such as {one}"
    )


def _least_told(statement: Statement, system: System, coordinate: str) -> str:
    """Return the unknown with the highest order per condition across the coordinate."""

    def wanting(unknown: str) -> int:
        leaves = [leaf for e in system.equations for leaf in e.leaves if leaf.unknown == unknown]
        order = max(order_in(statement, leaf, coordinate) for leaf in leaves)
        return order - _told_of(system, unknown, coordinate)

    return max(system.unknowns, key=wanting)


def _told_of(system: System, unknown: str, coordinate: str) -> int:
    """Return how many conditions across a coordinate ask for an unknown."""
    return sum(
        plane.coordinate == coordinate and unknown in {leaf.unknown for leaf in c.leaves}
        for c in system.conditions
        for plane in c.planes
    )


def _free_coefficients(
    statement: Statement, system: System, taken: dict[str, int]
) -> Iterator[tuple[str, str]]:
    """Yield the coefficients of equations that hold for any value of them, with a sentence."""
    if any(condition.linear is None for condition in system.conditions):
        return
    means = [one for one in system.conditions if one.residual.whole and not one.planes]
    if not all(fixes_constant(statement, system, one) for one in means):
        return
    for coordinate, count in taken.items():
        planes = [p for c in system.conditions for p in c.planes if p.coordinate == coordinate]
        if len(planes) != count:
            return
    for kind, name in _coefficients(statement):
        if name in _asked(system):
            yield name, (
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
