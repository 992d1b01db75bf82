"""The warning that a solution is asked for where it was never trained."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from pinn.geometry import Shape

# A share of the width of a range, below which a point lies on its end.
_SLACK = 1e-6
# Of a function more than this share of its size is missed by modes that leave out a thousandth.
_UNLIKE = 0.01
# Points that are looked for in holes and beside shapes: to tell may take longer than to evaluate.
_LOOKED_AT = 4096


class ExtrapolationWarning(RuntimeWarning):
    """A solution is evaluated outside of the domain, or of the range of a family."""


def warn_outside(
    domain: Shape, points: np.ndarray, given: Iterable[str], stacklevel: int
) -> None:
    """Give an ExtrapolationWarning where points lie outside of a domain, once for all of them.

    Of many points some thousands are looked for in holes and beside the shape.
    points: (n, d), a column for each coordinate; those that are not given count for nothing.
    stacklevel: 1 for the caller of this function.
    """
    given = set(given)
    any_of = np.zeros(len(points), dtype=bool)
    told = list(_beyond_bounds(domain, points, given, any_of))
    if told:
        count = int(any_of.sum())
        whole = "the point lies" if len(points) == 1 else f"{count} of {len(points)} points lie"
        _warn(f"{whole} outside of what was trained: {', '.join(told)}", stacklevel + 1)
    inside = points[~any_of]
    if len(inside) and given >= set(domain.coordinates):
        looked = inside[:: -(-len(inside) // _LOOKED_AT)]
        beside = looked[~domain.contains(looked, _SLACK)]
        if len(beside):
            pairs = zip(domain.coordinates, beside[0], strict=True)
            place = ", ".join(f"{name} = {value:.6g}" for name, value in pairs)
            whole = f"{len(beside)} of {len(looked)} points, the first at {place}, lie"
            if len(points) == 1:
                whole = f"the point {place} lies"
            where = "in a hole or beside the domain, where nothing was trained"
            _warn(f"{whole} {where}", stacklevel + 1)


def warn_unlike(
    left: Mapping[str, float], farthest: Mapping[str, tuple[float, float]], stacklevel: int
) -> None:
    """Give an ExtrapolationWarning where functions are not made of the modes of their space.

    left: what modes leave of a function, by name, as a share of its size. farthest: the largest of
    the numbers of its modes, which are of deviation 1, and the bound of those in training.
    stacklevel: 1 for the caller of this function.
    """
    for name, (largest, bound) in farthest.items():
        if largest > bound * (1 + _SLACK):
            _warn(
                f"{name} is far from the functions of its space: a mode of it is {largest:.2g} "
                f"deviations off, where training has {bound:g} at most",
                stacklevel + 1,
            )
    for name, share in left.items():
        if share > _UNLIKE:
            warnings.warn(
                f"{share:.2g} of {name} (relative L2) is rougher than the functions of its space, "
                "and left out: the solution is that for the rest; a shorter length, or more modes, "
                "would hold it",
                ExtrapolationWarning, stacklevel=stacklevel + 1,
            )  # fmt: skip


def _beyond_bounds(
    domain: Shape, points: np.ndarray, given: set[str], any_of: np.ndarray
) -> Iterator[str]:
    """Tell of each coordinate beyond its range, and mark the points."""
    for column, (name, (low, high)) in zip(points.T, domain.bounds.items(), strict=True):
        slack = _SLACK * (high - low)
        outside = (column < low - slack) | (column > high + slack)
        if name not in given or not outside.any():
            continue
        any_of |= outside
        least, most = column[outside].min(), column[outside].max()
        got = f"{least:.6g}" if least == most else f"{least:.6g} to {most:.6g}"
        yield f"{name} = {got} is not in {low:.6g} <= {name} <= {high:.6g}"


def _warn(message: str, stacklevel: int) -> None:
    warnings.warn(
        f"{message}; the values there are extrapolated", ExtrapolationWarning,
        stacklevel=stacklevel + 1,
    )
