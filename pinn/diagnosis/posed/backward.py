"""Equations that run the wrong way in time, such as that of heat backwards."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pinn.diagnosis.posed.linear import Linear
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.equations.leaves import At, Derivative, parts_of
from pinn.residuals import Measured

# Up to this the same ratio in two states of the unknowns is one that depends on neither.
_SAME = 1e-9


def backward(statement: Statement) -> Iterator[str]:
    """Name the equations whose short waves grow without bounds from where values are given.

    Of u_t = -(s/s_t) d^m u / dx^m, with m even the highest order of u in space, a wave of number k
    grows like exp(-(s/s_t) (-1)^(m/2) k^m t): with the wrong sign the faster the shorter it is, so
    that nothing depends on the values continuously (Hadamard). So does one of u_tt = -(s/s_tt)
    d^m u / dx^m, as of u_tt + u_xx = 0, where u and u_t are given at one time; with the right sign
    u at both ends of the time is no start of it, where nothing is measured inside. Told of
    equations of first or second order in time, where s/s_t depends on no unknown and no
    coefficient: of those of first order also where it has the wrong sign at some points only, and
    where all that is given across a coordinate is u and its slope at one end (heat, sideways). And
    of an unknown whose derivatives are in no other equation, nor those of others in this one: what
    a system does to short waves is not seen from one of its equations.
    """
    domain = statement.problem.domain
    if domain.time is None:
        yield from _not_in_time(statement)
        return
    start, end = domain.bounds[domain.time]
    measured = any(isinstance(one.residual.source, Measured) for one in statement.conditions)
    for equation in statement.equations:
        for unknown in _alone(statement, equation):
            given = _given(statement, Derivative(unknown), domain.time)
            slopes = _given(statement, Derivative(unknown, (domain.time,)), domain.time)
            for leaf, rates, order in _fastest(equation, unknown, domain.time, domain.space):
                grows, falls = rates > 0, rates < 0
                if order == 2:
                    if falls.all() and {start, end} <= given and not (slopes or measured):
                        yield (
                            f"the equation {equation.name!r} is one of waves, and {unknown!r} is "
                            f"given at both ends of {domain.time}, which determines no waves: some "
                            "vanish at both, and others nearly do; give "
                            f"{unknown!r} and its slope at the start (pinn.Initial, and with "
                            "order=1)"
                        )
                        break
                    both = given & slopes
                    if not (grows.all() and len(given) == 1 and both):
                        continue
                    yield (
                        f"the equation {equation.name!r} is no wave equation: from {domain.time} = "
                        f"{both.pop():g}, where {unknown!r} and its slope in {domain.time} are "
                        "given, its waves grow the faster the shorter they are, so that it has no "
                        f"solution to be found; check the sign of {leaf}, or give {unknown!r} at "
                        "both ends of the time and no slope"
                    )
                    break
                along = leaf.coordinates[0]
                both = _given(statement, Derivative(unknown), along) & _sloped(
                    statement, unknown, along
                )
                if leaf.order == 2 and both and both == _asked(statement, unknown, along):
                    yield (
                        f"nothing is given for {unknown!r} at one end of {along}, and both "
                        f"{unknown!r} and its slope at {along} = {both.pop():g}, from where the "
                        f"equation {equation.name!r} makes errors grow the faster the shorter "
                        "their waves are; give one of the two at the other end instead"
                    )
                    break
                if grows.any() and start in given and end not in given:
                    where, other, wrong = f"{domain.time} = {start:g}", "end", grows
                elif falls.any() and end in given and start not in given:
                    where, other, wrong = f"{domain.time} = {end:g}", "beginning", falls
                else:
                    continue
                there = ""
                if not wrong.all():
                    place = statement.place(equation.points.coordinates[wrong.argmax()])
                    there = f" in a part of the domain, such as at {place}"
                yield (
                    f"the equation {equation.name!r} runs the wrong way in {domain.time}{there}: "
                    f"from {where}, where {unknown!r} is given, its waves grow the faster the "
                    f"shorter they are, so that it has no solution to be found; check the sign of "
                    f"{leaf}{' there' if there else ''}, or give {unknown!r} at the {other} of the "
                    "time"
                )
                break


def runs_from_the_end(statement: Statement, equation: Stated) -> bool:
    """Return whether an equation of first order in time holds its waves from the end alone."""
    domain = statement.problem.domain
    return domain.time is not None and any(
        order == 1 and (rates > 0).all()
        for unknown in _alone(statement, equation)
        for _, rates, order in _fastest(equation, unknown, domain.time, domain.space)
    )


def _not_in_time(statement: Statement) -> Iterator[str]:
    """Name what is a start of an equation of space, and what is no start of one of waves.

    Where u and its slope are given on one face of an equation such as u_xx + u_yy = 0 and nothing
    on the opposite one (Cauchy's problem), it runs along that coordinate as u_tt + u_xx = 0 does in
    time. And u on both faces of every coordinate is no start of u_tt - u_xx = 0 (Dirichlet's
    problem of waves), whatever the name of its time.
    """
    domain = statement.problem.domain
    for equation in statement.equations:
        for unknown in _alone(statement, equation):
            given = {n: _given(statement, Derivative(unknown), n) for n in domain.coordinates}
            around = all(set(domain.bounds[n]) <= given[n] for n in domain.coordinates)
            for name in domain.coordinates:
                slopes = _sloped(statement, unknown, name)
                told = _other_way(
                    list(_fastest(equation, unknown, name, domain.space)), given[name], slopes,
                    len(domain.coordinates) - 1, around,
                )  # fmt: skip
                if told == "start":
                    yield (
                        f"the equation {equation.name!r} is solved from {name} = "
                        f"{slopes.pop():g} alone, where {unknown!r} and its slope in {name} are "
                        "given, and its waves grow the faster the shorter they are, so that errors "
                        "of what is given do as well; give it at both ends of "
                        f"{name}, and no slope where it is given"
                    )
                    break
                if told == "ends":
                    yield (
                        f"the equation {equation.name!r} is one of waves, and {unknown!r} is given "
                        "on all of the boundary, which determines no waves; declare the coordinate "
                        f"that is the time as pinn.Time, and give {unknown!r} and its slope at its "
                        "start (pinn.Initial, and with order=1)"
                    )
                    break


def _other_way(
    fastest: list[tuple[Derivative, np.ndarray, int]],
    given: set[float],
    slopes: set[float],
    others: int,
    around: bool,
) -> str | None:
    """Return what an equation along a coordinate is held by: "start", where it should be by ends.

    Or "ends", where it should be by a start; None where nothing is known.
    """
    # along a line alone an equation is held by a start as well as by ends
    if not fastest or len(fastest) != others or any(order != 2 for _, _, order in fastest):
        return None
    if all((rates > 0).all() for _, rates, _ in fastest):
        return "start" if len(given) == 1 and given == slopes else None
    waves = all((rates < 0).all() for _, rates, _ in fastest)
    return "ends" if waves and around and not slopes else None


def _sloped(statement: Statement, unknown: str, name: str) -> set[float]:
    """Return the planes across a coordinate on which a condition holds the slope along it."""
    asked = Derivative(unknown, (name,))
    found = set()
    for condition in statement.conditions:
        if not condition.is_finite or asked not in condition.leaves:
            continue
        (first, *_) = condition.linear
        rest = [slope for leaf, slope in first.slopes.items() if leaf != asked]
        if np.all(first.slopes[asked]) and not any(map(np.any, rest)):
            found |= {plane.value for plane in condition.planes if plane.coordinate == name}
    return found


def _asked(statement: Statement, unknown: str, name: str) -> set[float]:
    """Return the planes across a coordinate on which conditions ask for an unknown at all.

    nan is among them for conditions at other places inside, and for those that cannot be read.
    """
    found = set()
    for condition in statement.conditions:
        if condition.linear is None:
            found.add(math.nan)
        elif any(leaf.unknown == unknown for leaf in condition.leaves):
            planes = {plane.value for plane in condition.planes if plane.coordinate == name}
            elsewhere = condition.scattered or condition.residual.whole or any(
                isinstance(leaf, At) and name in leaf.names for leaf in condition.leaves
            )
            found |= planes | ({math.nan} if elsewhere else set())
    return found


def _alone(statement: Statement, equation: Stated) -> list[str]:
    """Return the unknown of an equation that no other has derivatives in space of, if there is one.

    None where an equation cannot be read.
    """
    space = statement.problem.domain.space
    if not all(one.is_finite for one in statement.equations):
        return []
    bent = {
        one.name: {
            leaf.unknown for leaf in one.leaves
            if any(set(names) & set(space) for names, _ in parts_of(leaf, space))
        }
        for one in statement.equations
    }  # fmt: skip
    own = bent.pop(equation.name)
    return [] if len(own) > 1 else [name for name in own if not any(
        name in others for others in bent.values()
    )]  # fmt: skip


def _given(statement: Statement, leaf: Derivative, time: str) -> set[float]:
    """Return the times at which a condition holds an unknown itself, or a derivative of it."""
    return {
        plane.value
        for condition in statement.conditions
        if condition.leaves == (leaf,)
        for plane in condition.planes
        if plane.coordinate == time
    }


def _fastest(
    equation: Stated, unknown: str, time: str, space: tuple[str, ...]
) -> Iterator[tuple[Derivative, np.ndarray, int]]:
    """Yield derivatives in one coordinate of highest order, and how fast their waves grow, (n,).

    With the order in time, one or two, of an unknown that has no mixed derivatives in time, where
    that order in space is even.
    """
    orders = [_orders(one, unknown, space) for one in equation.linear]
    names = set(orders[0])
    in_time = {n for n in names if time in n}
    last = max(in_time, key=len, default=())
    if last not in ((time,), (time, time)) or not in_time <= {(time,), last}:
        return
    if any(set(one) != names for one in orders):
        return
    highest = max((len(n) for n in names if time not in n), default=0)
    if highest % 2 or highest < 2:
        return
    for name in sorted(names):
        if len(name) != highest or len(set(name)) > 1 or time in name:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = [-((-1) ** (highest // 2)) * one[name] / one[last] for one in orders]
        if np.isfinite(rates).all() and np.allclose(rates, rates[0], rtol=_SAME, atol=0.0):
            yield Derivative(unknown, name), rates[0], len(last)


def _orders(
    linear: Linear, unknown: str, space: tuple[str, ...]
) -> dict[tuple[str, ...], np.ndarray]:
    """Return the slope in each derivative of an unknown, (n,), by its coordinates."""
    found: dict[tuple[str, ...], np.ndarray] = {}
    for leaf, slope in linear.slopes.items():
        if leaf.unknown == unknown:
            for names, count in parts_of(leaf, space):
                found[tuple(names)] = found.get(tuple(names), 0.0) + count * slope
    return {names: slopes for names, slopes in found.items() if np.any(slopes)}
