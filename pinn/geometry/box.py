"""The product of intervals."""

from __future__ import annotations

from pinn.geometry.domain import Domain
from pinn.geometry.interval import Interval, Time


class Box(Domain):
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
        names = [interval.name for interval in intervals]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(
                f"each coordinate of a domain needs its own name; repeated: {', '.join(repeated)}"
            )
        times = [interval.name for interval in intervals if interval.is_time]
        if len(times) > 1:
            raise ValueError(f"a domain has at most one time, got {' and '.join(times)}")
        self._intervals = tuple(intervals)

    @property
    def intervals(self) -> tuple[Interval | Time, ...]:
        return self._intervals

    def __eq__(self, other: object) -> bool:
        return self._intervals == other._intervals if isinstance(other, Box) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._intervals)

    def __repr__(self) -> str:
        return " * ".join(map(repr, self._intervals))
