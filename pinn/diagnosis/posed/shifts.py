"""What may be added to any solution: constants, functions of some coordinates, rotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pinn.diagnosis.posed.held import Held
from pinn.diagnosis.posed.linear import Leaf, Linear
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.diagnosis.posed.systems import System
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.leaves import At, parts_of
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.values import Values
from pinn.text import sum_text

# Slopes are the same below this share of their size.
_ROUNDING = 1e-9
# Factors of an affine function are the same, and zero, below this share of the largest.
_NONE = 1e-6


def free_shifts(
    statement: Statement, system: System, held: Held, taken: Mapping[str, int]
) -> Iterator[str]:
    """Name what equations and conditions do not see: a constant, a function, an affine function.

    Constants and functions of some coordinates are told by unknown. Affine functions of several of
    them together, as the rotation (-y, x) of an elastic body, are those that the slopes of all
    residuals annihilate in two states, at all of their points.

    taken: how many conditions the system takes in each coordinate. Of one that takes none, as
    equations that follow from each other, what is free is more than affine functions.
    """
    stated = [*system.equations, *system.conditions]
    if not all(one.is_finite for one in stated):
        return
    told: dict[str, tuple[str, ...]] = {}
    yield from _alone(statement, system, stated, held, told)
    if not any(taken.values()):
        return
    asked = {leaf.unknown for one in stated for leaf in one.leaves}
    unknowns = [
        name for name in system.unknowns
        if name in asked and not _is_held(statement, name, held)
    ]  # fmt: skip
    for unknown in unknowns:
        if unknown not in told:
            yield from _between_times(statement, stated, unknown, told)
    for field in _affine(statement, stated, unknowns, told):
        yield _said({key: field[key] for key in sorted(
            field, key=lambda column: unknowns.index(column[0]))})  # fmt: skip


def _is_held(statement: Statement, unknown: str, held: Held) -> bool:
    return any(held.across(unknown, coordinate, 1) for coordinate in statement.coordinates)


def _alone(
    statement: Statement,
    system: System,
    stated: Sequence[Stated],
    held: Held,
    told: dict[str, tuple[str, ...]],
) -> Iterator[str]:
    """Name the unknowns to which a constant, or a function, can be added unseen.

    told: takes them, each with the coordinates that the function may be of.
    """
    for unknown in system.unknowns:
        if not any(leaf.unknown == unknown for one in stated for leaf in one.leaves):
            continue
        if not all(_unseen(one, unknown, (), statement) for one in stated):
            continue
        if _is_held(statement, unknown, held):
            continue
        free: tuple[str, ...] = ()
        for coordinate in reversed(statement.coordinates):
            if all(_unseen(one, unknown, (*free, coordinate), statement) for one in stated):
                free = (*free, coordinate)
        told[unknown] = free
        shift = f"a function of {', '.join(free)}" if free else "a constant"
        leaves = [leaf for one in stated for leaf in one.leaves if leaf.unknown == unknown]
        shown = ", ".join(dict.fromkeys(map(str, leaves)))
        never = f" and never for {unknown!r} itself"
        if any(not _annihilates(leaf, (), statement) for leaf in leaves):
            never = f" and of {unknown!r} itself for differences alone"
        remedy = "one more condition, such as its value at a place"
        if free:
            remedy = _at_all(unknown, ", ".join(free))
        yield (
            f"{unknown!r} seems to be determined only up to {shift}: the equations and conditions "
            f"ask for {shown}{never}; fix it by {remedy}"
        )


def _between_times(
    statement: Statement,
    stated: Sequence[Stated],
    unknown: str,
    told: dict[str, tuple[str, ...]],
) -> Iterator[str]:
    """Name an unknown that conditions at single times alone determine: elsewhere nothing does."""
    time = statement.problem.domain.time
    if time is None or not statement.problem.domain.space:
        return
    column = statement.coordinates.index(time)
    always = [one for one in stated if len(np.unique(one.points.coordinates[:, column])) > 1]
    if len(always) == len(stated):
        return
    if all(_unseen(one, unknown, (time,), statement) for one in always):
        told[unknown] = (time,)
        yield (
            f"{unknown!r} is determined at single times alone: at others a function of {time} may "
            f"be added to it, which no equation and no condition sees; fix it by "
            f"{_at_all(unknown, time)}"
        )


def _at_all(unknown: str, coordinates: str) -> str:
    return (
        f"a condition that holds at all {coordinates}, such as its integral: "
        f"pinn.Integral({unknown!r}, 0)"
    )


def fixes_constant(statement: Statement, system: System, condition: Stated) -> bool:
    """Return whether a condition is the only one to see a constant added to an unknown."""
    others = [*system.equations, *(one for one in system.conditions if one is not condition)]
    return any(
        not _unseen(condition, unknown, (), statement)
        and all(_unseen(one, unknown, (), statement) for one in others)
        for unknown in system.unknowns
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


Affine = dict[tuple[str, str], float]
"""The factor of a coordinate in what is added to an unknown; of a constant that of ""."""


def _affine(
    statement: Statement,
    stated: Sequence[Stated],
    unknowns: Sequence[str],
    told: Mapping[str, tuple[str, ...]],
) -> Iterator[Affine]:
    """Yield affine functions of unknowns that no residual sees, beyond those that are told."""
    columns = [
        *((unknown, name) for unknown in unknowns for name in statement.coordinates
          if name not in told.get(unknown, ())),
        *((unknown, "") for unknown in unknowns if unknown not in told),
    ]  # fmt: skip
    if not columns:
        return
    rows = []
    for one in stated:
        for state in one.linear:
            if any(slope.ndim > 1 for slope in state.slopes.values()):
                return
            seen = np.stack([_seen(statement, one, state, column) for column in columns], axis=1)
            sizes = np.abs(seen).max(axis=1, keepdims=True)
            rows.append(seen / np.where(sizes > 0, sizes, 1.0))
    triangle = np.linalg.qr(np.concatenate(rows), mode="r")  # rows may be many
    _, sizes, directions = np.linalg.svd(triangle, full_matrices=True)
    rank = int(np.count_nonzero(sizes > _ROUNDING * max(sizes.max(), 1e-300)))
    for direction in _reduced(_in_coordinates(statement, columns, directions[rank:])):
        kept = np.abs(direction) > _NONE * np.abs(direction).max()
        field = {
            column: float(factor)
            for column, factor, is_kept in zip(columns, direction, kept, strict=True) if is_kept
        }  # fmt: skip
        yield field


def _seen(
    statement: Statement, one: Stated, state: Linear, column: tuple[str, str]
) -> np.ndarray:
    """Return what a residual changes by where a coordinate, or 1, is added to an unknown, (rows,).

    The coordinate is measured from the middle of the domain in half widths.
    """
    unknown, name = column
    found = np.zeros(len(one.points))
    for leaf, slope in state.slopes.items():
        if leaf.unknown == unknown:
            found = found + slope * _of_affine(statement, leaf, name, one.points.coordinates)
    nodes = one.residual.nodes
    return found if nodes is None else found.reshape(-1, nodes).sum(axis=1)


def _of_affine(
    statement: Statement, leaf: Leaf, name: str, points: np.ndarray
) -> np.ndarray | float:
    """Return a leaf of the coordinate, or of 1, at points."""
    ((names, count), *_) = parts_of(leaf, statement.problem.domain.space)
    if not name:
        return 0.0 if names else count
    low, high = statement.problem.domain.bounds[name]
    if names:
        return 2 * count / (high - low) if names == (name,) else 0.0
    places = points[:, statement.coordinates.index(name)]
    if isinstance(leaf, At) and name in leaf.names:
        replaced = dict(leaf.location)[name]
        places = evaluate_resolved(
            replaced, Values({}, statement.problem.scope.constants), NUMPY_FUNCTIONS
        )
    return count * (2 * places - low - high) / (high - low)


def _in_coordinates(
    statement: Statement, columns: Sequence[tuple[str, str]], directions: np.ndarray
) -> np.ndarray:
    """Return factors of coordinates as they are, (k, columns), for those of half widths."""
    found = directions.copy()
    for j, (unknown, name) in enumerate(columns):
        if name:
            low, high = statement.problem.domain.bounds[name]
            found[:, j] *= 2 / (high - low)
            if (unknown, "") in columns:
                middle = (low + high) / 2
                found[:, columns.index((unknown, ""))] -= middle * found[:, j]
    return found


def _reduced(directions: np.ndarray) -> np.ndarray:
    """Return directions that span the same, each with a column of its own, the first ones first."""
    found, row = directions.copy(), 0
    for column in range(found.shape[1]):
        if row == len(found):
            break
        best = row + int(np.abs(found[row:, column]).argmax())
        if abs(found[best, column]) <= _NONE * np.abs(directions).max():
            continue
        found[[row, best]] = found[[best, row]]
        found[row] /= found[row, column]
        for other in range(len(found)):
            if other != row:
                found[other] -= found[other, column] * found[row]
        row += 1
    return found[:row]


def _said(field: Affine) -> str:
    unknowns = list(dict.fromkeys(unknown for unknown, _ in field))
    slopes = {column: factor for column, factor in field.items() if column[1]}
    turns = len(unknowns) == len(slopes) == 2 and _is_turn(slopes)
    sign = -1.0 if turns and next(iter(slopes.values())) > 0 else 1.0
    texts = [sum_text((sign * factor, name) for (own, name), factor in field.items()
                      if own == unknown) for unknown in unknowns]  # fmt: skip
    last = unknowns[-1]
    if len(unknowns) == 1:
        what = f"a multiple of {texts[0]} may be added to {last!r} in any solution"
    else:
        kind = "a rotation" if turns else "a multiple of" if slopes else "a constant"
        what = f"{kind} ({', '.join(unknowns)}) ~ ({', '.join(texts)}) may be added to any solution"
    return (
        f"{what}: no equation and no condition changes by it; fix it by one more condition, such "
        f"as the value of {last!r} at {'one more' if slopes else 'a'} place"
    )


def _is_turn(slopes: Affine) -> bool:
    """Return whether two factors are those of a rotation, -y and x."""
    (one, other), (first, second) = slopes, slopes.values()
    return one[1] != other[1] and abs(first + second) <= _NONE * abs(first)
