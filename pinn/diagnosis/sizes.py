"""How large unknowns are by what a problem states, before anything is trained."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pinn.diagnosis.linear import Leaf
from pinn.diagnosis.orders import parts_of
from pinn.diagnosis.statement import Stated, Statement
from pinn.sampling import stream

# An equation tells a size by the order of magnitude, and too large a one of fast waves: only what
# is so many times above or below one is taken from it.
_FAR_BY_EQUATION = 1e4
# Amplitudes that are tried, and how often the two around a balance are halved.
_AMPLITUDES = 10.0 ** np.arange(-10.0, 11.0)
_HALVINGS = 6


class Size(NamedTuple):
    """How large an unknown is, and the condition or equation that says so."""

    value: float
    by: str


def stated_sizes(statement: Statement) -> dict[str, Size]:
    """Return the largest size that a condition or an equation tells of each unknown.

    A condition tells the root mean square of the values that it gives. An equation tells where its
    terms balance, if the unknowns in it are all of one size: a source is as large as what it
    brings about, as in -u_xx = 1e7, and growth ends where its next power is as large, as in
    u_t = u*(1 - u/1e6). Unknowns of which nothing is told are left out.
    """
    found: dict[str, Size] = {}

    def tell(unknown: str, value: float, by: str) -> None:
        if value > 0 and (unknown not in found or value > found[unknown].value):
            found[unknown] = Size(value, by)

    for condition in statement.conditions:
        unknown = condition.residual.gives
        if unknown is not None and condition.is_finite:
            tell(unknown, given_size(condition), condition.name)
    for equation in statement.equations:
        size = _balance(statement, equation) if equation.is_finite else None
        if size is not None and not 1 / _FAR_BY_EQUATION < size < _FAR_BY_EQUATION:
            for unknown in dict.fromkeys(leaf.unknown for leaf in equation.leaves):
                tell(unknown, size, equation.name)
    return found


def given_size(condition: Stated) -> float:
    """Return the root mean square of the values that a condition gives to an unknown."""
    (found, *_) = condition.linear
    rest = found.value - sum(found.slopes[leaf] * found.leaves[leaf] for leaf in found.slopes)
    return rms(rest)


def _balance(statement: Statement, equation: Stated) -> float | None:
    """Return the size of unknowns at which other terms than those of the least power matter."""
    size = _residual_of(statement, equation)
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


def _residual_of(statement: Statement, equation: Stated) -> Callable[[float], float]:
    """Return the function amplitude -> rms of an equation whose unknowns are so large.

    Each unknown and derivative has random values about the amplitude, of a derivative for each
    coordinate pi times over the width of the domain, as of half a wave.
    """
    problem = statement.problem
    rates = {name: math.pi / (high - low) for name, (low, high) in problem.domain.bounds.items()}

    def rate(leaf: Leaf) -> float:
        return sum(
            count * math.prod(rates[name] for name in names)
            for names, count in parts_of(leaf, problem.domain.space)
        )

    def of(amplitude: float) -> float:
        def values(leaf: Leaf, n: int) -> np.ndarray:
            return amplitude * rate(leaf) * stream(0, "sizes", str(leaf)).uniform(0.5, 1.5, n)

        return rms(statement.value_where(equation, values))

    return of


def rms(values: np.ndarray) -> float:
    """Return the root of the mean of squares; 0 of nothing."""
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0
