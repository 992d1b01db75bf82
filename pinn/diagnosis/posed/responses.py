"""How large equations make an error of one: in their own units residuals are no errors."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.sizes import FAR, stated_sizes
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.equations.leaves import parts_of
from pinn.sampling import stream


def responses(statement: Statement) -> dict[str, float] | None:
    """Return how large the residual of each equation is for errors of one in all its unknowns.

    An error changes by half a wave over the width of the domain in each coordinate, as the one that
    a residual sees least of: -u_xx makes pi^2 of it on (0, 1). It is the median over the domain of
    the slopes in values and derivatives times their sizes, all of one sign; where an equation is
    not linear these are slopes at the sizes that the problem states. None where an equation is not
    known or an unknown, of which nothing is told, may be far larger than one to balance the rest.
    """
    sizes = {name: size.value for name, size in stated_sizes(statement).items()}
    found = {}
    for one in statement.equations:
        if not one.is_finite:
            return None
        parts = _by_unknown(statement, one, sizes)
        found[one.name] = sum(parts.values())
        untold = [part for name, part in parts.items() if name not in sizes]
        if any(not found[one.name] <= FAR * part for part in untold):
            return None
    return found if all(0 < size < math.inf for size in found.values()) else None


def _by_unknown(
    statement: Statement, one: Stated, sizes: Mapping[str, float]
) -> dict[str, float]:
    """Return what errors of one in each unknown make of an equation."""
    domain = statement.problem.domain
    rates = {name: math.pi / (high - low) for name, (low, high) in domain.bounds.items()}

    def rate(leaf: Leaf) -> float:
        return sum(
            count * math.prod((rates[name] for name in names), start=1.0)
            for names, count in parts_of(leaf, domain.space)
        )

    def values(leaf: Leaf, n: int) -> np.ndarray:
        drawn = stream(0, "responses", str(leaf)).uniform(0.5, 1.5, n)
        return sizes.get(leaf.unknown, 1.0) * rate(leaf) * drawn

    with np.errstate(all="ignore"):
        slopes = statement.linear_where(one, values, many=True).slopes
    found: dict[str, float] = {}
    for leaf, slope in slopes.items():
        part = float(np.median(np.abs(slope))) * rate(leaf)
        found[leaf.unknown] = found.get(leaf.unknown, 0.0) + part
    return found
