"""How large unknowns and blocks are by what a problem states, before anything is trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pinn.diagnosis.linear import Leaf
from pinn.diagnosis.orders import parts_of
from pinn.diagnosis.statement import Stated, Statement
from pinn.sampling import stream

# An equation tells a size by the order of magnitude, and too large a one of fast waves: only what
# is so many times above or below one is taken from it.
_FAR_BY_EQUATION = 1e4
# The same of an unknown beside others whose size is known, as the strain is beside the stress.
_FAR_BY_OTHERS = 1e2
# Smaller values of a condition may be rounding, as sin(pi*x) has at x = 1.
_LEAST_GIVEN = 1e-10
# What is left of the largest terms of an equation is rounding.
_ROUNDING = 1e-12
# Amplitudes that are tried, and how often the two around a balance are halved.
_AMPLITUDES = 10.0 ** np.arange(-10.0, 11.0)
_HALVINGS = 6


class Size(NamedTuple):
    """How large an unknown is, and the condition or equation that says so."""

    value: float
    by: str


def stated_sizes(
    statement: Statement, given: Callable[[Stated], float] | None = None
) -> dict[str, Size]:
    """Return the largest size that a condition or an equation tells of each unknown.

    A condition tells the root mean square of the values that it gives; given: another measure of
    these. An equation tells where its terms balance, if the unknowns in it are all of one size: a
    source is as large as what it brings about, as in -u_xx = 1e7, and growth ends where its next
    power is as large, as in u_t = u*(1 - u/1e6). An unknown of which nothing is told so is as large
    as a linear equation lets it be beside others: u in s = 2e11*u_x with a stress s of 1e8.
    Unknowns of which nothing is told are left out.
    """
    found: dict[str, Size] = {}

    def tell(unknown: str, value: float, by: str) -> None:
        if value > 0 and (unknown not in found or value > found[unknown].value):
            found[unknown] = Size(value, by)

    for condition in statement.conditions:
        unknown = condition.residual.gives
        if unknown is not None and condition.is_finite:
            value = (given or given_size)(condition)
            tell(unknown, value if value > _LEAST_GIVEN else 0.0, condition.name)
    equations = [equation for equation in statement.equations if equation.is_finite]
    for equation in equations:
        unknowns = _unknowns_of(equation)
        size = _balance(statement, equation, unknowns, {})
        is_far = size is not None and not 1 / _FAR_BY_EQUATION < size < _FAR_BY_EQUATION
        if is_far and (size > 1 or _is_linear(equation, unknowns)):
            for unknown in unknowns:
                tell(unknown, size, equation.name)
    for unknown, size in _beside_others(statement, equations, found).items():
        tell(unknown, size.value, size.by)
    return found


def given_size(condition: Stated) -> float:
    """Return the root mean square of the values that a condition gives to an unknown."""
    return rms(given_by(condition))


def given_by(condition: Stated) -> np.ndarray:
    """Return the values, (n,), that a condition gives to an unknown."""
    (found, *_) = condition.linear
    return sum(found.slopes[leaf] * found.leaves[leaf] for leaf in found.slopes) - found.value


def block_sizes(statement: Statement) -> dict[str, float] | None:
    """Return how large the residual of each block is where unknowns have their stated sizes.

    Unknowns of which nothing is told have size 1. Derivatives have that of the unknown over the
    width of the domain, as where coordinates are measured in widths: equations then count some
    times more than conditions, which is what makes solutions accurate. None where some block is
    not known, or is not finite or 0 there.
    """
    sizes = {name: size.value for name, size in stated_sizes(statement).items()}
    blocks = {residual.name for residual in statement.problem.residuals}
    found = {}
    for stated in (*statement.equations, *statement.conditions):
        if stated.name in blocks:
            known = stated.is_finite
            found[stated.name] = _residual_at(statement, stated, sizes, 1.0) if known else math.nan
    return found if all(0 < size < math.inf for size in found.values()) else None


def _unknowns_of(equation: Stated) -> list[str]:
    return list(dict.fromkeys(leaf.unknown for leaf in equation.leaves))


def _beside_others(
    statement: Statement, equations: Sequence[Stated], found: Mapping[str, Size]
) -> dict[str, Size]:
    """Return how large equations let unknowns be beside others whose size is known.

    Of unknowns of which nothing is known, where that is far from one, and of those that are known
    to be small: a pressure that is held at 0 says nothing of the rest, and a source may bring about
    more than a boundary has. Each equation tells a bound, and of several that which is nearest to
    one counts; as large as that an unknown only has to be where the equation has nothing else, as
    in s = 2e11*u_x.
    """
    known = {name: size.value for name, size in found.items()}
    told: dict[str, Size] = {}
    for equation in equations:
        unknowns = _unknowns_of(equation)
        free = [name for name in unknowns if name not in known]
        small = [name for name in unknowns if known.get(name, 1.0) < 1 / _FAR_BY_OTHERS]
        beside_known = 0 < len(free) < len(unknowns) and _is_linear(equation, free)
        for group in [*([free] if beside_known else []), *([name] for name in small)]:
            beside = {name: size for name, size in known.items() if name not in group}
            size = _balance(statement, equation, group, beside)
            is_bound = len(group) > 1 or not _is_homogeneous(equation)
            if size is None or (group is free and size > 1 and is_bound):
                continue
            for name in group:
                if name not in told or abs(math.log(size)) < abs(math.log(told[name].value)):
                    told[name] = Size(size, equation.name)
    return {
        name: size for name, size in told.items()
        if name in known or not 1 / _FAR_BY_OTHERS < size.value < _FAR_BY_OTHERS
    }  # fmt: skip


def _is_linear(equation: Stated, unknowns: Sequence[str]) -> bool:
    """Return whether the slopes in some unknowns are the same whatever their values are."""
    first, second = equation.linear
    return all(
        np.allclose(first.slopes[leaf], second.slopes[leaf])
        for leaf in equation.leaves if leaf.unknown in unknowns
    )  # fmt: skip


def _is_homogeneous(equation: Stated) -> bool:
    """Return whether a linear equation has no term without an unknown."""
    (found, *_) = equation.linear
    terms = [found.slopes[leaf] * found.leaves[leaf] for leaf in found.slopes]
    return rms(found.value - sum(terms)) <= _ROUNDING * sum(map(rms, terms))


def _balance(
    statement: Statement, equation: Stated, free: Sequence[str], known: Mapping[str, float]
) -> float | None:
    """Return the size of free unknowns at which other terms than those of the least power matter.

    All of them are of one size, and others have the size that is known.
    """

    def size(amplitude: float) -> float:
        return _residual_at(statement, equation, {**known, **dict.fromkeys(free, amplitude)})

    found = [size(amplitude) for amplitude in _AMPLITUDES]
    least, next_one = found[:2]
    if not (0 < least < math.inf and next_one < math.inf):
        return None
    power = round(math.log10(next_one / least))

    def grown(amplitude: float, value: float) -> bool:  # by others, as nan is
        return not value * (_AMPLITUDES[0] / amplitude) ** power < 2 * least

    pairs = zip(_AMPLITUDES, found, strict=True)
    high = next((amplitude for amplitude, value in pairs if grown(amplitude, value)), None)
    if high is None:
        return None
    low = high / 10
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if grown(middle, size(middle)) else (middle, high)
    return high


def _residual_at(
    statement: Statement, stated: Stated, sizes: Mapping[str, float], rate: float = math.pi
) -> float:
    """Return the rms of a residual whose unknowns are so large.

    Each unknown and derivative has random values about its size, 1 where it is left out, of a
    derivative for each coordinate `rate` times over the width of the domain: pi is half a wave.
    """
    domain = statement.problem.domain
    rates = {name: rate / (high - low) for name, (low, high) in domain.bounds.items()}

    def values(leaf: Leaf, n: int) -> np.ndarray:
        size = sizes.get(leaf.unknown, 1.0) * sum(
            count * math.prod(rates[name] for name in names)
            for names, count in parts_of(leaf, domain.space)
        )
        return size * stream(0, "sizes", str(leaf)).uniform(0.5, 1.5, n)

    return rms(statement.value_where(stated, values))


def rms(values: np.ndarray) -> float:
    """Return the root of the mean of squares; 0 of nothing."""
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0
