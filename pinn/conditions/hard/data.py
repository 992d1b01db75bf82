"""The data of hard conditions: trees on the faces of a domain, checked one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pinn.expressions import Expression
from pinn.geometry import Face, Shape

# An interval whose fourth power leaves float64 has squares of second derivatives that do.
_LEAST_WIDTH, _MOST_WIDTH = 1e-75, 1e75


@dataclass(frozen=True)
class Data:
    """The data of one hard condition on one face.

    condition: the condition's name. face: a Face, where time has ends too. source: the resolved
    tree of the value. tree: the same with the face's number and all constants worked in. order: 1
    for the rate of change in time.
    """

    condition: str
    face: Face
    source: Expression
    tree: Expression
    order: int = 0

    @property
    def place(self) -> dict[str, float]:
        """The coordinate of the face at its number."""
        return {self.face.coordinate: self.face.value}


def check_faces(domain: Shape, unknown: str, data: Iterable[Data]) -> None:
    """Raise ValueError, naming the conditions, for data on faces that no formula can hold."""
    taken: dict[tuple[str, str, int], str] = {}
    for item in data:
        _check_width(domain, item)
        _check_order(domain, item)
        key = (item.face.coordinate, item.face.side, item.order)
        if key in taken:
            raise ValueError(
                f"{taken[key]!r} and {item.condition!r} of {unknown!r} are both hard "
                f"at {item.face}; leave out hard in one of them"
            )
        taken[key] = item.condition
    for (coordinate, side, order), name in taken.items():
        if order and (coordinate, side, 0) not in taken:
            raise ValueError(
                f"{name!r} cannot be hard without a hard initial value of "
                f"{unknown!r} itself (order 0); make that one hard too, or leave out hard here"
            )
        other = taken.get((coordinate, "high", 0))
        if coordinate == domain.time and side == "low" and other is not None:
            raise ValueError(
                f"{name!r} and {other!r} of {unknown!r} hold at both ends of time, and only one "
                "end can be hard; leave out hard in one of them"
            )


def _check_order(domain: Shape, item: Data) -> None:
    if item.order not in (0, 1) or item.order and item.face.coordinate != domain.time:
        raise ValueError(
            f"{item.condition!r} asks for a derivative of order {item.order!r} at {item.face}; "
            "only a value, or a rate of change at an end of time (order 1), can be hard; leave out "
            "hard"
        )


def _check_width(domain: Shape, item: Data) -> None:
    name = item.face.coordinate
    low, high = domain.bounds[name]
    if not _LEAST_WIDTH <= high - low <= _MOST_WIDTH:
        raise ValueError(
            f"{item.condition!r} cannot be hard on {low!r} <= {name} <= {high!r}: derivatives over "
            f"such a length leave the range of float64; measure {name} in another unit"
        )
