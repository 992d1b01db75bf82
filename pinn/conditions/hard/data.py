"""The data of hard conditions: trees on the faces of a domain, checked one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from pinn.expressions import Expression
from pinn.geometry import Face, Interval, Part, Shape, Time

# An interval whose fourth power leaves float64 has squares of second derivatives that do.
_LEAST_WIDTH, _MOST_WIDTH = 1e-75, 1e75


@dataclass(frozen=True)
class Data:
    """The data of one hard condition on one face.

    condition: the condition's name. face: a Face, where time has ends too, or another part. source:
    the resolved tree of the value. tree: the same with the face's number and all constants worked
    in. order: 1 for the rate of change in time. kappa: where dn(u) + kappa*u is what is given.
    is_wall: whether the part is no whole face of an interval, so that only a formula of the shape
    tells where it is. power: of the distance, by which u leaves its value.
    """

    condition: str
    face: Part
    source: Expression
    tree: Expression
    order: int = 0
    kappa: Expression | None = None
    is_wall: bool = False
    power: float = 1.0

    @property
    def place(self) -> dict[str, float]:
        """The coordinate of a face at its number; nothing for another part."""
        return {} if self.is_wall else dict(self.face.fixed)


def is_face(domain: Shape, part: Part) -> bool:
    """Return whether a part is an end of time or a whole face of an interval."""
    names = [f.name for f in domain.factors if isinstance(f, Interval | Time)]
    return isinstance(part, Face) and part.coordinate in names


def has_walls(data: Iterable[Data]) -> bool:
    """Return whether some data are on walls."""
    return any(item.is_wall for item in data)


def check_faces(domain: Shape, unknown: str, data: Iterable[Data]) -> None:
    """Raise ValueError, naming the conditions, for data on faces that no formula can hold."""
    taken: dict[tuple[str, str, int | str], str] = {}
    data = list(data)
    if has_walls(data):
        _check_parts(unknown, data)
    for item in data:
        if item.is_wall:
            continue
        _check_width(domain, item)
        _check_order(domain, item)
        what = item.order if item.kappa is None else "slope"
        key = (item.face.coordinate, item.face.side, what)
        if key in taken:
            _refuse_twice(unknown, taken[key], item, "at")
        taken[key] = item.condition
    sloped = {item.face.coordinate: item for item in data if item.kappa is not None}
    for item in data:
        if item.power != 1 and not item.is_wall and item.face.coordinate in sloped:
            other = sloped[item.face.coordinate]
            raise ValueError(
                f"{item.condition!r} has a power and {other.condition!r} of {unknown!r} a slope in "
                f"{item.face.coordinate}, which cannot both be hard; leave out hard in one of them"
            )
    for (coordinate, side, order), name in taken.items():
        if order == 1 and (coordinate, side, 0) not in taken:
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


def _check_parts(unknown: str, data: Iterable[Data]) -> None:
    """Raise ValueError for a part that is held twice, and for slopes beside parts."""
    taken: dict[Part, str] = {}
    for item in data:
        if item.kappa is not None:
            other = next(d for d in data if d.is_wall)
            raise ValueError(
                f"{item.condition!r} and {other.condition!r} of {unknown!r} cannot both be hard: "
                f"beside {other.face}, which is no face of a box, a slope cannot be held exactly; "
                f"leave out hard in {item.condition!r}, which is then trained"
            )
        if not item.order and item.face in taken:
            _refuse_twice(unknown, taken[item.face], item, "on")
        taken[item.face] = item.condition


def _refuse_twice(unknown: str, first: str, item: Data, at: str) -> NoReturn:
    """Refuse what two hard conditions give at one place."""
    if item.order == 0 and item.kappa is None:
        names = f"{first!r} and {item.condition!r} are both hard"
        same = "two conditions are hard"
        raise ValueError(
            f"{unknown} is given twice {at} {item.face}, where "
            f"{same if first == item.condition else names}; leave out one of the conditions"
        )
    raise ValueError(
        f"{first!r} and {item.condition!r} of {unknown!r} are both hard {at} {item.face}, and give "
        "the same derivative; leave out one of them"
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
