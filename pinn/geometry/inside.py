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
        more = ""
        if outside.size > 1:
            last = columns.place(int(outside[-1]))
            more = f" (and {outside.size - 1} more {'row' if outside.size == 2 else 'rows'}"
            more += f", the last at {last})" if last else ")"
        columns.refuse(
            f"expected a point of {domain_in_words(domain)}, got "
            f"{shown_point(domain, points[row])}{more}; leave it out, or make the domain larger",
            row,
        )


def domain_in_words(domain: Shape) -> str:
    """Return a domain as "the domain (x in [0, 1], t in [0, 2])", by its bounds if it is no box."""
    bounds = ", ".join(f"{name} in [{a:g}, {b:g}]" for name, (a, b) in domain.bounds.items())
    is_box = all(len(factor.coordinates) == 1 for factor in domain.factors)
    return f"the domain ({'' if is_box else 'a part of '}{bounds})"


def shown_point(domain: Shape, point: np.ndarray) -> str:
    """Return a point in words: "x = 0.5, t = 1"."""
    return ", ".join(f"{n} = {v:g}" for n, v in zip(domain.coordinates, point, strict=True))
