"""Whether conditions agree, though they are more than equations take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, product

import numpy as np
from numpy.polynomial.chebyshev import chebder, chebpts1, chebvander

from pinn.diagnosis.posed.formulas import Formulas, formula_of
from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.diagnosis.posed.systems import System
from pinn.equations.leaves import Derivative, Laplacian, parts_of
from pinn.equations.term import Term
from pinn.residuals import Measured
from pinn.sampling import Points

# Chebyshev polynomials of each unknown, and the points that its equations hold at.
_TERMS, _POINTS = 48, 72
# Formulas of each unknown, and combinations of those of several, that are tried.
_CHOICES, _TRIED = 4, 64
# Slopes are the same below this share of their size, residuals are zero.
_ROUNDING, _MET = 1e-9, 1e-7


def agree(statement: Statement, system: System) -> bool | None:
    """Return whether one smooth function satisfies all that is asked for.

    That is one whose values conditions give by a formula, as those of a solution that is known; or,
    along a line, a sum of Chebyshev polynomials, whose residuals at points are as small as least
    squares make them (J. P. Boyd, Chebyshev and Fourier Spectral Methods, 2nd ed. (2001), chapter
    3). None where that tells nothing: in several coordinates, of what is not linear, of means.
    What was measured is left out.
    """
    conditions = [
        one for one in system.conditions if not isinstance(one.residual.source, Measured)
    ]
    if any(one.residual.whole for one in conditions):
        return None
    if _is_given(statement, system, conditions):
        return True
    if len(statement.coordinates) > 1:
        return None
    ((low, high),) = statement.problem.domain.bounds.values()
    inside = Points(((low + high) / 2 + (high - low) / 2 * chebpts1(_POINTS))[:, None])
    rows, sides = [], []
    for one in (*system.equations, *conditions):
        points = inside if one in system.equations else one.points
        found = _rows(statement, system, one, points)
        if found is None:
            return None
        rows.append(found[0])
        sides.append(found[1])
    matrix, side = np.concatenate(rows), np.concatenate(sides)
    matrix /= np.maximum(np.abs(matrix).max(axis=0), 1.0)  # derivatives of high degrees are large
    solution = np.linalg.lstsq(matrix, side, rcond=1e-14)[0]
    return bool(np.abs(matrix @ solution - side).max() <= _MET * np.abs(side).max())


def _is_given(statement: Statement, system: System, conditions: Sequence[Stated]) -> bool:
    """Return whether formulas that conditions give for all unknowns satisfy everything."""
    choices, inside = [], system.equations[0].points
    n = len(inside)
    for unknown in system.unknowns:
        own = [one for one in conditions if one.residual.gives == unknown]
        found = {str(term.source): term for term in map(formula_of, own) if term is not None}
        choices.append([*found.values()][:_CHOICES])
    for chosen in islice(product(*choices), _TRIED):
        formulas = {(name, 0): term for name, term in zip(system.unknowns, chosen, strict=True)}
        sizes = {
            name: float(np.abs(Formulas(statement, formulas, inside)(Derivative(name), n)).max())
            for name in system.unknowns
        }
        everything = (*system.equations, *conditions)
        if all(_holds(statement, one, formulas, sizes) for one in everything):
            return True
    return False


def _holds(
    statement: Statement,
    one: Stated,
    formulas: Mapping[tuple[str, int], Term],
    sizes: Mapping[str, float],
) -> bool:
    """Return whether a residual vanishes where its unknowns are given by formulas.

    sizes: of the unknowns, inside; what is zero at a wall, as sin(pi), is so beside them.
    """
    if not one.is_finite or any((leaf.unknown, 0) not in formulas for leaf in one.leaves):
        return False
    values = Formulas(statement, formulas, one.points)
    found = statement.linear_where(one, values)
    if not found.is_finite or any(slope.ndim > 1 for slope in found.slopes.values()):
        return False
    terms = [np.abs(slope) * np.maximum(np.abs(found.leaves[leaf]), sizes[leaf.unknown])
             for leaf, slope in found.slopes.items()]  # fmt: skip
    size = np.sum([*terms, np.abs(found.rest)], axis=0).max()
    return bool(np.abs(found.value).max() <= _MET * size)


def _rows(
    statement: Statement, system: System, one: Stated, points: Points
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the rows and right sides of a linear residual at points; None for no linear one.

    Each is divided by its largest slope, with places measured in half widths of the domain.
    """
    here = one.linear if points is one.points else statement.linear(one.residual, points)
    if here is None or not all(state.is_finite for state in here):
        return None
    first, second = here
    if set(first.leaves) != set(second.leaves):
        return None
    ((low, high),) = statement.problem.domain.bounds.values()
    matrix = np.zeros((len(points), len(system.unknowns), _TERMS))
    side, size = -first.value, 0.0
    for leaf, slope in first.slopes.items():
        if not isinstance(leaf, Derivative | Laplacian) or leaf.unknown not in system.unknowns:
            return None
        if np.abs(slope - second.slopes[leaf]).max() > _ROUNDING * np.abs(slope).max():
            return None
        basis = _basis(statement, leaf, points.coordinates[:, 0])
        matrix[:, system.unknowns.index(leaf.unknown)] += slope[:, None] * basis
        side = side + slope * first.leaves[leaf]
        names, _ = parts_of(leaf, statement.problem.domain.space)[0]
        size = np.maximum(size, np.abs(slope) / ((high - low) / 2) ** len(names))
    if not np.all(size):
        return None
    return matrix.reshape(len(points), -1) / np.reshape(size, (-1, 1)), side / size


def _basis(statement: Statement, leaf: Leaf, places: Sequence[float]) -> np.ndarray:
    """Return a leaf of each polynomial at places, (n, terms)."""
    ((low, high),) = statement.problem.domain.bounds.values()
    half = (high - low) / 2
    unit = (np.asarray(places) - (low + high) / 2) / half
    values = chebvander(unit, _TERMS - 1)
    found = np.zeros_like(values)
    for names, count in parts_of(leaf, statement.problem.domain.space):
        order = len(names)
        of_derivative = chebder(np.eye(_TERMS), order) / half**order  # (terms - order, terms)
        found += count * values[:, : len(of_derivative)] @ of_derivative
    return found
