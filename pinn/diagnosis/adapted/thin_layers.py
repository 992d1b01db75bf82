"""Thin layers that small highest derivatives make: where, how wide, and which constant does."""

from __future__ import annotations

import cmath
import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from pinn.diagnosis.posed.linear import Leaf, State
from pinn.diagnosis.posed.sizes import stated_sizes
from pinn.diagnosis.posed.statement import Stated, Statement, statement_of
from pinn.equations.leaves import At, parts_of
from pinn.geometry import Shape
from pinn.problem import Problem
from pinn.residuals import Interior
from pinn.sampling import Points, stream

# How often the derivatives of highest order are taken larger to see how a layer follows them.
_FACTOR = 2.0
# A width that changes by less than this power of a constant is none of its making.
_LEAST_POWER = 0.25
TOO_THIN = 1 / 200
"""Thinner layers than this share of the domain are not found from the start of a network: the
residual is small too where the solution jumps elsewhere, or does not meet a condition."""

# An exponent of so small a real part is that of a wave, and a sign that so few of the points have
# is that of none of them.
_UPRIGHT, _FEW = 1e-6, 0.02
# Slopes that differ by so little, as shares, are the same in both states.
_SAME = 1e-9
# What a layer along a wall is made of is looked at so far from it, as shares of the domain: on it
# coefficients may have no value. Where widths there are further apart than this they are those of
# powers of the distance, as of r^2 u_rr + r u_r at r = 0, and there is no layer.
_BESIDE, _ALIKE = (0.01, 0.0025), 1.5


class Thin(NamedTuple):
    """The width of the thinnest layer of a problem, as a share of the domain, and its constant.

    The width is proportional to constant**power; "" and 0 where no constant makes it.
    """

    width: float
    constant: str
    power: float


class Balance(NamedTuple):
    """A layer across a coordinate, in which the two terms of an equation balance.

    width: as a share of the domain. at_low, at_high: whether it may lie at that bound. linear:
    whether what the solution is has no part in where and how wide it is.
    """

    coordinate: str
    width: float
    at_low: bool
    at_high: bool
    linear: bool


def balances(problem: Problem, at_walls: bool = False) -> list[Balance]:
    """Return the layers that a problem's terms of highest order make; none is possible.

    at_walls: those beside the bounds of a coordinate, one by one, in place of those anywhere.

    In a layer across x the term of highest order in x, of size a_m, balances one of lower order, of
    size a_j: its width w has a_m / w^m = a_j / w^j, and of several j that with the smallest w
    counts. Sizes are slopes of the equation in the derivatives of one unknown, where unknowns have
    the sizes that the problem states. With u = exp(k x) a balance has exponents k^(m-j) = -a_j/a_m,
    which tell where the layer lies: at the lower bound with a negative real part. Waves have none,
    and are no layer. O'Malley, Singular Perturbation Methods for Ordinary Differential Equations,
    Springer 1991, chapter 2.
    """
    statement = statement_of(problem)
    if statement is None:
        return []
    sizes = {name: (size.value, size.changes) for name, size in stated_sizes(statement).items()}
    return [
        found for equation in statement.equations
        for found in _of_equation(statement, equation, sizes, at_walls)
    ]  # fmt: skip


def thinnest(problem: Problem) -> Thin | None:
    """Return the thinnest layer of a steady problem and the constant that makes it, or None."""
    width = None if problem.domain.time is not None else _thinnest(problem)
    if width is None or width >= 1:
        return None
    found = []
    for name, value in problem.constants.items():
        if any(name in needs for needs in problem.computed_from.values()):
            continue
        try:
            other = _thinnest(_with_constant(problem, name, _FACTOR * value)) if value else None
        except ValueError:  # what the problem says has no value there, as acos(a)
            continue
        if other is not None:
            found.append(Thin(width, name, math.log(other / width) / math.log(_FACTOR)))
    best = max(found, key=lambda one: abs(one.power), default=None)
    return best if best is not None and abs(best.power) >= _LEAST_POWER else Thin(width, "", 0.0)


def _with_constant(problem: Problem, name: str, value: float) -> Problem:
    constants = {**problem.constants, name: value}
    return dataclasses.replace(problem, constants=constants, reference=None)


def _thinnest(problem: Problem) -> float | None:
    return min((one.width for one in balances(problem)), default=None)


def _of_equation(
    statement: Statement, equation: Stated, sizes: Mapping[str, tuple[float, float]], at_walls: bool
) -> Iterator[Balance]:
    if not equation.is_finite or not isinstance(equation.residual.source, Interior):
        return
    space = statement.problem.domain.space
    if at_walls:
        for name, is_low in itertools.product(space, (True, False)):
            yield from _along_wall(statement, equation, sizes, name, is_low)
        return
    for slopes in _slopes(statement, equation, sizes, equation.points).values():
        yield from filter(None, (_across(name, slopes) for name in space))


def _along_wall(
    statement: Statement, equation: Stated, sizes: Mapping[str, tuple[float, float]], name: str,
    is_low: bool,
) -> Iterator[Balance]:  # fmt: skip
    """Yield the layers of an equation beside a bound of a coordinate, that of each unknown."""
    domain = statement.problem.domain
    far, near = (
        _slopes(statement, equation, sizes, _beside(domain, equation.points, name, is_low, share))
        for share in _BESIDE
    )
    for unknown in far.keys() & near.keys():
        one, found = _across(name, far[unknown]), _across(name, near[unknown])
        if one is None or found is None or not (found.at_low if is_low else found.at_high):
            continue
        if 1 / _ALIKE < one.width / found.width < _ALIKE:
            yield found._replace(at_low=is_low, at_high=not is_low)


def _beside(domain: Shape, points: Points, name: str, is_low: bool, share: float) -> Points:
    """Return points with a coordinate that is so far from a bound, as a share of the domain."""
    low, high = domain.bounds[name]
    moved = points.coordinates.copy()
    away = share * (high - low)
    moved[:, domain.coordinates.index(name)] = low + away if is_low else high - away
    return Points(moved, points.columns)


def _slopes(
    statement: Statement, equation: Stated, sizes: Mapping[str, tuple[float, float]], points: Points
) -> dict[str, dict[tuple[str, ...], np.ndarray]]:
    """Return, by unknown, the slopes in its derivatives, (2 states, n), by their coordinates.

    They are those of a domain whose coordinates run over one. Of an equation that is not finite
    there are none.
    """
    domain = statement.problem.domain
    lengths = {name: high - low for name, (low, high) in domain.bounds.items()}
    states = [
        statement.linear_where(
            equation, _state(sizes, lengths, domain.space, signed), points=points
        )
        for signed in (False, True)
    ]  # fmt: skip
    by_unknown: dict[str, dict[tuple[str, ...], np.ndarray]] = {}
    if not all(one.is_finite for one in states):
        return by_unknown
    for unknown in dict.fromkeys(leaf.unknown for leaf in equation.leaves):
        slopes: dict[tuple[str, ...], np.ndarray] = {}
        for leaf in equation.leaves:
            if leaf.unknown != unknown or isinstance(leaf, At):
                continue
            both = np.stack([one.slopes[leaf] for one in states])
            for names, count in parts_of(leaf, domain.space):
                scale = math.prod(lengths[name] for name in names)
                slopes[names] = slopes.get(names, 0.0) + count * both / scale
        by_unknown[unknown] = slopes
    return by_unknown


def _across(name: str, slopes: Mapping[tuple[str, ...], np.ndarray]) -> Balance | None:
    """Return the layer across a coordinate; slopes: see _slopes."""
    sizes = {names: float(np.sqrt(np.mean(both**2))) for names, both in slopes.items()}
    across = [names for names, size in sizes.items() if set(names) == {name} and size > 0]
    top = max(across, key=len, default=())
    if len(top) < 2:
        return None
    widths = {
        names: (sizes[top] / size) ** (1 / (len(top) - names.count(name)))
        for names, size in sizes.items() if size > 0 and names.count(name) < len(top)
    }  # fmt: skip
    if not widths:
        return None
    other = min(widths, key=widths.__getitem__)
    order, along = other.count(name), len(other) - other.count(name)
    with np.errstate(all="ignore"):
        ratios = slopes[other] / slopes[top]
    ratios = ratios[np.isfinite(ratios)]
    at_low = at_high = False
    for sign in (1, -1):
        if np.mean(ratios * sign > 0) < _FEW:
            continue
        # along the layer, and in time, a derivative is i times a wave number of either sign
        for side in (1, -1) if along % 2 else (1,):
            power = -sign * (side * 1j) ** along
            degree = len(top) - order
            roots = [
                cmath.rect(1, (cmath.phase(power) + 2 * math.pi * k) / degree)
                for k in range(degree)
            ]
            at_low |= any(root.real < -_UPRIGHT for root in roots)
            at_high |= any(root.real > _UPRIGHT for root in roots)
            if any(abs(root.real) <= _UPRIGHT for root in roots):
                return None
    linear = all(_is_same(slopes[names]) for names in (top, other))
    return Balance(name, widths[other], at_low, at_high, linear)


def _is_same(both: np.ndarray) -> bool:
    """Return whether slopes, (2 states, n), are those of a linear term."""
    return bool(np.abs(both[0] - both[1]).max() <= _SAME * np.abs(both).max())


def _state(
    sizes: Mapping[str, tuple[float, float]], lengths: Mapping[str, float], space: tuple[str, ...],
    signed: bool,
) -> State:  # fmt: skip
    """Return values of unknowns about their sizes and of derivatives about their changes."""

    def values(leaf: Leaf, n: int) -> np.ndarray:
        value, changes = sizes.get(leaf.unknown, (1.0, 1.0))
        size = sum(
            count * (changes / math.prod(lengths[name] for name in names) if names else value)
            for names, count in parts_of(leaf, space)
        )
        rng = stream(0, "layers", str(leaf), str(signed))
        return size * (rng.standard_normal(n) if signed else rng.uniform(0.5, 1.5, n))

    return values
