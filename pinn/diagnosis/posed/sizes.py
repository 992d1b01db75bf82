"""How large unknowns and blocks are by what a problem states, before anything is trained."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.equations.leaves import parts_of
from pinn.sampling import stream

# An equation tells a size by the order of magnitude, and too large a one of fast waves: what is
# within such a factor of one may as well be one.
_LARGE_BY_EQUATION, _SMALL_BY_EQUATION = 1e4, 1e2
FAR = 20.0
"""By more than such a factor from one an unknown is scaled."""
# Smaller values of a condition that vary may be rounding, as those of sin(pi*x) at x = 1.
_LEAST_GIVEN = 1e-13
# What is left of the largest terms of an equation is rounding.
_ROUNDING = 1e-12
# A source tells a size where at least so many of the points see it: of a narrower one they see too
# little to say how large what it brings about is.
_FEWEST_THAT_SEE = 8
# Amplitudes that are tried, and how often the two around a balance are halved.
_AMPLITUDES = 10.0 ** np.arange(-30.0, 31.0, 4.0)
_HALVINGS = 8
# Where terms of a residual cancel, so that it falls to such a share as an unknown grows, what
# grows after that may be their rounding, as of the area q*sqrt(1 + q_z**2) of a film.
_FALLEN = 0.1
# A residual of which the root mean square is so many times the median is large in few places.
_IN_PLACES = 30.0


class Size(NamedTuple):
    """How large an unknown is, what says so, and by how much it changes: what derivatives see.

    by: the condition or equation. is_told: whether it is too far from one to be one.
    """

    value: float
    by: str
    changes: float
    is_told: bool = True


@functools.lru_cache(maxsize=4)  # several checks of one statement follow each other
def stated_sizes(statement: Statement, of_outputs: bool = False) -> Mapping[str, Size]:
    """Return how large each unknown is by what conditions and equations tell.

    A condition tells the root mean square of the values that it gives, a Robin condition those
    around which it pulls. Equations and other conditions tell where their terms balance, if the
    unknowns in them are all of one size: a source is as large as what it brings about, as in -u_xx
    = 1e7, growth ends where its next power is as large, as in u_t = u*(1 - u/1e6), and E*u_x = 1e8
    holds for u of 1e8/E. Of several the largest counts. An unknown of which nothing is told so is
    as large as a linear equation lets it be beside others: u in s = 2e11*u_x with a stress s of
    1e8. What conditions give in all, or equations bring about, tells by how much unknowns change:
    300 K at one end and 310 K at the other are 10 K. Unknowns of which nothing is told are left
    out.

    of_outputs: what the outputs of a network have to be: where conditions hold exactly it adds to
    what they give, and has to be as large as that varies.
    """
    return MappingProxyType(_Sizes(statement, of_outputs).found)


def block_sizes(
    statement: Statement,
    known: Mapping[str, tuple[float, float]] | None = None,
    everywhere: bool = False,
) -> dict[str, float] | None:
    """Return how large the residual of each block is where unknowns have their stated sizes.

    known: of some unknowns the size and by how much they change, if that is not stated to be
    larger. Derivatives have that of the change over the width of the domain, as where coordinates
    are measured in widths. None where nothing is told of an unknown, which may be as large as to
    balance what else there is in its equations, and where some block is not known, or is not finite
    or 0 there; with `everywhere` also where one is far larger in some places than in most others.
    """
    sizes = dict(known or {})
    for name, size in stated_sizes(statement).items():
        value, changes = sizes.get(name, (0.0, 0.0))
        sizes[name] = max(value, size.value), max(changes, size.changes)
    if any(name not in sizes for name in statement.problem.unknowns):
        return None
    blocks = {residual.name for residual in statement.problem.residuals}
    found = {}
    for one in (*statement.equations, *statement.conditions):
        if one.name in blocks:
            values = _values_at(statement, one, sizes) if one.is_finite else np.array([math.nan])
            found[one.name] = rms(values)
            if everywhere and found[one.name] > _IN_PLACES * np.median(np.abs(values)):
                return None
    return found if all(0 < size < math.inf for size in found.values()) else None


def given_size(condition: Stated) -> float:
    """Return the root mean square of the values that a condition gives to an unknown."""
    (found, *_) = condition.linear
    return rms(found.rest)


def rms(values: np.ndarray) -> float:
    """Return the root of the mean of squares; 0 of nothing."""
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0


class _Sizes:
    """What a statement tells: by values first, then by balances, then beside others."""

    def __init__(self, statement: Statement, of_outputs: bool) -> None:
        self._statement = statement
        self._of_outputs = of_outputs
        self._soft = {residual.name for residual in statement.problem.residuals}
        self.found: dict[str, Size] = {}
        finite = [
            one for one in (*statement.equations, *statement.conditions) if one.is_finite
        ]  # fmt: skip
        levels: dict[str, list[tuple[str, np.ndarray]]] = {}
        balanced = []
        for one in finite:
            level = None if one in statement.equations else level_of(one)
            if level is None:
                balanced.append(one)
            else:
                unknown, values = level
                levels.setdefault(unknown, []).append((one.name, values))
        changes = {name: _spread([v for _, v in given]) for name, given in levels.items()}
        for name, given in levels.items():
            self._tell_values(name, given, changes[name])
        self._tell_balances(balanced, changes)
        self._tell_beside_others(balanced, changes)

    def _tell_values(
        self, name: str, given: Sequence[tuple[str, np.ndarray]], changes: float
    ) -> None:
        """Tell the largest mean square of what conditions give to an unknown."""
        for by, values in given:
            if self._of_outputs and by not in self._soft:
                values = values - values.mean()
            size = rms(values)
            is_rounding = size < _LEAST_GIVEN and np.ptp(values) > 0
            if size > 0 and not is_rounding:
                known = self.found.get(name)
                if known is None or size > known.value:
                    self.found[name] = Size(size, by, changes or size)

    def _tell_balances(self, balanced: Sequence[Stated], changes: dict[str, float]) -> None:
        """Tell the largest size at which the terms of something balance, of all unknowns in it."""
        sizes: dict[str, tuple[float, str]] = {}
        for one in balanced:
            unknowns = _unknowns_of(one)
            size = self._balance(one, unknowns, {}) if unknowns and self._sees(one) else None
            if size is None:
                continue
            # below what is told it only says where the equation stops to be linear, and beside
            # unknowns whose size is known others need not be of one size with these
            same = len({name in self.found for name in unknowns}) == 1
            if (size > _LARGE_BY_EQUATION and same) or _is_linear(one, unknowns):
                for name in unknowns:
                    sizes[name] = max(sizes.get(name, (0.0, "")), (size, one.name))
        for name, (size, by) in sizes.items():
            changes[name] = max(changes.get(name, 0.0), size)
            known = self.found.get(name)
            if known is not None and not (size > _LARGE_BY_EQUATION and size > known.value):
                self.found[name] = known._replace(changes=changes[name])
            else:
                self.found[name] = Size(size, by, changes[name], _is_far(size))

    def _tell_beside_others(self, balanced: Sequence[Stated], changes: dict[str, float]) -> None:
        """Tell how large equations let unknowns be beside others whose size is known.

        Of unknowns of which nothing is known, and of those that are known to be small: a pressure
        that is held at 0 says nothing of the rest, and a source may bring about more than a
        boundary has. Each equation tells a bound, and of several that which is nearest to one
        counts; as large as that an unknown only has to be where the equation has nothing else, as
        in s = 2e11*u_x.
        """
        nothing = dict.fromkeys(self._statement.problem.unknowns, (0.0, 0.0))
        known = nothing | {n: (size.value, size.changes) for n, size in self.found.items()}
        told: dict[str, tuple[float, str]] = {}
        for one in balanced:
            for group, is_open in self._groups(one) if self._sees(one) else ():
                size = self._balance(one, group, known)
                is_bound = len(group) > 1 or not _is_homogeneous(one)
                if size is None or (is_open and size > 1 and is_bound):
                    continue
                for name in group:
                    if name not in told or abs(math.log(size)) < abs(math.log(told[name][0])):
                        told[name] = size, one.name
        for name, (size, by) in told.items():
            if name not in self.found:
                far = not 1 / _SMALL_BY_EQUATION < size < _SMALL_BY_EQUATION
                self.found[name] = Size(size, by, size, far)
            elif size > self.found[name].value:
                changed = max(size, changes.get(name, 0.0))
                self.found[name] = Size(size, by, changed, _is_far(size))

    def _groups(self, one: Stated) -> Iterator[tuple[list[str], bool]]:
        """Yield the unknowns of something that are to be told beside the others, together.

        With whether nothing is known of them so far.
        """
        unknowns = _unknowns_of(one)
        free = [name for name in unknowns if name not in self.found]
        if 0 < len(free) < len(unknowns) and _is_linear(one, free):
            yield free, True
        for name in unknowns:
            if name in self.found and self.found[name].value < 1 / FAR:
                yield [name], False

    def _sees(self, one: Stated) -> bool:
        """Return whether enough points see what an equation has besides unknowns, if anything."""
        if one not in self._statement.equations:
            return True
        nothing = dict.fromkeys(_unknowns_of(one), (0.0, 0.0))
        given = np.abs(_values_at(self._statement, one, nothing, many=True))
        largest = float(given.max(initial=0.0))
        if not 0 < largest < math.inf:
            return True
        shares = (given / largest) ** 2
        return bool(shares.sum() ** 2 >= _FEWEST_THAT_SEE * (shares**2).sum())

    def _balance(
        self, one: Stated, free: Sequence[str], known: Mapping[str, tuple[float, float]]
    ) -> float | None:
        """Return the size of free unknowns at which other terms than those of least power matter.

        All of them are of one size, and others have the size that is known.
        """

        def at(amplitude: float) -> float:
            sizes = {**known, **dict.fromkeys(free, (amplitude, amplitude))}
            return rms(_values_at(self._statement, one, sizes, math.pi, many=True))

        found = [at(amplitude) for amplitude in _AMPLITUDES]
        least, next_one = found[:2]
        if not (0 < least < math.inf and 0 < next_one < math.inf):
            return None
        step = math.log10(_AMPLITUDES[1] / _AMPLITUDES[0])
        power = round(math.log10(next_one / least) / step)

        def grown(amplitude: float, value: float) -> bool:  # by others, as nan is
            return not value * (_AMPLITUDES[0] / amplitude) ** power < 2 * least

        pairs = list(zip(_AMPLITUDES, found, strict=True))
        high = next((amplitude for amplitude, value in pairs if grown(amplitude, value)), None)
        if high is None:
            return None
        if any(value * (_AMPLITUDES[0] / amplitude) ** power < _FALLEN * least
               for amplitude, value in pairs if amplitude < high):  # fmt: skip
            return None
        low = high / 10**step
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if grown(middle, at(middle)) else (middle, high)
        return high


def level_of(condition: Stated) -> tuple[str, np.ndarray] | None:
    """Return the unknown that a condition gives values to, or pulls to such, and the values, (n,).

    None where it has none or several values in it, as a slope alone has and a period.
    """
    if not condition.residual.whole and condition.linear is not None:
        (found, *_) = condition.linear
        values = [leaf for leaf in condition.leaves if parts_of(leaf, ("x",)) == (((), 1.0),)]
        if len(values) == 1 and _is_linear(condition, _unknowns_of(condition)):
            slope = found.slopes[values[0]]
            there = slope != 0
            if there.any():
                return values[0].unknown, -found.rest[there] / slope[there]
    return None


def _spread(values: Sequence[np.ndarray]) -> float:
    """Return how far values lie apart; 0 where that is rounding."""
    every = np.concatenate(values)
    spread = float(np.ptp(every))
    return spread if spread > _ROUNDING * float(np.abs(every).max()) else 0.0


def _is_far(size: float) -> bool:
    return not 1 / _SMALL_BY_EQUATION < size < _LARGE_BY_EQUATION


def _unknowns_of(one: Stated) -> list[str]:
    return list(dict.fromkeys(leaf.unknown for leaf in one.leaves))


def _is_linear(one: Stated, unknowns: Sequence[str]) -> bool:
    """Return whether the slopes in some unknowns are the same whatever their values are."""
    first, second = one.linear
    return all(
        np.allclose(first.slopes[leaf], second.slopes[leaf], atol=0.0)
        for leaf in one.leaves if leaf.unknown in unknowns
    )  # fmt: skip


def _is_homogeneous(one: Stated) -> bool:
    """Return whether something linear has no term without an unknown."""
    (found, *_) = one.linear
    return not found.rest.any()


def _values_at(
    statement: Statement, stated: Stated, sizes: Mapping[str, tuple[float, float]],
    rate: float = 1.0, many: bool = False,
) -> np.ndarray:  # fmt: skip
    """Return a residual, (n,), where unknowns have sizes, and change by such: 1 if left out.

    Each unknown has random values about its size, and each derivative about its change, for each
    coordinate `rate` times over the width of the domain: pi is half a wave.
    """
    domain = statement.problem.domain
    rates = {name: rate / (high - low) for name, (low, high) in domain.bounds.items()}

    def values(leaf: Leaf, n: int) -> np.ndarray:
        value, changes = sizes.get(leaf.unknown, (1.0, 1.0))
        size = sum(
            count * math.prod((rates[name] for name in names), start=changes if names else value)
            for names, count in parts_of(leaf, domain.space)
        )
        return size * stream(0, "sizes", str(leaf)).uniform(0.5, 1.5, n)

    # of a condition what it gives is seen at few
    many = many and stated.name in statement.problem.equations
    return statement.value_where(stated, values, many)
