"""Points that a user gives: whether they are in a domain, and where the first is that is not."""

from __future__ import annotations

import numpy as np

from pinn.files import Columns
from pinn.geometry.shape import TOLERANCE, Shape


def check_inside(
    domain: Shape, points: np.ndarray, columns: Columns, tolerance: float = TOLERANCE
) -> None:
    """Raise ValueError, with file and line, for the first of points (n, d) outside of a domain.

    columns: where the points come from, row by row. tolerance: of the domain's size.
    """
    outside = np.flatnonzero(~domain.contains(points, tolerance))
    if outside.size:
        row = int(outside[0])
        more = f" (and {outside.size - 1} more rows)" if outside.size > 1 else ""
        columns.refuse(
            f"expected a point of the domain {domain!r}, got {shown_point(domain, points[row])}"
            f"{more}",
            row,
        )


def shown_point(domain: Shape, point: np.ndarray) -> str:
    """Return a point in words: "x = 0.5, t = 1"."""
    return ", ".join(f"{n} = {v:g}" for n, v in zip(domain.coordinates, point, strict=True))
