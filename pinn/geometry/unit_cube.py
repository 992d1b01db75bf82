"""From points of the unit cube to points of a shape: as many as asked for, those outside dropped.

A shape places points of the unit cube. A row that it gives the value nan is none of its points: a
corner of a disk's bounding box, a side of one shape inside of another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

UnitSampler = Callable[[int, int, np.random.Generator], np.ndarray]
"""A sampler of the unit cube: (n, dimensions, rng) -> (at most n, dimensions) array in [0, 1].

Every beginning of its rows is spread over the cube. One that gives the same rows in every call is a
lattice, of which all rows belong together.
"""

Place = Callable[[np.ndarray], np.ndarray]
"""A map of points of the unit cube: (m, dimensions) -> (m, columns), rows of nan where none is."""

# Of a draw; further points come from further draws.
_MOST_ROWS = 1 << 22
_MOST_DRAWS = 100
_PROBES, _MANY_PROBES = 4096, 1 << 18
# A lattice is looked for up to so many rows, or so many times those asked for.
_LATTICE_ROWS, _LATTICE_SHARE = 4096, 16
# The box of what is kept is found in so many steps, each some hundred times closer.
_MOST_CLOSER = 4


def draw(
    n: int,
    dimensions: int,
    place: Place,
    share: float,
    sampler: UnitSampler,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return n rows of `place` that are not nan, (n, columns); at most n of a lattice.

    share: about how many of the rows are not nan, in (0, 1]; all of them take one call of the
    sampler for n points. No dimension at all gives one row. Raises ValueError where `place` gives
    next to no row that is not nan.
    """
    if dimensions == 0:
        return _placed(place, np.empty((1, 0)))
    if share < 1 and np.array_equal(*(sampler(2, dimensions, rng) for _ in range(2))):
        return _lattice(n, dimensions, place, sampler, rng)
    if n > _MOST_ROWS:
        # More than there is memory for is refused at once, and not when the memory is full.
        np.empty((n, dimensions))
    found: list[np.ndarray] = []
    missing = n
    for _ in range(_MOST_DRAWS):
        # Four standard deviations more than expected, so that one draw nearly always suffices.
        extra = 4 * math.sqrt(missing * (1 - share)) if share < 1 else 0
        asked = min(math.ceil((missing + extra) / share), _MOST_ROWS)
        unit = sampler(asked, dimensions, rng)
        found.append(_placed(place, unit)[:missing])
        missing -= len(found[-1])
        # A grid has fewer rows than it was asked for, and no others.
        if not missing or (share == 1 and len(unit) < asked):
            return np.concatenate(found) if len(found) > 1 else found[0]
    raise ValueError(f"found only {n - missing} of {n} points after {_MOST_DRAWS} draws")


def kept_share(dimensions: int, place: Place) -> float:
    """Return which share of the unit cube `place` gives points for, to about 1e-3; never 0."""
    if dimensions == 0:
        return 1.0
    rows = _placed(place, probes(_PROBES, dimensions))
    return max(len(rows), 1) / _PROBES


def probes(n: int, dimensions: int) -> np.ndarray:
    """Return n points of the unit cube that are spread evenly and always the same, (n, d).

    The additive recurrence of the generalised golden ratio g, the root of g^(d+1) = g + 1, with the
    slopes g^-1 ... g^-d.
    """
    g = 2.0
    for _ in range(60):
        g = (1 + g) ** (1 / (dimensions + 1))
    slopes = g ** -np.arange(1.0, dimensions + 1)
    return (0.5 + np.arange(1, n + 1)[:, None] * slopes) % 1.0


def _placed(place: Place, unit: np.ndarray) -> np.ndarray:
    rows = place(unit)
    absent = np.isnan(rows).any(axis=1)
    return rows[~absent] if absent.any() else rows


def _lattice(
    n: int, dimensions: int, place: Place, sampler: UnitSampler, rng: np.random.Generator
) -> np.ndarray:
    """Return the finest lattice of at most n rows, or the coarsest that has one at all.

    It is laid over the box of the cube that `place` has points for. Where these fill next to
    nothing of it, as a thin diagonal does, the finest is not looked for: it has fewer rows.
    """
    low, high = _kept_box(dimensions, place)
    most = max(_LATTICE_ROWS, _LATTICE_SHARE * n)

    @cache
    def rows(asked: int) -> np.ndarray:
        return _placed(place, low + (high - low) * sampler(asked, dimensions, rng))

    few, many = 1, 2
    while many < most and len(rows(many)) <= n:
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (middle, many) if len(rows(middle)) <= n else (few, middle)
    while not len(rows(few)):
        few += 1 + few // 8
        if few > most:
            raise ValueError(
                f"no lattice of up to {most} points has one there; take another method, such as "
                "latin-hypercube or sobol"
            )
    return rows(few)


def _kept_box(dimensions: int, place: Place) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a box of the unit cube outside of which `place` gives no points."""
    low, high = np.zeros(dimensions), np.ones(dimensions)
    for _ in range(_MOST_CLOSER):
        for count in (_PROBES, _MANY_PROBES):
            unit = low + (high - low) * probes(count, dimensions)
            there = unit[~np.isnan(place(unit)).any(axis=1)]
            if len(there):
                break
        else:
            break
        # Between two probes there may be more of it.
        gap = 2 * (high - low) * count ** (-1 / dimensions)
        closer = np.maximum(there.min(axis=0) - gap, low), np.minimum(there.max(axis=0) + gap, high)
        if np.allclose(closer, (low, high), rtol=0, atol=1e-3 * (high - low).min()):
            break
        low, high = closer
    return low, high
