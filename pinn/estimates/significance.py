"""Which of the corrections that were tried stands out of chance, and which ones have to agree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from pinn.estimates.correction import Correction

APART = 3.0
"""Corrections that the residual does not tell apart should be as large, within this factor."""
_CHANCE = math.sqrt(1 - 1 / APART**2)
# Of two corrections one stands out far more where chance has made so much less of it.
_LESS = 0.5


def most_distinct(tried: Sequence[Correction], chance: Mapping[Correction, float]) -> Correction:
    """Return the correction that is to be told, of those that rows leave to choose from.

    tried: that which leaves least of the residual, and after it others. chance: what share of the
    size of each, in the unknowns, chance in the rows has made. Rows are mostly of what nothing
    resolves: a ridge that leaves least of that suppresses the error with it, where the residual
    hardly sees this. So one of a smaller ridge is told that stands out of chance where the first
    does not, or does so far more; of several the least, as a ridge makes errors smaller.
    docs/decisions/0073.
    """
    best = tried[0]
    smaller = [one for one in tried if one.solver.ridge < best.solver.ridge]
    least = min((chance[one] for one in smaller), default=math.inf)
    if not is_distinct(least) or is_distinct(chance[best]) and least > _LESS * chance[best]:
        return best
    return min(
        (one for one in smaller if is_distinct(chance[one]) and _LESS * chance[one] <= least),
        key=lambda one: one.solver.ridge,
    )


def is_distinct(chance: float) -> bool:
    """Return whether what is found is more than chance makes of the rows.

    Squares of the error and of chance add up to that of what is found: beyond this share the error
    may be less than a third of it.
    """
    return chance <= _CHANCE


def neighbours(
    one: Correction, tried: Sequence[Correction], chance: Mapping[Correction, float]
) -> Iterator[Correction]:
    """Yield the corrections that have to be about as large as one whose ridge suppresses nothing.

    Those of the next larger ridge, where the error would still grow from ridge to ridge, and of all
    smaller ridges that are more than chance.
    """
    larger = [other for other in tried if other.solver.ridge > one.solver.ridge]
    if larger:
        yield min(larger, key=lambda other: other.solver.ridge)
    for other in tried:
        if other.solver.ridge < one.solver.ridge and is_distinct(chance[other]):
            yield other
