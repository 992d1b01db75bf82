"""Equations that follow from others, so that fewer are left than there are unknowns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

import numpy as np

from pinn.diagnosis.posed.boundary import has_inside
from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.diagnosis.posed.systems import of_unknowns, systems_of
from pinn.equations.leaves import parts_of
from pinn.sampling import stream
from pinn.text import sum_text

# Slopes are the same below this share of their size, sums of rows zero, factors none.
_ROUNDING, _DEPENDENT, _NONE = 1e-9, 1e-9, 1e-6
# Derivatives of other equations that one may be made of: their orders, and how many in all.
_HIGHEST, _MOST = 4, 2000
# Newton's steps towards values that satisfy all equations, and what is then left, relative.
_STEPS, _LEFT = 40, 1e-12
# At so many of the points these have to be found.
_FEWEST = 8

Jet = tuple[str, tuple[str, ...]]
"""An unknown, and the coordinates it is differentiated by, sorted."""


def dependent(statement: Statement) -> Iterator[str]:
    """Yield a sentence for each equation that the others of its system say already.

    Looked at are as many equations as unknowns, which hold at the same places. Of linear ones with
    constant coefficients those are sought whose left side is a sum of multiples and derivatives of
    the others'; of others those whose slopes in u, u_x ... are multiples of the others' at each
    point, with values that satisfy all equations, as u*(u_t + v) = 0 has beside u_t + v = 0.
    Nothing is said of equations none of which follows from the others though together they leave
    something free, as curl curl A = J leaves a gradient, of data inside the domain that may stand
    for an equation, and of values from elsewhere.
    """
    domain = statement.problem.domain
    for system in systems_of(statement):
        if any(
            one.linear is None or not one.residual.whole and has_inside(one, domain)
            for one in system.conditions
        ):
            continue
        if len(system.equations) != len(system.unknowns):
            continue
        for equations in _together(system.equations):
            unknowns = _unknowns_of(statement, equations)
            if 1 < len(equations) == len(unknowns) and all(map(_is_plain, equations)):
                yield from _told(statement, equations, unknowns)


def one_follows(statement: Statement, equations: Sequence[Stated]) -> bool:
    """Return whether one of some equations that hold at the same places follows from the others."""
    if len(list(_together(equations))) > 1 or not all(map(_is_plain, equations)):
        return False
    if not all(map(_is_constant, equations)):
        return _multiples(statement, equations) is not None
    rows = [_row(statement, one) for one in equations]
    for number, row in enumerate(rows):
        others = [k for k in range(len(rows)) if k != number]
        made = _made_of(row, [rows[k] for k in others], statement.coordinates)
        if made is not None and all(set(factors) == {()} for factors in made.values()):
            parts = {others[k]: factors for k, factors in made.items()}
            if _rest_agrees(equations, number, parts):
                return True
    return False


def _together(equations: Sequence[Stated]) -> Iterator[list[Stated]]:
    """Yield the equations that hold at the same places."""
    left = list(equations)
    while left:
        source = left[0].residual.source
        yield [one for one in left if one.residual.source == source]
        left = [one for one in left if one.residual.source != source]


def _unknowns_of(statement: Statement, equations: Sequence[Stated]) -> list[str]:
    asked = {leaf.unknown for one in equations for leaf in of_unknowns(statement, one)}
    return [name for name in statement.problem.unknowns if name in asked]


def _is_plain(equation: Stated) -> bool:
    """Return whether an equation is one of values and derivatives at its points, all finite."""
    return equation.is_finite and all(
        slope.ndim == 1 for state in equation.linear for slope in state.slopes.values()
    )


def _told(
    statement: Statement, equations: Sequence[Stated], unknowns: Sequence[str]
) -> Iterator[str]:
    if all(map(_is_constant, equations)):
        rows = [_row(statement, one) for one in equations]
        yield from _follow(statement, equations, rows, unknowns)
        return
    found = _multiples(statement, equations)
    if found is not None:
        names, rows = found
        *others, last = names
        yield (
            f"the equation {last!r} follows from {_listed(others)}: where "
            f"{'that holds' if len(others) == 1 else 'those hold'} it says nothing more, so that "
            f"{_free(rows, unknowns)} is left free; replace it by an equation that says more"
        )


def _is_constant(equation: Stated) -> bool:
    """Return whether an equation is linear, with coefficients that are the same everywhere."""
    if equation.linear[0].coefficients or set(equation.leaves) != set(equation.linear[1].leaves):
        return False
    return all(
        np.ptp(slopes) <= _ROUNDING * np.abs(slopes).max()
        for leaf in equation.leaves
        for slopes in [np.concatenate([state.slopes[leaf] for state in equation.linear])]
    )


def _row(statement: Statement, equation: Stated) -> dict[Jet, float]:
    """Return the coefficient of each derivative in an equation with constant ones."""
    row: dict[Jet, float] = {}
    for leaf in equation.leaves:
        for jet, count in _jets(statement, leaf):
            row[jet] = row.get(jet, 0.0) + count * float(equation.linear[0].slopes[leaf][0])
    largest = max(map(abs, row.values()), default=0.0)
    return {jet: number for jet, number in row.items() if abs(number) > _ROUNDING * largest}


def _jets(statement: Statement, leaf: Leaf) -> Iterator[tuple[Jet, float]]:
    for names, count in parts_of(leaf, statement.problem.domain.space):
        yield (leaf.unknown, tuple(sorted(names))), count


def _follow(
    statement: Statement,
    equations: Sequence[Stated],
    rows: Sequence[Mapping[Jet, float]],
    unknowns: Sequence[str],
) -> Iterator[str]:
    """Yield a sentence for each equation that is made of the others, the later ones first."""
    kept = list(range(len(equations)))
    for number in reversed(range(len(equations))):
        others = [k for k in kept if k != number]
        made = _made_of(rows[number], [rows[k] for k in others], statement.coordinates)
        if made is None:
            continue
        kept.remove(number)
        parts = {others[k]: factors for k, factors in made.items()}
        sentence = _sentence(statement, equations, number, parts, _free(rows, unknowns))
        if sentence is not None:
            yield sentence


def _made_of(
    row: Mapping[Jet, float], others: Sequence[Mapping[Jet, float]], coordinates: Sequence[str]
) -> dict[int, dict[tuple[str, ...], float]] | None:
    """Return the factor of each derivative of the others that a row is the sum of; None for none.

    By number of the other, and coordinates it is differentiated by.
    """
    order = _order(row)
    shifts = [
        (k, names)
        for k, other in enumerate(others)
        if other
        for count in range(min(order - _order(other), _HIGHEST) + 1)
        for names in combinations_with_replacement(sorted(coordinates), count)
    ]
    if not row or not shifts or len(shifts) > _MOST:
        return None
    columns = [
        {(unknown, tuple(sorted((*own, *names)))): number
         for (unknown, own), number in others[k].items()}
        for k, names in shifts
    ]  # fmt: skip
    jets = {jet: i for i, jet in enumerate({jet for column in (row, *columns) for jet in column})}
    matrix, side = np.zeros((len(jets), len(columns))), np.zeros(len(jets))
    for jet, number in row.items():
        side[jets[jet]] = number
    for j, column in enumerate(columns):
        for jet, number in column.items():
            matrix[jets[jet], j] = number
    sizes = np.abs(matrix).max(axis=0)
    factors = np.linalg.lstsq(matrix / sizes, side, rcond=1e-12)[0]
    if np.abs(matrix / sizes @ factors - side).max() > _DEPENDENT * np.abs(side).max():
        return None
    made: dict[int, dict[tuple[str, ...], float]] = {}
    for (k, names), factor, size in zip(shifts, factors, sizes, strict=True):
        if abs(factor) > _NONE * np.abs(factors).max():
            made.setdefault(k, {})[names] = float(factor / size)
    return made


def _order(row: Mapping[Jet, float]) -> int:
    return max((len(names) for _, names in row), default=0)


def _sentence(
    statement: Statement,
    equations: Sequence[Stated],
    number: int,
    parts: Mapping[int, Mapping[tuple[str, ...], float]],
    free: str,
) -> str | None:
    """Return what is to be said of an equation made of others; None where it is said elsewhere."""
    one, others = equations[number], [equations[k].name for k in sorted(parts)]
    differentiated = any(names for own in parts.values() for names in own)
    made = f"is made of {'that' if len(others) == 1 else 'those'} of {_listed(others)}"
    if differentiated:
        return (
            f"the left side of the equation {one.name!r} {made}, differentiated: where the right "
            f"sides are too it says nothing more, so that {free} is left free, and else no "
            "function satisfies all of them; replace it by an equation that says more"
        )
    if _rest_agrees(equations, number, parts):
        return (
            f"the equation {one.name!r} is {_summed(equations, parts)}: it says nothing more, so "
            f"that {free} is left free; replace it by an equation that says more"
        )
    if len(others) == 1:
        return None  # a pair that contradicts itself
    return (
        f"the left side of the equation {one.name!r} {made} ({_summed(equations, parts)}), and "
        "its right side is not: no function satisfies all of them; check their signs and sources"
    )


def _rest_agrees(
    equations: Sequence[Stated],
    number: int,
    parts: Mapping[int, Mapping[tuple[str, ...], float]],
) -> bool:
    """Return whether what an equation has besides its unknowns is that sum of the others' too."""
    here = equations[number].linear[0]
    rest, size = here.rest, float(np.abs(here.value).max())
    for k, own in parts.items():
        other = own[()] * equations[k].linear[0].rest
        rest, size = rest - other, max(size, float(np.abs(other).max()))
    return bool(np.abs(rest).max() <= _ROUNDING * size)


def _summed(
    equations: Sequence[Stated], parts: Mapping[int, Mapping[tuple[str, ...], float]]
) -> str:
    """Return a sum of equations as text: "'a' - 2*'b'"."""
    return sum_text((own[()], repr(equations[k].name)) for k, own in sorted(parts.items()))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(map(repr, names[:-1])), repr(names[-1])]))


def _free(rows: Sequence[Mapping[Jet, float]], unknowns: Sequence[str]) -> str:
    """Return which unknowns dependent rows leave free, in words.

    Of waves whose number is random and complex those are free whose amplitudes are in the null
    space of the equations' symbol.
    """
    rng = stream(0, "dependent")
    numbers: dict[str, complex] = {}
    symbol = np.zeros((len(rows), len(unknowns)), complex)
    for i, row in enumerate(rows):
        for (unknown, names), factor in row.items():
            for name in names:
                if name not in numbers:
                    numbers[name] = complex(*rng.uniform(0.5, 1.5, 2))
            symbol[i, unknowns.index(unknown)] += factor * np.prod([numbers[n] for n in names])
    symbol /= np.maximum(np.abs(symbol).max(axis=1, keepdims=True), 1e-300)
    *_, last = np.linalg.svd(symbol)[2]
    involved = [
        name for name, part in zip(unknowns, np.abs(last), strict=True) if part > _NONE
    ]
    return repr(involved[0]) if len(involved) == 1 else f"one of {', '.join(map(repr, involved))}"


def _multiples(
    statement: Statement, equations: Sequence[Stated]
) -> tuple[list[str], list[dict[Jet, float]]] | None:
    """Return the names of equations that are made of each other at every point, and their rows.

    None for none. Rows are those at one of the points.
    """
    jets = list(dict.fromkeys(
        jet for one in equations for leaf in of_unknowns(statement, one)
        for jet, _ in _jets(statement, leaf)
    ))  # fmt: skip
    involved, row = np.zeros(len(equations), bool), None
    for state in range(2):
        found = _on_solutions(statement, equations, state)
        if found is None:
            return None
        leaves, slopes = found
        parts = np.zeros((len(leaves), len(jets)))
        for k, leaf in enumerate(leaves):
            for jet, count in _jets(statement, leaf):
                if jet in jets:
                    parts[k, jets.index(jet)] += count
        slopes = slopes @ parts  # (n, equations, jets)
        sizes = np.linalg.norm(slopes, axis=2, keepdims=True)
        if not (sizes > _NONE * sizes.max()).all():
            return None
        left, values, _ = np.linalg.svd(slopes / sizes)
        if slopes.shape[2] >= slopes.shape[1] and values[:, -1].max() > _DEPENDENT:
            return None
        involved |= (np.abs(left[:, :, len(equations) - 1]) > _NONE).any(axis=0)
        row = [dict(zip(jets, map(float, own), strict=True)) for own in slopes[0]]
    return [one.name for one, is_in in zip(equations, involved, strict=True) if is_in], row


def _on_solutions(
    statement: Statement, equations: Sequence[Stated], state: int
) -> tuple[list[Leaf], np.ndarray] | None:
    """Return the leaves of equations, and their slopes where all equations hold, (n, m, leaves).

    Values of the leaves, random ones first, are moved by Newton's steps, the shortest ones, until
    they satisfy the equations. None where they come there at too few points.
    """
    values = {leaf: array for one in equations for leaf, array in one.linear[state].leaves.items()}
    leaves = list(values)

    def given(leaf: Leaf, n: int) -> np.ndarray:
        return values.setdefault(leaf, np.full(n, 0.5))

    for _ in range(_STEPS):
        found = [statement.linear_where(one, given) for one in equations]
        if not all(one.is_finite for one in found) or set(values) != set(leaves):
            return None
        rest = np.stack([one.value for one in found], axis=1)
        slopes = np.zeros((*rest.shape, len(leaves)))
        for i, one in enumerate(found):
            for leaf, slope in one.slopes.items():
                slopes[:, i, leaves.index(leaf)] = slope
        terms = np.abs(slopes * np.stack([values[leaf] for leaf in leaves], axis=1)[:, None])
        there = (np.abs(rest) <= _LEFT * np.maximum(terms.sum(axis=2), 1e-300)).all(axis=1)
        if there.all():
            break
        steps = -np.einsum("nlm,nm->nl", np.linalg.pinv(slopes, rcond=1e-8), rest)
        for k, leaf in enumerate(leaves):
            values[leaf] = values[leaf] + steps[:, k]
    return (leaves, slopes[there]) if np.count_nonzero(there) >= _FEWEST else None
