"""The product of intervals."""

from __future__ import annotations

from pinn.geometry.interval import Interval, Time
from pinn.geometry.product import Product


class Box(Product):
    """A product of intervals, with at most one of them time; `Interval * Interval` makes one.

    Raises TypeError for a factor that is neither Interval nor Time, ValueError for no factor, a
    repeated name or two times.
    """

    def __init__(self, *intervals: Interval | Time) -> None:
        if not intervals:
            raise ValueError("a box needs at least one interval, got none")
        for interval in intervals:
            if not isinstance(interval, Interval | Time):
                raise TypeError(f"expected pinn.Interval or pinn.Time, got {interval!r}")
        super().__init__(*intervals)
