"""Whether hard conditions agree where their faces meet, found out before anything is trained."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

import autograd as T
from pinn.conditions.hard.functions import plain
from pinn.conditions.hard.points import columns_of, described, tried

if TYPE_CHECKING:
    from pinn.conditions.hard.ansatz import Ansatz
    from pinn.conditions.hard.data import Data

# Relative to the largest value on the two faces: above rounding, below any accuracy that is sought.
TOLERANCE = 1e-12


def check_data(ansatz: Ansatz) -> None:
    """Check each unknown's data on every face and wherever two faces meet.

    Raises ValueError, naming the conditions, the place and the values, for a value that is not
    finite and for two that disagree.
    """
    for data in ansatz.data.values():
        sizes = [_size(ansatz, item) for item in data]
        for (first, one), (second, other) in combinations(zip(data, sizes, strict=True), 2):
            shared = (first.source, first.order) == (second.source, second.order)
            if first.face.coordinate != second.face.coordinate and not shared:
                _check_pair(ansatz, first, second, max(one, other))


def _size(ansatz: Ansatz, item: Data) -> float:
    """Return the largest value on a face."""
    points = tried(ansatz.domain, item.place)
    values = _values(ansatz, item, points)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"the value of {item.condition!r}, which is hard, is {values[bad[0]]} at "
            f"{described(ansatz.domain, points[bad[0]])}; expected a finite number"
        )
    return float(np.abs(values).max())


def _check_pair(ansatz: Ansatz, first: Data, second: Data, size: float) -> None:
    # u_t(0) on a face belongs with the rate of change of the face's own data.
    order = max(first.order, second.order)
    points = tried(ansatz.domain, {**first.place, **second.place})
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
    with T.no_grad():
        return plain(ansatz.evaluate(item.tree, columns_of(ansatz.domain, points)), len(points))


def _rates(ansatz: Ansatz, item: Data, points: np.ndarray) -> np.ndarray:
    columns = columns_of(ansatz.domain, points)
    time = columns[ansatz.domain.time].requires_grad_()
    value = ansatz.evaluate(item.tree, columns)
    if not isinstance(value, T.Tensor) or not value.requires_grad:
        return np.zeros(len(points))
    (rate,) = T.grad(value.sum(), time, allow_unused=True)
    return np.zeros(len(points)) if rate is None else plain(rate, len(points))
