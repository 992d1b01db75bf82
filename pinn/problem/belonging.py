"""The part of a domain that an unknown belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pinn.problem.problem import Problem
from pinn.residuals import Interior, Within


def region_of(
    problem: Problem, unknown: str, names: Sequence[str]
) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return what tells which points are in the part of the domain that an unknown belongs to.

    names: the coordinates of its points (n, d). It is where some equation with the unknown in it
    holds; None where one of these holds everywhere, or there is none.
    """
    regions = []
    for residual in problem.residuals:
        if not isinstance(residual.source, Interior | Within):
            continue
        leaves = residual.left.leaves
        if leaves is None and isinstance(residual.source, Interior):
            return None  # a function's names are not known
        if leaves is None or any(leaf.unknown == unknown for leaf in leaves):
            if isinstance(residual.source, Interior):
                return None
            regions.append(residual.source.region)
    if not regions:
        return None

    def belongs(points: np.ndarray) -> np.ndarray:
        known = dict(zip(names, points.T, strict=True))
        missing = np.full(len(points), np.nan)
        whole = np.stack([known.get(name, missing) for name in problem.domain.coordinates], axis=1)
        return np.logical_or.reduce([region(whole) for region in regions])

    return belongs
