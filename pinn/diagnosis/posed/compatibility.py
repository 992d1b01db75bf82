"""Corners at which what is given contradicts itself: solutions have logarithms there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from pinn.diagnosis.posed.linear import Leaf, linear
from pinn.equations.leaves import parts_of
from pinn.geometry import Part, Shape
from pinn.geometry.corners import Corner, outward_corners
from pinn.problem import Problem
from pinn.problem.singularity import order_of
from pinn.residuals import Boundary, Interior, Residual
from pinn.sampling import Points

# Of more corners than these none is looked at.
_MOST = 16
# A solution is looked at on a scale of so large a share of the domain, and of the distance to the
# next corner, and on one so many times smaller.
_SCALE, _SHARE, _SMALLER = 1e-3, 0.1, 4.0
# Points along a part among which the nearest is looked for, those that are taken of it, from such a
# share of the scale on, and those of a square about the corner.
_ALONG, _TAKEN, _FROM, _ACROSS = 1025, 4, 0.1, 7
_ANY_SCALE = np.concatenate([-np.geomspace(1e-8, 1, 2000)[::-1], np.geomspace(1e-8, 1, 2000)])
# Polynomials of this degree. Steps to the one that fits best.
_DEGREE, _STEPS = 2, 4
# What is left of such a share of the polynomial is rounding. A power is told to so much.
_ROUNDING, _TOLD = 1e-11, 0.2

_POWERS = [(i, j) for i, j in product(range(_DEGREE + 1), repeat=2) if i + j <= _DEGREE]


class Contradiction(NamedTuple):
    """A corner at which no polynomial of some degree can do all that is asked of a solution."""

    corner: Corner
    degree: int

    def __str__(self) -> str:
        return f"at {self.corner} (r{'^2' * (self.degree == 2)} log r)"


def contradictions(problem: Problem) -> Iterator[Contradiction]:
    """Yield the corners of a plane that turn outward at which data contradict themselves.

    There a polynomial of the first or the second degree that satisfies the conditions of both
    sides, and the equations, is looked for by least squares at points near the corner; what is left
    goes like a power of their distance, which is the degree at which there is none: the solution
    has r^degree log(r) there. -laplacian(u) = 1 with u = 0 around a corner of 90 degrees is of the
    second, tractions of two sides whose shear differs are of the first. Only for equations of
    second order, and conditions that need not hold exactly.

    Grisvard, Elliptic Problems in Nonsmooth Domains (1985), chapter 5.
    """
    domain = problem.domain
    if len(domain.space) != 2 or len(domain.coordinates) != 2 or problem.fields:
        return
    if any(condition.hard for condition in problem.conditions):
        return
    plain = [replace(one, scale=None) for one in problem.residuals]
    equations = [one for one in plain if one.name in problem.equations]
    inside = all(isinstance(one.source, Interior) and not one.whole for one in equations)
    if not inside or any(order_of(one, domain.space) != 2 for one in equations):
        return
    walls = [
        replace(one, scale=None) for own in problem.by_condition for one in own
        if isinstance(one.source, Boundary) and not one.whole
    ]  # fmt: skip
    for corner, apart in outward_corners(domain, _MOST):
        scale = min(_SCALE * domain.size, _SHARE * apart)
        found = [_left(problem, equations, walls, corner, h) for h in (scale, scale / _SMALLER)]
        if None in found or not min(found) > 0:
            continue
        power = math.log(found[0] / found[1]) / math.log(_SMALLER)
        degree = round(power)
        if degree in (1, 2) and abs(power - degree) < _TOLD:
            yield Contradiction(corner, degree)


def _left(
    problem: Problem, equations: list[Residual], walls: list[Residual], corner: Corner, h: float
) -> float | None:
    """Return what the best polynomial leaves within a distance; None where that is not known.

    0 where it is rounding. Rows count by the distance to the power of their order.
    """
    domain, middle = problem.domain, np.array(corner.at)
    taken = [(one, _inside(domain, middle, h)) for one in equations]
    taken += [
        (one, points) for one in walls for part in one.source.parts
        if len(points := _on(domain, part, one.source.columns, middle, h))
    ]  # fmt: skip
    coefficients = {p.name: p.initial for p in problem.parameters}
    p = np.zeros(len(problem.unknowns) * len(_POWERS))
    least = math.inf
    for _ in range(_STEPS + 1):
        rows, slopes = [], []
        for residual, points in taken:
            found = _rows(problem, residual, points, coefficients, p, middle, h)
            if found is None:
                return None
            rows.append(found[0])
            slopes.append(found[1])
        r, matrix = np.concatenate(rows), np.vstack(slopes)
        if not (np.isfinite(r).all() and np.isfinite(matrix).all()):
            return None
        left = float(np.sqrt(np.mean(r**2)))
        if left > 2 * least:  # it ran away
            return None
        settled, least = left > 0.5 * least, min(left, least)
        if settled:
            break
        p = p - np.linalg.lstsq(matrix, r, rcond=1e-12)[0]
    size = np.abs(matrix).max() * np.abs(p).max()
    return least if least > _ROUNDING * size else 0.0


def _rows(
    problem: Problem, residual: Residual, points: Points, coefficients: Mapping[str, float],
    p: np.ndarray, middle: np.ndarray, h: float,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a residual of the polynomials, (n,), and its slopes in their coefficients."""
    space, each = problem.domain.space, len(_POWERS)
    at = (points.coordinates - middle) / h

    def place(unknown: str) -> slice:
        first = problem.unknowns.index(unknown) * each
        return slice(first, first + each)

    def state(leaf: Leaf, n: int) -> np.ndarray:
        return _basis(leaf, space, at, h) @ p[place(leaf.unknown)]

    found = linear(residual, problem.scope, points, state, coefficients)
    if found is None:
        return None
    weight, slopes = h ** order_of(residual, space), np.zeros((len(points), len(p)))
    for leaf, slope in found.slopes.items():
        slopes[:, place(leaf.unknown)] += slope[:, None] * _basis(leaf, space, at, h)
    return weight * found.value, weight * slopes


def _basis(leaf: Leaf, space: tuple[str, ...], at: np.ndarray, h: float) -> np.ndarray:
    """Return what a derivative makes of each power of the place, (n, powers)."""
    columns = np.zeros((len(at), len(_POWERS)))
    for names, factor in parts_of(leaf, space):
        orders = [names.count(name) for name in space]
        for k, powers in enumerate(_POWERS):
            if all(n <= power for n, power in zip(orders, powers, strict=True)):
                columns[:, k] += factor * math.prod(
                    math.perm(power, n) * column ** (power - n) / h**n
                    for n, power, column in zip(orders, powers, at.T, strict=True)
                )
    return columns


def _inside(domain: Shape, middle: np.ndarray, h: float) -> Points:
    steps = np.linspace(-h, h, _ACROSS)
    points = middle + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    return Points(points[domain.contains(points, 0.0)])


def _on(
    domain: Shape, part: Part, columns: tuple[str, ...], middle: np.ndarray, h: float
) -> Points:
    """Return a few points of a part within a distance of a corner, with what is told of each."""
    unit, away, rows = np.linspace(0, 1, _ALONG), None, None
    for around in (np.linspace(-1, 1, 2 * _ALONG) / _ALONG, _ANY_SCALE, None):
        rows = domain.rows(part, unit[:, None])
        away = np.linalg.norm(rows[:, :2] - middle, axis=1)
        if np.isnan(away).all():
            return Points(np.empty((0, 2)))
        if around is not None:  # nearer to the nearest
            unit = np.clip(unit[np.nanargmin(away)] + around, 0, 1)
    near = rows[(away > _FROM * h) & (away <= h)]
    near = near[np.argsort(np.linalg.norm(near[:, :2] - middle, axis=1))]
    few = near[np.linspace(0, len(near) - 1, min(len(near), _TAKEN)).astype(int)]
    return Points(few[:, :2], dict(zip(columns, few[:, 2:].T, strict=False)))
