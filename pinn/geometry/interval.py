"""One-coordinate domains: an interval of space, an interval of time."""

from __future__ import annotations

from pinn.checks import check_name, check_number
from pinn.geometry.domain import Domain


class _OneCoordinate(Domain):
    is_time: bool

    def __init__(self, name: str, low: float, high: float) -> None:
        self.name = check_name("coordinate", name)
        check_number(f"{name}: low", low)
        check_number(f"{name}: high", high)
        self.low, self.high = float(low), float(high)
        if not self.low < self.high:
            raise ValueError(
                f"{name}: expected low < high, got low = {self.low:g} and high = {self.high:g}"
            )

    @property
    def intervals(self) -> tuple[_OneCoordinate, ...]:
        return (self,)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (self.name, self.low, self.high) == (other.name, other.low, other.high)

    def __hash__(self) -> int:
        return hash((type(self), self.name, self.low, self.high))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.low!r}, {self.high!r})"


class Interval(_OneCoordinate):
    """An interval of space, low <= name <= high.

    Raises ValueError for low >= high, a bound that is not finite or a name that is not an
    identifier; TypeError for a bound that is not a number.
    """

    is_time = False


class Time(_OneCoordinate):
    """An interval of time, low <= name <= high; initial conditions hold at low.

    Raises as Interval does.
    """

    is_time = True
