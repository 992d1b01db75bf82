"""The warning that a solution is asked for where it was never trained."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

import numpy as np

# A share of the width of a range, below which a point lies on its end.
_SLACK = 1e-6


class ExtrapolationWarning(RuntimeWarning):
    """A solution is evaluated outside of the domain, or of the range of a family."""


def warn_outside(
    bounds: Mapping[str, tuple[float, float]],
    points: np.ndarray,
    given: Iterable[str],
    stacklevel: int,
) -> None:
    """Give an ExtrapolationWarning where points lie outside of bounds, once for all of them.

    points: (n, d), a column for each of the bounds; those that are not given count for nothing.
    stacklevel: 1 for the caller of this function.
    """
    given = set(given)
    told, any_of = [], np.zeros(len(points), dtype=bool)
    for column, (name, (low, high)) in zip(points.T, bounds.items(), strict=True):
        slack = _SLACK * (high - low)
        outside = (column < low - slack) | (column > high + slack)
        if name not in given or not outside.any():
            continue
        any_of |= outside
        least, most = column[outside].min(), column[outside].max()
        got = f"{least:.6g}" if least == most else f"{least:.6g} to {most:.6g}"
        told.append(f"{name} = {got} is not in {low:.6g} <= {name} <= {high:.6g}")
    if told:
        count = int(any_of.sum())
        whole = "the point lies" if len(points) == 1 else f"{count} of {len(points)} points lie"
        warnings.warn(
            f"{whole} outside of what was trained: {', '.join(told)}; the values there are "
            "extrapolated",
            ExtrapolationWarning,
            stacklevel=stacklevel + 1,
        )
