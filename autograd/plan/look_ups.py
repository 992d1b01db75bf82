"""How what is read, added and put at computed positions depends on the points.

A table that knows no point is read at a position of each point: gather, index_select; or the
positions are those of other dimensions, and each point has its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from .dependence import FIXED, MEAN, Dependence
from .number_of_points import MixesPoints
from .program import Argument, Instruction

_AT_POSITIONS = "reads or writes points at given positions"
_NO_SUM = "adds a sum over points to what is no sum: in chunks, each would add it"


class Reading(Protocol):
    """What rules ask: see `over_points`."""

    def of(self, argument: Argument) -> Dependence: ...
    def is_zero(self, argument: Argument) -> bool: ...
    def refusal(self, instruction: Instruction, what: str = "") -> MixesPoints: ...


def together(
    reading: Reading, one: Instruction, arguments: Iterable[Argument], linear: bool = True
) -> Dependence:
    """Return how that depends which is made of several, number by number; zeros depend on nothing.

    linear  it is linear in all of them together.
    """
    given = list(arguments)
    found = {reading.of(a) for a in given if not reading.is_zero(a)} or {reading.of(given[0])}
    if found == {MEAN, FIXED} and linear:  # as where these are added
        return MEAN
    if len(found) > 1:
        raise reading.refusal(one, "joins what depends on the points in different ways")
    (source,) = found
    if not linear and (source.total or source.power):
        raise reading.refusal(one, "is not linear in a sum over points")
    return source


def selected(reading: Reading, one: Instruction, other: Instruction) -> Dependence:
    """index_select: slices of what points have, or of a table, one or some for each point."""
    table, index = one.inputs
    found, at = reading.of(table), reading.of(index)
    if at == FIXED:
        if found.axis == one.attributes["dim"]:
            raise reading.refusal(one, _AT_POSITIONS)
        return found
    if found != FIXED or at.axis is None or at.power:
        raise reading.refusal(one)
    return at


def slices_added(reading: Reading, one: Instruction, other: Instruction) -> Dependence:
    """index_add, the transpose of that: to slices of points, or over all points to a table."""
    target, index, source = one.inputs
    at, added, dim = reading.of(index), reading.of(source), one.attributes["dim"]
    if at != FIXED:
        return _added_up(reading, one, target, at, added)
    if dim in (reading.of(target).axis, added.axis):
        raise reading.refusal(one, _AT_POSITIONS)
    return together(reading, one, (target, source))


def _added_up(
    reading: Reading, one: Instruction, target: Argument, at: Dependence, added: Dependence
) -> Dependence:
    """Add what points have to a table, each at its own position."""
    along = at.axis is not None and added.axis == one.attributes["dim"]
    if not along or at.power or added.inner != at.inner:
        raise reading.refusal(one)
    total, found = Dependence(total=True, power=added.power), reading.of(target)
    if found != total and not reading.is_zero(target):
        raise reading.refusal(one, _NO_SUM)
    return total


def gathered(reading: Reading, one: Instruction, other: Instruction) -> Dependence:
    """gather: from the numbers of each point, or from a table."""
    table, index = one.inputs
    found, at = reading.of(table), reading.of(index)
    if at == FIXED:
        if found.axis is not None:
            raise reading.refusal(one, _AT_POSITIONS)
        return found
    if at.axis is None or at.power:
        raise reading.refusal(one)
    if at.axis == one.attributes["dim"]:
        if found != FIXED:
            raise reading.refusal(one)
        return at
    if (found.axis, found.inner) != (at.axis, at.inner):
        raise reading.refusal(one)
    return found


def scattered(reading: Reading, one: Instruction, other: Instruction) -> Dependence:
    """scatter, scatter_add: into the numbers of each point; added up, over all points too."""
    target, index, source = one.inputs
    at, added = reading.of(index), reading.of(source)
    linear = one.op.name != "scatter_multiply"
    if at == FIXED:
        found = together(reading, one, (target, source), linear)
        if found.axis is not None:
            raise reading.refusal(one, _AT_POSITIONS)
        return found
    if at.axis == one.attributes["dim"]:
        if one.op.name != "scatter_add":
            raise reading.refusal(one)
        return _added_up(reading, one, target, at, added)
    place = at.axis, at.inner
    parts = [a for a in (target, source) if reading.of(a) != FIXED]
    apart = at.axis is not None and all((d.axis, d.inner) == place for d in map(reading.of, parts))
    if not apart or at.power or reading.of(target).axis is None:
        raise reading.refusal(one)
    if added == FIXED:  # a number, which nothing is divided by
        is_sum = linear and reading.is_zero(source)
        return together(reading, one, (target,), is_sum)
    return together(reading, one, (target, source), linear)


def searched(reading: Reading, one: Instruction, other: Instruction) -> Dependence | None:
    """searchsorted: where in one list each number lies; None where each row has its own list."""
    boundaries, values = one.inputs
    if len(boundaries.shape) > 1:
        return None
    listed, found = reading.of(boundaries), reading.of(values)
    if listed != FIXED or found.axis is None or found.power:
        raise reading.refusal(one)
    return replace(found)
