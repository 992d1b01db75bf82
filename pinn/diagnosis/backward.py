"""Equations that run the wrong way in time, such as that of heat backwards."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.diagnosis.linear import Linear
from pinn.diagnosis.orders import parts_of
from pinn.diagnosis.statement import Stated, Statement
from pinn.equations.leaves import Derivative


def backward(statement: Statement) -> Iterator[str]:
    """Name the equations whose short waves grow without bounds from where values are given.

    Of u_t = -(s/s_t) d^m u / dx^m, with m even the highest order of u in space, a wave of number k
    grows like exp(-(s/s_t) (-1)^(m/2) k^m t): with the wrong sign the faster the shorter it is, so
    that nothing depends on the values continuously (Hadamard). Only where the sign is the same at
    all points and in all states, and only for equations of first order in time.
    """
    domain = statement.problem.domain
    if domain.time is None:
        return
    start, end = domain.bounds[domain.time]
    for equation in statement.equations:
        for unknown in statement.problem.unknowns if equation.is_finite else ():
            given = _given(statement, unknown, domain.time)
            for leaf, grows in _fastest(equation, unknown, domain.time, domain.space):
                if grows and start in given and end not in given:
                    where, other = f"{domain.time} = {start:g}", "end"
                elif not grows and end in given and start not in given:
                    where, other = f"{domain.time} = {end:g}", "beginning"
                else:
                    continue
                yield (
                    f"the equation {equation.name!r} runs the wrong way in {domain.time}: from "
                    f"{where}, where {unknown!r} is given, its waves grow the faster the shorter "
                    f"they are, so that it has no solution to be found; check the sign of {leaf}, "
                    f"or give {unknown!r} at the {other} of the time"
                )
                break


def _given(statement: Statement, unknown: str, time: str) -> set[float]:
    """Return the times at which a condition holds the unknown itself."""
    value = Derivative(unknown)
    return {
        plane.value
        for condition in statement.conditions
        if condition.leaves == (value,)
        for plane in condition.planes
        if plane.coordinate == time
    }


def _fastest(
    equation: Stated, unknown: str, time: str, space: tuple[str, ...]
) -> Iterator[tuple[str, bool]]:
    """Yield the derivatives in one coordinate of highest order, and whether their waves grow.

    Of an unknown whose only derivative in time is the first, where that order is even.
    """
    orders = [_orders(one, unknown, space) for one in equation.linear]
    names = set(orders[0])
    if {n for n in names if time in n} != {(time,)}:
        return
    highest = max(map(len, names))
    if highest % 2 or highest < 2:
        return
    for name in sorted(names):
        if len(name) != highest or len(set(name)) > 1:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.concatenate([-one[name] / one[(time,)] for one in orders])
        rates *= (-1) ** (highest // 2)
        if (rates > 0).all() or (rates < 0).all():
            yield str(Derivative(unknown, name)), bool(rates[0] > 0)


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
