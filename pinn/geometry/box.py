"""The product of intervals."""

from __future__ import annotations

from pinn.geometry.interval import OneCoordinate
from pinn.geometry.product import Product


class Box(Product):
    """A product of intervals, with at most one of them time; `Interval * Interval` makes one.

    A Family is a factor like them. Raises TypeError for a factor of another kind, ValueError for no
    factor, a repeated name or two times.
    """

    def __init__(self, *intervals: OneCoordinate) -> None:
        if not intervals:
            raise ValueError("a box needs at least one interval, got none")
        for interval in intervals:
            if not isinstance(interval, OneCoordinate):
                raise TypeError(f"expected pinn.Interval or pinn.Time, got {interval!r}")
        super().__init__(*intervals)
