"""Whether hard conditions agree where their faces meet, found out before anything is trained."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

import autograd as T
from pinn.conditions.hard.data import has_walls
from pinn.conditions.hard.functions import plain
from pinn.conditions.hard.points import columns_of, described, scattered, tried
from pinn.conditions.hard.walls import part_points

if TYPE_CHECKING:
    from pinn.conditions.condition import Repeats
    from pinn.conditions.hard.ansatz import Ansatz
    from pinn.conditions.hard.data import Data
    from pinn.conditions.hard.pinned import Pinned
    from pinn.expressions import Expression

# Relative to the largest value on the two faces: above rounding, below any accuracy that is sought.
TOLERANCE = 1e-12


def check_data(ansatz: Ansatz) -> None:
    """Check each unknown's data on every face and wherever two faces meet.

    Raises ValueError, naming the conditions, the place and the values, for a value that is not
    finite and for two that disagree.
    """
    for data in ansatz.data.values():
        if has_walls(data):
            _check_walls(ansatz, data)
            continue
        sizes = [_size(ansatz, item) for item in data]
        for (first, one), (second, other) in combinations(zip(data, sizes, strict=True), 2):
            shared = (first.source, first.order) == (second.source, second.order)
            if first.kappa is not None or second.kappa is not None:
                continue  # the formula tells, once it is there
            if first.face.coordinate != second.face.coordinate and not shared:
                _check_pair(ansatz, first, second, max(one, other))


def _size(ansatz: Ansatz, item: Data) -> float:
    """Return the largest value on a face."""
    points = tried(ansatz.domain, item.place)
    values = _values(ansatz, item, points)
    if item.kappa is not None:
        values = values + 0 * ansatz.values(item.kappa, points)  # of a/b, too
    _check_finite(ansatz, item, points, values)
    return float(np.abs(values).max(initial=0.0))


def _check_finite(
    ansatz: Ansatz, item: Data, points: np.ndarray, values: np.ndarray
) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"the value of {item.condition!r}, which is hard, is {values[bad[0]]} at "
            f"{described(ansatz.domain, points[bad[0]])}{ansatz.unfit}"
        )


def _check_pair(ansatz: Ansatz, first: Data, second: Data, size: float) -> None:
    # u_t(0) on a face belongs with the rate of change of the face's own data.
    order = max(first.order, second.order)
    points = tried(ansatz.domain, {**first.place, **second.place})
    if not len(points):
        return
    one, other = (
        _rates(ansatz, item, points) if order > item.order else _values(ansatz, item, points)
        for item in (first, second)
    )
    both = np.abs(np.concatenate([one, other]))
    margin = TOLERANCE * both.max(initial=size, where=np.isfinite(both))
    # A rate that is not finite counts as the worst of all.
    gaps = np.where(np.isfinite(one) & np.isfinite(other), np.abs(one - other), np.inf)
    worst = int(gaps.argmax())
    if gaps[worst] <= margin:
        return
    shown = [0.0 if abs(values[worst]) <= margin else values[worst] for values in (one, other)]
    what = "rate of change in time" if order else "value"
    raise ValueError(
        f"{first.condition!r} and {second.condition!r} are both hard but disagree "
        f"where they meet: at {described(ansatz.domain, points[worst])} the first gives the {what} "
        f"{shown[0]:.10g}, the second {shown[1]:.10g}; make one of them soft (leave out "
        "hard), or let their values agree there"
    )


def _values(ansatz: Ansatz, item: Data, points: np.ndarray) -> np.ndarray:
    return ansatz.values(item.tree, points)


def _rates(ansatz: Ansatz, item: Data, points: np.ndarray) -> np.ndarray:
    columns = columns_of(ansatz.domain, points)
    time = columns[ansatz.domain.time].requires_grad_()
    value = ansatz.evaluate(item.tree, columns)
    if not isinstance(value, T.Tensor) or not value.requires_grad:
        return np.zeros(len(points))
    (rate,) = T.grad(value.sum(), time, allow_unused=True)
    return np.zeros(len(points)) if rate is None else plain(rate, len(points))


def _check_walls(ansatz: Ansatz, data: Sequence[Data]) -> None:
    """Check data on parts of any shape: finite, and those of the start where it meets them."""
    domain = ansatz.domain
    starts = [item for item in data if item.face.fixed.keys() == {domain.time}]
    for item in data:
        points = tried(domain, item.place) if item in starts else part_points(domain, [item.face])
        _check_finite(ansatz, item, points, _values(ansatz, item, points))
        for start in starts if item not in starts else ():
            points[:, domain.coordinates.index(domain.time)] = start.face.value
            shown = _rates if start.order else _values
            one, other = _values(ansatz, start, points), shown(ansatz, item, points)
            size = max(np.abs(one).max(), np.abs(other).max(), np.abs(points).max() ** 2)
            gaps = np.where(np.isfinite(one - other), np.abs(one - other), np.inf)
            worst = int(gaps.argmax())
            if gaps[worst] > 1e3 * TOLERANCE * size:
                # A formula's points lie on the boundary to rounding of sines and cosines.
                raise ValueError(
                    f"{start.condition!r} and {item.condition!r} are both hard but disagree where "
                    f"they meet: at {described(domain, points[worst])} the first gives "
                    f"{one[worst]:.10g}, the second {other[worst]:.10g}; make one of them soft "
                    "(leave out hard), or let their values agree there"
                )


def check_repeats(ansatz: Ansatz, repeats: Sequence[Repeats]) -> tuple[Repeats, ...]:
    """Return what repeats; ValueError where not all unknowns do, or a face is held as well."""
    for coordinate in dict.fromkeys(repeat.coordinate for repeat in repeats):
        mine = [repeat for repeat in repeats if repeat.coordinate == coordinate]
        others = [u for u in ansatz.unknowns if u not in {repeat.unknown for repeat in mine}]
        if others:
            raise ValueError(
                f"{mine[0].condition!r} cannot be hard for {mine[0].unknown} alone: the network "
                f"of all unknowns sees cos and sin of {coordinate}, so {', '.join(others)} would "
                "be periodic too; name all unknowns in it, or leave out hard"
            )
        everything = [item for data in ansatz.data.values() for item in data]
        held = [item for item in everything if coordinate in item.face.fixed]
        if held:
            raise ValueError(
                f"{held[0].condition!r} and {mine[0].condition!r} cannot both be hard: what holds "
                f"at {held[0].face} makes B change along {coordinate}, and its two ends differ; "
                "leave out hard in one of them, which is then trained"
            )
    return tuple(repeats)


def check_formulas(ansatz: Ansatz) -> None:
    """Check that formulas with slopes or periods have what they are made of.

    Raises ValueError, naming the conditions, where their data disagree at edges and corners.
    """
    for unknown, tree in ansatz.formulas.items():
        data = ansatz.data[unknown]
        slopes = [item for item in data if item.kappa is not None]
        for item in data if slopes else ():
            _check_held(ansatz, tree, item, [s for s in slopes if s is not item] or slopes)
        held = [*data, *ansatz.points[unknown]]
        for repeat in ansatz.repeats:
            if repeat.unknown == unknown and held:
                _check_repeated(ansatz, tree, repeat, held)


def _check_held(ansatz: Ansatz, tree: Expression, item: Data, slopes: Sequence[Data]) -> None:
    points = tried(ansatz.domain, item.place)
    asked = _values(ansatz, item, points)
    others = ", ".join(dict.fromkeys(repr(other.condition) for other in slopes))
    for network in (0.0, 1.0):
        found, size = _held(ansatz, tree, item, points, network)
        gaps = np.abs(found - asked)
        worst = int(np.where(np.isfinite(gaps), gaps, np.inf).argmax())
        if gaps[worst] <= TOLERANCE * max(size, np.abs(asked).max()):
            continue
        if network:
            raise ValueError(
                f"{item.condition!r} and {others} cannot all be hard: the ratio of value and slope "
                "in one of them changes along the faces where another holds; make one of them soft "
                "(leave out hard)"
            )
        raise ValueError(
            f"{item.condition!r} and {others} are hard but disagree where they meet: the others "
            f"leave {found[worst]:.10g} at {described(ansatz.domain, points[worst])}, where the "
            f"first asks for {asked[worst]:.10g}; make one of them soft (leave out hard), or let "
            "their values agree at edges and corners, slopes included"
        )


def _held(
    ansatz: Ansatz, tree: Expression, item: Data, points: np.ndarray, network: float
) -> tuple[np.ndarray, float]:
    """Return what a formula has in the place of a condition's value, and the size of its terms."""
    name = item.face.coordinate
    order = 1 if item.order or item.kappa is not None else 0
    value, *rates = _derivatives(ansatz, tree, points, name, order, network)
    if not order:
        return value, np.abs(value).max()
    # A slope is the sum of polynomials' slopes, of up to 6 values over the width each.
    low, high = ansatz.domain.bounds[name]
    size = 6 * np.abs(value).max() / (high - low)
    if item.order:
        return rates[0], max(size, np.abs(rates[0]).max())
    outward = rates[0] * (1.0 if item.face.side == "high" else -1.0)
    share = ansatz.values(item.kappa, points) * value
    return outward + share, max(size, np.abs(outward).max(), np.abs(share).max())


def _check_repeated(
    ansatz: Ansatz, tree: Expression, repeat: Repeats, data: Sequence[Data | Pinned]
) -> None:
    name = repeat.coordinate
    low, high = ansatz.domain.bounds[name]
    points = tried(ansatz.domain, {name: low})
    everywhere = scattered(ansatz.domain, {})
    across = points.copy()
    across[:, ansatz.domain.coordinates.index(name)] = high
    for network in (0.0, 1.0):
        ends = [
            _derivatives(ansatz, tree, p, name, repeat.orders - 1, network)
            for p in (points, across)
        ]
        for order, (one, other) in enumerate(zip(*ends, strict=True)):
            size = np.abs(np.concatenate([one, other])).max()
            scale = (2 * np.pi / (high - low)) ** order
            value = np.abs(_derivatives(ansatz, tree, everywhere, name, 0, network)[0]).max()
            gaps = np.abs(one - other)
            worst = int(np.where(np.isfinite(gaps), gaps, np.inf).argmax())
            if gaps[worst] <= TOLERANCE * max(size, value * scale):
                continue
            names = ", ".join(dict.fromkeys(repr(item.condition) for item in data))
            what = "value" if not order else f"derivative of order {order} in {name}"
            raise ValueError(
                f"{names} and {repeat.condition!r} cannot both be hard: the formula of the first "
                f"gives the {what} {one[worst]:.10g} at "
                f"{described(ansatz.domain, points[worst])} and {other[worst]:.10g} at the other "
                f"end; make one of them soft (leave out hard), or "
                f"let the value repeat in {name}"
            )


def _derivatives(
    ansatz: Ansatz, tree: Expression, points: np.ndarray, name: str, order: int, network: float
) -> list[np.ndarray]:
    """Return a formula and its derivatives in a coordinate, with a number for the network."""
    columns = columns_of(ansatz.domain, points)
    x = columns[name].requires_grad_()
    given = T.full((len(points), 1), network, dtype=T.float64)
    value = ansatz.evaluate(tree, columns, dict.fromkeys(ansatz.places, given))
    found = [plain(value, len(points))]
    for _ in range(order):
        slope: Any = None
        if isinstance(value, T.Tensor) and value.requires_grad:
            (slope,) = T.grad(value.sum(), x, create_graph=True, allow_unused=True)
        value = 0.0 if slope is None else slope
        found.append(plain(value, len(points)))
    return found
